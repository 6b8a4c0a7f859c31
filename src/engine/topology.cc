#include "engine/topology.h"

#include <algorithm>

namespace tau::engine {

Topology Topology::build(const std::vector<LabelKeyId>& levels, const Bits& nodes,
                         const NodeTable& table) {
  Topology made{.domains = {}, .level_starts = {}, .levels = levels};
  using Path = std::vector<LabelValueId>;
  std::vector<std::pair<Path, NodeId>> members;
  nodes.for_each([&](size_t n) {
    const NodeId id(static_cast<uint32_t>(n));
    Path path;
    for (const LabelKeyId level : levels) {
      const auto found = std::ranges::find(table[id].spec.labels, level, &Label::key);
      if (found == table[id].spec.labels.end()) return;
      path.push_back(found->value);
    }
    members.emplace_back(std::move(path), id);
  });
  std::ranges::sort(members);
  std::vector<DomainIndex> above(members.size(), none), own(members.size());  // of each member
  for (size_t level = 0; level <= levels.size(); ++level) {
    made.level_starts.push_back(static_cast<DomainIndex>(made.domains.size()));
    const bool is_node = level == levels.size();
    for (size_t m = 0; m < members.size(); ++m) {
      const bool is_new = is_node || m == 0 || above[m] != above[m - 1] ||
                          members[m].first[level] != members[m - 1].first[level];
      own[m] = is_new ? static_cast<DomainIndex>(made.domains.size()) : own[m - 1];
      if (!is_new) continue;
      made.domains.push_back({.parent = above[m],
                              .level = static_cast<uint32_t>(level),
                              .node = is_node ? members[m].second : NodeId{}});
      if (above[m] == none) continue;
      Domain& parent = made.domains[above[m]];
      if (parent.first_child == none) parent.first_child = own[m];
      parent.last_child = own[m] + 1;
    }
    above = own;
  }
  made.level_starts.push_back(static_cast<DomainIndex>(made.domains.size()));
  return made;
}

size_t Topology::find(LabelKeyId level) const {
  return static_cast<size_t>(std::ranges::find(levels, level) - levels.begin());
}

}  // namespace tau::engine
