// Short ways to say clusters and work in the engine's tests.
#pragma once

#include <gtest/gtest.h>

#include "engine/engine.h"

namespace tau::engine {

struct TestWorld {
  Engine engine;
  Rng rng{1};
  Time now{seconds(1000)};

  void give(Delta delta) { engine.apply({&delta, 1}); }
  static NodeUpsert node(uint32_t id, int gpus, int64_t cpu_milli = 64'000) {
    return {.id = NodeId(id),
            .allocatable = {{cpu, cpu_milli}, {memory, int64_t{1} << 40}, {pods, 110}, {gpu, gpus}},
            .healthy_gpus = gpus == 64 ? ~GpuMask{0} : (GpuMask{1} << gpus) - 1};
  }
  static Request request(int gpus, int64_t cpu_milli = 100) {
    return {.amounts = {{cpu, cpu_milli}, {gpu, gpus}}};
  }
  // One flavor for all nodes; quota in GPUs; CPU without end.
  void queue(uint32_t id, int64_t gpus, Strategy strategy = Strategy::best_effort_fifo) {
    give(FlavorUpsert{.id = FlavorId(0)});
    give(QueueUpsert{.id = QueueId(id),
                     .strategy = strategy,
                     .groups = {{.resources = {cpu, gpu},
                                 .flavors = {{.flavor = FlavorId(0),
                                              .quotas = {{cpu, 1'000'000'000}, {gpu, gpus}}}}}}});
  }
  static WorkloadUpsert workload(uint32_t id, int pods_wanted, int gpus_each, int priority = 0,
                                 uint32_t queue_id = 0) {
    return {.id = WorkloadId(id),
            .queue = QueueId(queue_id),
            .priority = priority,
            .created = Time(seconds(id)),
            .pod_sets = {{.request = request(gpus_each), .count = pods_wanted}}};
  }
  static PodUpsert pod(uint32_t id, uint32_t workload_id, int gpus) {
    return {.id = PodId(id), .workload = WorkloadId(workload_id), .request = request(gpus)};
  }
  CycleResult cycle() {
    CycleResult result = engine.run_cycle(now, rng);
    EXPECT_EQ(engine.check_invariants(), "");
    return result;
  }
  template <class T>
  static std::vector<T> only(const CycleResult& result) {
    std::vector<T> found;
    for (const Decision& decision : result.decisions) {
      if (const T* one = std::get_if<T>(&decision)) found.push_back(*one);
    }
    return found;
  }
  static const Verdict* verdict(const CycleResult& result, uint32_t workload_id) {
    for (const Verdict& v : result.verdicts) {
      if (v.workload == WorkloadId(workload_id)) return &v;
    }
    return nullptr;
  }
};

}  // namespace tau::engine
