// Pods to nodes: those of admitted work to the places held for them, those outside every queue by
// themselves.
#include "base/limits.h"
#include "engine/cycle.h"

namespace tau::engine {
namespace {

Duration expiry() {
  return seconds(limits::assume_expiry_s);
}

// Priority, then age, then id.
using PodOrder = std::tuple<int64_t, Time, PodId>;
PodOrder order_of(const PodState& pod, PodId id) {
  return {-int64_t{pod.priority}, pod.created, id};
}

}  // namespace

void Cycle::assume_bound(PodId id, NodeId node, GpuMask gpus) {
  PodState& pod = state.pods[id.index()];
  pod.has_verdict = false;
  state.set_pod_node(id, node, gpus);
  pod.assumed_until = now + expiry();
  state.assumed_pods.emplace_back(*pod.assumed_until, id);
  result.decisions.push_back(Bind{id, node, gpus});
  ++result.stats.bound;
}

// A held place is part of what is taken already, so nothing may be overdrawn; devices must be there
// in fact.
bool Cycle::is_usable(const WorkloadState& workload, size_t set, NodeId node) const {
  const Shape& shape = state.shapes[workload.shapes[set].index()];
  if (!shape.fits.test(node.index())) return false;
  for (const Amount& amount : shape.request.amounts) {
    const int64_t free = state.nodes.free(node, amount.resource);
    if (free < 0 && free + state.held_on(node, amount.resource) < 0) return false;
  }
  const NodeState& at = state.nodes[node];
  return std::popcount(at.spec.healthy_gpus & ~at.gpus_used) >=
         amount_of(shape.request.amounts, gpu);
}

// A place that is moved stays where the set's topology wants it: in the domain of the others, and
// in the slice that has lost it.
void Cycle::keep_together(WorkloadId id, size_t set, NodeId lost, Candidates& where) {
  const WorkloadState& workload = state.workloads[id.index()];
  const TopologyRequest& asks = workload.topology[set];
  const auto value_at = [&](NodeId node, LabelKeyId level) {
    for (const Label& label : state.nodes[node].spec.labels) {
      if (label.key == level) return label.value;
    }
    return LabelValueId{};
  };
  const auto restrict_to = [&](LabelKeyId level, const std::set<LabelValueId>& values) {
    const Bits before = where.nodes;
    before.for_each([&](size_t n) {
      if (!values.contains(value_at(NodeId(static_cast<uint32_t>(n)), level)))
        where.nodes.set(n, false);
    });
  };
  std::set<LabelValueId> domains;
  std::map<LabelValueId, int32_t> by_slice;
  for (const auto& [node, count] : workload.admission[set].nodes) {
    const int32_t staying = count - (node == lost ? 1 : 0);
    if (staying == 0) continue;
    if (node != lost) domains.insert(value_at(node, asks.level));
    if (!asks.slices.empty()) by_slice[value_at(node, asks.slices[0].level)] += staying;
  }
  if (asks.kind == TopologyRequest::Kind::required && !domains.empty())
    restrict_to(asks.level, domains);
  if (asks.slices.empty()) return;
  std::set<LabelValueId> broken;
  for (const auto& [slice, count] : by_slice) {
    if (count % asks.slices[0].size != 0) broken.insert(slice);
  }
  if (!broken.empty()) restrict_to(asks.slices[0].level, broken);
}

// Moves one held place that has become useless to a node that takes it.
bool Cycle::move_place(WorkloadId id, size_t set) {
  WorkloadState& workload = state.workloads[id.index()];
  const auto lost = std::ranges::find_if(workload.places[set], [&](const Place& place) {
    return place.left() > 0 && !is_usable(workload, set, place.node);
  });
  if (lost == workload.places[set].end()) return false;
  std::vector<FlavorId> flavors;
  for (const auto& [resource, flavor] : workload.admission[set].flavors) flavors.push_back(flavor);
  Candidates where = candidates(workload.shapes[set], flavors);
  if (topology_flavor(flavors).is_some()) keep_together(id, set, lost->node, where);
  const NodeId from = lost->node, to = best_node(where);
  if (!to.is_some()) return false;
  std::vector<PodSetAdmission> moved = workload.admission;
  std::map<NodeId, int32_t> places(moved[set].nodes.begin(), moved[set].nodes.end());
  if (--places[from] == 0) places.erase(from);
  ++places[to];
  moved[set].nodes.assign(places.begin(), places.end());
  const auto partial_since = workload.partial_since;
  const WorkloadId preemptor = workload.preemptor;
  state.clear_admission(id);
  keep_admission(id, std::move(moved));
  workload.preemptor = preemptor;
  workload.partial_since = partial_since;
  return true;
}

bool Cycle::bind_one(PodId id) {
  const PodState& pod = state.pods[id.index()];
  const WorkloadState& workload = state.workloads[pod.workload.index()];
  const int64_t wants = amount_of(state.amounts(pod.shape), gpu);
  for (int tries = 0; tries < 2; ++tries) {
    for (const Place& place : workload.places[pod.pod_set]) {
      if (place.left() == 0 || !is_usable(workload, pod.pod_set, place.node)) continue;
      const GpuMask gpus = state.nodes.pick_gpus(place.node, wants);
      if (wants > 0 && gpus == 0) continue;  // the pod asks for more than its set says
      assume_bound(id, place.node, gpus);
      return true;
    }
    if (!move_place(pod.workload, pod.pod_set)) break;
  }
  return false;
}

void Cycle::bind_held_pods() {
  std::vector<PodOrder> order;
  for (const PodId id : state.unbound) {
    const PodState& pod = state.pods[id.index()];
    if (!pod.workload.is_some() || !pod.is_schedulable ||
        pod.workload.index() >= state.workloads.size())
      continue;
    const WorkloadState& workload = state.workloads[pod.workload.index()];
    if (workload.phase != Phase::admitted || pod.pod_set >= workload.admission.size()) continue;
    if (workload.admission[pod.pod_set].nodes.empty()) continue;  // quota alone: others place it
    order.push_back(order_of(pod, id));
  }
  std::ranges::sort(order);
  std::set<WorkloadId> partial;
  for (const auto& [priority, created, id] : order) {
    if (!bind_one(id)) partial.insert(state.pods[id.index()].workload);
  }
  for (const WorkloadId id : state.watched) {
    if (!partial.contains(id)) state.workloads[id.index()].partial_since.reset();
  }
  for (const WorkloadId id : partial) {
    WorkloadState& workload = state.workloads[id.index()];
    if (!workload.partial_since) workload.partial_since = now;
    state.watched.insert(id);
    note_next(*workload.partial_since + expiry());
  }
}

// Pods after workloads: what is held for a gang is not to be had.
void Cycle::place_loose_pods() {
  std::vector<PodOrder> order;
  for (const PodId id : state.unbound) {
    const PodState& pod = state.pods[id.index()];
    if (!pod.workload.is_some() && pod.is_schedulable) order.push_back(order_of(pod, id));
  }
  std::ranges::sort(order);
  // The best node for a shape stays the best until it is full: taking from it only makes it the
  // better choice.
  ShapeId last_shape;
  NodeId last_node;
  Candidates where;
  std::set<ShapeId> no_room;
  for (const auto& [priority, created, id] : order) {
    const ShapeId shape = state.pods[id.index()].shape;
    const Amounts& wants = state.amounts(shape);
    NodeId node;
    if (!no_room.contains(shape)) {
      if (shape != last_shape) where = candidates(shape, {});
      node =
          shape == last_shape && state.nodes.has(last_node, wants) ? last_node : best_node(where);
    }
    if (!node.is_some()) {
      no_room.insert(shape);
      waiting_pods.push_back(id);
      continue;
    }
    last_shape = shape;
    last_node = node;
    assume_bound(id, node, state.nodes.pick_gpus(node, amount_of(wants, gpu)));
  }
  if (result.stats.bound > 0) note_next(now + expiry());
}

}  // namespace tau::engine
