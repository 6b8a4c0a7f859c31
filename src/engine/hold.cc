// Room that is held: whoever pushed others out starts as soon as they are gone, and nobody takes
// the room in between.
#include "engine/cycle.h"

namespace tau::engine {

// Its quota is still its own to have, and its nodes still take such pods.
bool Cycle::is_hold_sound(const WorkloadState& workload) const {
  const QueueState& queue = state.queues[workload.queue.index()];
  for (size_t set = 0; set < workload.hold.size(); ++set) {
    for (const auto& [resource, flavor] : workload.hold[set].flavors) {
      const FlavorResource at{flavor, resource};
      if (!state.quota.has(queue.quota, at) || state.quota.available_later(queue.quota, at) < 0)
        return false;
    }
    const Shape& shape = state.shapes[workload.shapes[set].index()];
    for (const auto& [node, count] : workload.hold[set].nodes) {
      if (!shape.fits.test(node.index())) return false;
    }
  }
  return true;
}

// Somebody it pushed out is there still, or pods are left on its nodes that have to go.
bool Cycle::is_room_coming(WorkloadId id) const {
  const WorkloadState& workload = state.workloads[id.index()];
  if (std::ranges::any_of(state.leaving, [&](WorkloadId other) {
        return state.workloads[other.index()].preemptor == id;
      }))
    return true;
  for (const PodSetAdmission& set : workload.hold) {
    for (const auto& [node, count] : set.nodes) {
      for (const PodId pod : state.nodes[node].pods) {
        const WorkloadId owner = state.pods[pod.index()].workload;
        if (owner.is_some() && owner.index() < state.workloads.size() &&
            state.workloads[owner.index()].phase != Phase::admitted)
          return true;
      }
    }
  }
  return false;
}

void Cycle::serve_holder(WorkloadId id) {
  WorkloadState& workload = state.workloads[id.index()];
  if (workload.hold_checked == state.generation) return;
  const QueueState& queue = state.queues[workload.queue.index()];
  const OrderKey* head = queue.book.head();
  const bool is_overtaken =
      queue.spec.strategy == Strategy::strict_fifo && head != nullptr && *head < workload.key(id);
  if (!is_overtaken) {
    std::vector<int32_t> counts;
    for (const PodSetAdmission& set : workload.hold) counts.push_back(set.count);
    state.charge_hold(workload, -1);
    Outcome outcome = find_admission(workload, counts, true);
    state.charge_hold(workload, 1);
    if (outcome.admission) {
      keep_admission(id, std::move(*outcome.admission));
      workload.reserved_at = now;
      ++result.stats.admitted;
      return;
    }
    if (is_hold_sound(workload) && is_room_coming(id)) {
      workload.hold_checked = state.generation;
      return;
    }
  }
  // The world has changed: it waits its turn again.
  state.release_hold(id);
  state.enqueue(id);
}

void Cycle::serve_holders() {
  if (state.holder_count == 0) return;
  for (const QueueState& queue : state.queues) {
    if (!queue.is_known || queue.spec.stop != StopPolicy::none) continue;
    if (!queue.holders.empty()) had_holder.insert(queue.spec.id);
    for (const OrderKey& key : std::set(queue.holders)) serve_holder(key.id);
  }
}

// Those who have to go are told, and what they leave is kept for it.
void Cycle::take(WorkloadId id, Taking taking) {
  for (const Victim& victim : taking.victims)
    evict(victim.workload, EvictReason::preempted, id, victim.cause);
  state.set_hold(id, std::move(taking.admission));
}

}  // namespace tau::engine
