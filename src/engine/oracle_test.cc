// The engine against a naive judge on small random clusters: the judge recomputes everything, knows
// no columns, no trail and no order, and tries every way. Feasible and infeasible must agree, and
// what was found must hold.
#include <fmt/format.h>

#include "engine/world_for_tests.h"

namespace tau::engine {
namespace {

struct Machine {
  int64_t gpus = 0, cpu_milli = 0;
  uint32_t kind = 0;  // label value
  bool is_open = true;
};
struct Wanted {
  int32_t count = 1;
  int64_t gpus = 0, cpu_milli = 0;
  std::optional<uint32_t> kind;  // selector
};
struct Case {
  std::vector<Machine> machines;
  std::vector<Wanted> sets;
  std::vector<int64_t> quota;  // GPUs per flavor = kind
};

Case draw(Rng& rng, int most_sets) {
  Case made;
  const auto kinds = static_cast<uint32_t>(rng.between(1, 2));
  const int64_t machines = rng.between(1, most_sets == 1 ? 8 : 4);
  for (int64_t i = 0; i < machines; ++i) {
    made.machines.push_back({.gpus = rng.between(0, 8),
                             .cpu_milli = rng.between(1, 16) * 1000,
                             .kind = static_cast<uint32_t>(rng.below(kinds)),
                             .is_open = rng.chance(0.85)});
  }
  const int64_t sets = rng.between(1, most_sets);
  for (int64_t i = 0; i < sets; ++i) {
    Wanted set{.count = static_cast<int32_t>(rng.between(1, most_sets == 1 ? 12 : 4)),
               .gpus = rng.between(0, 4),
               .cpu_milli = rng.between(1, 8) * 1000,
               .kind = std::nullopt};
    if (rng.chance(0.2)) set.kind = static_cast<uint32_t>(rng.below(kinds));
    made.sets.push_back(set);
  }
  for (uint32_t k = 0; k < kinds; ++k)
    made.quota.push_back(rng.chance(0.3) ? rng.between(0, 16) : 1000);
  return made;
}

// Tries every flavor for every set and every node for every pod.
struct Judge {
  Case c;
  bool place(size_t set, int32_t pod, size_t from) {
    if (set == c.sets.size()) return true;
    const Wanted& want = c.sets[set];
    if (pod == want.count) return choose(set + 1);
    for (size_t m = from; m < c.machines.size(); ++m) {  // equal pods: never back
      Machine& machine = c.machines[m];
      if (!machine.is_open || machine.kind != chosen || machine.gpus < want.gpus ||
          machine.cpu_milli < want.cpu_milli)
        continue;
      machine.gpus -= want.gpus;
      machine.cpu_milli -= want.cpu_milli;
      const bool fits = place(set, pod + 1, m);
      machine.gpus += want.gpus;
      machine.cpu_milli += want.cpu_milli;
      if (fits) return true;
    }
    return false;
  }
  bool choose(size_t set) {
    if (set == c.sets.size()) return true;
    for (uint32_t kind = 0; kind < c.quota.size(); ++kind) {
      const Wanted& want = c.sets[set];
      if (want.kind && *want.kind != kind) continue;
      if (c.quota[kind] < want.gpus * want.count) continue;
      // A flavor without machines is admitted by quota alone.
      const bool has_machines =
          std::ranges::any_of(c.machines, [&](const Machine& m) { return m.kind == kind; });
      const uint32_t before = std::exchange(chosen, kind);
      c.quota[kind] -= want.gpus * want.count;
      const bool fits = has_machines ? place(set, 0, 0) : choose(set + 1);
      c.quota[kind] += want.gpus * want.count;
      chosen = before;
      if (fits) return true;
    }
    return false;
  }
  uint32_t chosen = 0;
};

void build(const Case& c, TestWorld& w) {
  QueueUpsert queue{.id = QueueId(0), .groups = {{.resources = {cpu, gpu}, .flavors = {}}}};
  for (uint32_t k = 0; k < c.quota.size(); ++k) {
    w.give(FlavorUpsert{.id = FlavorId(k), .node_labels = {{LabelKeyId(0), LabelValueId(k), {}}}});
    queue.groups[0].flavors.push_back(
        {.flavor = FlavorId(k), .quotas = {{cpu, 1'000'000'000}, {gpu, c.quota[k]}}});
  }
  w.give(queue);
  for (uint32_t m = 0; m < c.machines.size(); ++m) {
    NodeUpsert node =
        TestWorld::node(m, static_cast<int>(c.machines[m].gpus), c.machines[m].cpu_milli);
    node.labels = {{LabelKeyId(0), LabelValueId(c.machines[m].kind), {}}};
    node.is_cordoned = !c.machines[m].is_open;
    w.give(node);
  }
  WorkloadUpsert gang{.id = WorkloadId(0), .queue = QueueId(0)};
  for (const Wanted& set : c.sets) {
    PodSet made{.request = TestWorld::request(static_cast<int>(set.gpus), set.cpu_milli),
                .count = set.count};
    if (set.kind)
      made.request.terms = {{{.key = LabelKeyId(0), .values = {LabelValueId(*set.kind)}}}};
    gang.pod_sets.push_back(std::move(made));
  }
  w.give(gang);
}

// What was admitted, added up by hand.
void expect_sound(const Case& c, const Admit& admit, uint64_t seed) {
  std::vector<Machine> machines = c.machines;
  std::vector<int64_t> quota = c.quota;
  for (size_t set = 0; set < c.sets.size(); ++set) {
    const Wanted& want = c.sets[set];
    const auto flavor = std::ranges::find(admit.pod_sets[set].flavors, cpu,
                                          &std::pair<ResourceId, FlavorId>::first);
    ASSERT_NE(flavor, admit.pod_sets[set].flavors.end()) << "seed " << seed;
    quota[flavor->second.index()] -= want.gpus * want.count;
    int32_t placed = 0;
    for (const auto& [node, count] : admit.pod_sets[set].nodes) {
      Machine& machine = machines[node.index()];
      EXPECT_TRUE(machine.is_open && machine.kind == flavor->second.value) << "seed " << seed;
      machine.gpus -= want.gpus * count;
      machine.cpu_milli -= want.cpu_milli * count;
      placed += count;
    }
    const bool has_machines = std::ranges::any_of(
        c.machines, [&](const Machine& m) { return m.kind == flavor->second.value; });
    EXPECT_EQ(placed, has_machines ? want.count : 0) << "seed " << seed;
  }
  for (const Machine& machine : machines)
    EXPECT_TRUE(machine.gpus >= 0 && machine.cpu_milli >= 0) << "seed " << seed;
  for (const int64_t left : quota) EXPECT_GE(left, 0) << "seed " << seed;
}

void compare(int most_sets, uint64_t seeds) {
  int64_t feasible = 0;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    Rng rng(seed);
    const Case c = draw(rng, most_sets);
    TestWorld w;
    build(c, w);
    const CycleResult result = w.cycle();
    const auto admits = TestWorld::only<Admit>(result);
    const bool is_feasible = Judge{.c = c}.choose(0);
    feasible += is_feasible ? 1 : 0;
    ASSERT_EQ(!admits.empty(), is_feasible) << "seed " << seed << ", " << c.sets.size() << " sets, "
                                            << c.machines.size() << " machines";
    if (!admits.empty()) expect_sound(c, admits[0], seed);
    // What waits is told why, with a reason that is true.
    if (admits.empty()) {
      const Verdict* verdict = TestWorld::verdict(result, 0);
      ASSERT_NE(verdict, nullptr) << "seed " << seed;
      ASSERT_FALSE(verdict->blockers.empty()) << "seed " << seed;
      EXPECT_NE(verdict->blockers[0].reason, Reason::not_evaluated) << "seed " << seed;
      EXPECT_EQ(verdict->blockers[0].proof, Proof::proved) << "seed " << seed;
    }
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(feasible, static_cast<int64_t>(seeds / 5));
  EXPECT_LT(feasible, static_cast<int64_t>(seeds - seeds / 5));
}

TEST(Oracle, OnePodSetFitsExactlyWhenSomeWayExists) {
  compare(1, 3000);
}
TEST(Oracle, UnlikePodSetsFitExactlyWhenSomeWayExists) {
  compare(3, 3000);
}

}  // namespace
}  // namespace tau::engine
