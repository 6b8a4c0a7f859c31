#include "engine/fair_order.h"

namespace tau::engine {

Cycle::FairOrder::FairOrder(Cycle& cycle, const std::vector<Head>& heads)
    : cycle_(cycle), heads_(heads) {
  if (!cycle.state.fair.is_on) return;
  const QuotaTree& quota = cycle.state.quota;
  for (size_t i = 0; i < heads.size(); ++i) {
    NodeIndex node = cycle.state.queues[heads[i].queue.index()].quota;
    at_[node] = i;
    for (auto parent = quota.parent(node); parent != QuotaTree::none;
         node = parent, parent = quota.parent(node)) {
      std::vector<NodeIndex>& siblings = children_[parent];
      if (std::ranges::find(siblings, node) != siblings.end()) break;
      siblings.push_back(node);
    }
    if (quota.parent(node) == QuotaTree::none && std::ranges::find(roots_, node) == roots_.end())
      roots_.push_back(node);
  }
}

size_t Cycle::FairOrder::next() {
  while (!roots_.empty()) {
    const size_t winner = winner_below(roots_.front());
    if (winner == nobody) {
      roots_.erase(roots_.begin());
      continue;
    }
    // What it takes changes the shares of its own branches only.
    for (auto node = cycle_.state.queues[heads_[winner].queue.index()].quota;
         node != QuotaTree::none; node = cycle_.state.quota.parent(node))
      known_.erase(node);
    at_.erase(cycle_.state.queues[heads_[winner].queue.index()].quota);
    return winner;
  }
  return 0;
}

size_t Cycle::FairOrder::winner_below(NodeIndex node) {
  if (const auto own = at_.find(node); own != at_.end()) return own->second;
  Entry best;
  if (const auto found = children_.find(node); found != children_.end()) {
    for (const NodeIndex child : found->second) {
      const Entry& entry = best_of(child);
      if (entry.head != nobody && (best.head == nobody || is_before(entry, best))) best = entry;
    }
  }
  return best.head;
}

const Cycle::FairOrder::Entry& Cycle::FairOrder::best_of(NodeIndex node) {
  const auto [at, is_new] = known_.try_emplace(node);
  if (!is_new) return at->second;
  Entry entry{.head = winner_below(node)};
  if (entry.head != nobody) {
    // As if it were admitted.
    State& state = cycle_.state;
    const Head& head = heads_[entry.head];
    const NodeIndex queue = state.queues[head.queue.index()].quota;
    const Trail::Mark mark = state.trail.mark();
    for (const auto& [cell, amount] : head.wants)
      state.quota.charge(queue, cell, amount, &state.trail);
    entry.share = state.quota.share(node);
    for (const auto& [cell, amount] : head.wants)
      entry.borrows |= state.quota.usage_later(node, cell) > state.quota.subtree_quota(node, cell);
    state.trail.undo_to(mark);
  }
  return known_[node] = entry;
}

bool Cycle::FairOrder::is_before(const Entry& a, const Entry& b) const {
  return std::tie(a.borrows, a.share, heads_[a.head].key) <
         std::tie(b.borrows, b.share, heads_[b.head].key);
}

}  // namespace tau::engine
