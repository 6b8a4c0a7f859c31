#include "mirror/decision_writer.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/overloaded.h"
#include "base/text.h"
#include "kube/quantity.h"
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

std::optional<Write> write_admit(const Names& names, const kube::Stores& stores,
                                 const engine::Admit& admit, Time now) {
  const auto workload = workload_of(names, stores, admit.workload);
  if (!workload) return std::nullopt;
  std::vector<kube::Condition> conditions = workload->status.conditions;
  const std::string queue = names.queues.name(admit.queue);
  const int64_t generation = workload->metadata.generation;
  kube::set_condition(conditions,
                      {.type = "QuotaReserved",
                       .status = "True",
                       .reason = "QuotaReserved",
                       .message = fmt::format("Quota reserved in ClusterQueue {}", queue),
                       .observed_generation = generation},
                      now);
  kube::set_condition(conditions,
                      {.type = "Admitted",
                       .status = "True",
                       .reason = "Admitted",
                       .message = fmt::format("Admitted by ClusterQueue {}", queue),
                       .observed_generation = generation},
                      now);
  if (kube::find_condition(conditions, "Evicted") != nullptr) {
    kube::set_condition(conditions,
                        {.type = "Evicted",
                         .status = "False",
                         .reason = "QuotaReserved",
                         .message = "Admitted again",
                         .observed_generation = generation},
                        now);
  }
  json::object status{{"conditions", conditions_json(conditions)}};
  status["admission"] = meta::encode(admission_text(names, *workload, admit));
  return Write{status_patch(*workload, std::move(status)), engine::AdmitFailed{admit.workload}};
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
  json::object metadata{{"name", name.name}, {"namespace", name.ns}, {"uid", name.uid}};
  if (node && bind.gpus != 0) {
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
  return Write{std::move(request), engine::BindFailed{bind.pod}};
}

struct EvictWords {
  const char *reason, *message;
};
EvictWords words_of(engine::EvictReason reason) {
  switch (reason) {
    case engine::EvictReason::preempted:
      return {"Preempted", "Preempted to make room for another workload"};
    case engine::EvictReason::queue_stopped:
      return {"ClusterQueueStopped", "The ClusterQueue is stopped"};
    case engine::EvictReason::deactivated:
      return {"Deactivated", "The workload is deactivated"};
    case engine::EvictReason::node_lost:
      return {"NodeFailures", "A node was lost and its pods found no other place"};
  }
  return {"Deactivated", ""};
}

std::optional<Write> write_evict(const Names& names, const kube::Stores& stores,
                                 const engine::Evict& evict, Time now) {
  const auto workload = workload_of(names, stores, evict.workload);
  if (!workload || !workload->status.admission) return std::nullopt;
  const EvictWords why = words_of(evict.reason);
  const int64_t generation = workload->metadata.generation;
  std::vector<kube::Condition> conditions = workload->status.conditions;
  kube::set_condition(conditions,
                      {.type = "Evicted",
                       .status = "True",
                       .reason = why.reason,
                       .message = why.message,
                       .observed_generation = generation},
                      now);
  kube::set_condition(conditions,
                      {.type = "QuotaReserved",
                       .status = "False",
                       .reason = "PendingEvaluation",
                       .message = why.message,
                       .observed_generation = generation},
                      now);
  kube::set_condition(conditions,
                      {.type = "Admitted",
                       .status = "False",
                       .reason = "NoReservation",
                       .message = "The workload has no reservation",
                       .observed_generation = generation},
                      now);
  json::object status{{"conditions", conditions_json(conditions)}, {"admission", nullptr}};
  return Write{status_patch(*workload, std::move(status)),
               std::nullopt};  // said again when it does not show
}

}  // namespace

std::optional<Write> write_of(const Names& names, const kube::Stores& stores,
                              const engine::Decision& decision, Time now) {
  return std::visit(
      Overloaded{
          [&](const engine::Admit& admit) { return write_admit(names, stores, admit, now); },
          [&](const engine::Bind& bind) { return write_bind(names, stores, bind); },
          [&](const engine::Evict& evict) { return write_evict(names, stores, evict, now); },
      },
      decision);
}

std::optional<Write> write_of(const Names& names, const kube::Stores& stores,
                              const engine::Verdict& verdict, Time now) {
  if (!verdict.workload.is_some() || verdict.blockers.empty()) return std::nullopt;
  const auto workload = workload_of(names, stores, verdict.workload);
  if (!workload || workload->status.admission) return std::nullopt;
  const engine::Blocker& first = verdict.blockers.front();
  kube::Condition condition{.type = "QuotaReserved",
                            .status = "False",
                            .reason = std::string(kueue_reason(first.reason)),
                            .message = fmt::format("{}: {}", reason_word(first.reason),
                                                   blocker_view(names, first).message),
                            .observed_generation = workload->metadata.generation};
  if (first.reason == engine::Reason::queue_not_found) {
    if (const auto queue = cluster_queue_of(stores, *workload); !queue)
      condition.message = fmt::format("QUEUE_NOT_FOUND: {}", queue.error().message);
  }
  const kube::Condition* held = kube::find_condition(workload->status.conditions, "QuotaReserved");
  const auto word = [](std::string_view message) { return message.substr(0, message.find(':')); };
  // Numbers move all the time; only another reason is worth a write.
  if (held != nullptr && held->status == "False" && held->reason == condition.reason &&
      word(held->message) == word(condition.message))
    return std::nullopt;
  std::vector<kube::Condition> conditions = workload->status.conditions;
  kube::set_condition(conditions, std::move(condition), now);
  return Write{status_patch(*workload, {{"conditions", conditions_json(conditions)}}),
               std::nullopt};
}

}  // namespace tau::mirror
