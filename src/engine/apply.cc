// Deltas into state. Contradictory input never fails: what cannot count yet counts once it can.
#include "base/overloaded.h"
#include "engine/state.h"

namespace tau::engine {
namespace {

template <class T, class IdType>
T& grow(std::vector<T>& items, IdType id) {
  if (id.index() >= items.size()) items.resize(id.index() + 1);
  return items[id.index()];
}

constexpr uint32_t most_ids = 1u << 26;  // a wild id must not exhaust memory
template <class IdType>
bool is_sane(IdType id) {
  return id.is_some() && id.value < most_ids;
}

}  // namespace

int64_t amount_of(const Amounts& amounts, ResourceId resource) {
  for (const Amount& amount : amounts) {
    if (amount.resource == resource) return amount.value;
  }
  return 0;
}

void Engine::State::mark_dirty(NodeId id) {
  if (!is_sane(id)) return;
  ensure_node(id);
  dirty_nodes.insert(id);
  has_changed = true;
}

void Engine::State::ensure_node(NodeId id) {
  if (id.index() < nodes.size()) return;
  nodes.resize(id.index() + 1);
  for (auto& values : free) values.resize(nodes.size());
  for (Shape& shape : shapes) shape.fits.resize(nodes.size());
}

std::vector<int64_t>& Engine::State::column(ResourceId resource) {
  if (resource.index() >= free.size()) free.resize(resource.index() + 1);
  std::vector<int64_t>& values = free[resource.index()];
  values.resize(nodes.size());
  return values;
}

// ---- shapes ---------------------------------------------------------------------------------------------

ShapeId Engine::State::intern_shape(Request request) {
  std::erase_if(request.amounts, [](const Amount& amount) { return amount.value <= 0 || amount.resource.value >= 4096; });
  if (amount_of(request.amounts, engine::pods) == 0) request.amounts.push_back({engine::pods, 1});
  std::ranges::sort(request.amounts);
  if (const auto found = shape_ids.find(request); found != shape_ids.end()) {
    ++shapes[found->second.index()].uses;
    return found->second;
  }
  ShapeId id;
  if (free_shapes.empty()) {
    id = ShapeId(static_cast<uint32_t>(shapes.size()));
    shapes.emplace_back();
  } else {
    id = free_shapes.back();
    free_shapes.pop_back();
  }
  for (const Amount& amount : request.amounts) column(amount.resource);
  Shape& shape = shapes[id.index()];
  shape = {.request = request, .uses = 1, .fits = {}};
  shape.fits.resize(nodes.size());
  for (size_t n = 0; n < nodes.size(); ++n) {
    shape.fits.set(n, static_misfit(request, facts(NodeId(static_cast<uint32_t>(n)))) == Misfit::fits);
  }
  shape_ids.emplace(std::move(request), id);
  return id;
}

void Engine::State::release_shape(ShapeId id) {
  if (!id.is_some()) return;
  Shape& shape = shapes[id.index()];
  CHECK(shape.uses > 0);
  if (--shape.uses > 0) return;
  shape_ids.erase(shape.request);
  shape = {};
  free_shapes.push_back(id);
}

// ---- nodes ----------------------------------------------------------------------------------------------

void Engine::State::upsert_node(const NodeUpsert& delta) {
  if (!is_sane(delta.id)) return;
  ensure_node(delta.id);
  NodeState& node = nodes[delta.id.index()];
  node.is_known = true;
  node.spec = delta;
  for (const Amount& amount : delta.allocatable) {
    if (amount.resource.value < 4096) column(amount.resource);
  }
  const NodeFacts now = facts(delta.id);
  for (Shape& shape : shapes) {
    if (shape.uses > 0) shape.fits.set(delta.id.index(), static_misfit(shape.request, now) == Misfit::fits);
  }
  mark_dirty(delta.id);
  is_quota_dirty = true;
}

void Engine::State::remove_node(NodeId id) {
  if (!is_sane(id) || id.index() >= nodes.size() || !nodes[id.index()].is_known) return;
  nodes[id.index()].is_known = false;
  nodes[id.index()].spec = {.id = id};
  for (Shape& shape : shapes) {
    if (shape.uses > 0) shape.fits.set(id.index(), false);
  }
  mark_dirty(id);
  is_quota_dirty = true;
}

// ---- pods -----------------------------------------------------------------------------------------------

void Engine::State::set_pod_node(PodState& pod, PodId id, NodeId node, GpuMask gpus) {
  if (pod.node.is_some() && pod.node.index() < nodes.size()) {
    nodes[pod.node.index()].pods.erase(id);
    mark_dirty(pod.node);
  }
  pod.node = is_sane(node) ? node : NodeId{};
  pod.gpus = gpus;
  if (pod.node.is_some() && pod.is_live()) {
    mark_dirty(pod.node);
    nodes[pod.node.index()].pods.insert(id);
  }
  if (pod.is_live() && !pod.node.is_some()) unbound.insert(id);
  else unbound.erase(id);
}

void Engine::State::upsert_pod(const PodUpsert& delta) {
  if (!is_sane(delta.id)) return;
  PodState& pod = grow(pods, delta.id);
  const ShapeId shape = intern_shape(delta.request);
  release_shape(pod.shape);
  pod.shape = shape;
  if (pod.is_known && pod.spec.workload != delta.workload && pod.spec.workload.is_some()) {
    grow(workloads, pod.spec.workload).pods.erase(delta.id);
  }
  pod.is_known = true;
  pod.spec = delta;
  if (is_sane(delta.workload)) grow(workloads, delta.workload).pods.insert(delta.id);
  const bool is_bound = delta.node.is_some();
  if (is_bound || delta.is_ended || !pod.assumed_until) {
    pod.assumed_until.reset();
    assumed_pods.erase(delta.id);
    set_pod_node(pod, delta.id, delta.node, delta.gpus);
  }
}

void Engine::State::remove_pod(PodId id) {
  if (!is_sane(id) || id.index() >= pods.size() || !pods[id.index()].is_known) return;
  PodState& pod = pods[id.index()];
  pod.spec.is_ended = true;
  set_pod_node(pod, id, {}, 0);
  unbound.erase(id);
  assumed_pods.erase(id);
  release_shape(pod.shape);
  if (is_sane(pod.spec.workload)) grow(workloads, pod.spec.workload).pods.erase(id);
  pod = {};
}

// ---- workloads ------------------------------------------------------------------------------------------

void Engine::State::enqueue(WorkloadId id) {
  WorkloadState& workload = workloads[id.index()];
  if (!workload.waits()) return;
  workload.is_parked = workload.was_tried = false;
  const QueueId queue = workload.spec.queue;
  if (!is_sane(queue) || queue.index() >= queues.size() || !queues[queue.index()].is_known) {
    homeless.insert(id);
    return;
  }
  queues[queue.index()].pending.insert({-int64_t{workload.spec.priority}, workload.spec.created, id});
}

void Engine::State::dequeue(WorkloadId id) {
  WorkloadState& workload = workloads[id.index()];
  homeless.erase(id);
  const QueueId queue = workload.spec.queue;
  if (is_sane(queue) && queue.index() < queues.size()) {
    queues[queue.index()].pending.erase({-int64_t{workload.spec.priority}, workload.spec.created, id});
  }
}

void Engine::State::set_admission(WorkloadId id, std::vector<PodSetAdmission> admission) {
  clear_admission(id);
  WorkloadState& workload = workloads[id.index()];
  dequeue(id);
  workload.is_admitted = true;
  workload.is_parked = false;
  workload.admission = std::move(admission);
  workload.admission.resize(workload.spec.pod_sets.size());
  for (const PodSetAdmission& set : workload.admission) {
    for (const auto& [node, count] : set.nodes) {
      if (!is_sane(node)) continue;
      mark_dirty(node);
      nodes[node.index()].holders.insert(id);
    }
  }
  if (is_sane(workload.spec.queue)) {
    grow(queues, workload.spec.queue).admitted.insert(id);
  }
  if (!is_quota_dirty) charge(id, 1);
}

void Engine::State::clear_admission(WorkloadId id) {
  WorkloadState& workload = workloads[id.index()];
  if (!workload.is_admitted) return;
  if (!is_quota_dirty) charge(id, -1);
  for (const PodSetAdmission& set : workload.admission) {
    for (const auto& [node, count] : set.nodes) {
      if (!is_sane(node)) continue;
      nodes[node.index()].holders.erase(id);
      mark_dirty(node);
    }
  }
  if (is_sane(workload.spec.queue) && workload.spec.queue.index() < queues.size()) {
    queues[workload.spec.queue.index()].admitted.erase(id);
  }
  workload.is_admitted = false;
  workload.admission.clear();
  workload.assumed_until.reset();
  workload.partial_since.reset();
  has_changed = true;
}

void Engine::State::upsert_workload(const WorkloadUpsert& delta) {
  if (!is_sane(delta.id)) return;
  WorkloadState& workload = grow(workloads, delta.id);
  const bool was_admitted = workload.is_admitted;
  const auto old_admission = workload.admission;
  const auto assumed_until = workload.assumed_until;
  const auto partial_since = workload.partial_since;
  if (workload.is_known) {
    dequeue(delta.id);
    clear_admission(delta.id);
  }
  std::vector<ShapeId> shapes_now;
  for (const PodSet& set : delta.pod_sets) shapes_now.push_back(intern_shape(set.request));
  for (const ShapeId shape : workload.shapes) release_shape(shape);
  const bool is_same_work = workload.is_known && workload.spec.pod_sets == delta.pod_sets && workload.spec.queue == delta.queue;
  workload.shapes = std::move(shapes_now);
  workload.is_known = true;
  workload.spec = delta;
  if (delta.is_finished) {
    workload.evicting_until.reset();
  } else if (workload.evicting_until && delta.admission) {
    // The eviction is on its way; what the object still shows is old.
  } else if (delta.admission) {
    set_admission(delta.id, *delta.admission);
    workload.partial_since = partial_since;
  } else if (was_admitted && assumed_until && is_same_work) {
    set_admission(delta.id, old_admission);  // our own admission has not come back yet
    workload.assumed_until = assumed_until;
  } else {
    workload.evicting_until.reset();
  }
  if (workload.waits()) enqueue(delta.id);
  if (!workload.waits() && workload.verdict) {
    workload.verdict.reset();
    cleared.push_back(delta.id);
  }
  to_watch.insert(delta.id);
}

void Engine::State::remove_workload(WorkloadId id) {
  if (!is_sane(id) || id.index() >= workloads.size() || !workloads[id.index()].is_known) return;
  dequeue(id);
  clear_admission(id);
  WorkloadState& workload = workloads[id.index()];
  for (const ShapeId shape : workload.shapes) release_shape(shape);
  if (workload.verdict) cleared.push_back(id);
  to_watch.erase(id);
  workload = {.pods = std::move(workload.pods)};  // its pods may still be seen for a while
}

// ---- all ------------------------------------------------------------------------------------------------

void Engine::State::apply(const Delta& delta) {
  const auto requeue_all = [this](QueueId id) {
    for (size_t w = 0; w < workloads.size(); ++w) {
      const WorkloadId workload(static_cast<uint32_t>(w));
      if (workloads[w].is_known && workloads[w].spec.queue == id && workloads[w].waits()) {
        homeless.erase(workload);
        enqueue(workload);
      }
    }
  };
  std::visit(
      Overloaded{
          [this](const NodeUpsert& d) { upsert_node(d); },
          [this](const NodeGone& d) { remove_node(d.id); },
          [this](const PodUpsert& d) { upsert_pod(d); },
          [this](const PodGone& d) { remove_pod(d.id); },
          [this](const WorkloadUpsert& d) { upsert_workload(d); },
          [this](const WorkloadGone& d) { remove_workload(d.id); },
          [this](const FlavorUpsert& d) {
            if (!is_sane(d.id)) return;
            grow(flavors, d.id) = {true, d};
            is_quota_dirty = has_changed = true;
          },
          [this](const FlavorGone& d) {
            if (!is_sane(d.id) || d.id.index() >= flavors.size()) return;
            flavors[d.id.index()] = {};
            is_quota_dirty = has_changed = true;
          },
          [&](const QueueUpsert& d) {
            if (!is_sane(d.id)) return;
            QueueState& queue = grow(queues, d.id);
            queue.is_known = true;
            queue.spec = d;
            is_quota_dirty = has_changed = true;
            requeue_all(d.id);
          },
          [&](const QueueGone& d) {
            if (!is_sane(d.id) || d.id.index() >= queues.size()) return;
            QueueState& queue = queues[d.id.index()];
            queue.is_known = false;
            queue.spec = {.id = d.id};
            queue.pending.clear();
            is_quota_dirty = has_changed = true;
            requeue_all(d.id);
          },
          [this](const CohortUpsert& d) {
            if (!is_sane(d.id)) return;
            grow(cohorts, d.id) = {true, d, QuotaTree::none};
            is_quota_dirty = has_changed = true;
          },
          [this](const CohortGone& d) {
            if (!is_sane(d.id) || d.id.index() >= cohorts.size()) return;
            cohorts[d.id.index()] = {};
            is_quota_dirty = has_changed = true;
          },
          [this](const BindFailed& d) {
            if (!is_sane(d.pod) || d.pod.index() >= pods.size()) return;
            PodState& pod = pods[d.pod.index()];
            if (!pod.is_known || !pod.assumed_until) return;
            pod.assumed_until.reset();
            assumed_pods.erase(d.pod);
            set_pod_node(pod, d.pod, pod.spec.node, pod.spec.gpus);
          },
          [this](const AdmitFailed& d) {
            if (!is_sane(d.workload) || d.workload.index() >= workloads.size()) return;
            WorkloadState& workload = workloads[d.workload.index()];
            if (!workload.is_known || !workload.assumed_until) return;
            clear_admission(d.workload);
            enqueue(d.workload);
          },
      },
      delta);
}

}  // namespace tau::engine
