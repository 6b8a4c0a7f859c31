// Deltas into state. Contradictory input never fails: what cannot count yet counts once it can.
#include "base/check.h"
#include "engine/state.h"

namespace tau::engine {

void Engine::State::apply(const Delta& delta) {
  std::visit([this](const auto& one) { apply(one); }, delta);
}

void Engine::State::node_changed(NodeId id) {
  for (Shape& shape : shapes) {
    if (shape.uses > 0) check_object(shape, id);
  }
  for (FlavorState& flavor : flavors) check_flavor(flavor, id);
  is_quota_stale |= std::ranges::any_of(
      queues, [](const QueueState& queue) { return queue.is_known && queue.spec.follows_nodes; });
  note_freed_capacity();
  ++generation;
}

void Engine::State::check_flavor(FlavorState& flavor, NodeId id) {
  const NodeState& node = nodes[id];
  flavor.nodes.resize(nodes.size());
  const bool has_labels = std::ranges::all_of(flavor.spec.node_labels, [&](const Label& wanted) {
    return std::ranges::any_of(node.spec.labels, [&](const Label& has) {
      return has.key == wanted.key && has.value == wanted.value;
    });
  });
  const bool has_levels = std::ranges::all_of(flavor.spec.levels, [&](LabelKeyId level) {
    return std::ranges::find(node.spec.labels, level, &Label::key) != node.spec.labels.end();
  });
  flavor.nodes.set(id.index(), flavor.is_known && node.is_known && has_labels && has_levels);
}

void Engine::State::apply(const NodeUpsert& delta) {
  if (!is_sane(delta.id)) return;
  nodes.grow(delta.id);
  NodeUpsert spec = delta;
  std::erase_if(spec.allocatable, [](const Amount& amount) {
    return amount.value <= 0 || amount.resource.value >= most_resources;
  });
  for (Amount& amount : spec.allocatable) amount.value = std::min(amount.value, int64_t{1} << 50);
  nodes.ensure_columns(spec.allocatable);
  NodeState& node = nodes.at(delta.id);
  NodeState now = {
      .is_known = true, .spec = std::move(spec), .gpus_used = node.gpus_used, .pods = node.pods};
  std::set<ResourceId> touched{gpu};
  for (const Amount& amount : node.spec.allocatable) touched.insert(amount.resource);
  for (const Amount& amount : now.spec.allocatable) touched.insert(amount.resource);
  nodes.ensure_columns({{gpu, 0}});
  for (const ResourceId resource : touched)
    nodes.add(delta.id, resource,
              NodeTable::capacity(now, resource) - NodeTable::capacity(node, resource));
  for (const PodId pod_id : node.pods) {
    const PodState& pod = pods[pod_id.index()];
    if (pod.gpus == 0 || amount_of(amounts(pod.shape), gpu) == 0) continue;
    nodes.add(delta.id, gpu,
              std::popcount(pod.gpus & node.spec.healthy_gpus) -
                  std::popcount(pod.gpus & now.spec.healthy_gpus));
  }
  const bool is_moved = node.is_known != now.is_known || node.spec.labels != now.spec.labels;
  node = std::move(now);
  for (FlavorState& flavor : flavors) flavor.is_topology_stale |= is_moved;
  node_changed(delta.id);
}

void Engine::State::apply(const NodeGone& delta) {
  if (!is_sane(delta.id) || delta.id.index() >= nodes.size() || !nodes[delta.id].is_known) return;
  // As one without anything to give; its pods are still told of for a while.
  apply(NodeUpsert{.id = delta.id, .is_ready = false});
  nodes.at(delta.id).is_known = false;
  for (FlavorState& flavor : flavors) flavor.is_topology_stale = true;
  node_changed(delta.id);
}

void Engine::State::apply(const PodUpsert& delta) {
  if (!is_sane(delta.id)) return;
  PodState& pod = grow(pods, delta.id);
  const ShapeId shape = intern_shape(delta.request);
  const NodeId shown = is_sane(delta.node) ? delta.node : NodeId{};
  const bool keeps_assumed = pod.assumed_until && !shown.is_some() && !delta.is_ended;
  const NodeId node = keeps_assumed ? pod.node : shown;
  const GpuMask gpus = keeps_assumed ? pod.gpus : delta.gpus;
  const bool stays = pod.is_live() && !delta.is_ended && pod.shape == shape &&
                     pod.workload == delta.workload && pod.pod_set == delta.pod_set &&
                     pod.node == node && (pod.gpus == gpus || !node.is_some()) &&
                     (node.is_some() || unbound.contains(delta.id));
  if (!stays && pod.is_known) set_pod_node(delta.id, {}, 0);
  if (pod.is_known && pod.workload != delta.workload && is_sane(pod.workload))
    grow(workloads, pod.workload).pods.erase(delta.id);
  if (is_sane(delta.workload)) grow(workloads, delta.workload).pods.insert(delta.id);
  release_shape(pod.shape);
  pod.is_known = true;
  pod.is_ended = delta.is_ended;
  pod.is_schedulable = delta.is_schedulable;
  pod.workload = delta.workload;
  pod.pod_set = delta.pod_set;
  pod.shape = shape;
  pod.priority = delta.priority;
  pod.created = delta.created;
  pod.shown_node = shown;
  pod.shown_gpus = delta.gpus;
  if (!keeps_assumed) pod.assumed_until.reset();
  if (!stays) set_pod_node(delta.id, node, gpus);
}

void Engine::State::apply(const PodGone& delta) {
  if (!is_sane(delta.id) || delta.id.index() >= pods.size() || !pods[delta.id.index()].is_known)
    return;
  PodState& pod = pods[delta.id.index()];
  pod.is_ended = true;
  set_pod_node(delta.id, {}, 0);
  release_shape(pod.shape);
  if (is_sane(pod.workload)) grow(workloads, pod.workload).pods.erase(delta.id);
  pod = {};
}

void Engine::State::apply(const BindFailed& delta) {
  if (!is_sane(delta.pod) || delta.pod.index() >= pods.size()) return;
  PodState& pod = pods[delta.pod.index()];
  if (!pod.is_known || !pod.assumed_until) return;
  pod.assumed_until.reset();
  set_pod_node(delta.pod, pod.shown_node, pod.shown_gpus);
}

void Engine::State::enqueue(WorkloadId id) {
  WorkloadState& workload = workloads[id.index()];
  CHECK(workload.phase == Phase::waiting);
  workload.was_tried = false;
  ++generation;
  if (!is_queue(workload.queue)) {
    homeless.insert(id);
    return;
  }
  queues[workload.queue.index()].has_news = true;
  QueueBook& book = queues[workload.queue.index()].book;
  // Whether its time has come is for the next cycle to see.
  if (workload.is_active && workload.stop == StopPolicy::none &&
      (!workload.not_before || workload.is_ripe))
    book.add(workload.key(id), workload.work_class);
  else
    book.hold_back(workload.key(id));
  if (workload.not_before && !workload.is_ripe) watched.insert(id);
}

void Engine::State::dequeue(WorkloadId id) {
  WorkloadState& workload = workloads[id.index()];
  release_hold(id);
  homeless.erase(id);
  if (!is_queue(workload.queue)) return;
  queues[workload.queue.index()].has_news = true;
  QueueBook& book = queues[workload.queue.index()].book;
  book.remove(workload.key(id), workload.work_class);
  book.let_go(workload.key(id));
}

void Engine::State::requeue_all(QueueId id) {
  for (uint32_t w = 0; w < workloads.size(); ++w) {
    const WorkloadState& workload = workloads[w];
    if (workload.queue != id) continue;
    if (workload.phase == Phase::waiting) {
      dequeue(WorkloadId(w));
      enqueue(WorkloadId(w));
    } else if (workload.phase == Phase::admitted) {
      must_go.insert(WorkloadId(w));
    }
  }
}

void Engine::State::stop_telling(WorkloadId id) {
  WorkloadState& workload = workloads[id.index()];
  workload.told_version = 0;
  if (std::exchange(workload.told_reason, Reason::none) != Reason::none) cleared.push_back(id);
}

namespace {

bool has_same_places(const std::vector<PodSetAdmission>& a, const std::vector<PodSetAdmission>& b) {
  const auto places = [](const PodSetAdmission& set) {
    std::map<NodeId, int32_t> sum;
    for (const auto& [node, count] : set.nodes) sum[node] += count;
    return sum;
  };
  return std::ranges::equal(a, b, [&](const PodSetAdmission& x, const PodSetAdmission& y) {
    return x.count == y.count && places(x) == places(y);
  });
}

// The API shows the admission that is in force.
bool confirms(const WorkloadState& workload, const WorkloadUpsert& delta) {
  if (workload.phase != Phase::admitted || delta.is_finished || delta.is_evicted ||
      !delta.admission || !has_same_places(*delta.admission, workload.admission))
    return false;
  return std::ranges::equal(*delta.admission, workload.admission,
                            [](const PodSetAdmission& shown, const PodSetAdmission& ours) {
                              auto flavors = shown.flavors;
                              std::ranges::sort(flavors);
                              return flavors == ours.flavors;
                            });
}

}  // namespace

void Engine::State::apply(const WorkloadUpsert& delta) {
  if (!is_sane(delta.id)) return;
  WorkloadState& workload = grow(workloads, delta.id);
  WorkClass work;
  for (const PodSet& set : delta.pod_sets) {
    work.shapes.push_back(intern_shape(set.request));
    work.counts.push_back(std::clamp(set.count, 0, 1 << 20));
    work.min_counts.push_back(
        std::clamp(set.min_count.value_or(work.counts.back()), 0, work.counts.back()));
    work.topology.push_back(set.topology);
    std::erase_if(work.topology.back().slices,
                  [](const TopologyRequest::Slice& slice) { return slice.size < 1; });
  }
  const QueueId queue = is_sane(delta.queue) ? delta.queue : QueueId{};
  const bool is_same = workload.is_known() && class_of(workload) == work && workload.queue == queue;
  const bool is_as_it_was = workload.phase == Phase::waiting && !delta.admission &&
                            !delta.is_finished && workload.priority == delta.priority &&
                            workload.created == delta.created &&
                            workload.is_active == delta.is_active && workload.stop == delta.stop &&
                            workload.not_before == delta.not_before;
  if (is_same && is_as_it_was) {
    for (const ShapeId shape : work.shapes) release_shape(shape);
    return;
  }
  if (is_same && confirms(workload, delta)) {
    for (const ShapeId shape : work.shapes) release_shape(shape);
    workload.is_active = delta.is_active;
    workload.stop = delta.stop;
    workload.recorded = delta.admission;
    workload.assumed_until.reset();
    if (delta.reserved_at) workload.reserved_at = *delta.reserved_at;
    must_go.insert(delta.id);
    return;
  }
  const Phase was = workload.phase;
  const bool was_assumed = workload.assumed_until.has_value();
  const auto assumed_until = workload.assumed_until, evicting_until = workload.evicting_until,
             partial_since = workload.partial_since;
  const WorkloadId preemptor = workload.preemptor;
  std::vector<PodSetAdmission> in_force = workload.admission;
  const bool was_recorded = workload.recorded.has_value();
  if (workload.is_known()) {
    dequeue(delta.id);
    clear_admission(delta.id);
    release_class(class_of(workload));
    for (const ShapeId shape : workload.shapes) release_shape(shape);
  }
  const ClassId work_class = intern_class(work);
  workload.phase = Phase::waiting;
  workload.is_active = delta.is_active;
  workload.stop = delta.stop;
  workload.is_finished = delta.is_finished;
  workload.queue = queue;
  workload.priority = delta.priority;
  workload.created = delta.created;
  workload.is_ripe &= workload.not_before == delta.not_before;
  workload.not_before = delta.not_before;
  workload.shapes = std::move(work.shapes);
  workload.counts = std::move(work.counts);
  workload.min_counts = std::move(work.min_counts);
  workload.topology = std::move(work.topology);
  workload.work_class = work_class;
  workload.recorded = delta.admission;
  workload.places.assign(workload.shapes.size(), {});
  for (const PodId pod : workload.pods) {
    if (pods[pod.index()].node.is_some()) count_taken(pods[pod.index()], 1);
  }

  const bool was_ours = was == Phase::admitted && was_assumed && is_same;
  if (delta.is_finished) {
    workload.phase = Phase::finished;
  } else if (delta.admission && was == Phase::evicting) {
    // The eviction is on its way; what the object still shows is old. Its quota is in use until it
    // is gone.
    set_admission(delta.id, *delta.admission);
    start_leaving(delta.id);
    workload.evicting_until = evicting_until;
    workload.preemptor = preemptor;
  } else if (was_ours &&
             (!delta.admission || (was_recorded && !has_same_places(*delta.admission, in_force)))) {
    set_admission(delta.id, std::move(in_force));  // our own decision has not come back yet
    workload.assumed_until = assumed_until;
    workload.partial_since = partial_since;
  } else if (delta.admission) {
    set_admission(delta.id, *delta.admission);
    workload.partial_since = partial_since;
    workload.preemptor = preemptor;
    if (delta.is_evicted) start_leaving(delta.id);
  } else {
    enqueue(delta.id);
  }
  if (delta.reserved_at) workload.reserved_at = *delta.reserved_at;
  if (workload.phase != Phase::waiting) stop_telling(delta.id);
  if (workload.phase == Phase::admitted) must_go.insert(delta.id);
  watched.insert(delta.id);
}

void Engine::State::apply(const WorkloadGone& delta) {
  if (!is_sane(delta.id) || delta.id.index() >= workloads.size() ||
      !workloads[delta.id.index()].is_known())
    return;
  dequeue(delta.id);
  clear_admission(delta.id);
  stop_telling(delta.id);
  WorkloadState& workload = workloads[delta.id.index()];
  release_class(class_of(workload));
  for (const ShapeId shape : workload.shapes) release_shape(shape);
  watched.erase(delta.id);
  must_go.erase(delta.id);
  std::set<PodId> pods_seen = std::move(workload.pods);
  workload = {};
  workload.pods = std::move(pods_seen);  // they may still be seen for a while
}

void Engine::State::apply(const AdmitFailed& delta) {
  if (!is_sane(delta.workload) || delta.workload.index() >= workloads.size()) return;
  WorkloadState& workload = workloads[delta.workload.index()];
  if (workload.phase != Phase::admitted || !workload.assumed_until) return;
  const auto partial_since = workload.partial_since;
  clear_admission(delta.workload);
  if (!workload.recorded) {
    enqueue(delta.workload);
    return;
  }
  // Only a move of places did not take: what is recorded still holds.
  set_admission(delta.workload, *workload.recorded);
  workload.partial_since = partial_since;
  must_go.insert(delta.workload);
}

void Engine::State::apply(const QueueUpsert& delta) {
  if (!is_sane(delta.id)) return;
  QueueState& queue = grow(queues, delta.id);
  queue.is_known = true;
  queue.spec = delta;
  is_quota_stale = true;
  requeue_all(delta.id);
  queue.book.wake(wake_all);
  queue.has_news = true;
}

void Engine::State::apply(const QueueGone& delta) {
  if (!is_sane(delta.id) || delta.id.index() >= queues.size()) return;
  QueueState& queue = queues[delta.id.index()];
  for (const OrderKey& key : std::set(queue.holders)) release_hold(key.id);
  queue.is_known = false;
  queue.spec = {.id = delta.id};
  queue.book.clear();
  is_quota_stale = true;
  requeue_all(delta.id);
}

void Engine::State::apply(const CohortUpsert& delta) {
  if (!is_sane(delta.id)) return;
  grow(cohorts, delta.id) = {.is_known = true, .spec = delta};
  is_quota_stale = true;
}

void Engine::State::apply(const CohortGone& delta) {
  if (!is_sane(delta.id) || delta.id.index() >= cohorts.size()) return;
  cohorts[delta.id.index()] = {};
  is_quota_stale = true;
}

void Engine::State::apply(const FairSharing& delta) {
  fair = delta;
  is_quota_stale = true;  // everybody looks again
}

void Engine::State::apply(const FlavorUpsert& delta) {
  if (!is_sane(delta.id)) return;
  FlavorState& flavor =
      grow(flavors, delta.id) = {.is_known = true, .spec = delta, .nodes = {}, .topology = {}};
  for (uint32_t n = 0; n < nodes.size(); ++n) check_flavor(flavor, NodeId(n));
  note_freed_capacity();
  is_quota_stale = true;
}

void Engine::State::apply(const FlavorGone& delta) {
  if (!is_sane(delta.id) || delta.id.index() >= flavors.size()) return;
  flavors[delta.id.index()] = {};
  flavors[delta.id.index()].nodes.resize(nodes.size());
  is_quota_stale = true;
}

}  // namespace tau::engine
