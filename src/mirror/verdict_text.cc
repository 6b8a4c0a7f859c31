#include "mirror/verdict_text.h"

#include <fmt/format.h>

#include "base/text.h"
#include "mirror/translate.h"

namespace tau::mirror {
using engine::Blocker;
using engine::Misfit;
using engine::Reason;

namespace {

struct Words {
  Reason reason;
  std::string_view word, kueue;
};
// One row per engine reason, in its order.
constexpr Words words[] = {
    {Reason::none, "NOT_EVALUATED", "PendingEvaluation"},
    {Reason::not_evaluated, "NOT_EVALUATED", "PendingEvaluation"},
    {Reason::invalid_spec, "INVALID_SPEC", "Misconfigured"},
    {Reason::queue_not_found, "QUEUE_NOT_FOUND", "Misconfigured"},
    {Reason::queue_stopped, "QUEUE_STOPPED", "Suspended"},
    {Reason::user_hold, "USER_HOLD", "OnHold"},
    {Reason::no_matching_flavor, "NO_MATCHING_FLAVOR", "NoMatchingFlavor"},
    {Reason::exceeds_max_quota, "EXCEEDS_MAX_QUOTA", "ExceedsMaxQuota"},
    {Reason::waiting_quota, "WAITING_QUOTA", "WaitingForQuota"},
    {Reason::waiting_priority, "WAITING_PRIORITY", "PendingEvaluation"},
    {Reason::capacity_short, "CAPACITY_SHORT", "TopologyPlacementFailed"},
    {Reason::capacity_fragmented, "CAPACITY_FRAGMENTED", "TopologyPlacementFailed"},
    {Reason::capacity_unhealthy, "CAPACITY_UNHEALTHY", "TopologyPlacementFailed"},
    {Reason::waiting_preemption, "WAITING_PREEMPTION", "WaitingForPreemptedWorkloads"},
    {Reason::backoff, "BACKOFF", "PendingEvaluation"},
};

const Words& words_of(Reason reason) {
  const Words& found = words[static_cast<size_t>(reason)];
  CHECK(found.reason == reason);
  return found;
}

// "12 GPUs", "4 cpu", "16Gi memory"
std::string amount(const Names& names, engine::ResourceId resource, int64_t value) {
  if (resource == engine::gpu) return fmt::format("{} GPU{}", value, value == 1 ? "" : "s");
  return fmt::format("{} {}", quantity_text(resource, value), names.resources.name(resource));
}

std::string quota_line(const Names& names, const Blocker& blocker) {
  std::vector<std::string> parts;
  for (const engine::QuotaShort& s : blocker.quota) {
    if (blocker.reason == Reason::no_matching_flavor) {
      parts.push_back(
          fmt::format("the queue has no quota for {}", names.resources.name(s.resource)));
      continue;
    }
    parts.push_back(
        fmt::format("needs {}, {} of {} free in flavor {}", amount(names, s.resource, s.want),
                    quantity_text(s.resource, s.free), quantity_text(s.resource, s.nominal),
                    names.flavors.name(s.flavor)));
  }
  if (parts.empty()) return "no flavor of the queue matches its node selector and tolerations";
  return (blocker.reason == Reason::exceeds_max_quota ? "more than the queue can ever have: "
                                                      : "") +
         join(parts, "; ");
}

std::string nodes_line(const Blocker& blocker) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < blocker.nodes_by_misfit.size(); ++i) {
    if (blocker.nodes_by_misfit[i] == 0) continue;
    parts.push_back(
        fmt::format("{} {}", blocker.nodes_by_misfit[i], misfit_word(static_cast<Misfit>(i))));
  }
  return parts.empty() ? "no nodes" : join(parts, ", ");
}

std::string capacity_line(const Blocker& blocker) {
  std::string line =
      fmt::format("{} of {} pods fit at once", blocker.pods_placed, blocker.pods_wanted);
  if (blocker.gpus_wanted > 0) {
    line += fmt::format("; needs {} GPU{}, {} free", blocker.gpus_wanted,
                        blocker.gpus_wanted == 1 ? "" : "s", blocker.gpus_free);
    if (blocker.gpus_free > 0) {
      line += fmt::format(
          " on {} node{} (",
          std::ranges::count_if(blocker.free_gpus_by_node, [](int32_t n) { return n > 0; }),
          std::ranges::count_if(blocker.free_gpus_by_node, [](int32_t n) { return n > 0; }) == 1
              ? ""
              : "s");
      for (size_t i = 0; i < std::min<size_t>(8, blocker.free_gpus_by_node.size()); ++i)
        line += fmt::format("{}{}", i == 0 ? "" : " ", blocker.free_gpus_by_node[i]);
      line += blocker.free_gpus_by_node.size() > 8 ? " ...)" : ")";
    }
  }
  return line + "; nodes: " + nodes_line(blocker);
}

std::string line_of(const Names& names, const Blocker& blocker) {
  switch (blocker.reason) {
    case Reason::no_matching_flavor:
    case Reason::exceeds_max_quota:
    case Reason::waiting_quota:
      return quota_line(names, blocker);
    case Reason::capacity_short:
    case Reason::capacity_unhealthy:
      return capacity_line(blocker);
    case Reason::capacity_fragmented:
      return "enough GPUs in sum, but not together: " + capacity_line(blocker);
    case Reason::waiting_priority:
      return fmt::format("{} ahead in the queue", blocker.ahead);
    case Reason::queue_not_found:
      return "its LocalQueue or ClusterQueue does not exist or does not admit its namespace";
    case Reason::queue_stopped:
      return "the queue is stopped by its operator";
    case Reason::user_hold:
      return "held: spec.active is false";
    case Reason::waiting_preemption:
      return "waits until its own earlier pods are gone";
    case Reason::backoff:
      return "waits before the next try";
    case Reason::invalid_spec:
      return "can never run as written";
    case Reason::none:
    case Reason::not_evaluated:
      return "not looked at yet";
  }
  return {};
}

}  // namespace

std::string_view reason_word(Reason reason) {
  return words_of(reason).word;
}
std::string_view kueue_reason(Reason reason) {
  return words_of(reason).kueue;
}

std::string_view misfit_word(Misfit misfit) {
  switch (misfit) {
    case Misfit::fits:
      return "fit";
    case Misfit::node_not_ready:
      return "not ready";
    case Misfit::cordoned:
      return "cordoned";
    case Misfit::taint:
      return "with a taint that is not tolerated";
    case Misfit::selector:
      return "without the wanted labels";
    case Misfit::other_node:
      return "other than the one named";
    case Misfit::pods_full:
      return "full of pods";
    case Misfit::cpu_short:
      return "short of cpu";
    case Misfit::memory_short:
      return "short of memory";
    case Misfit::gpu_short:
      return "short of GPUs";
    case Misfit::other_resource_short:
      return "short of another resource";
  }
  return {};
}

kube::BlockerView blocker_view(const Names& names, const Blocker& blocker) {
  kube::BlockerView view{.reason = std::string(reason_word(blocker.reason)),
                         .message = line_of(names, blocker)};
  if (!blocker.quota.empty()) {
    view.wanted = blocker.quota[0].want;
    view.free = blocker.quota[0].free;
    view.total = blocker.quota[0].nominal;
  } else if (blocker.gpus_wanted > 0) {
    view.wanted = blocker.gpus_wanted;
    view.free = blocker.gpus_free;
  }
  if (blocker.position > 0) {
    view.position = blocker.position;
    view.ahead = blocker.ahead;
  }
  if (blocker.pods_wanted > 0) {
    view.pods_wanted = blocker.pods_wanted;
    view.pods_placed = blocker.pods_placed;
  }
  constexpr const char* keys[] = {"fits",
                                  "node_not_ready",
                                  "cordoned",
                                  "taint",
                                  "selector",
                                  "other_node",
                                  "pods_full",
                                  "cpu_short",
                                  "memory_short",
                                  "gpu_short",
                                  "other_resource_short"};
  for (size_t i = 0; i < blocker.nodes_by_misfit.size(); ++i) {
    if (blocker.nodes_by_misfit[i] > 0)
      view.nodes_by_misfit.emplace_back(keys[i], blocker.nodes_by_misfit[i]);
  }
  for (const int32_t gpus : blocker.free_gpus_by_node) view.free_gpus_by_node.push_back(gpus);
  return view;
}

}  // namespace tau::mirror
