// Random clusters, random work, random trouble: the ledger holds after each cycle, nothing is given
// twice, what surely fits is found, and the same seed decides the same.
#include <fmt/format.h>

#include "engine/world_for_tests.h"

namespace tau::engine {
namespace {

std::string describe(const CycleResult& result) {
  std::string out;
  for (const Decision& decision : result.decisions) {
    if (const auto* admit = std::get_if<Admit>(&decision)) {
      out += fmt::format("admit {}:", admit->workload.value);
      for (const auto& set : admit->pod_sets) {
        for (const auto& [node, count] : set.nodes) out += fmt::format(" {}x{}", node.value, count);
      }
    } else if (const auto* bind = std::get_if<Bind>(&decision)) {
      out += fmt::format("bind {} {} {:x}", bind->pod.value, bind->node.value, bind->gpus);
    } else if (const auto* evict = std::get_if<Evict>(&decision)) {
      out += fmt::format("evict {} {}", evict->workload.value, static_cast<int>(evict->reason));
    }
    out += '\n';
  }
  return out + fmt::format("{} verdicts\n", result.verdicts.size());
}

// Plays the API: confirms, refuses, loses nodes, ends work.
std::string storm(uint64_t seed) {
  TestWorld w;
  Rng rng(seed);
  std::string log;
  const auto node_count = static_cast<uint32_t>(rng.between(1, 8));
  std::map<uint32_t, WorkloadUpsert> work;
  std::map<uint32_t, PodUpsert> seen_pods;
  uint32_t next_pod = 0;
  for (uint32_t q = 0; q < 2; ++q)
    w.queue(q, rng.between(1, 40),
            rng.chance(0.5) ? Strategy::strict_fifo : Strategy::best_effort_fifo);
  for (uint32_t n = 0; n < node_count; ++n)
    w.give(TestWorld::node(n, static_cast<int>(rng.between(0, 8))));
  for (int step = 0; step < 40; ++step) {
    w.now += seconds(rng.between(0, 20));
    const auto id = static_cast<uint32_t>(rng.below(12));
    switch (rng.below(6)) {
      case 0:
      case 1:
        if (!work.contains(id)) {
          work[id] = TestWorld::workload(
              id, static_cast<int>(rng.between(1, 4)), static_cast<int>(rng.between(0, 4)),
              static_cast<int>(rng.below(3)), static_cast<uint32_t>(rng.below(3)));
          w.give(work[id]);
        }
        break;
      case 2: {
        NodeUpsert node = TestWorld::node(static_cast<uint32_t>(rng.below(node_count)),
                                          static_cast<int>(rng.between(0, 8)));
        node.is_ready = rng.chance(0.7);
        w.give(node);
        break;
      }
      case 3:
        w.give(NodeGone{NodeId(static_cast<uint32_t>(rng.below(node_count)))});
        break;
      case 4:
        if (work.contains(id)) {
          work[id].is_finished = true;
          w.give(work[id]);
          for (auto& [pod_id, pod] : seen_pods) {
            if (pod.workload == WorkloadId(id)) w.give(PodGone{PodId(pod_id)});
          }
          std::erase_if(seen_pods,
                        [&](const auto& entry) { return entry.second.workload == WorkloadId(id); });
          w.give(WorkloadGone{WorkloadId(id)});
          work.erase(id);
        }
        break;
      default:
        break;
    }
    const CycleResult result = w.cycle();
    log += describe(result);
    for (const Decision& decision : result.decisions) {
      if (const auto* admit = std::get_if<Admit>(&decision)) {
        WorkloadUpsert& upsert = work.at(admit->workload.value);
        if (rng.chance(0.1)) {
          w.give(AdmitFailed{admit->workload});
          continue;
        }
        const bool is_new = !upsert.admission;
        upsert.admission = admit->pod_sets;
        w.give(upsert);
        for (int p = 0; is_new && p < upsert.pod_sets[0].count; ++p) {
          PodUpsert pod{.id = PodId(next_pod++),
                        .workload = admit->workload,
                        .request = upsert.pod_sets[0].request};
          seen_pods[pod.id.value] = pod;
          w.give(pod);
        }
      } else if (const auto* bind = std::get_if<Bind>(&decision)) {
        if (!seen_pods.contains(bind->pod.value)) continue;
        if (rng.chance(0.1)) {
          w.give(BindFailed{bind->pod});
          continue;
        }
        PodUpsert& pod = seen_pods[bind->pod.value];
        EXPECT_FALSE(pod.node.is_some()) << "bound twice, seed " << seed;
        pod.node = bind->node;
        pod.gpus = bind->gpus;
        w.give(pod);
      } else if (const auto* evict = std::get_if<Evict>(&decision)) {
        std::erase_if(seen_pods, [&](const auto& entry) {
          if (entry.second.workload != evict->workload) return false;
          w.give(PodGone{PodId(entry.first)});
          return true;
        });
        work.at(evict->workload.value).admission.reset();
        w.give(work.at(evict->workload.value));
      }
    }
    if (testing::Test::HasFailure()) ADD_FAILURE() << "seed " << seed << " step " << step;
  }
  return log;
}

TEST(Storm, LedgerHoldsAndSameSeedDecidesTheSame) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    const std::string first = storm(seed);
    EXPECT_EQ(first, storm(seed)) << "seed " << seed;
    if (HasFailure()) break;
  }
}

// For equal pods of one set, a count over the nodes says exactly whether the gang fits.
TEST(Oracle, SingleSetGangsFitExactlyWhenTheNodesHaveRoom) {
  for (uint64_t seed = 1; seed <= 3000; ++seed) {
    Rng rng(seed);
    TestWorld w;
    w.queue(0, 1000);
    const auto node_count = static_cast<uint32_t>(rng.between(1, 8));
    const int gpus_each = static_cast<int>(rng.between(0, 4)),
              count = static_cast<int>(rng.between(1, 12));
    const int64_t cpu_each = rng.between(1, 40) * 1000;
    int64_t room = 0;
    for (uint32_t n = 0; n < node_count; ++n) {
      const int gpus = static_cast<int>(rng.between(0, 8));
      NodeUpsert node = TestWorld::node(n, gpus);
      node.is_ready = rng.chance(0.8);
      w.give(node);
      if (!node.is_ready) continue;
      int64_t fits = 64'000 / cpu_each;
      if (gpus_each > 0) fits = std::min<int64_t>(fits, gpus / gpus_each);
      room += fits;
    }
    WorkloadUpsert gang = TestWorld::workload(1, count, gpus_each);
    gang.pod_sets[0].request = TestWorld::request(gpus_each, cpu_each);
    w.give(gang);
    const bool is_admitted = !TestWorld::only<Admit>(w.cycle()).empty();
    ASSERT_EQ(is_admitted, room >= count) << "seed " << seed;
  }
}

}  // namespace
}  // namespace tau::engine
