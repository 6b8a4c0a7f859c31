// The quota tree: queues and cohorts with nominal quota, borrowing and lending limits, per flavor
// and resource. The arithmetic is Kueue's: a node keeps to itself what it does not lend, and
// charges the rest to its parent.
#pragma once

#include <optional>
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

  void clear() { nodes_.clear(); }
  NodeIndex add_node();
  void set_parent(NodeIndex node, NodeIndex parent);
  void set_quota(NodeIndex node, FlavorResource cell, const Quota& quota);
  // After all nodes, parents and quotas are set, before anything is charged.
  void seal();
  // In or below a cycle of parents: nothing of it can be used until the cycle is broken.
  bool is_cyclic(NodeIndex node) const { return nodes_[node].is_cyclic; }
  NodeIndex root(NodeIndex node) const;
  bool has_parent(NodeIndex node) const { return nodes_[node].parent != none; }

  // Usage is charged at a queue and flows up as far as it exceeds what the queue keeps to itself.
  // Without a trail the cell need not exist yet.
  void charge(NodeIndex queue, FlavorResource cell, int64_t amount, Trail* trail);
  int64_t usage(NodeIndex node, FlavorResource cell) const;
  // What may still be used now (negative if overcommitted), and what could be if nobody used
  // anything.
  int64_t available(NodeIndex node, FlavorResource cell) const;
  int64_t potential(NodeIndex node, FlavorResource cell) const;
  int64_t nominal(NodeIndex node, FlavorResource cell) const;
  // How far up the tree an amount more would reach: the height of the lowest subtree whose quota
  // holds it; 0 = the queue's own.
  int32_t borrow_level(NodeIndex queue, FlavorResource cell, int64_t amount) const;
  bool has(NodeIndex node, FlavorResource cell) const;

 private:
  struct Cell {
    FlavorResource at;
    int64_t nominal = 0, subtree = 0, usage = 0;
    std::optional<int64_t> borrowing_limit, lending_limit;
    bool is_own = false;  // set on this node, not just passed through it
    // What is not lent: 0 when everything is.
    int64_t local() const {
      return lending_limit ? std::max<int64_t>(0, subtree - *lending_limit) : 0;
    }
    int64_t local_left() const { return std::max<int64_t>(0, local() - usage); }
  };
  struct Node {
    NodeIndex parent = none;
    int32_t height = 0;
    bool is_cyclic = false;
    std::vector<Cell> cells;  // sorted by flavor and resource
  };
  const Cell* find(NodeIndex node, FlavorResource at) const;
  Cell& make(NodeIndex node, FlavorResource at);
  std::vector<Node> nodes_;
};

}  // namespace tau::engine
