#include "engine/quota.h"

#include <algorithm>
#include <map>

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
      cell.later = 0;
    }
  }
  std::ranges::sort(by_depth, std::greater());
  for (const auto& [depth, node] : by_depth) {
    const NodeIndex parent = nodes_[node].parent;
    if (parent == none) continue;
    nodes_[parent].children.push_back(node);
    nodes_[parent].height = std::max(nodes_[parent].height, nodes_[node].height + 1);
    for (const Cell& cell : nodes_[node].cells)
      make(parent, cell.at).subtree += cell.subtree - cell.local();
  }
}

QuotaTree::NodeIndex QuotaTree::root(NodeIndex node) const {
  while (nodes_[node].parent != none) node = nodes_[node].parent;
  return node;
}

void QuotaTree::split() {
  if (std::exchange(is_split_, true)) return;
  for (Node& node : nodes_) {
    for (Cell& cell : node.cells) cell.later = cell.usage;
  }
}

void QuotaTree::charge(NodeIndex queue, FlavorResource at, int64_t amount, Trail* trail,
                       Column column) {
  for (NodeIndex node = queue; node != none && amount != 0; node = nodes_[node].parent) {
    Cell& cell = trail == nullptr ? make(node, at) : const_cast<Cell&>(*find(node, at));
    const int64_t before = std::max<int64_t>(0, cell.*column - cell.local());
    if (trail != nullptr)
      trail->add(cell.*column, amount);
    else
      cell.*column += amount;
    amount = std::max<int64_t>(0, cell.*column - cell.local()) - before;
  }
}

void QuotaTree::charge(NodeIndex queue, FlavorResource at, int64_t amount, Trail* trail,
                       Usage which) {
  if (which != Usage::later) charge(queue, at, amount, trail, &Cell::usage);
  if (which != Usage::now && is_split_) charge(queue, at, amount, trail, &Cell::later);
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

int64_t QuotaTree::available(NodeIndex node, FlavorResource at, Column column) const {
  static const Cell empty;
  const Cell* found = find(node, at);
  const Cell& cell = found == nullptr ? empty : *found;
  const NodeIndex parent = nodes_[node].parent;
  if (parent == none) return cell.subtree - cell.*column;
  int64_t from_parent = available(parent, at, column);
  const int64_t local = cell.local();
  if (cell.borrowing_limit) {
    const int64_t stored = cell.subtree - local;
    const int64_t used = std::max<int64_t>(0, cell.*column - local);
    from_parent = std::min(from_parent, stored - used + *cell.borrowing_limit);
  }
  return std::max<int64_t>(0, local - cell.*column) + from_parent;
}

int64_t QuotaTree::available(NodeIndex node, FlavorResource at) const {
  const int64_t now = available(node, at, &Cell::usage);
  return is_split_ ? std::min(now, available(node, at, &Cell::later)) : now;
}

int64_t QuotaTree::available_later(NodeIndex node, FlavorResource at) const {
  return available(node, at, ahead());
}

int64_t QuotaTree::usage_later(NodeIndex node, FlavorResource at) const {
  const Cell* cell = find(node, at);
  return cell == nullptr ? 0 : cell->*ahead();
}

int64_t QuotaTree::subtree_quota(NodeIndex node, FlavorResource at) const {
  const Cell* cell = find(node, at);
  return cell == nullptr ? 0 : cell->subtree;
}

std::optional<int64_t> QuotaTree::borrowing_limit(NodeIndex node, FlavorResource at) const {
  const Cell* cell = find(node, at);
  return cell == nullptr ? std::nullopt : cell->borrowing_limit;
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

bool QuotaTree::holds(NodeIndex node, FlavorResource at, int64_t& amount) const {
  static const Cell empty;
  const Cell* found = find(node, at);
  const Cell& cell = found == nullptr ? empty : *found;
  const int64_t used = cell.*ahead();
  const bool is_held = used + amount <= cell.subtree;
  amount -= std::max<int64_t>(0, cell.local() - used);
  return is_held;
}

QuotaTree::Reach QuotaTree::reach(NodeIndex queue, FlavorResource at, int64_t amount) const {
  Reach reach;
  for (NodeIndex node = queue; node != none; node = nodes_[node].parent) {
    reach.level = nodes_[node].height;
    if (!holds(node, at, amount)) continue;
    reach.is_below_root = nodes_[node].parent != none;
    break;
  }
  return reach;
}

// Rounded up, so that none is none; equal fractions are equal numbers.
QuotaTree::Share QuotaTree::share(NodeIndex at) const {
  constexpr __int128 billion = 1'000'000'000;
  const Node& node = nodes_[at];
  if (node.parent == none) return {};
  std::map<ResourceId, std::pair<__int128, __int128>> sums;  // borrowed, lendable
  for (const Cell& cell : node.cells)
    sums[cell.at.second].first += std::max<int64_t>(0, cell.*ahead() - cell.subtree);
  for (const Cell& cell : nodes_[node.parent].cells) {
    if (const auto found = sums.find(cell.at.second); found != sums.end())
      found->second.second += potential(node.parent, cell.at);
  }
  Share most;
  for (const auto& [resource, sum] : sums) {
    const auto [borrowed, lendable] = sum;
    if (borrowed == 0 || lendable <= 0) continue;
    most.is_unbounded = node.weight <= 0;
    const __int128 by = most.is_unbounded ? lendable * weight_one : lendable * node.weight;
    const __int128 value = (borrowed * billion * weight_one + by - 1) / by;
    most.value =
        std::max(most.value, static_cast<int64_t>(std::min<__int128>(value, INT64_MAX / 2)));
  }
  return most;
}

}  // namespace tau::engine
