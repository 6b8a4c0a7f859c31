// Shares of what cohorts lend: who is next, who must give way.
#include "engine/world_for_tests.h"

namespace tau::engine {
namespace {

struct FairWorld : TestWorld {
  uint32_t next_id = 1;
  struct Spec {
    int64_t gpus = 0, weight = weight_one;
    Reclaim reclaim = Reclaim::any;
  };
  explicit FairWorld(int64_t pool, std::initializer_list<Spec> queues) {
    give(FairSharing{.is_on = true});
    give(FlavorUpsert{.id = FlavorId(0)});
    give(CohortUpsert{.id = CohortId(0), .groups = {group(pool)}});
    uint32_t id = 0;
    for (const Spec& spec : queues)
      give(QueueUpsert{.id = QueueId(id++),
                       .cohort = CohortId(0),
                       .groups = {group(spec.gpus)},
                       .preemption = {.reclaim = spec.reclaim},
                       .weight = spec.weight});
  }
  static ResourceGroup group(int64_t gpus) {
    return {.resources = {cpu, gpu},
            .flavors = {{.flavor = FlavorId(0), .quotas = {{cpu, 1'000'000'000}, {gpu, gpus}}}}};
  }
  uint32_t submit(uint32_t queue, int gpus, int priority = 0) {
    const uint32_t id = next_id++;
    give(workload(id, 1, gpus, priority, queue));
    return id;
  }
  // Every head that fits starts, and what is told to go is gone at once.
  void settle(int cycles) {
    for (int i = 0; i < cycles; ++i) {
      now += seconds(1);
      const CycleResult result = cycle();
      for (const Admit& one : only<Admit>(result)) {
        known[one.workload.value].admission = one.pod_sets;
        give(known[one.workload.value]);
      }
      for (const Evict& one : only<Evict>(result)) {
        known[one.workload.value].admission.reset();
        give(known[one.workload.value]);
      }
    }
  }
  std::map<uint32_t, WorkloadUpsert> known;
  void flood(uint32_t queue, int count, int gpus) {
    for (int i = 0; i < count; ++i) {
      const uint32_t id = next_id++;
      give(known[id] = workload(id, 1, gpus, 0, queue));
    }
  }
  std::vector<int64_t> used() const {
    std::vector<int64_t> gpus;
    for (const QueueView& queue : engine.view().queues) {
      for (const Amount& amount : queue.used[0].second) {
        if (amount.resource == gpu) gpus.push_back(amount.value);
      }
    }
    return gpus;
  }
};

TEST(Fair, WhoHasLeastIsNextWhateverThePriority) {
  FairWorld w(10, {{}, {}});
  w.submit(0, 6);
  w.cycle();
  const uint32_t more = w.submit(0, 3, 9), fewer = w.submit(1, 2, 0);
  const auto admits = w.only<Admit>(w.cycle());
  ASSERT_EQ(admits.size(), 1u);
  EXPECT_EQ(admits[0].workload, WorkloadId(fewer));
  EXPECT_NE(more, fewer);
}

TEST(Fair, AFloodOfOneGivesWayToTheOther) {
  FairWorld w(16, {{}, {}});
  w.flood(0, 30, 1);
  w.settle(2);
  EXPECT_EQ(w.used(), (std::vector<int64_t>{16, 0}));
  w.flood(1, 30, 1);
  w.settle(6);
  EXPECT_EQ(w.used(), (std::vector<int64_t>{8, 8}));
}

TEST(Fair, WeightsDecideHowMuch) {
  FairWorld w(16, {{.weight = 3 * weight_one}, {.weight = weight_one}});
  w.flood(1, 30, 1);
  w.settle(2);
  w.flood(0, 30, 1);
  w.settle(6);
  EXPECT_EQ(w.used(), (std::vector<int64_t>{12, 4}));
}

// Once shares are even nobody is pushed out any more.
TEST(Fair, ItComesToRest) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    Rng rng(seed);
    FairWorld w(rng.between(4, 20), {{.gpus = rng.between(0, 6)},
                                     {.gpus = rng.between(0, 6)},
                                     {.weight = rng.between(1, 3) * weight_one}});
    for (uint32_t queue = 0; queue < 3; ++queue)
      w.flood(queue, 20, static_cast<int>(rng.between(1, 3)));
    w.settle(20);
    for (int i = 0; i < 5; ++i) {
      w.now += seconds(1);
      EXPECT_TRUE(w.only<Evict>(w.cycle()).empty()) << "seed " << seed;
    }
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace tau::engine
