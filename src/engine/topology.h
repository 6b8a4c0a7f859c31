// Topology: the domains that a flavor's nodes form, level by level (block, rack, host, ...), with
// the nodes themselves below the last.
#pragma once

#include "engine/bits.h"
#include "engine/nodes.h"

namespace tau::engine {

struct Topology {
  using DomainIndex = uint32_t;
  static constexpr DomainIndex none = UINT32_MAX;
  struct Domain {
    DomainIndex parent = none;
    uint32_t level = 0;
    DomainIndex first_child = none, last_child = none;  // neighbours; [first, last)
    NodeId node;                                        // of the lowest
  };
  // By level, within it by path: children of one are neighbours, and equals are told apart by path.
  std::vector<Domain> domains;
  std::vector<DomainIndex> level_starts;  // levels + nodes + 1
  std::vector<LabelKeyId> levels;

  static Topology build(const std::vector<LabelKeyId>& levels, const Bits& nodes,
                        const NodeTable& table);
  size_t lowest() const { return levels.size(); }  // the nodes
  // The index of a level, or that of the nodes.
  size_t find(LabelKeyId level) const;
};

}  // namespace tau::engine
