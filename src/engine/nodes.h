// NodeTable: nodes as columns. Free amounts per resource, a score column that follows them, used
// devices, the pods of each node. Every change of a free amount goes through here, tentative ones
// over the trail.
#pragma once

#include "engine/bits.h"
#include "engine/policy.h"
#include "engine/scan.h"
#include "engine/trail.h"
#include "engine/values.h"

namespace tau::engine {

constexpr uint32_t most_resources = 4096;

int64_t amount_of(const Amounts& amounts, ResourceId resource);

struct NodeState {
  bool is_known = false;
  NodeUpsert spec;
  GpuMask gpus_used = 0;
  std::vector<PodId> pods;  // live, bound or assumed here; in no order
};

class NodeTable {
 public:
  size_t size() const { return nodes_.size(); }
  const NodeState& operator[](NodeId id) const { return nodes_[id.index()]; }
  NodeState& at(NodeId id) { return nodes_[id.index()]; }
  void grow(NodeId id);
  // Columns exist for all resources that anything names.
  void ensure_columns(const Amounts& amounts);
  NodeFacts facts(NodeId id) const;

  int64_t free(NodeId id, ResourceId resource) const {
    return resource.index() < free_.size() ? free_[resource.index()][id.index()] : 0;
  }
  // For good: the node's own amounts, pods that came or went, held places.
  void add(NodeId id, const Amounts& amounts, int64_t times);
  void add(NodeId id, ResourceId resource, int64_t amount);
  // On the trail.
  void take(NodeId id, const Amounts& amounts, int64_t times, Trail& trail);

  // What the node has to give: its allocatable amounts, of devices only the healthy ones.
  static int64_t capacity(const NodeState& node, ResourceId resource);
  // Pods of this request that fit besides what is there.
  int64_t room(NodeId id, const Amounts& request) const;
  bool has(NodeId id, const Amounts& request) const;
  // The lowest free healthy devices, side by side if there are such; 0 if there are too few.
  GpuMask pick_gpus(NodeId id, int64_t count) const;

  const int64_t* column(ResourceId resource) const { return free_[resource.index()].data(); }
  const int64_t* score_column() const { return score_.data(); }
  int64_t score(NodeId id) const { return score_[id.index()]; }

 private:
  int64_t score_of(size_t node) const;
  std::vector<NodeState> nodes_;
  std::vector<std::vector<int64_t>> free_;  // [resource][node], padded to whole blocks
  std::vector<int64_t> score_;              // free_score of each node
};

}  // namespace tau::engine
