// Placement by topology. What each domain holds is counted from the nodes up; the level is chosen
// by what is asked; then downwards, the fewest domains of each level, the last one the tightest.
#include "engine/cycle.h"

namespace tau::engine {
namespace {

using DomainIndex = Topology::DomainIndex;

// Of one set in one topology.
struct Counts {
  std::vector<int64_t> pods, slices;  // by domain
};

struct Placer {
  const Topology& topology;
  const NodeTable& nodes;
  const Candidates& where;
  const Amounts& wants;
  const TopologyRequest& asks;
  int64_t count;
  Counts& room;
  // Ascending: where nothing is asked, small leftovers are used up first.
  bool is_ascending = false;
  size_t slice_level = 0;
  int64_t slice_size = 1;

  // What of a child counts for its parent: whole slices of the narrower layers.
  int64_t counted(DomainIndex at) const {
    for (size_t i = 1; i < asks.slices.size(); ++i) {
      if (topology.find(asks.slices[i].level) == topology.domains[at].level)
        return room.pods[at] / asks.slices[i].size * asks.slices[i].size;
    }
    return room.pods[at];
  }
  // Children of this level get multiples of it.
  int64_t unit_at(size_t level) const {
    for (const auto& slice : asks.slices) {
      if (topology.find(slice.level) >= level) return slice.size;
    }
    return 1;
  }

  void fill() {
    slice_level = asks.slices.empty() ? topology.lowest() : topology.find(asks.slices[0].level);
    slice_size = asks.slices.empty() ? 1 : asks.slices[0].size;
    room.pods.assign(topology.domains.size(), 0);
    room.slices.assign(topology.domains.size(), 0);
    for (size_t d = topology.domains.size(); d-- > 0;) {
      const Topology::Domain& domain = topology.domains[d];
      if (domain.node.is_some() && where.nodes.test(domain.node.index()))
        room.pods[d] = nodes.room(domain.node, wants);
      if (domain.level == slice_level) room.slices[d] = room.pods[d] / slice_size;
      if (domain.parent == Topology::none) continue;
      room.pods[domain.parent] += counted(static_cast<DomainIndex>(d));
      if (domain.level <= slice_level) room.slices[domain.parent] += room.slices[d];
    }
  }

  void sort(std::vector<DomainIndex>& domains) const {
    std::ranges::sort(domains, {}, [&](DomainIndex d) {
      return std::tuple(is_ascending ? room.slices[d] : -room.slices[d], room.pods[d], d);
    });
  }
  std::vector<DomainIndex> level_domains(size_t level) const {
    std::vector<DomainIndex> all;
    for (DomainIndex d = topology.level_starts[level]; d < topology.level_starts[level + 1]; ++d)
      all.push_back(d);
    sort(all);
    return all;
  }
  // From `from` on, the one that holds what is left with least to spare.
  template <class Capacity>
  static size_t tightest(const std::vector<DomainIndex>& domains, size_t from, int64_t left,
                         Capacity capacity) {
    size_t best = from;
    for (size_t i = from; i < domains.size(); ++i) {
      const int64_t here = capacity(domains[i]);
      if (here >= left && here < capacity(domains[best])) best = i;
    }
    return best;
  }

  // Where to begin: one domain that holds all, if need be further up; in the end several.
  std::vector<DomainIndex> start(size_t level) const {
    const int64_t slices = count / slice_size;
    const auto capacity = [&](DomainIndex d) { return room.slices[d]; };
    for (;; --level) {
      const std::vector<DomainIndex> domains = level_domains(level);
      if (domains.empty()) return {};
      for (size_t i = 0; i < domains.size(); ++i) {
        if (capacity(domains[i]) >= slices)
          return {domains[tightest(domains, i, slices, capacity)]};
        if (!is_ascending) break;  // the first is the largest
      }
      if (asks.kind == TopologyRequest::Kind::required) return {};
      if (level == 0 || is_ascending) return gather(domains, slices, capacity);
    }
  }
  template <class Capacity>
  std::vector<DomainIndex> gather(const std::vector<DomainIndex>& domains, int64_t left,
                                  Capacity capacity) const {
    std::vector<DomainIndex> chosen;
    for (size_t i = 0; i < domains.size() && left > 0; ++i) {
      if (capacity(domains[i]) == 0) continue;
      DomainIndex one = domains[i];
      if (!is_ascending && capacity(one) >= left)
        one = domains[tightest(domains, i, left, capacity)];
      chosen.push_back(one);
      left -= capacity(one);
    }
    return left > 0 ? std::vector<DomainIndex>{} : chosen;
  }

  // Deals `total` pods out over them in multiples of `unit`; their room becomes what they get.
  std::vector<DomainIndex> deal(const std::vector<DomainIndex>& domains, int64_t total,
                                int64_t unit, bool is_by_slices) const {
    const auto capacity = [&](DomainIndex d) {
      return is_by_slices ? room.slices[d] : room.pods[d] / unit;
    };
    std::vector<DomainIndex> chosen = gather(domains, total / unit, capacity);
    int64_t left = total / unit;
    for (const DomainIndex d : chosen) {
      const int64_t here = std::min(left, capacity(d));
      left -= here;
      room.slices[d] = here;
      room.pods[d] = here * unit;
    }
    return chosen;
  }

  Places place() {
    fill();
    using Kind = TopologyRequest::Kind;
    const bool is_free = asks.kind == Kind::none || asks.kind == Kind::unconstrained;
    is_ascending = is_free;
    if (count % slice_size != 0) return {};
    size_t level =
        is_free ? (asks.slices.empty() ? topology.lowest() : 0) : topology.find(asks.level);
    std::vector<DomainIndex> now = start(level);
    if (now.empty()) return {};
    level = topology.domains[now[0]].level;
    now = deal(now, count, slice_size, true);
    for (; level < topology.lowest() && !now.empty(); ++level) {
      std::vector<DomainIndex> next;
      const auto add_children = [&](DomainIndex d) {
        for (DomainIndex c = topology.domains[d].first_child; c < topology.domains[d].last_child;
             ++c)
          next.push_back(c);
      };
      if (level < slice_level) {
        for (const DomainIndex d : now) add_children(d);
        sort(next);
        now = deal(next, count, slice_size, true);
        continue;
      }
      std::vector<DomainIndex> all;
      for (const DomainIndex d : now) {
        next.clear();
        add_children(d);
        sort(next);
        const auto dealt = deal(next, room.pods[d], unit_at(level + 1), false);
        all.insert(all.end(), dealt.begin(), dealt.end());
      }
      now = std::move(all);
    }
    Places places;
    int64_t placed = 0;
    for (const DomainIndex d : now) {
      places.emplace_back(topology.domains[d].node, static_cast<int32_t>(room.pods[d]));
      placed += room.pods[d];
    }
    if (placed != count) return {};
    std::ranges::sort(places);
    return places;
  }
};

}  // namespace

const Topology& Engine::State::topology_of(FlavorId id) {
  FlavorState& flavor = flavors[id.index()];
  if (std::exchange(flavor.is_topology_stale, false))
    flavor.topology = Topology::build(flavor.spec.levels, flavor.nodes, nodes);
  return flavor.topology;
}

FlavorId Cycle::topology_flavor(std::span<const FlavorId> flavors) const {
  for (const FlavorId flavor : flavors) {
    if (!state.flavors[flavor.index()].spec.levels.empty()) return flavor;
  }
  return {};
}

Places Cycle::place_by_topology(const Candidates& where, FlavorId flavor, int32_t count,
                                const TopologyRequest& asks) {
  Counts room;
  Placer placer{.topology = state.topology_of(flavor),
                .nodes = state.nodes,
                .where = where,
                .wants = state.amounts(where.shape),
                .asks = asks,
                .count = count,
                .room = room};
  Places places = placer.place();
  result.stats.nodes_scanned += static_cast<int64_t>(where.nodes.words().size() * 64);
  result.stats.steps += static_cast<int64_t>(places.size()) + 1;
  for (const auto& [node, pods_there] : places)
    state.nodes.take(node, placer.wants, pods_there, state.trail);
  return places;
}

// From the tightest domain of the level that is asked for upwards: the leader where it costs the
// workers least, then they around it.
std::optional<std::pair<Places, Places>> Cycle::place_group(const Candidates& leader,
                                                            const Candidates& workers,
                                                            FlavorId flavor, int32_t count,
                                                            const TopologyRequest& asks) {
  const Topology& topology = state.topology_of(flavor);
  const Amounts &lead = state.amounts(leader.shape), &work = state.amounts(workers.shape);
  struct Seat {
    int64_t cost = 0, room = 0;
    NodeId node;
    auto operator<=>(const Seat&) const = default;
  };
  const auto try_inside =
      [&](const Candidates& inside) -> std::optional<std::pair<Places, Places>> {
    std::vector<Seat> seats;
    inside.nodes.for_each([&](size_t n) {
      const NodeId node(static_cast<uint32_t>(n));
      if (!leader.nodes.test(n) || !state.nodes.has(node, lead)) return;
      const Trail::Mark mark = state.trail.mark();
      const bool is_for_workers = workers.nodes.test(n);
      const int64_t before = is_for_workers ? state.nodes.room(node, work) : 0;
      state.nodes.take(node, lead, 1, state.trail);
      const int64_t after = is_for_workers ? state.nodes.room(node, work) : 0;
      state.trail.undo_to(mark);
      seats.push_back({before - after, before, node});
    });
    if (seats.empty()) return std::nullopt;
    const Seat seat = *std::ranges::min_element(seats);
    const Trail::Mark mark = state.trail.mark();
    state.nodes.take(seat.node, lead, 1, state.trail);
    Candidates theirs{.shape = workers.shape, .nodes = workers.nodes};
    theirs.nodes &= inside.nodes;
    Places places = place_by_topology(theirs, flavor, count, asks);
    if (count == 0 || !places.empty()) return std::pair(Places{{seat.node, 1}}, std::move(places));
    state.trail.undo_to(mark);
    return std::nullopt;
  };
  using Kind = TopologyRequest::Kind;
  if (asks.kind == Kind::required || asks.kind == Kind::preferred) {
    for (size_t level = topology.find(asks.level) + 1; level-- > 0;) {
      std::vector<std::pair<int64_t, Candidates>> domains;  // by what they hold
      for (DomainIndex d = topology.level_starts[level]; d < topology.level_starts[level + 1];
           ++d) {
        Candidates inside{.shape = workers.shape, .nodes = Bits()};
        inside.nodes.resize(state.nodes.size());
        int64_t room = 0;
        std::vector<DomainIndex> open{d};
        while (!open.empty()) {
          const Topology::Domain& domain = topology.domains[open.back()];
          open.pop_back();
          if (domain.node.is_some()) {
            inside.nodes.set(domain.node.index(), true);
            if (workers.nodes.test(domain.node.index()))
              room += state.nodes.room(domain.node, work);
            continue;
          }
          for (DomainIndex c = domain.first_child; c < domain.last_child; ++c) open.push_back(c);
        }
        if (room >= count) domains.emplace_back(room, std::move(inside));
      }
      std::ranges::stable_sort(domains, {}, &std::pair<int64_t, Candidates>::first);
      for (const auto& [room, inside] : domains) {
        if (auto placed = try_inside(inside)) return placed;
      }
      if (asks.kind == Kind::required) return std::nullopt;
    }
  }
  Candidates everywhere{.shape = workers.shape, .nodes = Bits()};
  everywhere.nodes.resize(state.nodes.size());
  everywhere.nodes |= state.flavors[flavor.index()].nodes;
  return try_inside(everywhere);
}

}  // namespace tau::engine
