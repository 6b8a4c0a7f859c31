// Verdicts: kept per bucket of equal work, told once per change to everyone in it.
#include "engine/cycle.h"

namespace tau::engine {
namespace {

// What has gone stale is looked at again, so many buckets a cycle, round after round; what is new,
// at once.
constexpr int64_t refreshes_per_cycle = 256;
constexpr Duration refresh_pause = milliseconds(100);

}  // namespace

std::vector<Blocker> blockers_in_queue(const std::vector<Blocker>& of_bucket, int32_t ahead) {
  std::vector<Blocker> blockers = of_bucket;
  if (ahead > 0)
    blockers.push_back({.reason = Reason::waiting_priority,
                        .quota = {},
                        .free_gpus_by_node = {},
                        .position = ahead + 1,
                        .ahead = ahead});
  if (blockers.empty())
    blockers.push_back({.reason = Reason::not_evaluated, .quota = {}, .free_gpus_by_node = {}});
  return blockers;
}

Reason held_back_reason(const WorkloadState& workload) {
  if (!workload.is_active) return Reason::user_hold;
  return workload.stop == StopPolicy::none ? Reason::backoff : Reason::queue_stopped;
}

bool Cycle::explain_bucket(Bucket& bucket) {
  const WorkloadState& workload = state.workloads[bucket.waiting.begin()->id.index()];
  std::vector<Blocker> blockers = blockers_of(workload);
  // By itself it would fit: what it needs does not come together, or went to another's head.
  if (blockers.empty() && workload.was_tried && bucket.blocked_by != wake_none) {
    blockers.push_back(joint_blocker(workload));
    if (bucket.blocked_by == wake_quota) blockers.back().reason = Reason::waiting_quota;
  }
  for (Blocker& blocker : blockers) {
    if (blocker.reason >= Reason::capacity_short && blocker.reason <= Reason::capacity_unhealthy &&
        !bucket.is_proved)
      blocker.proof = Proof::not_within_budget;
  }
  bucket.evaluated = state.generation;
  if (bucket.version != 0 && bucket.blockers == blockers) return false;
  bucket.blockers = std::move(blockers);
  bucket.version = ++state.last_version;
  return true;
}

void Cycle::tell(WorkloadId id, uint64_t version, std::vector<Blocker> blockers) {
  WorkloadState& workload = state.workloads[id.index()];
  if (workload.told_version == version && workload.told_reason == blockers[0].reason) return;
  workload.told_version = version;
  workload.told_reason = blockers[0].reason;
  result.verdicts.push_back({.workload = id, .pod = {}, .blockers = std::move(blockers)});
}

void Cycle::explain_queue(QueueState& queue, int64_t& refreshes_left) {
  for (auto& [key, bucket] : queue.book.buckets()) {
    if (bucket.evaluated == state.generation || queue.spec.stop != StopPolicy::none) continue;
    if (bucket.evaluated != 0 && --refreshes_left < 0) continue;
    queue.has_news |= explain_bucket(bucket);
  }
  if (!std::exchange(queue.has_news, false)) return;
  int32_t ahead = 0;
  const auto plain = [&](WorkloadId id, Reason reason) {
    tell(id, 0, {{.reason = reason, .quota = {}, .free_gpus_by_node = {}}});
  };
  for (const OrderKey& key : queue.holders) plain(key.id, Reason::waiting_preemption);
  for (const auto& [key, bucket] : queue.book.in_order()) {
    if (bucket == nullptr) {
      plain(key.id, held_back_reason(state.workloads[key.id.index()]));
    } else if (queue.spec.stop != StopPolicy::none) {
      plain(key.id, Reason::queue_stopped);
    } else {
      const WorkloadState& workload = state.workloads[key.id.index()];
      const Reason first = !bucket->blockers.empty() ? bucket->blockers[0].reason
                           : ahead > 0               ? Reason::waiting_priority
                                                     : Reason::not_evaluated;
      if (workload.told_version != bucket->version || workload.told_reason != first)
        tell(key.id, bucket->version, blockers_in_queue(bucket->blockers, ahead));
      ++ahead;
    }
  }
}

void Cycle::explain_pods() {
  for (const PodId id : waiting_pods) {
    PodState& pod = state.pods[id.index()];
    Verdict verdict{.workload = {}, .pod = id, .blockers = {}};
    if (auto blocker = capacity_blocker({{{pod.shape, 1}}, {{{}}}}))
      verdict.blockers.push_back(std::move(*blocker));
    Verdict& told = state.told_pods[id];
    if (!pod.has_verdict || told != verdict) {
      told = verdict;
      result.verdicts.push_back(std::move(verdict));
    }
    pod.has_verdict = true;
  }
  std::erase_if(state.told_pods,
                [&](const auto& entry) { return !state.pods[entry.first.index()].has_verdict; });
}

void Cycle::explain_what_waits() {
  for (const WorkloadId id : state.homeless) {
    const Reason reason =
        state.workloads[id.index()].is_active ? Reason::queue_not_found : Reason::user_hold;
    tell(id, 0, {{.reason = reason, .quota = {}, .free_gpus_by_node = {}}});
  }
  // From where the last cycle ran out of refreshes.
  int64_t refreshes_left = refreshes_per_cycle;
  const size_t count = state.queues.size(), start = count == 0 ? 0 : state.explain_from % count;
  bool is_all = true;
  for (size_t i = 0; i < count; ++i) {
    QueueState& queue = state.queues[(start + i) % count];
    if (!queue.is_known) continue;
    explain_queue(queue, refreshes_left);
    if (refreshes_left < 0 && std::exchange(is_all, false))
      state.explain_from = (start + i) % count;
  }
  if (!is_all) note_next(now + refresh_pause);
  explain_pods();
  result.cleared = std::exchange(state.cleared, {});
}

}  // namespace tau::engine
