#include "engine/quota.h"

#include <algorithm>

#include "base/check.h"

namespace tau::engine {

QuotaTree::NodeIndex QuotaTree::add_node() {
  nodes_.emplace_back();
  return nodes_.size() - 1;
}

void QuotaTree::set_parent(NodeIndex node, NodeIndex parent) { nodes_[node].parent = parent; }

void QuotaTree::set_quota(NodeIndex node, FlavorResource at, const Quota& quota) {
  Cell& cell = nodes_[node].cells[at];
  cell.nominal = quota.nominal;
  cell.borrowing_limit = quota.borrowing_limit;
  cell.lending_limit = quota.lending_limit;
}

void QuotaTree::seal() {
  // A node that meets itself on the way up is in a cycle: it and its fellows stand alone.
  std::vector<bool> is_cyclic(nodes_.size());
  for (NodeIndex start = 0; start < nodes_.size(); ++start) {
    NodeIndex at = start;
    for (size_t steps = 0; at != none && steps <= nodes_.size(); ++steps) at = nodes_[at].parent;
    is_cyclic[start] = at != none;
  }
  for (NodeIndex node = 0; node < nodes_.size(); ++node) {
    if (is_cyclic[node]) nodes_[node].parent = none;
  }
  std::vector<std::pair<size_t, NodeIndex>> by_depth;
  for (NodeIndex node = 0; node < nodes_.size(); ++node) {
    size_t depth = 0;
    for (NodeIndex at = nodes_[node].parent; at != none; at = nodes_[at].parent) ++depth;
    by_depth.emplace_back(depth, node);
    for (auto& [at, cell] : nodes_[node].cells) {
      cell.subtree = cell.nominal;
      cell.usage = 0;
    }
  }
  std::ranges::sort(by_depth, std::greater());
  for (const auto& [depth, node] : by_depth) {
    const NodeIndex parent = nodes_[node].parent;
    if (parent == none) continue;
    for (const auto& [at, cell] : nodes_[node].cells) nodes_[parent].cells[at].subtree += cell.subtree - cell.local();
  }
}

const QuotaTree::Cell* QuotaTree::find(NodeIndex node, FlavorResource at) const {
  const auto found = nodes_[node].cells.find(at);
  return found == nodes_[node].cells.end() ? nullptr : &found->second;
}

void QuotaTree::charge(NodeIndex queue, FlavorResource at, int64_t amount, Trail* trail) {
  for (NodeIndex node = queue; node != none && amount != 0; node = nodes_[node].parent) {
    Cell& cell = nodes_[node].cells[at];
    const int64_t before = std::max<int64_t>(0, cell.usage - cell.local());
    if (trail != nullptr) trail->add(cell.usage, amount);
    else cell.usage += amount;
    amount = std::max<int64_t>(0, cell.usage - cell.local()) - before;
  }
}

int64_t QuotaTree::usage(NodeIndex node, FlavorResource at) const {
  const Cell* cell = find(node, at);
  return cell == nullptr ? 0 : cell->usage;
}

int64_t QuotaTree::nominal(NodeIndex node, FlavorResource at) const {
  const Cell* cell = find(node, at);
  return cell == nullptr ? 0 : cell->nominal;
}

bool QuotaTree::has(NodeIndex node, FlavorResource at) const { return find(node, at) != nullptr; }

int64_t QuotaTree::available(NodeIndex node, FlavorResource at) const {
  static const Cell empty;
  const Cell* found = find(node, at);
  const Cell& cell = found == nullptr ? empty : *found;
  const NodeIndex parent = nodes_[node].parent;
  if (parent == none) return cell.subtree - cell.usage;
  const int64_t local = cell.local();
  int64_t from_parent = available(parent, at);
  if (cell.borrowing_limit) {
    const int64_t stored = cell.subtree - local;
    const int64_t used = std::max<int64_t>(0, cell.usage - local);
    from_parent = std::min(from_parent, stored - used + *cell.borrowing_limit);
  }
  return std::max<int64_t>(0, local - cell.usage) + from_parent;
}

int64_t QuotaTree::potential(NodeIndex node, FlavorResource at) const {
  static const Cell empty;
  const Cell* found = find(node, at);
  const Cell& cell = found == nullptr ? empty : *found;
  const NodeIndex parent = nodes_[node].parent;
  if (parent == none) return cell.subtree;
  const int64_t most = cell.local() + potential(parent, at);
  return cell.borrowing_limit ? std::min(most, cell.subtree + *cell.borrowing_limit) : most;
}

bool QuotaTree::is_borrowing_with(NodeIndex queue, FlavorResource at, int64_t amount) const {
  const Cell* cell = find(queue, at);
  return cell == nullptr ? amount > 0 : cell->usage + amount > cell->nominal;
}

}  // namespace tau::engine
