// Whom to push out where cohorts share fairly: from the branch that has most of what is lent, as
// long as the shares allow it.
#include "engine/preempt.h"

namespace tau::engine {

// Where to look next: from the root down into the child with the highest share; what does not
// borrow, or has nobody left to go, is passed over.
struct Cycle::Targets::FairTargets {
  using NodeIndex = QuotaTree::NodeIndex;
  Targets& of;
  std::map<NodeIndex, std::vector<Candidate*>> waiting = {};  // by queue, in order
  std::set<NodeIndex> pruned = {}, path = {};

  FairTargets(Targets& targets, const std::vector<Candidate*>& candidates) : of(targets) {
    for (Candidate* one : candidates) waiting[queue_node(*one)].push_back(one);
    for (auto node = of.queue.quota; node != QuotaTree::none; node = of.quota().parent(node))
      path.insert(node);
  }
  NodeIndex queue_node(const Candidate& one) const {
    const Engine::State& state = of.cycle.state;
    return state.queues[state.workloads[one.id.index()].queue.index()].quota;
  }
  bool has_any(NodeIndex queue) const {
    const auto found = waiting.find(queue);
    return found != waiting.end() && !found->second.empty();
  }
  Candidate* pop(NodeIndex queue) {
    std::vector<Candidate*>& list = waiting[queue];
    Candidate* first = list.front();
    list.erase(list.begin());
    return first;
  }
  // A queue with somebody to go, or none.
  NodeIndex next() {
    const NodeIndex root = of.quota().root(of.queue.quota);
    while (!pruned.contains(root)) {
      if (const NodeIndex found = next_below(root); found != QuotaTree::none) return found;
    }
    return QuotaTree::none;
  }
  // Both sides, just below what they have in common.
  std::pair<NodeIndex, NodeIndex> sides(NodeIndex target) const {
    NodeIndex theirs = target;
    while (!path.contains(of.quota().parent(theirs))) theirs = of.quota().parent(theirs);
    NodeIndex ours = of.queue.quota;
    while (of.quota().parent(ours) != of.quota().parent(theirs)) ours = of.quota().parent(ours);
    return {ours, theirs};
  }

 private:
  NodeIndex next_below(NodeIndex cohort) {
    struct Best {
      NodeIndex node = QuotaTree::none;
      QuotaTree::Share share;
    } queue, branch;
    for (const NodeIndex child : of.quota().children(cohort)) {
      if (pruned.contains(child)) continue;
      const QuotaTree::Share share = of.quota().share(child);
      const bool is_queue = of.cycle.state.queue_at[child].is_some();
      if ((share.is_none() && !path.contains(child)) || (is_queue && !has_any(child))) {
        pruned.insert(child);
        continue;
      }
      Best& best = is_queue ? queue : branch;
      const bool is_better = best.node == QuotaTree::none || share > best.share ||
                             (share == best.share &&
                              (!is_queue || before(*waiting[child][0], *waiting[best.node][0])));
      if (is_better) best = {child, share};
    }
    if (branch.node == QuotaTree::none && queue.node == QuotaTree::none) {
      pruned.insert(cohort);
      return QuotaTree::none;
    }
    if (branch.node != QuotaTree::none &&
        (queue.node == QuotaTree::none || branch.share >= queue.share))
      return next_below(branch.node);
    return queue.node;
  }
  bool before(const Candidate& a, const Candidate& b) const { return order(a) < order(b); }

 public:
  // Others' before ours, the lowest priority, the latest, by id.
  static std::tuple<bool, bool, int64_t, Duration, WorkloadId> order(const Candidate& c) {
    return {!c.is_leaving, c.kind == Kind::in_queue, c.priority, -c.since.time_since_epoch(), c.id};
  }
};

void Cycle::Targets::gather_fairly() {
  gather_in_queue();
  if (queue.spec.preemption.reclaim == Reclaim::never) return;
  std::vector<QuotaTree::NodeIndex> open{quota().root(queue.quota)};
  while (!open.empty()) {
    const QuotaTree::NodeIndex node = open.back();
    open.pop_back();
    for (const QuotaTree::NodeIndex child : quota().children(node)) {
      const QueueId id = cycle.state.queue_at[child];
      if (!id.is_some())
        open.push_back(child);
      else if (child != queue.quota && !is_within(child))
        gather_from(cycle.state.queues[id.index()], node, false);
    }
  }
  std::ranges::sort(candidates, {}, FairTargets::order);
}

// The request itself counts as used.
void Cycle::Targets::charge_own(int64_t sign) {
  for (const auto& [at, amount] : wants)
    quota().charge(queue.quota, at, sign * amount, &cycle.state.trail, QuotaTree::Usage::later);
}

std::optional<std::vector<Cycle::Victim>> Cycle::Targets::find_fairly() {
  const Trail::Mark mark = cycle.state.trail.mark();
  gather_fairly();
  if (is_anyone_leaving() && fits(true)) {
    note_level();
    return std::vector<Victim>{};
  }
  std::vector<const Candidate*> taken;
  charge_own(1);
  const auto take = [&](Candidate* one, PreemptCause cause) {
    one->cause = cause;
    charge(one->id, -1);
    taken.push_back(one);
    charge_own(-1);
    const bool is_enough = fits(true);
    charge_own(1);
    return is_enough;
  };
  // Each candidate is measured by the first rule; those it spares, one of a queue, by the second.
  const auto run = [&](const std::vector<Candidate*>& candidates_now, FairRule rule, bool is_first,
                       std::vector<Candidate*>& spared) {
    FairTargets targets(*this, candidates_now);
    for (auto node = targets.next(); node != QuotaTree::none; node = targets.next()) {
      if (node == queue.quota) {
        if (take(targets.pop(node), PreemptCause::in_queue)) return true;
        continue;
      }
      const bool is_own_right = is_within(queue.quota);
      const auto [ours, theirs] = targets.sides(node);
      const QuotaTree::Share our_share = quota().share(ours), had = quota().share(theirs);
      while (targets.has_any(node)) {
        Candidate* one = targets.pop(node);
        bool is_allowed = is_own_right || (rule == FairRule::less_than_it_had && our_share < had);
        if (!is_allowed && rule == FairRule::no_more_than_it_keeps) {
          const Trail::Mark before = cycle.state.trail.mark();
          NodeProbe* const probe = std::exchange(nodes, nullptr);
          charge(one->id, -1);
          is_allowed = our_share <= quota().share(theirs);
          cycle.state.trail.undo_to(before);
          nodes = probe;
        }
        if (is_allowed) {
          if (take(one, is_own_right ? PreemptCause::reclaim : PreemptCause::fair_sharing))
            return true;
          break;  // the shares have changed
        }
        spared.push_back(one);
        if (!is_first) break;
      }
      if (!is_first) targets.pruned.insert(node);
    }
    return false;
  };
  std::vector<Candidate*> all, spared, ignored;
  for (Candidate& one : candidates) {
    if (!one.is_leaving) all.push_back(&one);
  }
  const std::vector<FairRule>& rules = cycle.state.fair.rules;
  bool is_enough = !all.empty() && !rules.empty() && run(all, rules[0], true, spared);
  if (!is_enough && rules.size() > 1 && !spared.empty())
    is_enough = run(spared, rules[1], false, ignored);
  if (!is_enough) {
    undo(mark);
    return std::nullopt;
  }
  charge_own(-1);
  std::vector<Victim> victims = keep_needed(std::move(taken), true);
  note_level();
  return victims;
}

}  // namespace tau::engine
