// One round of decisions, as numbered steps.
#include "engine/cycle.h"

#include "base/limits.h"

namespace tau::engine {

CycleResult Engine::run_cycle(Time now, Rng&, const CycleOptions& options) {
  Cycle cycle{.state = *state_, .now = now, .options = options};
  cycle.expire();              // 1. what the API never confirmed is taken back; back-offs end
  cycle.evict_what_must_go();  // 2. stopped queues, deactivated work, gangs that lost a node for
                               // good
  cycle.wake_what_may_fit();   // 3. what has been freed wakes what waits for it
  cycle.bind_held_pods();      // 4. pods that appeared go to the places held for them
  cycle.serve_holders();       // 5. those whose room is held start once it is free
  cycle.admit_heads();         // 6. the heads of the queues, least borrowing first: flavors, quota
                               //    and nodes for the whole workload on the trail, or who has to
                               //    go for it, or nothing
  cycle.place_loose_pods();    // 7. pods outside every queue
  cycle.explain_what_waits();  // 8. verdicts with numbers
  return std::move(cycle.result);
}

namespace {
Duration expiry() {
  return seconds(limits::assume_expiry_s);
}
}  // namespace

void Cycle::note_next(Time when) {
  if (!result.next || when < *result.next) result.next = when;
}

void Cycle::wake_what_may_fit() {
  state.refresh_quota();
  const bool has_freed_all_quota = std::exchange(state.has_freed_all_quota, false);
  const auto freed_quota = std::exchange(state.freed_quota, {});
  const bool has_freed_capacity = std::exchange(state.has_freed_capacity, false);
  if (!has_freed_all_quota && !has_freed_capacity && freed_quota.empty()) return;
  for (QueueState& queue : state.queues) {
    if (!queue.is_known) continue;
    const bool has_quota =
        has_freed_all_quota || freed_quota.contains(state.quota.root(queue.quota));
    const auto what = static_cast<Wake>((has_quota ? wake_quota : wake_none) |
                                        (has_freed_capacity ? wake_capacity : wake_none));
    if (what != wake_none) queue.book.wake(what);
  }
}

void Cycle::expire() {
  while (!state.assumed_pods.empty() && state.assumed_pods.front().first <= now) {
    const auto [until, id] = state.assumed_pods.front();
    state.assumed_pods.pop_front();
    if (id.index() < state.pods.size() && state.pods[id.index()].assumed_until == until)
      state.apply(BindFailed{id});
  }
  for (const WorkloadId id : std::vector(state.watched.begin(), state.watched.end())) {
    WorkloadState& workload = state.workloads[id.index()];
    if (workload.assumed_until && *workload.assumed_until <= now) state.apply(AdmitFailed{id});
    if (workload.evicting_until && *workload.evicting_until <= now) {
      // Told once, and nothing came of it: it stands as the API shows it, and is told again.
      const auto recorded = workload.recorded;
      const WorkloadId preemptor = workload.preemptor;
      state.clear_admission(id);
      if (recorded) {
        state.set_admission(id, *recorded);
        workload.preemptor = preemptor;
      } else
        state.enqueue(id);
      state.must_go.insert(id);
    }
    if (workload.phase == Phase::waiting && workload.not_before && !workload.is_ripe &&
        *workload.not_before <= now) {
      state.dequeue(id);
      workload.is_ripe = true;
      state.enqueue(id);
    }
    const auto waits_for = [&](std::optional<Time> when) {
      if (when) note_next(*when);
      return when.has_value();
    };
    const bool is_partial = workload.partial_since.has_value();
    if (is_partial) note_next(*workload.partial_since + expiry());
    const bool is_waiting =
        workload.phase == Phase::waiting && !workload.is_ripe && waits_for(workload.not_before);
    if (!waits_for(workload.assumed_until) && !waits_for(workload.evicting_until) && !is_partial &&
        !is_waiting)
      state.watched.erase(id);
  }
  if (!state.assumed_pods.empty()) note_next(state.assumed_pods.front().first);
}

void Cycle::evict(WorkloadId id, EvictReason reason, WorkloadId preemptor, PreemptCause cause) {
  WorkloadState& workload = state.workloads[id.index()];
  state.start_leaving(id);
  workload.preemptor = preemptor;
  workload.cause = cause;
  workload.assumed_until.reset();
  workload.partial_since.reset();
  workload.evicting_until = now + expiry();
  state.watched.insert(id);
  ++state.generation;
  note_next(*workload.evicting_until);
  result.decisions.push_back(Evict{id, reason, preemptor, cause});
  ++result.stats.evicted;
}

void Cycle::evict_what_must_go() {
  for (const WorkloadId id : std::exchange(state.must_go, {})) {
    const WorkloadState& workload = state.workloads[id.index()];
    if (workload.phase != Phase::admitted) continue;
    if (!workload.is_active)
      evict(id, EvictReason::deactivated);
    else if (workload.stop == StopPolicy::hold_and_drain)
      evict(id, EvictReason::local_queue_stopped);
    else if (state.is_queue(workload.queue) &&
             state.queues[workload.queue.index()].spec.stop == StopPolicy::hold_and_drain)
      evict(id, EvictReason::queue_stopped);
    else if (workload.preemptor.is_some() &&
             !state.workloads[workload.preemptor.index()].hold.empty())
      evict(id, EvictReason::preempted, workload.preemptor, workload.cause);
  }
  for (const WorkloadId id : std::vector(state.watched.begin(), state.watched.end())) {
    const WorkloadState& workload = state.workloads[id.index()];
    if (workload.phase == Phase::admitted && workload.partial_since &&
        *workload.partial_since + expiry() <= now)
      evict(id, EvictReason::node_lost);
  }
}

}  // namespace tau::engine
