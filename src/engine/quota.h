// The quota tree: queues and cohorts with nominal quota, borrowing and lending limits, per flavor and resource.
// The arithmetic is Kueue's (hierarchical resource nodes): a node keeps to itself what it does not lend, and
// stores the rest in its parent.
#pragma once

#include <map>
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
  // After all nodes, parents and quotas are set. Members of a cycle of parents are cut loose.
  void seal();

  // Usage is charged at a queue and flows up as far as it exceeds what the queue keeps to itself.
  void charge(NodeIndex queue, FlavorResource cell, int64_t amount, Trail* trail);
  int64_t usage(NodeIndex node, FlavorResource cell) const;
  // What may still be used now; and what could be if nobody else used anything.
  int64_t available(NodeIndex node, FlavorResource cell) const;
  int64_t potential(NodeIndex node, FlavorResource cell) const;
  // What the node itself owns.
  int64_t nominal(NodeIndex node, FlavorResource cell) const;
  bool is_borrowing_with(NodeIndex queue, FlavorResource cell, int64_t amount) const;
  bool has(NodeIndex node, FlavorResource cell) const;

 private:
  struct Cell {
    int64_t nominal = 0, subtree = 0, usage = 0;
    std::optional<int64_t> borrowing_limit, lending_limit;
    // What is not lent: 0 when everything is.
    int64_t local() const { return lending_limit ? std::max<int64_t>(0, subtree - *lending_limit) : 0; }
  };
  struct Node {
    NodeIndex parent = none;
    std::map<FlavorResource, Cell> cells;
  };
  const Cell* find(NodeIndex node, FlavorResource cell) const;
  std::vector<Node> nodes_;
};

}  // namespace tau::engine
