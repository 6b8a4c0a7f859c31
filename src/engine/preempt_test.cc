// Who goes for whom, and that what they leave is kept.
#include "engine/world_for_tests.h"

namespace tau::engine {
namespace {

struct PreemptWorld : TestWorld {
  std::map<uint32_t, WorkloadUpsert> work;
  uint32_t next_pod = 0;
  std::map<uint32_t, std::vector<PodUpsert>> pods_of;

  void own_queue(int64_t gpus, Preemption preemption,
                 Strategy strategy = Strategy::best_effort_fifo) {
    give(FlavorUpsert{.id = FlavorId(0)});
    give(QueueUpsert{.id = QueueId(0),
                     .strategy = strategy,
                     .groups = {{.resources = {cpu, gpu},
                                 .flavors = {{.flavor = FlavorId(0),
                                              .quotas = {{cpu, 1'000'000'000}, {gpu, gpus}}}}}},
                     .preemption = preemption});
  }
  void submit(uint32_t id, int count, int gpus_each, int priority) {
    give(work[id] = workload(id, count, gpus_each, priority));
  }
  // Admitted work is confirmed, its pods appear and are bound.
  void start_all() {
    for (int round = 0; round < 3; ++round) {
      for (const Decision& decision : cycle().decisions) {
        if (const auto* admit = std::get_if<Admit>(&decision)) {
          WorkloadUpsert& one = work[admit->workload.value];
          one.admission = admit->pod_sets;
          give(one);
          for (int p = 0; p < one.pod_sets[0].count; ++p) {
            pods_of[one.id.value].push_back(
                {.id = PodId(next_pod++), .workload = one.id, .request = one.pod_sets[0].request});
            give(pods_of[one.id.value].back());
          }
        } else if (const auto* bind = std::get_if<Bind>(&decision)) {
          for (auto& [id, list] : pods_of) {
            for (PodUpsert& one : list) {
              if (one.id != bind->pod) continue;
              one.node = bind->node;
              one.gpus = bind->gpus;
              give(one);
            }
          }
        }
      }
    }
  }
  void queue_again(uint32_t id) {
    work[id].admission.reset();
    give(work[id]);
  }
  void lose_pods(uint32_t id) {
    for (const PodUpsert& one : pods_of[id]) give(PodGone{one.id});
    pods_of[id].clear();
  }
  static std::set<uint32_t> evicted(const CycleResult& result) {
    std::set<uint32_t> ids;
    for (const Evict& one : only<Evict>(result)) ids.insert(one.workload.value);
    return ids;
  }
  static std::set<uint32_t> admitted(const CycleResult& result) {
    std::set<uint32_t> ids;
    for (const Admit& one : only<Admit>(result)) ids.insert(one.workload.value);
    return ids;
  }
};

constexpr Preemption lower{.within = Within::lower_priority};
using Ids = std::set<uint32_t>;

TEST(Preempt, NobodyGoesUnlessAllOfItThenFitsTheNodesToo) {
  PreemptWorld w;
  w.own_queue(100, lower);
  for (uint32_t n = 0; n < 2; ++n) w.give(TestWorld::node(n, 4));
  w.submit(1, 2, 4, 0);
  w.start_all();
  w.submit(2, 3, 4, 9);  // three nodes' worth
  EXPECT_EQ(w.evicted(w.cycle()), Ids{});
  w.submit(3, 1, 8, 9);  // no node is that large
  EXPECT_EQ(w.evicted(w.cycle()), Ids{});
}

TEST(Preempt, OnlyThoseGoWhoseNodesHelp) {
  PreemptWorld w;
  w.own_queue(100, lower);
  w.give(TestWorld::node(0, 8));
  w.give(TestWorld::node(1, 4));
  w.submit(1, 1, 8, 1);
  w.submit(2, 1, 4, 0);  // the cheapest, but its node is too small
  w.start_all();
  w.submit(3, 1, 6, 9);
  EXPECT_EQ(w.evicted(w.cycle()), Ids{1});
}

TEST(Preempt, TheRoomIsKeptUntilTheirPodsAreGone) {
  PreemptWorld w;
  w.own_queue(8, lower);
  w.give(TestWorld::node(0, 8));
  w.submit(1, 1, 8, 0);
  w.start_all();
  w.submit(2, 1, 8, 5);
  const CycleResult first = w.cycle();
  ASSERT_EQ(w.evicted(first), Ids{1});
  EXPECT_EQ(w.only<Evict>(first)[0].preemptor, WorkloadId(2));
  EXPECT_EQ(w.verdict(first, 2)->blockers[0].reason, Reason::waiting_preemption);
  w.submit(3, 1, 1, 9);  // would fit as soon as the victim is gone
  w.queue_again(1);
  const CycleResult second = w.cycle();
  EXPECT_EQ(w.admitted(second), Ids{}) << "the pods are there still";
  EXPECT_EQ(w.evicted(second), Ids{}) << "told twice";
  w.lose_pods(1);
  EXPECT_EQ(w.admitted(w.cycle()), Ids{2});
}

TEST(Preempt, AnEvictionThatNobodyShowsIsToldAgain) {
  PreemptWorld w;
  w.own_queue(8, lower);
  w.give(TestWorld::node(0, 8));
  w.submit(1, 1, 8, 0);
  w.start_all();
  w.submit(2, 1, 8, 5);
  ASSERT_EQ(w.evicted(w.cycle()), Ids{1});
  w.now += seconds(3600);
  EXPECT_EQ(w.evicted(w.cycle()), Ids{1});
  w.queue_again(1);
  w.lose_pods(1);
  EXPECT_EQ(w.admitted(w.cycle()), Ids{2});
}

TEST(Preempt, WhenTheWorldChangesTheRoomIsGivenUp) {
  PreemptWorld w;
  w.own_queue(8, lower);
  w.give(TestWorld::node(0, 8));
  w.submit(1, 1, 8, 0);
  w.start_all();
  w.submit(2, 1, 8, 5);
  ASSERT_EQ(w.evicted(w.cycle()), Ids{1});
  w.give(WorkloadGone{WorkloadId(2)});
  w.queue_again(1);
  w.lose_pods(1);
  EXPECT_EQ(w.admitted(w.cycle()), Ids{1}) << "nobody is left to keep it for";
}

TEST(Preempt, AStrictQueueGivesItToTheNewHead) {
  PreemptWorld w;
  w.own_queue(8, lower, Strategy::strict_fifo);
  w.submit(1, 1, 8, 0);
  w.start_all();
  w.submit(2, 1, 8, 5);
  ASSERT_EQ(w.evicted(w.cycle()), Ids{1});
  w.submit(3, 1, 8, 9);
  w.queue_again(1);
  w.lose_pods(1);
  EXPECT_EQ(w.admitted(w.cycle()), Ids{3});
}

// The least that has to go, against every subset of those that may.
TEST(Preempt, NoSmallerSetOfVictimsWouldDo) {
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    Rng rng(seed);
    PreemptWorld w;
    const auto nodes = static_cast<uint32_t>(rng.between(1, 4));
    w.own_queue(1000, lower);
    for (uint32_t n = 0; n < nodes; ++n) w.give(TestWorld::node(n, 8));
    for (uint32_t id = 1; id <= 8; ++id)
      w.submit(id, static_cast<int>(rng.between(1, 2)), static_cast<int>(rng.between(1, 5)),
               static_cast<int>(rng.below(3)));
    w.start_all();
    const int count = static_cast<int>(rng.between(1, 3)),
              each = static_cast<int>(rng.between(1, 8));
    w.submit(9, count, each, 2);
    const CycleResult result = w.cycle();
    // Its pods fit on what is free once these are gone.
    const auto fits_without = [&](const Ids& gone) {
      std::map<uint32_t, int64_t> free;
      for (uint32_t n = 0; n < nodes; ++n) free[n] = 8;
      for (const auto& [id, list] : w.pods_of) {
        for (const PodUpsert& pod : list) {
          if (!gone.contains(id)) free[pod.node.value] -= std::popcount(pod.gpus);
        }
      }
      int64_t room = 0;
      for (const auto& [node, left] : free) room += left / each;
      return room >= count;
    };
    const Ids victims = w.evicted(result);
    Ids all;
    for (const auto& [id, one] : w.work) {
      if (one.admission && one.priority < 2) all.insert(id);
    }
    if (!w.admitted(result).empty()) {
      EXPECT_TRUE(victims.empty()) << "seed " << seed;
      continue;
    }
    EXPECT_EQ(!victims.empty(), fits_without(all)) << "seed " << seed;
    if (victims.empty()) continue;
    EXPECT_TRUE(fits_without(victims)) << "seed " << seed;
    for (const uint32_t one : victims) {
      Ids fewer = victims;
      fewer.erase(one);
      EXPECT_FALSE(fits_without(fewer)) << "seed " << seed << ": " << one << " need not go";
    }
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace tau::engine
