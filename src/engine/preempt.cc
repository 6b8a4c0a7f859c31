#include "engine/preempt.h"

namespace tau::engine {

bool Cycle::Targets::uses_contested(const WorkloadState& other) const {
  for (size_t set = 0; set < other.admission.size(); ++set) {
    for (const auto& [resource, flavor] : other.admission[set].flavors) {
      if (other.admission[set].count > 0 &&
          std::ranges::find(contested, FlavorResource(flavor, resource)) != contested.end() &&
          amount_of(cycle.state.amounts(other.shapes[set]), resource) > 0)
        return true;
    }
  }
  return false;
}

bool Cycle::Targets::is_within(QuotaTree::NodeIndex node) const {
  const QuotaTree& tree = cycle.state.quota;
  return std::ranges::all_of(contested, [&](FlavorResource at) {
    return tree.usage_later(node, at) <= tree.subtree_quota(node, at);
  });
}

void Cycle::Targets::gather_in_queue() {
  const Within policy = queue.spec.preemption.within;
  if (policy == Within::never) return;
  for (const WorkloadId id : queue.admitted) {
    const WorkloadState& other = cycle.state.workloads[id.index()];
    const bool is_newer_equal = policy == Within::lower_or_newer_equal_priority &&
                                other.priority == workload.priority &&
                                other.created > workload.created;
    if ((other.priority >= workload.priority && !is_newer_equal) || !uses_contested(other))
      continue;
    candidates.push_back({.id = id,
                          .kind = Kind::in_queue,
                          .is_leaving = other.phase == Phase::evicting,
                          .priority = other.priority,
                          .since = other.reserved_at});
  }
}

void Cycle::Targets::gather_from(const QueueState& other_queue, QuotaTree::NodeIndex top,
                                 bool is_hierarchical) {
  const Preemption& policy = queue.spec.preemption;
  for (const WorkloadId id : other_queue.admitted) {
    const WorkloadState& other = cycle.state.workloads[id.index()];
    if (policy.reclaim == Reclaim::lower_priority && other.priority >= workload.priority) continue;
    if (!uses_contested(other)) continue;
    Kind kind = Kind::without_borrowing;
    if (is_hierarchical)
      kind = Kind::hierarchical;
    else if (policy.may_borrow && other.priority < workload.priority &&
             other.priority <= policy.borrow_max_priority.value_or(INT32_MAX))
      kind = Kind::while_borrowing;
    candidates.push_back({.id = id,
                          .kind = kind,
                          .below = top,
                          .is_leaving = other.phase == Phase::evicting,
                          .priority = other.priority,
                          .since = other.reserved_at});
  }
}

void Cycle::Targets::gather_below(QuotaTree::NodeIndex node, QuotaTree::NodeIndex top,
                                  QuotaTree::NodeIndex skip, bool is_hierarchical) {
  for (const QuotaTree::NodeIndex child : quota().children(node)) {
    if (child == skip || child == queue.quota || is_within(child)) continue;
    if (const QueueId id = cycle.state.queue_at[child]; id.is_some())
      gather_from(cycle.state.queues[id.index()], top, is_hierarchical);
    else
      gather_below(child, top, skip, is_hierarchical);
  }
}

// Own work by the queue's policy; of others what they have borrowed, branch by branch upwards. Once
// the request is within the quota of a branch of ours, those outside it must give way even to
// borrowing.
void Cycle::Targets::gather() {
  gather_in_queue();
  if (queue.spec.preemption.reclaim != Reclaim::never) {
    Wants rest = wants;
    const auto holds = [&](QuotaTree::NodeIndex node) {
      bool is_all = true;
      for (auto& [at, amount] : rest) is_all &= quota().holds(node, at, amount);
      return is_all;
    };
    bool is_hierarchical = holds(queue.quota);
    QuotaTree::NodeIndex from = queue.quota;
    for (auto top = quota().parent(from); top != QuotaTree::none; top = quota().parent(top)) {
      gather_below(top, top, from, is_hierarchical);
      is_hierarchical |= holds(top);
      from = top;
    }
  }
  const auto group = [](Kind kind) {
    return kind == Kind::hierarchical ? 0 : kind == Kind::in_queue ? 2 : 1;
  };
  std::ranges::sort(candidates, {}, [&](const Candidate& c) {
    return std::tuple(!c.is_leaving, group(c.kind), c.priority, -c.since.time_since_epoch(), c.id);
  });
}

// Those who are leaving count as gone: what they leave may be waited for by whoever could have
// pushed them out.
bool Cycle::Targets::is_anyone_leaving() const {
  const State& state = cycle.state;
  const Preemption& policy = queue.spec.preemption;
  return std::ranges::any_of(state.leaving, [&](WorkloadId id) {
    const WorkloadState& other = state.workloads[id.index()];
    if (!state.is_queue(other.queue) || !uses_contested(other)) return false;
    if (other.queue == workload.queue)
      return std::ranges::find(candidates, id, &Candidate::id) != candidates.end();
    return policy.reclaim != Reclaim::never &&
           (policy.reclaim == Reclaim::any || other.priority < workload.priority) &&
           state.quota.root(state.queues[other.queue.index()].quota) ==
               state.quota.root(queue.quota);
  });
}

bool Cycle::Targets::is_valid(const Candidate& candidate, bool may_borrow) const {
  if (candidate.kind == Kind::in_queue) return true;
  if (may_borrow && candidate.kind == Kind::without_borrowing) return false;
  const State& state = cycle.state;
  const WorkloadState& other = state.workloads[candidate.id.index()];
  for (auto node = state.queues[other.queue.index()].quota;
       node != candidate.below && node != QuotaTree::none; node = state.quota.parent(node)) {
    if (is_within(node)) return false;
  }
  return true;
}

bool Cycle::Targets::fits(bool may_borrow) {
  ++cycle.result.stats.steps;
  for (const auto& [at, amount] : wants) {
    if (!may_borrow &&
        quota().usage_later(queue.quota, at) + amount > quota().nominal(queue.quota, at))
      return false;
    if (quota().available_later(queue.quota, at) < amount) return false;
  }
  return nodes == nullptr || nodes->fits();
}

void Cycle::Targets::charge(WorkloadId id, int64_t sign) {
  const WorkloadState& other = cycle.state.workloads[id.index()];
  const auto at = cycle.state.queues[other.queue.index()].quota;
  for (size_t set = 0; set < other.admission.size(); ++set) {
    for (const auto& [resource, flavor] : other.admission[set].flavors) {
      const int64_t each = amount_of(cycle.state.amounts(other.shapes[set]), resource);
      if (!quota().has(at, {flavor, resource})) continue;
      quota().charge(at, {flavor, resource}, sign * each * other.admission[set].count,
                     &cycle.state.trail, QuotaTree::Usage::later);
    }
  }
  if (nodes == nullptr) return;
  if (sign < 0)
    nodes->remove(id);
  else
    nodes->put_back(id);
}

PreemptCause Cycle::Targets::cause_of(Kind kind) {
  switch (kind) {
    case Kind::in_queue:
      return PreemptCause::in_queue;
    case Kind::hierarchical:
    case Kind::without_borrowing:
      return PreemptCause::reclaim;
    case Kind::while_borrowing:
      return PreemptCause::reclaim_while_borrowing;
  }
  return PreemptCause::none;
}

// From the last but one backwards, each that is not needed stays.
std::vector<Cycle::Victim> Cycle::Targets::keep_needed(std::vector<const Candidate*> taken,
                                                       bool may_borrow) {
  for (size_t i = taken.size(); i-- > 0;) {
    if (i + 1 == taken.size()) continue;
    charge(taken[i]->id, 1);
    if (fits(may_borrow))
      taken[i] = nullptr;
    else
      charge(taken[i]->id, -1);
  }
  std::vector<Victim> victims;
  for (const Candidate* one : taken) {
    if (one != nullptr) victims.push_back({one->id, one->cause});
  }
  return victims;
}

std::optional<std::vector<Cycle::Victim>> Cycle::Targets::attempt(bool may_borrow) {
  std::vector<const Candidate*> taken;
  if (is_anyone_leaving() && fits(may_borrow)) return std::vector<Victim>{};
  for (Candidate& candidate : candidates) {
    if (candidate.is_leaving || !is_valid(candidate, may_borrow)) continue;
    charge(candidate.id, -1);
    candidate.cause = cause_of(candidate.kind);
    taken.push_back(&candidate);
    if (fits(may_borrow)) return keep_needed(std::move(taken), may_borrow);
  }
  return std::nullopt;
}

std::vector<bool> Cycle::Targets::attempts() const {
  const auto is_any = [&](auto... kinds) {
    return std::ranges::any_of(candidates,
                               [&](const Candidate& c) { return ((c.kind == kinds) || ...); });
  };
  const bool is_below_nominal = std::ranges::all_of(contested, [&](FlavorResource at) {
    return cycle.state.quota.usage_later(queue.quota, at) <
           cycle.state.quota.nominal(queue.quota, at);
  });
  const bool has_others =
      is_any(Kind::hierarchical, Kind::without_borrowing, Kind::while_borrowing);
  const bool may_borrow = queue.spec.preemption.may_borrow;
  if (!has_others || (!may_borrow && !is_below_nominal)) return {true};
  if (!may_borrow && !is_any(Kind::hierarchical)) return {false, true};
  return {true, false};
}

std::optional<std::vector<Cycle::Victim>> Cycle::Targets::find() {
  const Preemption& policy = queue.spec.preemption;
  if (policy.within == Within::never &&
      (policy.reclaim == Reclaim::never || !quota().has_parent(queue.quota)))
    return std::nullopt;
  quota().split();
  if (cycle.state.fair.is_on && quota().has_parent(queue.quota)) return find_fairly();
  gather();
  if (auto found = attempt_all(); found || nodes == nullptr) return found;
  // In their own order they may use up what may be taken back before the right nodes are free: so
  // once more with those of one node first, node by node.
  constexpr size_t most_tries = 20'000;
  size_t tried = 0;
  for (const NodeId node : nodes_of_candidates()) {
    if ((tried += candidates.size()) > most_tries) break;
    const std::vector<Candidate> in_order = candidates;
    std::ranges::stable_partition(candidates, [&](const Candidate& c) { return is_on(c, node); });
    if (auto found = attempt_all()) return found;
    candidates = in_order;
  }
  return std::nullopt;
}

bool Cycle::Targets::is_on(const Candidate& candidate, NodeId node) const {
  const WorkloadState& other = cycle.state.workloads[candidate.id.index()];
  return std::ranges::any_of(other.places, [&](const std::vector<Place>& places) {
    return std::ranges::find(places, node, &Place::node) != places.end();
  });
}

std::vector<NodeId> Cycle::Targets::nodes_of_candidates() const {
  std::vector<NodeId> found;
  std::set<NodeId> seen;
  for (const Candidate& candidate : candidates) {
    for (const auto& places : cycle.state.workloads[candidate.id.index()].places) {
      for (const Place& place : places) {
        if (seen.insert(place.node).second) found.push_back(place.node);
      }
    }
  }
  return found;
}

std::optional<std::vector<Cycle::Victim>> Cycle::Targets::attempt_all() {
  const Trail::Mark mark = cycle.state.trail.mark();
  for (const bool may_borrow : attempts()) {
    auto found = attempt(may_borrow);
    if (!found) {
      undo(mark);
      continue;
    }
    note_level();
    return found;
  }
  return std::nullopt;
}

void Cycle::Targets::note_level() {
  for (const auto& [at, amount] : wants)
    borrow_level = std::max(borrow_level, quota().borrow_level(queue.quota, at, amount));
}

void Cycle::Targets::undo(Trail::Mark mark) {
  cycle.state.trail.undo_to(mark);
  if (nodes != nullptr) nodes->start_over();
}

}  // namespace tau::engine
