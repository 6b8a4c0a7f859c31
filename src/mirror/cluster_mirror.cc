#include "mirror/cluster_mirror.h"

#include <fmt/format.h>

#include "base/overloaded.h"
#include "kube/selector.h"
#include "mirror/translate.h"

namespace tau::mirror {

std::span<const kube::Kind> ClusterMirror::watches() {
  using enum kube::Kind;
  static constexpr kube::Kind kinds[] = {node,          topology,   resource_flavor, cohort,
                                         cluster_queue, namespace_, local_queue,     job,
                                         workload,      pod};
  return kinds;
}

Result<std::string> cluster_queue_of(const kube::Stores& stores, const kube::Workload& workload) {
  const std::string& ns = workload.metadata.namespace_;
  const auto local = stores.get<kube::LocalQueue>().find(ns, workload.spec.queue_name);
  if (!local)
    return fail(ErrorCode::not_found, fmt::format("LocalQueue {} does not exist in namespace {}",
                                                  workload.spec.queue_name, ns));
  const auto queue = stores.get<kube::ClusterQueue>().find("", local->cluster_queue);
  if (!queue)
    return fail(ErrorCode::not_found, fmt::format("ClusterQueue {} of LocalQueue {} does not exist",
                                                  local->cluster_queue, workload.spec.queue_name));
  const auto space = stores.get<kube::Namespace>().find("", ns);
  if (!queue->spec.namespace_selector) {
    return fail(ErrorCode::forbidden,
                fmt::format("ClusterQueue {} admits no namespace: it has no namespaceSelector",
                            queue->metadata.name));
  }
  const auto selector = kube::Selector::from(*queue->spec.namespace_selector);
  if (!selector || !selector->matches(space ? space->metadata.labels : kube::StringMap{})) {
    return fail(ErrorCode::forbidden, fmt::format("ClusterQueue {} does not admit namespace {}",
                                                  queue->metadata.name, ns));
  }
  return queue->metadata.name;
}

std::vector<engine::Delta> ClusterMirror::take_deltas() {
  for (const engine::PodId id : std::exchange(dead_pods_, {})) names_.pods.release(id);
  for (const engine::WorkloadId id : std::exchange(dead_workloads_, {}))
    names_.workloads.release(id);
  return std::exchange(deltas_, {});
}

void ClusterMirror::on_change(const kube::Stores& stores, const kube::AnyChange& change) {
  std::visit(
      Overloaded{
          [&](const kube::Change<kube::Node>& c) { node_changed(stores, c); },
          [&](const kube::Change<kube::Pod>& c) { pod_changed(stores, c); },
          [&](const kube::Change<kube::Workload>& c) { workload_changed(stores, c); },
          [&](const kube::Change<kube::ResourceFlavor>& c) {
            if (c.now)
              put_flavor(stores, *c.now);
            else
              deltas_.push_back(engine::FlavorGone{names_.flavors.intern(c.old->metadata.name)});
          },
          [&](const kube::Change<kube::Topology>& c) {
            for (const auto& [key, flavor] : stores.get<kube::ResourceFlavor>().all()) {
              if (flavor->topology_name == c.latest().metadata.name) put_flavor(stores, *flavor);
            }
          },
          [&](const kube::Change<kube::Cohort>& c) {
            if (c.now)
              deltas_.push_back(cohort_of(names_, *c.now));
            else
              deltas_.push_back(engine::CohortGone{names_.cohorts.intern(c.old->metadata.name)});
          },
          [&](const kube::Change<kube::ClusterQueue>& c) {
            // Its status changes with every admission; only the spec matters here.
            if (c.now && c.old && c.now->spec == c.old->spec &&
                c.now->metadata.annotations == c.old->metadata.annotations)
              return;
            if (c.now)
              deltas_.push_back(queue_of(names_, *c.now));
            else
              deltas_.push_back(engine::QueueGone{names_.queues.intern(c.old->metadata.name)});
            if (!c.old || !c.now ||
                c.old->spec.namespace_selector != c.now->spec.namespace_selector)
              reresolve_workloads(stores, "", "");
          },
          [&](const kube::Change<kube::Job>& c) {
            // Whether a pod may go by itself hangs on its Job, which may be listed after it.
            const auto label = [](const kube::Job& job) {
              return job.metadata.labels.contains("kueue.x-k8s.io/queue-name");
            };
            if (!c.now || (c.old && label(*c.old) == label(*c.now))) return;
            for (const auto& pod : stores.get<kube::Pod>().owned_by(c.now->metadata.uid)) {
              put_pod(stores, *pod);
            }
          },
          [&](const kube::Change<kube::LocalQueue>& c) {
            if (c.now && c.old && c.now->cluster_queue == c.old->cluster_queue &&
                c.now->stop_policy == c.old->stop_policy)
              return;
            reresolve_workloads(stores, c.latest().metadata.namespace_, c.latest().metadata.name);
          },
          [&](const kube::Change<kube::Namespace>& c) {
            if (c.now && c.old && c.now->metadata.labels == c.old->metadata.labels) return;
            reresolve_workloads(stores, c.latest().metadata.name, "");
          },
          [](const auto&) {},
      },
      change);
}

// With the levels of its topology; until that is known it has none.
void ClusterMirror::put_flavor(const kube::Stores& stores, const kube::ResourceFlavor& flavor) {
  engine::FlavorUpsert made = flavor_of(names_, flavor);
  const auto topology = stores.get<kube::Topology>().find("", flavor.topology_name);
  if (topology) {
    for (const std::string& level : topology->levels)
      made.levels.push_back(names_.label_keys.intern(level));
  }
  deltas_.push_back(std::move(made));
}

void ClusterMirror::failed(const engine::Delta& decision, const std::string& uid) {
  if (const auto* bind = std::get_if<engine::BindFailed>(&decision)) {
    if (names_.pods.find(uid) != bind->pod) return;
  } else if (const auto* admit = std::get_if<engine::AdmitFailed>(&decision)) {
    if (names_.workloads.find(uid) != admit->workload) return;
  }
  deltas_.push_back(decision);
}

void ClusterMirror::reassert(const kube::Stores& stores, const std::string& name) {
  if (const auto node = stores.get<kube::Node>().find("", name)) {
    deltas_.push_back(node_of(names_, *node));
  }
  for (const auto& [key, pod] : stores.get<kube::Pod>().all()) {
    if (pod->spec.node_name == name) put_pod(stores, *pod);
  }
}

void ClusterMirror::reresolve_workloads(const kube::Stores& stores, const std::string& ns,
                                        const std::string& local_queue) {
  for (const auto& [key, workload] : stores.get<kube::Workload>().all()) {
    if (!ns.empty() && key.ns != ns) continue;
    if (!local_queue.empty() && workload->spec.queue_name != local_queue) continue;
    put_workload(stores, *workload);
  }
}

// ---- nodes

void ClusterMirror::node_changed(const kube::Stores& stores,
                                 const kube::Change<kube::Node>& change) {
  if (!change.now) {
    deltas_.push_back(engine::NodeGone{names_.nodes.intern(change.old->metadata.name)});
    return;
  }
  engine::NodeUpsert made = node_of(names_, *change.now);
  const bool has_new_devices = !change.old || devices_of(*change.old) != devices_of(*change.now);
  if (change.old && !has_new_devices) {
    // Heartbeats change nothing that placement looks at.
    const auto& was = *change.old;
    const auto& is = *change.now;
    if (was.spec == is.spec && was.metadata.labels == is.metadata.labels &&
        was.status.allocatable == is.status.allocatable &&
        kube::is_true(was.status.conditions, "Ready") ==
            kube::is_true(is.status.conditions, "Ready")) {
      return;
    }
  }
  deltas_.push_back(std::move(made));
  if (!has_new_devices) return;
  for (const auto& [key, pod] : stores.get<kube::Pod>().all()) {
    if (pod->spec.node_name == change.now->metadata.name) put_pod(stores, *pod);
  }
}

// ---- pods

namespace {
bool is_ended(const kube::Pod& pod) {
  return pod.status.phase == "Succeeded" || pod.status.phase == "Failed";
}
// A kubelet's reports change nothing that the engine looks at, and would wake all that waits.
bool is_same_to_engine(const kube::Pod& was, const kube::Pod& is) {
  return is_ended(was) == is_ended(is) && was.spec == is.spec &&
         was.metadata.annotations == is.metadata.annotations &&
         was.metadata.owner_references == is.metadata.owner_references &&
         was.metadata.deletion_timestamp.has_value() == is.metadata.deletion_timestamp.has_value();
}
}  // namespace

void ClusterMirror::pod_changed(const kube::Stores& stores, const kube::Change<kube::Pod>& change) {
  if (change.now) {
    if (change.old && is_same_to_engine(*change.old, *change.now)) return;
    put_pod(stores, *change.now);
    return;
  }
  const engine::PodId id = names_.pods.find(change.old->metadata.uid);
  if (!id.is_some()) return;
  deltas_.push_back(engine::PodGone{id});
  dead_pods_.push_back(id);
}

void ClusterMirror::put_pods_of(const kube::Stores& stores, const kube::Workload& workload) {
  const kube::OwnerReference* owner = kube::controller_of(workload.metadata);
  if (owner == nullptr) return;
  for (const auto& pod : stores.get<kube::Pod>().owned_by(owner->uid)) put_pod(stores, *pod);
}

void ClusterMirror::put_pod(const kube::Stores& stores, const kube::Pod& pod) {
  const engine::PodId id = names_.pods.intern(pod.metadata.uid);
  if (names_.pod_names.size() <= id.index()) names_.pod_names.resize(id.index() + 1);
  names_.pod_names[id.index()] = {pod.metadata.namespace_, pod.metadata.name, pod.metadata.uid};
  engine::PodUpsert made{.id = id,
                         .request = request_of(names_, pod.spec),
                         .priority = static_cast<int32_t>(pod.spec.priority.value_or(0)),
                         .created = pod.metadata.creation_timestamp.value_or(Time{})};
  made.is_ended = is_ended(pod);
  const bool is_ours = options_.owns_all_pods || pod.spec.scheduler_name == options_.scheduler_name;
  made.is_schedulable =
      is_ours && pod.spec.scheduling_gates.empty() && !pod.metadata.deletion_timestamp;
  if (const kube::OwnerReference* owner = kube::controller_of(pod.metadata);
      owner != nullptr && owner->kind == "Job") {
    const auto workloads = stores.get<kube::Workload>().owned_by(owner->uid);
    const auto job = stores.get<kube::Job>().find_uid(owner->uid);
    if (!workloads.empty()) made.workload = names_.workloads.intern(workloads[0]->metadata.uid);
    // In a queue, but not admitted as a whole yet: it may not slip in by itself.
    else if (job && job->metadata.labels.contains("kueue.x-k8s.io/queue-name"))
      made.is_schedulable = false;
  }
  if (!pod.spec.node_name.empty()) {
    made.node = names_.nodes.intern(pod.spec.node_name);
    if (const auto node = stores.get<kube::Node>().find("", pod.spec.node_name))
      made.gpus = mask_of(pod, devices_of(*node));
  }
  deltas_.push_back(std::move(made));
}

// ---- workloads

void ClusterMirror::workload_changed(const kube::Stores& stores,
                                     const kube::Change<kube::Workload>& change) {
  if (change.now) {
    put_workload(stores, *change.now);
    if (!change.old) put_pods_of(stores, *change.now);
    return;
  }
  const engine::WorkloadId id = names_.workloads.find(change.old->metadata.uid);
  if (!id.is_some()) return;
  deltas_.push_back(engine::WorkloadGone{id});
  dead_workloads_.push_back(id);
  // Its pods are its no more: the next workload with this id must not inherit them.
  put_pods_of(stores, *change.old);
}

void ClusterMirror::put_workload(const kube::Stores& stores, const kube::Workload& workload) {
  const engine::WorkloadId id = names_.workloads.intern(workload.metadata.uid);
  if (names_.workload_names.size() <= id.index()) names_.workload_names.resize(id.index() + 1);
  names_.workload_names[id.index()] = {workload.metadata.namespace_, workload.metadata.name,
                                       workload.metadata.uid};
  engine::WorkloadUpsert made{.id = id,
                              .priority = static_cast<int32_t>(workload.spec.priority.value_or(0)),
                              .created = workload.metadata.creation_timestamp.value_or(Time{})};
  if (const auto queue = cluster_queue_of(stores, workload))
    made.queue = names_.queues.intern(*queue);
  for (const kube::PodSet& set : workload.spec.pod_sets) {
    made.pod_sets.push_back({.request = request_of(names_, set.template_.spec),
                             .count = static_cast<int32_t>(set.count),
                             .topology = topology_of(names_, set)});
    if (set.min_count) made.pod_sets.back().min_count = static_cast<int32_t>(*set.min_count);
  }
  const auto local =
      stores.get<kube::LocalQueue>().find(workload.metadata.namespace_, workload.spec.queue_name);
  if (local) made.stop = stop_of(local->stop_policy);
  made.is_active = workload.spec.active.value_or(true);
  made.is_finished = kube::is_true(workload.status.conditions, "Finished");
  if (workload.status.admission && !made.is_finished) {
    made.admission = admission_of(names_, workload);
    // Its quota stays where it was given, whatever became of the LocalQueue.
    made.queue = names_.queues.intern(workload.status.admission->cluster_queue);
    const auto* reserved = kube::find_condition(workload.status.conditions, "QuotaReserved");
    if (reserved != nullptr && reserved->status == "True")
      made.reserved_at = reserved->last_transition_time;
    made.is_evicted = kube::is_true(workload.status.conditions, "Evicted");
  }
  if (workload.status.requeue_state) made.not_before = workload.status.requeue_state->requeue_at;
  deltas_.push_back(std::move(made));
}

}  // namespace tau::mirror
