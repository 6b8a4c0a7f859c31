// What the nodes would have room for without those pushed out.
#include "engine/preempt.h"

namespace tau::engine {

NodeProbe::NodeProbe(Cycle& cycle, const WorkloadState& workload,
                     const std::vector<PodSetAdmission>& flavors)
    : cycle_(cycle), workload_(workload), flavors_(flavors) {
  for (size_t set = 0; set < flavors.size(); ++set) {
    std::vector<FlavorId> used;
    for (const auto& [resource, flavor] : flavors[set].flavors) used.push_back(flavor);
    if (!cycle.has_nodes(used) || flavors[set].count == 0) continue;
    needs_.push_back({.wants = &cycle.state.amounts(workload.shapes[set]),
                      .where = cycle.candidates(workload.shapes[set], used),
                      .count = flavors[set].count,
                      .room_at = std::vector<int32_t>(cycle.state.nodes.size())});
  }
  if (needs_.empty()) return;
  for (uint32_t n = 0; n < cycle.state.nodes.size(); ++n) refresh(NodeId(n));
  // Those who are leaving count as gone.
  for (const WorkloadId id : cycle.state.leaving) remove(id);
  at_start_ = needs_;
}

void NodeProbe::refresh(NodeId node) {
  for (Need& need : needs_) {
    const int32_t now =
        need.where.nodes.test(node.index())
            ? static_cast<int32_t>(std::min(need.count, cycle_.state.nodes.room(node, *need.wants)))
            : 0;
    need.room += now - need.room_at[node.index()];
    need.room_at[node.index()] = now;
  }
}

void NodeProbe::change(WorkloadId id, int64_t sign) {
  if (needs_.empty()) return;
  Engine::State& state = cycle_.state;
  const WorkloadState& workload = state.workloads[id.index()];
  for (const PodId pod_id : workload.pods) {
    const PodState& pod = state.pods[pod_id.index()];
    if (!pod.node.is_some()) continue;
    Amounts held = state.amounts(pod.shape);
    for (Amount& amount : held) {
      if (amount.resource == gpu && pod.gpus != 0)
        amount.value = std::popcount(pod.gpus & state.nodes[pod.node].spec.healthy_gpus);
    }
    state.nodes.take(pod.node, held, sign, state.trail);
    refresh(pod.node);
  }
  for (size_t set = 0; set < workload.places.size(); ++set) {
    for (const Place& place : workload.places[set]) {
      if (place.left() == 0) continue;
      state.nodes.take(place.node, state.amounts(workload.shapes[set]), sign * place.left(),
                       state.trail);
      refresh(place.node);
    }
  }
}

void NodeProbe::remove(WorkloadId id) {
  change(id, -1);
}
void NodeProbe::put_back(WorkloadId id) {
  change(id, 1);
}

bool NodeProbe::is_in_topology(const PodSetAdmission& set) const {
  return std::ranges::any_of(set.flavors, [&](const auto& one) {
    return cycle_.topology_flavor({&one.second, 1}).is_some();
  });
}

// For one set the sum says it exactly; for several it is only a first look.
bool NodeProbe::fits() {
  for (const Need& need : needs_) {
    if (need.room < need.count) return false;
  }
  const bool is_bound = std::ranges::any_of(
      flavors_, [&](const PodSetAdmission& set) { return is_in_topology(set); });
  return (needs_.size() < 2 && !is_bound) || cycle_.find_later(workload_, flavors_).has_value();
}

}  // namespace tau::engine
