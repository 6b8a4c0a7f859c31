// The heads of the queues, round by round: each round takes one from every queue, decides in which
// order, and admits what still fits.
#include "base/limits.h"
#include "engine/cycle.h"

namespace tau::engine {

struct Cycle::Head {
  OrderKey key;
  BucketKey bucket;
  QueueId queue;
  int32_t borrow_level = 0;
  bool has_quota = true;
};

void Cycle::keep_admission(WorkloadId id, std::vector<PodSetAdmission> admission) {
  state.set_admission(id, std::move(admission));
  WorkloadState& workload = state.workloads[id.index()];
  workload.assumed_until = now + seconds(limits::assume_expiry_s);
  state.watched.insert(id);
  note_next(*workload.assumed_until);
  state.stop_telling(id);
  result.decisions.push_back(Admit{id, workload.queue, workload.admission});
}

// One of each queue that has anything to try; queues that have none are dropped.
std::vector<Cycle::Head> Cycle::pop_heads(std::vector<QueueId>& queues) {
  std::vector<Head> heads;
  std::erase_if(queues, [&](QueueId id) {
    const QueueBook& book = state.queues[id.index()].book;
    if (book.head() == nullptr) return true;
    heads.push_back({.key = *book.head(), .bucket = book.head_bucket(), .queue = id});
    return false;
  });
  if (heads.size() > 1) {
    // Least borrowing first: looked at by quota alone, all against the same state.
    for (Head& head : heads) {
      if (!state.quota.has_parent(state.queues[head.queue.index()].quota))
        continue;  // nobody else's
      const Outcome outcome = find_admission(state.workloads[head.key.id.index()], false);
      head.borrow_level = outcome.borrow_level;
      head.has_quota = outcome.admission.has_value();
    }
  }
  std::ranges::sort(heads, [](const Head& a, const Head& b) {
    return std::tie(a.borrow_level, a.key) < std::tie(b.borrow_level, b.key);
  });
  return heads;
}

void Cycle::try_head(const Head& head, bool is_alone, std::vector<QueueId>& blocked) {
  ++result.stats.heads;
  WorkloadState& workload = state.workloads[head.key.id.index()];
  QueueState& queue = state.queues[head.queue.index()];
  workload.was_tried = true;
  Outcome outcome = find_admission(workload, true);
  if (outcome.admission) {
    keep_admission(head.key.id, std::move(*outcome.admission));
    ++result.stats.admitted;
    return;
  }
  Bucket* bucket = queue.book.find(head.bucket);
  bucket->is_proved = outcome.proof == Proof::proved;
  if (queue.spec.strategy == Strategy::strict_fifo) {
    blocked.push_back(head.queue);
    return;
  }
  // Its quota went to another head of this round: it is tried again, and not parked.
  const bool lost_the_race = !is_alone && head.has_quota && state.quota.has_parent(queue.quota) &&
                             outcome.blocked_by == wake_quota;
  if (!lost_the_race)
    queue.book.park(head.bucket, outcome.blocked_by == wake_none ? wake_all : outcome.blocked_by);
}

void Cycle::admit_heads() {
  std::vector<QueueId> queues;
  for (const QueueState& queue : state.queues) {
    if (queue.is_known && queue.spec.stop == StopPolicy::none &&
        !state.quota.is_cyclic(queue.quota))
      queues.push_back(queue.spec.id);
  }
  for (int32_t round = 0; options.max_heads_per_queue == 0 || round < options.max_heads_per_queue;
       ++round) {
    const std::vector<Head> heads = pop_heads(queues);
    if (heads.empty()) break;
    std::vector<QueueId> blocked;
    for (const Head& head : heads) {
      if (result.stats.steps >= options.step_budget) {
        result.stats.is_budget_spent = true;
        note_next(now);
        return;
      }
      try_head(head, heads.size() == 1, blocked);
    }
    std::erase_if(queues,
                  [&](QueueId id) { return std::ranges::find(blocked, id) != blocked.end(); });
  }
}

}  // namespace tau::engine
