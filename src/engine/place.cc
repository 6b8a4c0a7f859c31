// Placement of equal pods on nodes, on the trail.
#include "engine/cycle.h"

namespace tau::engine {

Candidates Cycle::candidates(ShapeId shape, std::span<const FlavorId> flavors) const {
  Candidates where{.shape = shape, .nodes = state.shapes[shape.index()].fits};
  for (const FlavorId flavor : flavors) {
    if (flavor.index() < state.flavors.size())
      where.nodes &= state.flavors[flavor.index()].nodes;
    else
      where.nodes.clear();
  }
  return where;
}

NodeId Cycle::best_node(const Candidates& where) {
  const Shape& shape = state.shapes[where.shape.index()];
  std::array<Demand, most_demands> demands;
  if (shape.request.amounts.size() > demands.size()) {  // never seen; the slow way
    const Trail::Mark mark = state.trail.mark();
    const Places one = place(where, 1, {});
    state.trail.undo_to(mark);
    return one.empty() ? NodeId{} : one[0].first;
  }
  size_t count = 0;
  for (const Amount& amount : shape.request.amounts)
    demands[count++] = {state.nodes.column(amount.resource), amount.value};
  ++result.stats.steps;
  result.stats.nodes_scanned += static_cast<int64_t>(where.nodes.words().size() * 64);
  const uint32_t found = engine::best_node(
      {.demands = {demands.data(), count},
       .eligible = where.nodes.words(),
       .score = state.nodes.score_column(),
       .object_score = shape.object_score.empty() ? nullptr : shape.object_score.data()});
  return found == no_node ? NodeId{} : NodeId(found);
}

namespace {

// A node that takes at least one pod of the set.
struct Option {
  int64_t object_score = 0;
  int64_t room = 0;
  bool is_used = false;  // holds a part of the gang already
  int64_t score = 0;
  NodeId node;
};

// Among nodes that take all that is left, the one where least stays free.
bool is_tighter(const Option& a, const Option& b) {
  return std::tuple(a.is_used, a.score, b.node) > std::tuple(b.is_used, b.score, a.node);
}
// Wishes first; among equally wished for, the one that takes most.
bool comes_later(const Option& a, const Option& b) {
  return std::tuple(a.object_score, a.room, a.is_used, a.score, b.node) <
         std::tuple(b.object_score, b.room, b.is_used, b.score, a.node);
}

}  // namespace

// For equal pods this is exact: if it places fewer, no other way places more. Fewest nodes: as long
// as none takes all that is left, the roomiest is filled; the rest goes where it fits most tightly.
Places Cycle::place(const Candidates& where, int32_t count, const Places& used) {
  const Shape& shape = state.shapes[where.shape.index()];
  const Amounts& wants = shape.request.amounts;
  std::vector<Option> options;
  where.nodes.for_each([&](size_t n) {
    const NodeId node(static_cast<uint32_t>(n));
    const int64_t room = state.nodes.room(node, wants);
    if (room == 0) return;
    const bool is_used =
        std::ranges::find(used, node, &std::pair<NodeId, int32_t>::first) != used.end();
    options.push_back({shape.object_score.empty() ? 0 : shape.object_score[n], room, is_used,
                       state.nodes.score(node), node});
  });
  result.stats.nodes_scanned += static_cast<int64_t>(where.nodes.words().size() * 64);
  std::ranges::make_heap(options, comes_later);
  Places places;
  int32_t left = count;
  const auto put = [&](const Option& option) {
    const auto taken = static_cast<int32_t>(std::min<int64_t>(left, option.room));
    state.nodes.take(option.node, wants, taken, state.trail);
    places.emplace_back(option.node, taken);
    left -= taken;
    ++result.stats.steps;
  };
  while (left > 0 && !options.empty()) {
    const Option top = options.front();
    if (top.room < left) {
      put(top);
      std::ranges::pop_heap(options, comes_later);
      options.pop_back();
      continue;
    }
    const Option* best = nullptr;
    for (const Option& option : options) {
      if (option.object_score == top.object_score && option.room >= left &&
          (best == nullptr || is_tighter(option, *best)))
        best = &option;
    }
    put(*best);
  }
  std::ranges::sort(places);
  return places;
}

}  // namespace tau::engine
