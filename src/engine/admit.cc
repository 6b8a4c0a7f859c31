// The heads of the queues, round by round: each round takes one from every queue, decides in which
// order, and admits what still fits.
#include "base/limits.h"
#include "engine/fair_order.h"

namespace tau::engine {

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
      const WorkloadState& workload = state.workloads[head.key.id.index()];
      const Outcome outcome = find_admission(workload, workload.counts, false);
      head.borrow_level = outcome.borrow_level;
      head.has_quota = outcome.admission.has_value();
      if (head.has_quota && !state.fair.is_on) continue;
      Nomination nomination = nominate(workload, workload.counts);
      head.wants = std::move(nomination.wants);
      if (head.has_quota) continue;
      head.borrow_level = nomination.borrow_level;
      head.has_quota = nomination.mode > Mode::no_candidates;
    }
  }
  std::ranges::sort(heads, [](const Head& a, const Head& b) {
    return std::tie(a.borrow_level, a.key) < std::tie(b.borrow_level, b.key);
  });
  return heads;
}

// Lets it in, or pushes others out for it and keeps their room.
bool Cycle::admit_or_take(const Head& head, std::span<const int32_t> counts, Outcome& outcome) {
  WorkloadState& workload = state.workloads[head.key.id.index()];
  const QueueUpsert& spec = state.queues[head.queue.index()].spec;
  const bool may_take = spec.preemption != Preemption{};
  const auto try_to_take = [&](bool is_only_if_nominated) {
    auto taking = find_taking(workload, counts, is_only_if_nominated);
    if (taking) take(head.key.id, std::move(*taking));
    return taking.has_value();
  };
  if (may_take && (spec.stops_at_preemption || spec.prefers_preemption_to_borrowing) &&
      try_to_take(true))
    return true;
  outcome = find_admission(workload, counts, true);
  if (outcome.admission) {
    keep_admission(head.key.id, std::move(*outcome.admission));
    workload.reserved_at = now;
    ++result.stats.admitted;
    return true;
  }
  return may_take && try_to_take(false);
}

bool Cycle::admit_fewer(const Head& head, Outcome& outcome) {
  const WorkloadState& workload = state.workloads[head.key.id.index()];
  int64_t most = 0;  // pods that it can do without
  for (size_t set = 0; set < workload.counts.size(); ++set)
    most += workload.counts[set] - workload.min_counts[set];
  if (most == 0) return false;
  std::vector<int32_t> counts(workload.counts.size());
  const auto give_up = [&](int64_t pods_less) {
    for (size_t set = 0; set < counts.size(); ++set) {
      const int64_t spare = workload.counts[set] - workload.min_counts[set];
      counts[set] = static_cast<int32_t>(workload.counts[set] - spare * pods_less / most);
    }
  };
  const bool may_take = state.queues[head.queue.index()].spec.preemption != Preemption{};
  const auto fits = [&](int64_t pods_less) {
    give_up(pods_less);
    return find_admission(workload, counts, true).admission ||
           (may_take && find_taking(workload, counts, false));
  };
  int64_t low = 1, high = most + 1;  // the least to give up is in [low, high]
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (fits(middle))
      high = middle;
    else
      low = middle + 1;
  }
  if (low > most) return false;
  give_up(low);
  Outcome fewer;
  if (!admit_or_take(head, counts, fewer)) return false;
  outcome = std::move(fewer);
  return true;
}

void Cycle::try_head(const Head& head, bool is_alone, std::vector<QueueId>& blocked) {
  ++result.stats.heads;
  WorkloadState& workload = state.workloads[head.key.id.index()];
  QueueState& queue = state.queues[head.queue.index()];
  workload.was_tried = true;
  Outcome outcome;
  if (admit_or_take(head, workload.counts, outcome) || admit_fewer(head, outcome)) return;
  const bool has_rivals = !is_alone && state.quota.has_parent(queue.quota);
  if (has_rivals && !head.has_quota && queue.spec.preemption.reclaim != Reclaim::any) {
    const Nomination nomination = nominate(workload, workload.counts);
    if (nomination.mode == Mode::no_candidates) set_aside(queue, nomination);
  }
  Bucket* bucket = queue.book.find(head.bucket);
  bucket->blocked_by = outcome.blocked_by;
  bucket->is_proved = outcome.proof == Proof::proved;
  if (queue.spec.strategy == Strategy::strict_fifo) {
    blocked.push_back(head.queue);
    return;
  }
  // Its quota went to another head of this round: it is tried again, and not parked.
  const bool lost_the_race = has_rivals && head.has_quota && outcome.blocked_by == wake_quota;
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
  // One whose room is held is the head of its queue.
  if (options.max_heads_per_queue > 0)
    std::erase_if(queues, [&](QueueId id) { return had_holder.contains(id); });
  for (int32_t round = 0; options.max_heads_per_queue == 0 || round < options.max_heads_per_queue;
       ++round) {
    const std::vector<Head> heads = pop_heads(queues);
    if (heads.empty()) break;
    std::vector<QueueId> blocked;
    FairOrder fair(*this, heads);
    for (size_t i = 0; i < heads.size(); ++i) {
      const Head& head = heads[state.fair.is_on ? fair.next() : i];
      if (result.stats.steps >= options.step_budget) {
        result.stats.is_budget_spent = true;
        note_next(now);
        break;
      }
      try_head(head, heads.size() == 1, blocked);
    }
    put_back_aside();
    if (result.stats.is_budget_spent) return;
    std::erase_if(queues,
                  [&](QueueId id) { return std::ranges::find(blocked, id) != blocked.end(); });
  }
}

}  // namespace tau::engine
