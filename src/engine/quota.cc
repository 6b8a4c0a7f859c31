#include "engine/quota.h"

#include <algorithm>

#include "base/check.h"

namespace tau::engine {

QuotaTree::NodeIndex QuotaTree::add_node() {
  nodes_.emplace_back();
  return nodes_.size() - 1;
}

void QuotaTree::set_parent(NodeIndex node, NodeIndex parent) {
  nodes_[node].parent = parent;
}

QuotaTree::Cell& QuotaTree::make(NodeIndex node, FlavorResource at) {
  std::vector<Cell>& cells = nodes_[node].cells;
  const auto place = std::ranges::lower_bound(cells, at, {}, &Cell::at);
  if (place != cells.end() && place->at == at) return *place;
  return *cells.insert(place, Cell{.at = at});
}

const QuotaTree::Cell* QuotaTree::find(NodeIndex node, FlavorResource at) const {
  const std::vector<Cell>& cells = nodes_[node].cells;
  const auto place = std::ranges::lower_bound(cells, at, {}, &Cell::at);
  return place == cells.end() || place->at != at ? nullptr : &*place;
}

void QuotaTree::set_quota(NodeIndex node, FlavorResource at, const Quota& quota) {
  Cell& cell = make(node, at);
  cell.nominal = quota.nominal;
  cell.borrowing_limit = quota.borrowing_limit;
  cell.lending_limit = quota.lending_limit;
  cell.is_own = true;
}

void QuotaTree::seal() {
  std::vector<std::pair<size_t, NodeIndex>> by_depth;
  for (NodeIndex start = 0; start < nodes_.size(); ++start) {
    size_t depth = 0;
    NodeIndex at = nodes_[start].parent;
    for (; at != none && depth <= nodes_.size(); ++depth) at = nodes_[at].parent;
    nodes_[start].is_cyclic = at != none;  // it never reaches a root
    by_depth.emplace_back(depth, start);
  }
  for (Node& node : nodes_) {
    if (node.is_cyclic) node.parent = none;
    for (Cell& cell : node.cells) {
      cell.subtree = cell.nominal;
      cell.usage = 0;
    }
  }
  std::ranges::sort(by_depth, std::greater());
  for (const auto& [depth, node] : by_depth) {
    const NodeIndex parent = nodes_[node].parent;
    if (parent == none) continue;
    nodes_[parent].height = std::max(nodes_[parent].height, nodes_[node].height + 1);
    for (const Cell& cell : nodes_[node].cells)
      make(parent, cell.at).subtree += cell.subtree - cell.local();
  }
}

QuotaTree::NodeIndex QuotaTree::root(NodeIndex node) const {
  while (nodes_[node].parent != none) node = nodes_[node].parent;
  return node;
}

void QuotaTree::charge(NodeIndex queue, FlavorResource at, int64_t amount, Trail* trail) {
  for (NodeIndex node = queue; node != none && amount != 0; node = nodes_[node].parent) {
    Cell& cell = trail == nullptr ? make(node, at) : const_cast<Cell&>(*find(node, at));
    const int64_t before = std::max<int64_t>(0, cell.usage - cell.local());
    if (trail != nullptr)
      trail->add(cell.usage, amount);
    else
      cell.usage += amount;
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

bool QuotaTree::has(NodeIndex node, FlavorResource at) const {
  const Cell* cell = find(node, at);
  return cell != nullptr && cell->is_own;
}

int64_t QuotaTree::available(NodeIndex node, FlavorResource at) const {
  static const Cell empty;
  const Cell* found = find(node, at);
  const Cell& cell = found == nullptr ? empty : *found;
  const NodeIndex parent = nodes_[node].parent;
  if (parent == none) return cell.subtree - cell.usage;
  int64_t from_parent = available(parent, at);
  if (cell.borrowing_limit) {
    const int64_t local = cell.local(), stored = cell.subtree - local;
    const int64_t used = std::max<int64_t>(0, cell.usage - local);
    from_parent = std::min(from_parent, stored - used + *cell.borrowing_limit);
  }
  return cell.local_left() + from_parent;
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

int32_t QuotaTree::borrow_level(NodeIndex queue, FlavorResource at, int64_t amount) const {
  int32_t level = 0;
  for (NodeIndex node = queue; node != none; node = nodes_[node].parent) {
    const Cell* cell = find(node, at);
    level = nodes_[node].height;
    if (cell == nullptr) continue;
    if (cell->usage + amount <= cell->subtree) break;
    amount -= cell->local_left();
  }
  return level;
}

}  // namespace tau::engine
