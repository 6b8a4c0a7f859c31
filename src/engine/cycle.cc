// One round of decisions, as numbered steps.
#include "base/limits.h"
#include "engine/state.h"

namespace tau::engine {

CycleResult Engine::run_cycle(Time now, Rng&, const CycleOptions& options) {
  Cycle cycle{*state_, now, options, {}, {}};
  state_->refresh();             // 1. totals of what changed
  cycle.expire_assumed();        // 2. what the API never confirmed is taken back
  cycle.evict_what_must_go();    // 3. stopped queues, deactivated workloads, places on lost nodes
  cycle.bind_held_pods();        // 4. pods that appeared go to the places held for them
  cycle.admit_heads();           // 5. queue heads: flavors, quota and nodes for the whole workload, or nothing
                                 //    (5b: preemption and reclaim on the same trail come here)
  cycle.place_loose_pods();      // 6. pods outside every queue
  cycle.explain_what_waits();    // 7. verdicts with numbers
  state_->refresh();
  return std::move(cycle.result);
}

namespace {
Duration expiry() { return seconds(limits::assume_expiry_s); }
}  // namespace

void Cycle::note_next(Time when) {
  if (!result.next || when < *result.next) result.next = when;
}

void Cycle::expire_assumed() {
  for (const PodId id : std::vector(state.assumed_pods.begin(), state.assumed_pods.end())) {
    PodState& pod = state.pods[id.index()];
    if (*pod.assumed_until > now) {
      note_next(*pod.assumed_until);
      continue;
    }
    state.apply(BindFailed{id});
  }
  for (const WorkloadId id : std::vector(state.to_watch.begin(), state.to_watch.end())) {
    WorkloadState& workload = state.workloads[id.index()];
    bool is_watched = false;
    if (workload.assumed_until) {
      if (*workload.assumed_until <= now) {
        state.apply(AdmitFailed{id});
      } else {
        note_next(*workload.assumed_until);
        is_watched = true;
      }
    }
    if (workload.evicting_until) {
      if (*workload.evicting_until <= now) {  // told once, and nothing came of it: say it again
        workload.evicting_until.reset();
        if (workload.spec.admission && !workload.spec.is_finished) state.set_admission(id, *workload.spec.admission);
      } else {
        note_next(*workload.evicting_until);
        is_watched = true;
      }
    }
    if (workload.partial_since) {
      note_next(*workload.partial_since + expiry());
      is_watched = true;
    }
    if (workload.waits() && workload.spec.not_before && *workload.spec.not_before > now) {
      note_next(*workload.spec.not_before);
      is_watched = true;
    }
    if (!is_watched) state.to_watch.erase(id);
  }
  state.refresh();
}

void Cycle::evict(WorkloadId id, EvictReason reason) {
  WorkloadState& workload = state.workloads[id.index()];
  state.clear_admission(id);
  workload.evicting_until = now + expiry();
  state.to_watch.insert(id);
  state.enqueue(id);
  note_next(*workload.evicting_until);
  result.decisions.push_back(Evict{id, reason, {}});
  ++result.stats.evicted;
}

void Cycle::evict_what_must_go() {
  std::vector<std::pair<WorkloadId, EvictReason>> going;
  for (const QueueState& queue : state.queues) {
    for (const WorkloadId id : queue.admitted) {
      const WorkloadState& workload = state.workloads[id.index()];
      if (!workload.spec.is_active) going.emplace_back(id, EvictReason::deactivated);
      else if (queue.is_known && queue.spec.stop == StopPolicy::hold_and_drain) going.emplace_back(id, EvictReason::queue_stopped);
      else if (workload.partial_since && *workload.partial_since + expiry() <= now) going.emplace_back(id, EvictReason::node_lost);
    }
  }
  std::ranges::sort(going);
  for (const auto& [id, reason] : going) evict(id, reason);
  state.refresh();
}

// ---- binding --------------------------------------------------------------------------------------------

void Cycle::assume_bound(PodId id, NodeId node, GpuMask gpus) {
  PodState& pod = state.pods[id.index()];
  state.set_pod_node(pod, id, node, gpus);
  pod.assumed_until = now + expiry();
  state.assumed_pods.insert(id);
  note_next(*pod.assumed_until);
  state.refresh();
  result.decisions.push_back(Bind{id, node, gpus});
  ++result.stats.bound;
}

bool Cycle::is_usable(const WorkloadState& workload, size_t set, NodeId node) const {
  const Shape& shape = state.shapes[workload.shapes[set].index()];
  if (!shape.fits.test(node.index())) return false;
  // A place is part of what is taken already, so nothing may be overdrawn; devices must be there in fact.
  for (const Amount& amount : shape.request.amounts) {
    if (state.free[amount.resource.index()][node.index()] < 0) return false;
  }
  const NodeState& at = state.nodes[node.index()];
  const int64_t wants = amount_of(shape.request.amounts, gpu);
  return at.spec.healthy_gpus == 0 || std::popcount(at.spec.healthy_gpus & ~at.gpus_used) >= wants;
}

bool Cycle::move_place(WorkloadId id, size_t set) {
  WorkloadState& workload = state.workloads[id.index()];
  const Shape& shape = state.shapes[workload.shapes[set].index()];
  std::vector<FlavorId> flavors;
  for (const auto& [resource, flavor] : workload.admission[set].flavors) flavors.push_back(flavor);
  NodeId lost;
  for (const auto& [node, count] : workload.admission[set].nodes) {
    if (state.held(workload, set, node) > 0 && !is_usable(workload, set, node)) {
      lost = node;
      break;
    }
  }
  if (!lost.is_some()) return false;
  const NodeId found = state.best_node(shape, flavors, workload.admission[set].nodes, 1, result.stats);
  if (!found.is_some()) return false;
  std::vector<PodSetAdmission> moved = workload.admission;
  std::map<NodeId, int32_t> places;
  for (const auto& [node, count] : moved[set].nodes) places[node] += count;
  --places[lost];
  ++places[found];
  moved[set].nodes.clear();
  for (const auto& [node, count] : places) {
    if (count > 0) moved[set].nodes.emplace_back(node, count);
  }
  const auto partial_since = workload.partial_since;
  keep_admission(id, std::move(moved));
  workload.partial_since = partial_since;
  state.refresh();
  return true;
}

bool Cycle::bind_one(PodId id) {
  const PodState& pod = state.pods[id.index()];
  WorkloadState& workload = state.workloads[pod.spec.workload.index()];
  const size_t set = pod.spec.pod_set;
  if (set >= workload.admission.size()) return false;
  const int64_t wants = amount_of(state.shapes[pod.shape.index()].request.amounts, gpu);
  for (int tries = 0; tries < 2; ++tries) {
    for (const auto& [node, count] : workload.admission[set].nodes) {
      if (state.held(workload, set, node) == 0 || !is_usable(workload, set, node)) continue;
      assume_bound(id, node, state.pick_gpus(node, wants));
      return true;
    }
    if (!move_place(pod.spec.workload, set)) break;
  }
  return false;
}

void Cycle::bind_held_pods() {
  std::vector<std::tuple<int64_t, Time, PodId>> order;
  for (const PodId id : state.unbound) {
    const PodState& pod = state.pods[id.index()];
    const WorkloadId owner = pod.spec.workload;
    if (!owner.is_some() || !pod.spec.is_schedulable || owner.index() >= state.workloads.size()) continue;
    const WorkloadState& workload = state.workloads[owner.index()];
    if (!workload.is_admitted || pod.spec.pod_set >= workload.admission.size()) continue;
    if (workload.admission[pod.spec.pod_set].nodes.empty()) continue;  // quota alone: others place it
    order.emplace_back(-int64_t{pod.spec.priority}, pod.spec.created, id);
  }
  std::ranges::sort(order);
  std::set<WorkloadId> partial;
  for (const auto& [priority, created, id] : order) {
    if (!bind_one(id)) partial.insert(state.pods[id.index()].spec.workload);
  }
  for (const QueueState& queue : state.queues) {
    for (const WorkloadId id : queue.admitted) {
      WorkloadState& workload = state.workloads[id.index()];
      if (!partial.contains(id)) {
        workload.partial_since.reset();
      } else if (!workload.partial_since) {
        workload.partial_since = now;
        state.to_watch.insert(id);
        note_next(now + expiry());
      }
    }
  }
}

// ---- admission ------------------------------------------------------------------------------------------

void Cycle::keep_admission(WorkloadId id, std::vector<PodSetAdmission> admission) {
  state.trail.undo_to(0);  // the totals are made anew from the admission itself
  state.set_admission(id, admission);
  WorkloadState& workload = state.workloads[id.index()];
  workload.assumed_until = now + expiry();
  state.to_watch.insert(id);
  note_next(*workload.assumed_until);
  if (workload.verdict) {
    workload.verdict.reset();
    result.cleared.push_back(id);
  }
  result.decisions.push_back(Admit{id, workload.spec.queue, std::move(admission)});
}

bool Cycle::try_admit(WorkloadId id) {
  auto found = find_admission(state.workloads[id.index()]);
  if (!found) return false;
  keep_admission(id, std::move(*found));
  state.refresh();
  ++result.stats.admitted;
  return true;
}

void Cycle::admit_heads() {
  // Room only shrinks within these rounds, so what failed once need not be tried again in this cycle.
  if (std::exchange(state.has_changed, false)) {
    for (WorkloadState& workload : state.workloads) workload.is_parked = false;
  }
  using Signature = std::tuple<QueueId, std::vector<ShapeId>, std::vector<int32_t>>;
  std::set<Signature> failed;
  std::set<QueueId> blocked;
  for (int32_t round = 0; options.max_heads_per_queue == 0 || round < options.max_heads_per_queue; ++round) {
    std::vector<OrderKey> heads;
    for (const QueueState& queue : state.queues) {
      if (!queue.is_known || queue.spec.stop != StopPolicy::none || blocked.contains(queue.spec.id)) continue;
      for (const OrderKey& key : queue.pending) {
        const WorkloadState& workload = state.workloads[key.id.index()];
        if (workload.is_parked || workload.evicting_until || !workload.spec.is_active) continue;
        if (workload.spec.not_before && *workload.spec.not_before > now) continue;
        heads.push_back(key);
        break;
      }
    }
    if (heads.empty() || result.stats.steps >= options.step_budget) {
      result.stats.is_budget_spent |= !heads.empty();
      break;
    }
    std::ranges::sort(heads);
    for (const OrderKey& key : heads) {
      ++result.stats.heads;
      WorkloadState& workload = state.workloads[key.id.index()];
      workload.was_tried = true;
      const QueueId queue = workload.spec.queue;
      Signature signature{queue, workload.shapes, {}};
      for (const PodSet& set : workload.spec.pod_sets) std::get<2>(signature).push_back(set.count);
      if (!failed.contains(signature) && try_admit(key.id)) continue;
      failed.insert(std::move(signature));
      if (state.queues[queue.index()].spec.strategy == Strategy::strict_fifo) blocked.insert(queue);
      else workload.is_parked = true;
    }
  }
  // Admissions themselves free nothing: only what comes from outside wakes parked work.
  state.has_changed = false;
}

void Cycle::place_loose_pods() {
  std::vector<std::tuple<int64_t, Time, PodId>> order;
  for (const PodId id : state.unbound) {
    const PodState& pod = state.pods[id.index()];
    if (!pod.spec.workload.is_some() && pod.spec.is_schedulable) order.emplace_back(-int64_t{pod.spec.priority}, pod.spec.created, id);
  }
  std::ranges::sort(order);
  for (const auto& [priority, created, id] : order) {
    PodState& pod = state.pods[id.index()];
    const Shape& shape = state.shapes[pod.shape.index()];
    const NodeId node = state.best_node(shape, {}, {}, 1, result.stats);
    if (node.is_some()) {
      pod.verdict.reset();
      assume_bound(id, node, state.pick_gpus(node, amount_of(shape.request.amounts, gpu)));
      continue;
    }
    Verdict verdict{.pod = id};
    const std::pair<ShapeId, int32_t> wanted{pod.shape, 1};
    if (auto blocker = capacity_blocker({&wanted, 1}, {})) verdict.blockers.push_back(std::move(*blocker));
    tell(pod.verdict, std::move(verdict));
  }
  state.has_changed = false;
}

}  // namespace tau::engine
