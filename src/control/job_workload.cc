#include "control/job_workload.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/text.h"
#include "kube/codec.h"
#include "kube/event_request.h"
#include "meta/fields.h"
#include "meta/json.h"

namespace tau::control {
namespace json = boost::json;
using kube::Kind;

std::span<const Kind> JobWorkload::watches() const {
  static constexpr Kind kinds[] = {Kind::job, Kind::workload,       Kind::local_queue,
                                   Kind::pod, Kind::priority_class, Kind::workload_priority_class};
  return kinds;
}

void JobWorkload::keys_of(const kube::Stores& stores, const kube::AnyChange& change,
                          const std::function<void(kube::ObjectKey)>& add) {
  if (const auto* job = std::get_if<kube::Change<kube::Job>>(&change)) {
    add({job->latest().metadata.namespace_, job->latest().metadata.name});
  } else if (const auto* workload = std::get_if<kube::Change<kube::Workload>>(&change)) {
    const kube::OwnerReference* owner = kube::controller_of(workload->latest().metadata);
    if (owner != nullptr && owner->kind == "Job")
      add({workload->latest().metadata.namespace_, owner->name});
  } else if (const auto* queue = std::get_if<kube::Change<kube::LocalQueue>>(&change)) {
    if (queue->latest().metadata.name != "default" || (queue->old && queue->now)) return;
    for (const auto& [key, job] : stores.get<kube::Job>().all()) {
      if (key.ns == queue->latest().metadata.namespace_) add(key);
    }
  }
}

std::string queue_of(const kube::Stores& stores, const kube::Job& job) {
  const auto label = job.metadata.labels.find(std::string(queue_label));
  if (label != job.metadata.labels.end()) return label->second;
  return stores.get<kube::LocalQueue>().find(job.metadata.namespace_, "default") ? "default" : "";
}

std::string workload_name(const kube::Job& job) {
  const std::string hash = fmt::format("{:016x}", fnv1a(job.metadata.uid)).substr(0, 5);
  return fmt::format("job-{}-{}", job.metadata.name.substr(0, 200), hash);
}

kube::Workload workload_for(const kube::Stores& stores, const kube::Job& job,
                            const std::string& queue) {
  kube::Workload made;
  made.metadata.name = workload_name(job);
  made.metadata.namespace_ = job.metadata.namespace_;
  made.metadata.labels["kueue.x-k8s.io/job-uid"] = job.metadata.uid;
  made.metadata.owner_references.push_back({.api_version = "batch/v1",
                                            .kind = "Job",
                                            .name = job.metadata.name,
                                            .uid = job.metadata.uid,
                                            .controller = true,
                                            .block_owner_deletion = true});
  made.spec.queue_name = queue;
  kube::PodSet set{.name = "main"};
  const int64_t parallelism = job.spec.parallelism.value_or(1);
  set.count = job.spec.completions ? std::min(parallelism, *job.spec.completions) : parallelism;
  set.template_.metadata.labels = job.spec.template_.metadata.labels;
  set.template_.spec = job.spec.template_.spec;
  made.spec.pod_sets.push_back(std::move(set));
  made.spec.active = true;
  made.spec.priority = 0;
  const auto label = job.metadata.labels.find(std::string(priority_label));
  if (label != job.metadata.labels.end()) {
    made.spec.priority_class_name = label->second;
    made.spec.priority_class_kind = "WorkloadPriorityClass";
    if (const auto found = stores.get<kube::WorkloadPriorityClass>().find("", label->second))
      made.spec.priority = found->value;
  } else if (const std::string& name = job.spec.template_.spec.priority_class_name; !name.empty()) {
    made.spec.priority_class_name = name;
    made.spec.priority_class_kind = "PriorityClass";
    if (const auto found = stores.get<kube::PriorityClass>().find("", name))
      made.spec.priority = found->value;
  }
  return made;
}

namespace {

const kube::Condition* end_of(const kube::Job& job) {
  for (const char* type : {"Complete", "Failed"}) {
    if (kube::is_true(job.status.conditions, type))
      return kube::find_condition(job.status.conditions, type);
  }
  return nullptr;
}

kube::ApiRequest finish(const kube::Workload& workload, const kube::Condition& end, Time now) {
  std::vector<kube::Condition> conditions = workload.status.conditions;
  const bool is_success = end.type == "Complete";
  kube::set_condition(
      conditions,
      {.type = "Finished",
       .status = "True",
       .reason = is_success ? "Succeeded" : "Failed",
       .message = end.message.empty() ? (is_success ? "Job finished successfully" : "Job failed")
                                      : end.message,
       .observed_generation = workload.metadata.generation},
      now);
  json::array array;
  for (const kube::Condition& condition : conditions) array.push_back(meta::encode(condition));
  const json::object patch{
      {"metadata", json::object{{"resourceVersion", workload.metadata.resource_version}}},
      {"status", json::object{{"conditions", std::move(array)}}}};
  return kube::merge_patch(Kind::workload, workload.metadata.namespace_, workload.metadata.name,
                           json::serialize(patch), "status");
}

// One patch that names the version it was decided on, so that a change in between makes it fail.
kube::ApiRequest set_suspend(const kube::Job& job, bool is_suspended) {
  const json::object patch{
      {"metadata", json::object{{"resourceVersion", job.metadata.resource_version}}},
      {"spec", json::object{{"suspend", is_suspended}}}};
  return kube::merge_patch(Kind::job, job.metadata.namespace_, job.metadata.name,
                           json::serialize(patch));
}

bool has_running_pods(const kube::Stores& stores, const kube::Job& job) {
  return std::ranges::any_of(stores.get<kube::Pod>().owned_by(job.metadata.uid),
                             [](const auto& pod) { return pod->status.phase == "Running"; });
}

kube::ApiRequest event_on_job(const kube::Job& job, std::string_view reason, std::string message,
                              Time now, Rng& rng) {
  return kube::event_on(Kind::job, job.metadata, "Normal", reason, std::move(message), "taugrid",
                        now, rng);
}

// What of the Workload's spec follows its Job while it lives: queue (until admitted) and priority.
std::optional<kube::ApiRequest> follow_job(const kube::Workload& workload,
                                           const kube::Workload::Spec& wanted) {
  const kube::Workload::Spec& have = workload.spec;
  json::object spec;
  if (!workload.status.admission && !wanted.queue_name.empty() &&
      have.queue_name != wanted.queue_name) {
    spec["queueName"] = wanted.queue_name;
  }
  // A class of another value is no reason: whoever set the priority by hand keeps it.
  if (have.priority_class_name != wanted.priority_class_name ||
      have.priority_class_kind != wanted.priority_class_kind) {
    spec["priority"] = *wanted.priority;
    const json::value encoded = meta::encode(kube::Workload{.spec = wanted});
    const json::value* reference = meta::find_path(encoded, "spec.priorityClassRef");
    spec["priorityClassRef"] = reference == nullptr ? json::value(nullptr) : *reference;
  }
  if (spec.empty()) return std::nullopt;
  const json::object patch{{"spec", std::move(spec)}};
  return kube::merge_patch(Kind::workload, workload.metadata.namespace_, workload.metadata.name,
                           json::serialize(patch));
}

// A Job that waits may change in everything; one that runs, in its parallelism. More than was
// admitted is decided anew; less only leaves quota unused until the end.
bool is_out_of_sync(const kube::Workload& workload, const kube::Workload& wanted,
                    bool is_suspended) {
  const auto& have = workload.spec.pod_sets;
  const auto& want = wanted.spec.pod_sets;
  if (!workload.status.admission) return is_suspended && have != want;
  return have.size() == 1 && want[0].count > have[0].count;
}

kube::Actions give_workload(const kube::Stores& stores, const kube::Job& job,
                            const std::string& queue, Time now, Rng& rng) {
  kube::Actions actions;
  if (!job.spec.suspend.value_or(false)) {
    if (has_running_pods(stores, job)) return actions;  // began before there was a queue
    actions.requests.push_back(set_suspend(job, true));
  }
  const kube::Workload workload = workload_for(stores, job, queue);
  const std::string& ns = job.metadata.namespace_;
  actions.requests.push_back(kube::create_request(Kind::workload, ns, kube::object_text(workload)));
  actions.requests.push_back(
      event_on_job(job, "CreatedWorkload",
                   fmt::format("Created Workload: {}/{}", ns, workload.metadata.name), now, rng));
  return actions;
}

}  // namespace

kube::Actions JobWorkload::reconcile(const kube::Stores& stores, const kube::ObjectKey& key,
                                     Time now, Rng& rng) {
  kube::Actions actions;
  const auto job = stores.get<kube::Job>().find(key);
  if (!job || job->metadata.deletion_timestamp) return actions;  // its Workload goes with it
  if (!job->spec.managed_by.empty() && job->spec.managed_by != "kubernetes.io/job-controller")
    return actions;
  const std::string queue = queue_of(stores, *job);
  const auto workloads = stores.get<kube::Workload>().owned_by(job->metadata.uid);
  const kube::Condition* end = end_of(*job);
  if (workloads.empty()) {
    if (queue.empty() || end != nullptr) return actions;
    return give_workload(stores, *job, queue, now, rng);
  }
  const kube::Workload& workload = *workloads[0];
  const std::string& ns = workload.metadata.namespace_;
  const std::string& name = workload.metadata.name;
  if (end != nullptr) {
    if (kube::is_true(workload.status.conditions, "Finished")) return actions;
    actions.requests.push_back(finish(workload, *end, now));
    actions.requests.push_back(
        event_on_job(*job, "FinishedWorkload",
                     fmt::format("Workload '{}/{}' is declared finished", ns, name), now, rng));
    return actions;
  }
  const bool is_suspended = job->spec.suspend.value_or(false);
  const bool is_admitted =
      workload.status.admission && kube::is_true(workload.status.conditions, "Admitted");
  const kube::Workload wanted = workload_for(stores, *job, queue);
  if (is_out_of_sync(workload, wanted, is_suspended)) {
    if (!is_suspended) actions.requests.push_back(set_suspend(*job, true));
    actions.requests.push_back(kube::delete_request(Kind::workload, ns, name));
    actions.again_after = seconds(1);
    return actions;
  }
  if (auto patch = follow_job(workload, wanted.spec)) actions.requests.push_back(std::move(*patch));
  if (is_suspended == is_admitted) actions.requests.push_back(set_suspend(*job, !is_admitted));
  return actions;
}

}  // namespace tau::control
