// Where a topology is asked for: placed exactly when some domain has the room, and then as asked.
#include "engine/world_for_tests.h"

namespace tau::engine {
namespace {

using Kind = TopologyRequest::Kind;
constexpr LabelKeyId block{1}, rack{2}, host{3};

struct Spot {
  uint32_t block, rack;
  int64_t gpus;
};
struct TopologyWorld : TestWorld {
  std::vector<Spot> spots;
  explicit TopologyWorld(std::vector<Spot> nodes) : spots(std::move(nodes)) {
    give(FlavorUpsert{.id = FlavorId(0), .levels = {block, rack, host}});
    give(QueueUpsert{.id = QueueId(0),
                     .groups = {{.resources = {cpu, gpu},
                                 .flavors = {{.flavor = FlavorId(0),
                                              .quotas = {{cpu, 1'000'000'000}, {gpu, 1000}}}}}}});
    for (uint32_t n = 0; n < spots.size(); ++n) {
      NodeUpsert one = node(n, static_cast<int>(spots[n].gpus));
      one.labels = {{block, LabelValueId(spots[n].block), {}},
                    {rack, LabelValueId(100 + spots[n].rack), {}},
                    {host, LabelValueId(1000 + n), {}}};
      give(one);
    }
  }
  std::optional<std::vector<PodSetAdmission>> ask(std::vector<PodSet> sets) {
    give(WorkloadUpsert{.id = WorkloadId(1), .queue = QueueId(0), .pod_sets = std::move(sets)});
    const auto admits = only<Admit>(cycle());
    return admits.empty() ? std::nullopt : std::optional(admits[0].pod_sets);
  }
  static PodSet set(int count, int gpus, TopologyRequest topology) {
    return {.request = request(gpus), .count = count, .topology = std::move(topology)};
  }
  // Which domain of a level a node is in.
  std::pair<uint32_t, uint32_t> domain(size_t node, LabelKeyId level) const {
    if (level == block) return {spots[node].block, 0};
    if (level == rack) return {spots[node].block, spots[node].rack};
    return {UINT32_MAX, static_cast<uint32_t>(node)};
  }
};

TEST(Topology, PlacedExactlyWhenSomeDomainHasTheRoom) {
  int64_t placed_count = 0;
  constexpr uint64_t seeds = 3000;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    Rng rng(seed);
    std::vector<Spot> spots(static_cast<size_t>(rng.between(1, 10)));
    for (Spot& spot : spots)
      spot = {static_cast<uint32_t>(rng.below(2)), static_cast<uint32_t>(rng.below(3)),
              rng.between(0, 8)};
    TopologyWorld w(spots);
    const int each = static_cast<int>(rng.between(1, 3));
    const LabelKeyId levels[] = {block, rack, host};
    const auto level_at = static_cast<size_t>(rng.below(3));
    TopologyRequest asks{.kind = static_cast<Kind>(rng.below(4)), .level = levels[level_at]};
    if (asks.kind == Kind::none || asks.kind == Kind::unconstrained) asks.level = {};
    int32_t size = 1;
    LabelKeyId slice_level = host;
    if (rng.chance(0.5)) {
      size = static_cast<int32_t>(rng.between(1, 4));
      slice_level =
          levels[std::max(asks.level.is_some() ? level_at : 0, static_cast<size_t>(rng.below(3)))];
      asks.slices = {{slice_level, size}};
    }
    const auto count = static_cast<int>(size * rng.between(1, 5));
    const auto got = w.ask({TopologyWorld::set(count, each, asks)});
    // By hand: slices of each slice domain, summed over each domain that may hold all.
    std::map<std::pair<uint32_t, uint32_t>, int64_t> room;
    for (size_t n = 0; n < spots.size(); ++n)
      room[w.domain(n, asks.slices.empty() ? host : slice_level)] += spots[n].gpus / each;
    std::map<std::pair<uint32_t, uint32_t>, int64_t> held;
    std::set<std::pair<uint32_t, uint32_t>> counted;
    for (size_t n = 0; n < spots.size(); ++n) {
      const auto slice_domain = w.domain(n, asks.slices.empty() ? host : slice_level);
      if (!counted.insert(slice_domain).second) continue;
      const auto whole = asks.kind == Kind::required ? w.domain(n, asks.level) : std::pair(0u, 0u);
      held[whole] += room[slice_domain] / size * size;
    }
    const bool is_feasible =
        std::ranges::any_of(held, [&](const auto& entry) { return entry.second >= count; });
    ASSERT_EQ(got.has_value(), is_feasible) << "seed " << seed;
    if (!got) continue;
    ++placed_count;
    int32_t total = 0;
    std::map<std::pair<uint32_t, uint32_t>, int32_t> by_slice;
    std::set<std::pair<uint32_t, uint32_t>> by_level;
    for (const auto& [node, pods_there] : (*got)[0].nodes) {
      EXPECT_LE(pods_there * each, spots[node.index()].gpus) << "seed " << seed;
      total += pods_there;
      by_slice[w.domain(node.index(), slice_level)] += pods_there;
      if (asks.level.is_some()) by_level.insert(w.domain(node.index(), asks.level));
    }
    EXPECT_EQ(total, count) << "seed " << seed;
    if (asks.kind == Kind::required) {
      EXPECT_EQ(by_level.size(), 1u) << "seed " << seed;
    }
    if (!asks.slices.empty()) {
      for (const auto& [domain, pods_there] : by_slice)
        EXPECT_EQ(pods_there % size, 0) << "seed " << seed;
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(placed_count, static_cast<int64_t>(seeds / 4));
}

TEST(Topology, ALeaderStaysWithItsWorkers) {
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    Rng rng(seed);
    std::vector<Spot> spots(static_cast<size_t>(rng.between(2, 8)));
    for (Spot& spot : spots)
      spot = {static_cast<uint32_t>(rng.below(2)), static_cast<uint32_t>(rng.below(2)),
              rng.between(0, 8)};
    TopologyWorld w(spots);
    const TopologyRequest asks{.kind = Kind::required, .level = rack, .slices = {}, .group = 7};
    const int lead = static_cast<int>(rng.between(1, 4)),
              count = static_cast<int>(rng.between(1, 8));
    const auto got = w.ask({TopologyWorld::set(1, lead, asks), TopologyWorld::set(count, 1, asks)});
    // With workers of one device each, what is left after the leader is all that counts.
    bool is_feasible = false;
    for (size_t n = 0; n < spots.size(); ++n) {
      if (spots[n].gpus < lead) continue;
      int64_t room = -lead;
      for (size_t m = 0; m < spots.size(); ++m)
        room += w.domain(m, rack) == w.domain(n, rack) ? spots[m].gpus : 0;
      is_feasible |= room >= count;
    }
    ASSERT_EQ(got.has_value(), is_feasible) << "seed " << seed;
    if (!got) continue;
    std::set<std::pair<uint32_t, uint32_t>> racks;
    for (const PodSetAdmission& set : *got) {
      for (const auto& [node, pods_there] : set.nodes) racks.insert(w.domain(node.index(), rack));
    }
    EXPECT_EQ(racks.size(), 1u) << "seed " << seed;
  }
}

// Its pods come, one node dies, and its pods come again.
TEST(Topology, WhatIsLostIsReplacedInItsOwnDomainOrNotAtAll) {
  for (const bool has_room : {true, false}) {
    TopologyWorld w({{0, 0, 2}, {0, 0, 2}, {0, 1, 3}, {0, 0, has_room ? 2 : 0}});
    const TopologyRequest one_rack{.kind = Kind::required, .level = rack};
    WorkloadUpsert work{
        .id = WorkloadId(1), .queue = QueueId(0), .pod_sets = {TopologyWorld::set(4, 1, one_rack)}};
    w.give(work);
    work.admission = w.only<Admit>(w.cycle()).at(0).pod_sets;
    ASSERT_EQ((*work.admission)[0].nodes.size(), 2u);
    w.give(work);
    const NodeId lost = (*work.admission)[0].nodes[0].first;
    w.give(NodeGone{lost});
    for (uint32_t p = 0; p < 4; ++p) w.give(TestWorld::pod(p, 1, 1));
    std::set<NodeId> used;
    for (const Bind& bind : w.only<Bind>(w.cycle())) used.insert(bind.node);
    EXPECT_FALSE(used.contains(NodeId(2))) << "another rack";
    EXPECT_EQ(used.size(), has_room ? 2u : 1u);
  }
}

TEST(Topology, ANodeThatMovesIsCountedWhereItIs) {
  TopologyWorld w({{0, 0, 4}, {0, 1, 4}});
  const TopologyRequest one_rack{.kind = Kind::required, .level = rack};
  EXPECT_FALSE(w.ask({TopologyWorld::set(2, 4, one_rack)}));
  NodeUpsert moved = TestWorld::node(1, 4);
  moved.labels = {
      {block, LabelValueId(0), {}}, {rack, LabelValueId(100), {}}, {host, LabelValueId(1001), {}}};
  w.give(moved);
  EXPECT_EQ(w.only<Admit>(w.cycle()).size(), 1u);
}

TEST(Fewer, AsManyPodsAsFitAndNoneBelowTheLeast) {
  for (const auto& [least, want] : std::vector<std::pair<int, int>>{{2, 5}, {5, 5}, {6, 0}}) {
    TestWorld w;
    w.queue(0, 100);
    w.give(TestWorld::node(0, 5));
    WorkloadUpsert work = TestWorld::workload(1, 12, 1);
    work.pod_sets[0].min_count = least;
    w.give(work);
    const auto admits = w.only<Admit>(w.cycle());
    EXPECT_EQ(admits.empty() ? 0 : admits[0].pod_sets[0].count, want) << least;
  }
}

}  // namespace
}  // namespace tau::engine
