// The quota tree: queues and cohorts with nominal quota, borrowing and lending limits, per flavor
// and resource. The arithmetic is Kueue's: a node keeps to itself what it does not lend, and
// charges the rest to its parent.
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "engine/trail.h"
#include "engine/values.h"

namespace tau::engine {

using FlavorResource = std::pair<FlavorId, ResourceId>;

class QuotaTree {
 public:
  // Indices into one vector of nodes; queues and cohorts alike.
  using NodeIndex = size_t;
  static constexpr NodeIndex none = SIZE_MAX;

  // Usage has two columns once anybody is leaving or any room is held: what is in use now, and what
  // will be when those who leave are gone and those who wait for it have come. Only what fits both
  // can be had.
  enum class Usage : uint8_t { both, now, later };

  void clear() {
    nodes_.clear();
    is_split_ = false;
  }
  void split();
  void join() { is_split_ = false; }
  bool is_split() const { return is_split_; }
  NodeIndex add_node();
  void set_parent(NodeIndex node, NodeIndex parent);
  void set_quota(NodeIndex node, FlavorResource cell, const Quota& quota);
  // After all nodes, parents and quotas are set, before anything is charged.
  void seal();
  // In or below a cycle of parents: nothing of it can be used until the cycle is broken.
  bool is_cyclic(NodeIndex node) const { return nodes_[node].is_cyclic; }
  NodeIndex root(NodeIndex node) const;
  bool has_parent(NodeIndex node) const { return nodes_[node].parent != none; }
  NodeIndex parent(NodeIndex node) const { return nodes_[node].parent; }
  std::span<const NodeIndex> children(NodeIndex node) const { return nodes_[node].children; }

  // Usage is charged at a queue and flows up as far as it exceeds what the queue keeps to itself.
  // Without a trail the cell need not exist yet.
  void charge(NodeIndex queue, FlavorResource cell, int64_t amount, Trail* trail,
              Usage which = Usage::both);
  int64_t usage(NodeIndex node, FlavorResource cell) const;
  int64_t usage_later(NodeIndex node, FlavorResource cell) const;
  // What may still be used now (negative if overcommitted), and what could be if nobody used
  // anything.
  int64_t available(NodeIndex node, FlavorResource cell) const;
  int64_t available_later(NodeIndex node, FlavorResource cell) const;
  int64_t potential(NodeIndex node, FlavorResource cell) const;
  int64_t nominal(NodeIndex node, FlavorResource cell) const;
  // With what its children lend it.
  int64_t subtree_quota(NodeIndex node, FlavorResource cell) const;
  std::optional<int64_t> borrowing_limit(NodeIndex node, FlavorResource cell) const;
  // How far up the tree an amount more would reach: the height of the lowest subtree whose quota
  // holds it; 0 = the queue's own.
  struct Reach {
    int32_t level = 0;
    bool is_below_root = false;
  };
  Reach reach(NodeIndex queue, FlavorResource cell, int64_t amount) const;
  int32_t borrow_level(NodeIndex queue, FlavorResource cell, int64_t amount) const {
    return reach(queue, cell, amount).level;
  }
  // Whether an amount more stays within the quota of this subtree; what goes on to the parent.
  bool holds(NodeIndex node, FlavorResource cell, int64_t& amount) const;
  bool has(NodeIndex node, FlavorResource cell) const;

  // Fair sharing: how much a node uses beyond its own, of what its parent can lend, in billionths,
  // for the resource where that is most; divided by its weight. Looks ahead.
  struct Share {
    bool is_unbounded = false;  // weight 0, and uses more than its own
    int64_t value = 0;
    bool is_none() const { return !is_unbounded && value == 0; }
    auto operator<=>(const Share&) const = default;
  };
  void set_weight(NodeIndex node, int64_t weight) { nodes_[node].weight = weight; }
  Share share(NodeIndex node) const;

 private:
  struct Cell {
    FlavorResource at;
    int64_t nominal = 0, subtree = 0, usage = 0, later = 0;
    std::optional<int64_t> borrowing_limit, lending_limit;
    bool is_own = false;  // set on this node, not just passed through it
    // What is not lent: 0 when everything is.
    int64_t local() const {
      return lending_limit ? std::max<int64_t>(0, subtree - *lending_limit) : 0;
    }
  };
  struct Node {
    NodeIndex parent = none;
    int32_t height = 0;
    bool is_cyclic = false;
    int64_t weight = weight_one;
    std::vector<NodeIndex> children;
    std::vector<Cell> cells;  // sorted by flavor and resource
  };
  const Cell* find(NodeIndex node, FlavorResource at) const;
  Cell& make(NodeIndex node, FlavorResource at);
  using Column = int64_t Cell::*;
  // What is looked ahead to, where there is anything to look ahead to.
  Column ahead() const { return is_split_ ? &Cell::later : &Cell::usage; }
  void charge(NodeIndex queue, FlavorResource cell, int64_t amount, Trail* trail, Column column);
  int64_t available(NodeIndex node, FlavorResource cell, Column column) const;
  bool is_split_ = false;
  std::vector<Node> nodes_;
};

}  // namespace tau::engine
