#include "sim/bench_engine.h"

#include <algorithm>

#include "base/check.h"
#include "engine/engine.h"

namespace tau::sim {
namespace {

engine::Request request(int64_t gpus) {
  return {.amounts = {{engine::cpu, 1000}, {engine::memory, int64_t{1} << 30}, {engine::gpu, gpus}}};
}

engine::Engine cluster(int64_t nodes) {
  engine::Engine made;
  std::vector<engine::Delta> deltas;
  for (uint32_t n = 0; n < nodes; ++n) {
    deltas.push_back(engine::NodeUpsert{.id = engine::NodeId(n), .allocatable = {{engine::cpu, 128'000}, {engine::memory, int64_t{1} << 40}, {engine::pods, 110}, {engine::gpu, 8}}, .healthy_gpus = 0xff});
  }
  deltas.push_back(engine::FlavorUpsert{.id = engine::FlavorId(0)});
  deltas.push_back(engine::QueueUpsert{.id = engine::QueueId(0), .groups = {{.resources = {engine::cpu, engine::memory, engine::gpu},
      .flavors = {{.flavor = engine::FlavorId(0), .quotas = {{engine::cpu, INT64_MAX / 4}, {engine::memory, INT64_MAX / 4}, {engine::gpu, INT64_MAX / 4}}}}}}});
  made.apply(deltas);
  return made;
}

double median(std::vector<double> times) {
  std::ranges::sort(times);
  return times[times.size() / 2];
}

// Pods outside queues: one decision each, every node looked at.
double place_loose(int64_t nodes, int64_t pods, const std::function<double()>& now_s) {
  engine::Engine engine = cluster(nodes);
  std::vector<engine::Delta> deltas;
  for (uint32_t p = 0; p < pods; ++p) deltas.push_back(engine::PodUpsert{.id = engine::PodId(p), .request = request(1)});
  engine.apply(deltas);
  Rng rng(1);
  const double start = now_s();
  const engine::CycleResult result = engine.run_cycle(Time(seconds(1)), rng);
  const double end = now_s();
  CHECK(result.stats.bound == std::min(pods, nodes * 8));
  return end - start;
}

// One gang of `pods` equal pods: quota and places for all of it, or nothing.
double admit_gang(int64_t nodes, int64_t pods, const std::function<double()>& now_s) {
  engine::Engine engine = cluster(nodes);
  const engine::Delta gang = engine::WorkloadUpsert{.id = engine::WorkloadId(0), .queue = engine::QueueId(0), .pod_sets = {{.request = request(1), .count = static_cast<int32_t>(pods)}}};
  engine.apply({&gang, 1});
  Rng rng(1);
  const double start = now_s();
  const engine::CycleResult result = engine.run_cycle(Time(seconds(1)), rng);
  const double end = now_s();
  CHECK(result.stats.admitted == 1);
  return end - start;
}

}  // namespace

std::vector<BenchRow> bench_engine(const std::function<double()>& now_s, int runs) {
  std::vector<BenchRow> rows;
  const auto measure = [&](const char* work, int64_t nodes, int64_t pods, auto run) {
    std::vector<double> times;
    for (int i = 0; i < runs; ++i) times.push_back(run(nodes, pods, now_s));
    rows.push_back({work, nodes, pods, median(std::move(times))});
  };
  for (const int64_t nodes : {100, 500, 1000, 5000}) measure("loose pods, full scan", nodes, 500, place_loose);
  for (const int64_t nodes : {100, 500, 1000, 5000}) measure("one gang", nodes, std::min<int64_t>(1000, nodes * 8), admit_gang);
  return rows;
}

}  // namespace tau::sim
