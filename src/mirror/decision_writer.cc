#include "mirror/decision_writer.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/overloaded.h"
#include "base/text.h"
#include "kube/event_request.h"
#include "kube/quantity.h"
#include "kube/reasons.h"
#include "meta/fields.h"
#include "mirror/cluster_mirror.h"
#include "mirror/translate.h"
#include "mirror/verdict_text.h"

namespace tau::mirror {
namespace json = boost::json;

namespace {

kube::Store<kube::Workload>::Pointer workload_of(const Names& names, const kube::Stores& stores,
                                                 engine::WorkloadId id) {
  if (id.index() >= names.workload_names.size()) return nullptr;
  const WorkloadName& name = names.workload_names[id.index()];
  auto workload = stores.get<kube::Workload>().find(name.ns, name.name);
  return workload && workload->metadata.uid == name.uid ? workload : nullptr;
}

// A status patch that holds only for the version that was read: another writer's change makes it
// fail.
kube::ApiRequest status_patch(const kube::Workload& workload, json::object status) {
  json::object patch{
      {"metadata", json::object{{"uid", workload.metadata.uid},
                                {"resourceVersion", workload.metadata.resource_version}}},
      {"status", std::move(status)}};
  return kube::merge_patch(kube::Kind::workload, workload.metadata.namespace_,
                           workload.metadata.name, json::serialize(patch), "status");
}

json::value conditions_json(const std::vector<kube::Condition>& conditions) {
  json::array array;
  for (const kube::Condition& condition : conditions) array.push_back(meta::encode(condition));
  return array;
}

void put_condition(std::vector<kube::Condition>& conditions, const kube::Workload& workload,
                   kube::Condition condition, Time now) {
  condition.observed_generation = workload.metadata.generation;
  kube::set_condition(conditions, std::move(condition), now);
}

struct Words {
  std::string_view type, reason;
  std::string message;
};
// The same story on the Workload and on its Job, where users look.
std::vector<kube::ApiRequest> tell(const kube::Stores& stores, const kube::Workload& workload,
                                   const Words& on_workload, const Words& on_job, Time now,
                                   Rng& rng) {
  constexpr std::string_view component = "taugrid";
  std::vector<kube::ApiRequest> events;
  events.push_back(kube::event_on(kube::Kind::workload, workload.metadata, on_workload.type,
                                  on_workload.reason, on_workload.message, component, now, rng));
  const kube::OwnerReference* owner = kube::controller_of(workload.metadata);
  const auto job = owner == nullptr ? nullptr : stores.get<kube::Job>().find_uid(owner->uid);
  if (!job) return events;
  events.push_back(kube::event_on(kube::Kind::job, job->metadata, on_job.type, on_job.reason,
                                  on_job.message, component, now, rng));
  return events;
}

std::optional<Write> write_admit(const Names& names, const kube::Stores& stores,
                                 const engine::Admit& admit, Time now, Rng& rng) {
  const auto workload = workload_of(names, stores, admit.workload);
  if (!workload) return std::nullopt;
  std::vector<kube::Condition> conditions = workload->status.conditions;
  const std::string queue = names.queues.name(admit.queue);
  const bool is_moved = workload->status.admission.has_value();  // pods of a lost node go elsewhere
  put_condition(conditions, *workload,
                {.type = "QuotaReserved",
                 .status = "True",
                 .reason = "QuotaReserved",
                 .message = fmt::format("Quota reserved in ClusterQueue {}", queue)},
                now);
  put_condition(conditions, *workload,
                {.type = "Admitted",
                 .status = "True",
                 .reason = "Admitted",
                 .message = fmt::format("Admitted by ClusterQueue {}", queue)},
                now);
  for (const std::string_view past : {"Evicted", "Preempted"}) {
    if (kube::find_condition(conditions, past) == nullptr) continue;
    put_condition(conditions, *workload,
                  {.type = std::string(past),
                   .status = "False",
                   .reason = "QuotaReserved",
                   .message = "Admitted again"},
                  now);
  }
  json::object status{{"conditions", conditions_json(conditions)}};
  status["admission"] = meta::encode(admission_text(names, *workload, admit));
  Write write{.request = status_patch(*workload, std::move(status)),
              .on_failure = engine::AdmitFailed{admit.workload},
              .uid = workload->metadata.uid};
  if (is_moved) return write;
  const Duration waited = now - workload->metadata.creation_timestamp.value_or(now);
  write.events =
      tell(stores, *workload,
           {"Normal", "Admitted",
            fmt::format("Admitted by ClusterQueue {}, wait time since queued was {}", queue,
                        format_age(std::max(waited, Duration(0))))},
           {"Normal", "Started", fmt::format("Admitted by ClusterQueue {}", queue)}, now, rng);
  return write;
}

// "<container>=<uuid>,<uuid>[;...]", devices dealt out in the order of the containers.
std::string gpu_assignment(const kube::Pod& pod, const kube::Node& node, engine::GpuMask gpus) {
  const std::vector<std::string> devices = devices_of(node);
  std::vector<std::string> given;
  for (size_t bit = 0; bit < devices.size() && bit < 64; ++bit) {
    if ((gpus >> bit & 1) != 0) given.push_back(devices[bit]);
  }
  std::vector<std::string> parts;
  size_t next = 0;
  for (const kube::Container& container : pod.spec.containers) {
    const auto wants = container.resources.requests.find(std::string(gpu_resource));
    if (wants == container.resources.requests.end()) continue;
    const int64_t count = kube::parse_quantity(wants->second).value_or(0);
    std::vector<std::string> own;
    for (int64_t i = 0; i < count && next < given.size(); ++i) own.push_back(given[next++]);
    if (!own.empty()) parts.push_back(container.name + "=" + join(own, ","));
  }
  return join(parts, ";");
}

std::optional<Write> write_bind(const Names& names, const kube::Stores& stores,
                                const engine::Bind& bind) {
  if (bind.pod.index() >= names.pod_names.size()) return std::nullopt;
  const PodName& name = names.pod_names[bind.pod.index()];
  const auto pod = stores.get<kube::Pod>().find(name.ns, name.name);
  const auto node = stores.get<kube::Node>().find("", names.nodes.name(bind.node));
  if (!pod || pod->metadata.uid != name.uid) return std::nullopt;
  // Without its node there is no telling which devices were meant, and nothing to bind to.
  if (!node) return std::nullopt;
  json::object metadata{{"name", name.name}, {"namespace", name.ns}, {"uid", name.uid}};
  if (bind.gpus != 0) {
    const std::string assignment = gpu_assignment(*pod, *node, bind.gpus);
    if (!assignment.empty()) metadata["annotations"] = json::object{{gpus_annotation, assignment}};
  }
  const json::object binding{{"apiVersion", "v1"},
                             {"kind", "Binding"},
                             {"metadata", std::move(metadata)},
                             {"target", json::object{{"apiVersion", "v1"},
                                                     {"kind", "Node"},
                                                     {"name", names.nodes.name(bind.node)}}}};
  kube::ApiRequest request{.verb = kube::Verb::create,
                           .kind = kube::Kind::pod,
                           .ns = name.ns,
                           .name = name.name,
                           .subresource = "binding",
                           .body = json::serialize(binding)};
  return Write{
      .request = std::move(request), .on_failure = engine::BindFailed{bind.pod}, .uid = name.uid};
}

struct EvictWords {
  const char* reason;
  const char* message;
};
EvictWords words_of(engine::EvictReason reason) {
  switch (reason) {
    case engine::EvictReason::preempted:
      return {"Preempted", "Preempted to make room for another workload"};
    case engine::EvictReason::queue_stopped:
      return {"ClusterQueueStopped", "The ClusterQueue is stopped"};
    case engine::EvictReason::local_queue_stopped:
      return {"LocalQueueStopped", "The LocalQueue is stopped"};
    case engine::EvictReason::deactivated:
      return {"Deactivated", "The workload is deactivated"};
    case engine::EvictReason::node_lost:
      return {"NodeFailures", "A node was lost and its pods found no other place"};
  }
  return {"Deactivated", ""};
}

// Kueue's reason of the condition Preempted, and why in words.
EvictWords words_of(engine::PreemptCause cause) {
  switch (cause) {
    case engine::PreemptCause::none:
    case engine::PreemptCause::in_queue:
      return {"InClusterQueue", "it goes first in the same ClusterQueue"};
    case engine::PreemptCause::reclaim:
      return {"InCohortReclamation", "its ClusterQueue takes back quota that it lent"};
    case engine::PreemptCause::reclaim_while_borrowing:
      return {"InCohortReclaimWhileBorrowing",
              "it has priority over what other ClusterQueues of the cohort borrow"};
    case engine::PreemptCause::fair_sharing:
      return {"InCohortFairSharing", "its ClusterQueue has less than its fair share"};
  }
  return {"InClusterQueue", ""};
}

std::optional<Write> write_evict(const Names& names, const kube::Stores& stores,
                                 const engine::Evict& evict, Time now, Rng& rng) {
  const auto workload = workload_of(names, stores, evict.workload);
  if (!workload || !workload->status.admission) return std::nullopt;
  const EvictWords why = words_of(evict.reason);
  std::string message = why.message;
  std::vector<kube::Condition> conditions = workload->status.conditions;
  if (evict.reason == engine::EvictReason::preempted) {
    const EvictWords cause = words_of(evict.cause);
    if (const auto preemptor = workload_of(names, stores, evict.preemptor))
      message = fmt::format("Makes room for workload {}/{}: {}", preemptor->metadata.namespace_,
                            preemptor->metadata.name, cause.message);
    put_condition(
        conditions, *workload,
        {.type = "Preempted", .status = "True", .reason = cause.reason, .message = message}, now);
  }
  put_condition(conditions, *workload,
                {.type = "Evicted", .status = "True", .reason = why.reason, .message = message},
                now);
  put_condition(conditions, *workload,
                {.type = "QuotaReserved",
                 .status = "False",
                 .reason = "PendingEvaluation",
                 .message = message},
                now);
  put_condition(conditions, *workload,
                {.type = "Admitted",
                 .status = "False",
                 .reason = "NoReservation",
                 .message = "The workload has no reservation"},
                now);
  json::object status{{"conditions", conditions_json(conditions)}, {"admission", nullptr}};
  return Write{.request = status_patch(*workload, std::move(status)),
               .on_failure = std::nullopt,  // said again when it does not show
               .uid = workload->metadata.uid,
               .events = tell(stores, *workload,
                              {"Normal", std::string("EvictedDueTo") + why.reason, message},
                              {"Normal", "Stopped", message}, now, rng)};
}

}  // namespace

std::optional<Write> write_of(const Names& names, const kube::Stores& stores,
                              const engine::Decision& decision, Time now, Rng& rng) {
  return std::visit(
      Overloaded{
          [&](const engine::Admit& admit) { return write_admit(names, stores, admit, now, rng); },
          [&](const engine::Bind& bind) { return write_bind(names, stores, bind); },
          [&](const engine::Evict& evict) { return write_evict(names, stores, evict, now, rng); },
      },
      decision);
}

std::optional<Write> write_of(const Names& names, const kube::Stores& stores,
                              const engine::Verdict& verdict, Time now, Rng& rng) {
  if (!verdict.workload.is_some() || verdict.blockers.empty()) return std::nullopt;
  const auto workload = workload_of(names, stores, verdict.workload);
  if (!workload || workload->status.admission) return std::nullopt;
  const engine::Blocker& first = verdict.blockers.front();
  const std::string_view word = reason_word(first.reason);
  std::string text = blocker_view(names, first).message;
  if (first.reason == engine::Reason::queue_not_found) {
    if (const auto queue = cluster_queue_of(stores, *workload); !queue) {
      text = queue.error().message;
    }
  }
  kube::Condition condition{.type = "QuotaReserved",
                            .status = "False",
                            .reason = std::string(kueue_reason(first.reason)),
                            .message = fmt::format("{}: {}", word, text)};
  const kube::Condition* held = kube::find_condition(workload->status.conditions, "QuotaReserved");
  // Numbers move all the time; only another reason is worth a write.
  if (held != nullptr && held->status == "False" && held->reason == condition.reason &&
      std::string_view(held->message).substr(0, held->message.find(':')) == word) {
    return std::nullopt;
  }
  // Waiting is normal; what a person must act on is not.
  const kube::ReasonInfo* info = kube::find_reason(word);
  const std::string_view type = info != nullptr && info->who_acts == "wait" ? "Normal" : "Warning";
  const Words words{type, condition.reason, condition.message};
  std::vector<kube::Condition> conditions = workload->status.conditions;
  put_condition(conditions, *workload, condition, now);
  return Write{.request = status_patch(*workload, {{"conditions", conditions_json(conditions)}}),
               .on_failure = std::nullopt,
               .uid = workload->metadata.uid,
               .events = tell(stores, *workload, words, words, now, rng)};
}

}  // namespace tau::mirror
