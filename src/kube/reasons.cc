#include "kube/reasons.h"

#include <array>

namespace tau::kube {
namespace {

constexpr std::string_view quota = "QuotaReserved", admitted = "Admitted", pods = "PodsReady",
                           requeued = "Requeued";

// Where several words share a Kueue reason, the first is what that reason alone tells.
constexpr std::array reasons{
    ReasonInfo{"INVALID_SPEC", "Misconfigured", quota, "can never run as written", "user"},
    ReasonInfo{"QUEUE_NOT_FOUND", "Misconfigured", quota, "its queue or workspace does not exist",
               "user"},
    ReasonInfo{"NO_MATCHING_FLAVOR", "NoMatchingFlavor", quota,
               "no kind of node fits its selector, tolerations or resources", "user"},
    ReasonInfo{"EXCEEDS_MAX_QUOTA", "ExceedsMaxQuota", quota,
               "wants more than its queue can ever have", "user"},
    ReasonInfo{"QUEUE_STOPPED", "Suspended", quota, "its queue is stopped", "operator"},
    ReasonInfo{"USER_HOLD", "OnHold", quota, "held by its owner", "user"},
    ReasonInfo{"DEPENDENCY", "AdmissionGated", quota, "waits for something that it depends on",
               "wait"},
    ReasonInfo{"BEGIN_TIME", "AdmissionGated", quota, "waits for its begin time", "wait"},
    ReasonInfo{"WAITING_QUOTA", "WaitingForQuota", quota, "its queue's quota is in use", "wait"},
    ReasonInfo{"WAITING_PRIORITY", "PendingEvaluation", quota, "others in its queue go first",
               "wait"},
    ReasonInfo{"CAPACITY_SHORT", "TopologyPlacementFailed", quota,
               "not enough free healthy devices", "wait"},
    ReasonInfo{"CAPACITY_FRAGMENTED", "TopologyPlacementFailed", quota,
               "enough devices are free in sum, but not in the shape wanted", "wait"},
    ReasonInfo{"CAPACITY_UNHEALTHY", "TopologyPlacementFailed", quota,
               "would fit if cordoned or unhealthy nodes were back", "operator"},
    ReasonInfo{"WAITING_PREEMPTION", "WaitingForPreemptedWorkloads", quota,
               "others were told to stop for it", "wait"},
    ReasonInfo{"WAITING_PEERS", "WaitingForPodsReady", quota,
               "an earlier admitted workload is not ready yet", "wait"},
    ReasonInfo{"ADMISSION_CHECK", "UnsatisfiedAdmissionChecks", admitted,
               "an admission check is open", "wait"},
    ReasonInfo{"NODES_STARTING", "PendingDelayedTopologyRequests", admitted,
               "its nodes are being started", "wait"},
    ReasonInfo{"STARTING_IMAGE", "WaitForStart", pods, "bound to nodes; its image is being fetched",
               "wait"},
    ReasonInfo{"STARTING_VOLUME", "WaitForStart", pods,
               "bound to nodes; its volumes are being mounted", "wait"},
    ReasonInfo{"STARTING_INIT", "WaitForStart", pods, "bound to nodes; its init containers run",
               "wait"},
    ReasonInfo{"BACKOFF", "PodsReadyTimeout", requeued, "waits before it is tried again", "wait"},
    ReasonInfo{"NOT_EVALUATED", "PendingEvaluation", quota,
               "the scheduler has not looked at it yet", "wait"}};

struct Alias {
  std::string_view kueue_reason, word;
};
// Generic reasons of older releases, and those whose plainest meaning is not the table's first.
constexpr std::array aliases{
    Alias{"Pending", "NOT_EVALUATED"},       Alias{"PendingEvaluation", "NOT_EVALUATED"},
    Alias{"Waiting", "WAITING_QUOTA"},       Alias{"Inadmissible", "INVALID_SPEC"},
    Alias{"Deactivated", "USER_HOLD"},       Alias{"BackoffFinished", "BACKOFF"},
    Alias{"NoReservation", "NOT_EVALUATED"}, Alias{"WaitForRecovery", "STARTING_INIT"}};

}  // namespace

std::span<const ReasonInfo> all_reasons() {
  return reasons;
}

const ReasonInfo* find_reason(std::string_view word) {
  for (const ReasonInfo& reason : reasons) {
    if (reason.word == word) return &reason;
  }
  return nullptr;
}

const ReasonInfo* reason_from_kueue(std::string_view kueue_reason) {
  for (const Alias& alias : aliases) {
    if (alias.kueue_reason == kueue_reason) return find_reason(alias.word);
  }
  for (const ReasonInfo& reason : reasons) {
    if (reason.kueue_reason == kueue_reason) return &reason;
  }
  return nullptr;
}

}  // namespace tau::kube
