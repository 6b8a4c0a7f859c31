#include "sim/bench_engine.h"

#include <algorithm>

#include "base/check.h"
#include "engine/engine.h"
#include "engine/scan.h"

namespace tau::sim {
namespace {

using namespace engine;
using Clock = std::function<double()>;

Request request(int64_t gpus, int64_t cpu_milli = 1000) {
  Request made{.amounts = {{cpu, cpu_milli}, {memory, int64_t{1} << 30}, {gpu, gpus}}};
  std::erase_if(made.amounts, [](const Amount& amount) { return amount.value == 0; });
  return made;
}

constexpr int64_t endless = int64_t{1} << 56;

QueueUpsert queue(uint32_t id, int64_t gpus) {
  return {.id = QueueId(id),
          .groups = {{.resources = {cpu, memory, gpu},
                      .flavors = {{.flavor = FlavorId(0),
                                   .quotas = {{cpu, endless}, {memory, endless}, {gpu, gpus}}}}}}};
}

std::vector<Delta> cluster(int64_t nodes) {
  std::vector<Delta> deltas;
  for (uint32_t n = 0; n < nodes; ++n) {
    deltas.push_back(NodeUpsert{
        .id = NodeId(n),
        .allocatable = {{cpu, 128'000}, {memory, int64_t{1} << 40}, {pods, 110}, {gpu, 8}},
        .healthy_gpus = 0xff});
  }
  deltas.push_back(FlavorUpsert{.id = FlavorId(0)});
  deltas.push_back(queue(0, endless));
  return deltas;
}

double time_of(const Clock& now_s, auto work) {
  const double start = now_s();
  work();
  return now_s() - start;
}

// What any scan of five columns costs: four comparisons, one score, the best node.
double bare_kernel(int64_t nodes, int64_t scans, const Clock& now_s) {
  const size_t padded =
      (static_cast<size_t>(nodes) + nodes_per_block - 1) / nodes_per_block * nodes_per_block;
  std::vector<std::vector<int64_t>> columns(5, std::vector<int64_t>(padded));
  for (size_t n = 0; n < padded; ++n) {
    for (size_t c = 0; c < 5; ++c)
      columns[c][n] = static_cast<int64_t>((n * 2654435761u >> c) % 97 + 8);
  }
  uint64_t sum = 0;
  const double seconds = time_of(now_s, [&] {
    for (int64_t i = 0; i < scans; ++i) {
      columns[0][static_cast<size_t>(i) % padded] -= 1;
      sum += bare_best({columns[0].data(), columns[1].data(), columns[2].data(), columns[3].data()},
                       {4, 4, 4, 4}, columns[4].data(), padded);
    }
  });
  CHECK(sum > 0);
  return seconds;
}

// Pods outside queues, one decision each. Unlike neighbours make it look at every node for each.
double place_loose(int64_t nodes, int64_t count, bool is_all_alike, const Clock& now_s) {
  Engine engine;
  engine.apply(cluster(nodes));
  std::vector<Delta> deltas;
  for (uint32_t p = 0; p < count; ++p)
    deltas.push_back(
        PodUpsert{.id = PodId(p), .request = request(1, is_all_alike || p % 2 == 0 ? 1000 : 2000)});
  engine.apply(deltas);
  Rng rng(1);
  CycleResult result;
  const double seconds =
      time_of(now_s, [&] { result = engine.run_cycle(Time(tau::seconds(1)), rng); });
  CHECK(result.stats.bound == std::min(count, nodes * 8));
  return seconds;
}

// One gang of equal pods: quota and places for all of it, or nothing.
double admit_gang(int64_t nodes, int64_t count, const Clock& now_s) {
  Engine engine;
  engine.apply(cluster(nodes));
  const Delta gang =
      WorkloadUpsert{.id = WorkloadId(0),
                     .queue = QueueId(0),
                     .pod_sets = {{.request = request(1), .count = static_cast<int32_t>(count)}}};
  engine.apply({&gang, 1});
  Rng rng(1);
  CycleResult result;
  const double seconds =
      time_of(now_s, [&] { result = engine.run_cycle(Time(tau::seconds(1)), rng); });
  CHECK(result.stats.admitted == 1);
  return seconds;
}

// Single-pod workloads of 30 queues that all fit.
double admit_many(int64_t nodes, int64_t count, const Clock& now_s) {
  Engine engine;
  engine.apply(cluster(nodes));
  std::vector<Delta> deltas;
  for (uint32_t q = 0; q < 30; ++q) deltas.push_back(queue(q, endless));
  for (uint32_t w = 0; w < count; ++w) {
    deltas.push_back(WorkloadUpsert{.id = WorkloadId(w),
                                    .queue = QueueId(w % 30),
                                    .created = Time(tau::seconds(w)),
                                    .pod_sets = {{.request = request(1), .count = 1}}});
  }
  engine.apply(deltas);
  Rng rng(1);
  CycleResult result;
  const double seconds = time_of(now_s, [&] {
    result = engine.run_cycle(Time(tau::seconds(1)), rng, {.step_budget = INT64_MAX});
  });
  CHECK(result.stats.admitted == count);
  return seconds;
}

// 10,000 admitted in 30 queues of one cohort that is full, by quota alone; each queue's urgent work
// must push out its own. One decision each.
double preempt(const Clock& now_s) {
  constexpr uint32_t queues = 30, admitted = 10'000;
  Engine engine;
  std::vector<Delta> deltas{FlavorUpsert{.id = FlavorId(0)}};
  const auto work = [](uint32_t id, uint32_t queue_id, int32_t priority) {
    return WorkloadUpsert{.id = WorkloadId(id),
                          .queue = QueueId(queue_id),
                          .priority = priority,
                          .created = Time(tau::seconds(id)),
                          .pod_sets = {{.request = {.amounts = {{gpu, 1}}}, .count = 1}}};
  };
  for (uint32_t q = 0; q < queues; ++q) {
    QueueUpsert one = queue(q, admitted / queues);
    one.cohort = CohortId(0);
    one.preemption = {.within = Within::lower_priority, .reclaim = Reclaim::any};
    one.groups = {{.resources = {gpu},
                   .flavors = {{.flavor = FlavorId(0), .quotas = {{gpu, admitted / queues}}}}}};
    deltas.push_back(one);
  }
  const uint32_t held = admitted / queues * queues;
  for (uint32_t w = 0; w < held; ++w) {
    WorkloadUpsert one = work(w, w % queues, static_cast<int32_t>(w % 5));
    one.admission = {{.flavors = {{gpu, FlavorId(0)}}, .count = 1}};
    deltas.push_back(one);
  }
  engine.apply(deltas);
  Rng rng(1);
  engine.run_cycle(Time(tau::seconds(1)), rng);
  deltas.clear();
  for (uint32_t q = 0; q < queues; ++q) deltas.push_back(work(held + q, q, 100));
  engine.apply(deltas);
  CycleResult result;
  const double seconds =
      time_of(now_s, [&] { result = engine.run_cycle(Time(tau::seconds(2)), rng); });
  CHECK(result.stats.evicted == queues);
  return seconds;
}

// A gang that must be in one block of 500 nodes.
double admit_in_topology(int64_t nodes, int64_t count, const Clock& now_s) {
  Engine engine;
  std::vector<Delta> deltas = cluster(nodes);
  for (Delta& delta : deltas) {
    auto* node = std::get_if<NodeUpsert>(&delta);
    if (node == nullptr) continue;
    const uint32_t n = node->id.value;
    for (const auto& [level, value] : {std::pair(50u, n / 500), std::pair(51u, n / 20)})
      node->labels.push_back({LabelKeyId(level), LabelValueId(1000 + value), {}});
  }
  FlavorUpsert flavor{.id = FlavorId(0)};
  flavor.levels = {LabelKeyId(50), LabelKeyId(51)};
  deltas.push_back(flavor);
  engine.apply(deltas);
  const Delta gang =
      WorkloadUpsert{.id = WorkloadId(0),
                     .queue = QueueId(0),
                     .pod_sets = {{.request = request(1),
                                   .count = static_cast<int32_t>(count),
                                   .topology = {.kind = TopologyRequest::Kind::required,
                                                .level = LabelKeyId(50),
                                                .slices = {}}}}};
  engine.apply({&gang, 1});
  Rng rng(1);
  CycleResult result;
  const double seconds =
      time_of(now_s, [&] { result = engine.run_cycle(Time(tau::seconds(1)), rng); });
  CHECK(result.stats.admitted == 1);
  return seconds;
}

// A full cluster: six of eight GPUs in use on each node, four CPU pods besides; 1,000 queues with
// ten workloads waiting in each, half for quota, half for four GPUs on one node.
struct BusyCluster {
  static constexpr uint32_t nodes = 5000, queues = 1000, waiting = 10'000;
  Engine engine;
  Rng rng{1};
  Time now{tau::seconds(1000)};
  uint32_t next = 0;  // workload and pod
  std::deque<uint32_t> running;

  WorkloadUpsert work(uint32_t id, uint32_t queue_id, int64_t gpus) const {
    return {.id = WorkloadId(id),
            .queue = QueueId(queue_id),
            .priority = static_cast<int32_t>(id % 3),
            .created = Time(tau::seconds(id)),
            .pod_sets = {{.request = request(gpus), .count = 1}}};
  }
  BusyCluster() {
    std::vector<Delta> deltas = cluster(nodes);
    for (uint32_t q = 0; q < queues; ++q) deltas.push_back(queue(q, q % 2 == 0 ? 30 : endless));
    for (uint32_t n = 0; n < nodes; ++n) {
      for (uint32_t i = 0; i < 10; ++i, ++next) {
        const int64_t gpus = i < 6 ? 1 : 0;
        WorkloadUpsert held = work(next, next % queues, gpus);
        PodSetAdmission admission{.count = 1, .nodes = {{NodeId(n), 1}}};
        for (const Amount& amount : held.pod_sets[0].request.amounts)
          admission.flavors.emplace_back(amount.resource, FlavorId(0));
        held.admission = {admission};
        deltas.push_back(held);
        deltas.push_back(PodUpsert{.id = PodId(next),
                                   .workload = WorkloadId(next),
                                   .request = request(gpus),
                                   .node = NodeId(n),
                                   .gpus = gpus > 0 ? GpuMask{1} << i : 0});
        running.push_back(next);
      }
    }
    for (uint32_t w = 0; w < waiting; ++w, ++next)
      deltas.push_back(work(next, w % queues, w % 2 == 0 ? 1 + w / 1000 % 3 : 4));
    engine.apply(deltas);
  }
  // Some work ends and as much arrives.
  void change(uint32_t count) {
    std::vector<Delta> deltas;
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t ended = running.front();
      running.pop_front();
      deltas.push_back(PodGone{PodId(ended)});
      deltas.push_back(WorkloadGone{WorkloadId(ended)});
      deltas.push_back(work(next, next % queues, 4));
      ++next;
    }
    engine.apply(deltas);
  }
  CycleResult cycle() {
    now += milliseconds(250);
    return engine.run_cycle(now, rng);
  }
};

double median(std::vector<double> times) {
  std::ranges::sort(times);
  return times[times.size() / 2];
}

void bench_busy(std::vector<BenchRow>& rows, int runs, const Clock& now_s) {
  std::vector<double> first, typical;
  double worst = 0;
  for (int run = 0; run < std::max(1, runs / 2); ++run) {
    BusyCluster busy;
    first.push_back(time_of(now_s, [&] { busy.cycle(); }));
    for (int i = 0; i < 40; ++i) {
      const double took = time_of(now_s, [&] {
        busy.change(20);
        busy.cycle();
      });
      typical.push_back(took);
      worst = std::max(worst, took);
    }
  }
  rows.push_back({"full cycle, first: everything new", BusyCluster::nodes, BusyCluster::waiting,
                  median(std::move(first))});
  rows.push_back({"full cycle, 20 of 50,000 end", BusyCluster::nodes, BusyCluster::waiting,
                  median(std::move(typical))});
  rows.push_back(
      {"full cycle, the worst of these", BusyCluster::nodes, BusyCluster::waiting, worst});
}

}  // namespace

std::vector<BenchRow> bench_engine(const std::function<double()>& now_s, int runs) {
  std::vector<BenchRow> rows;
  for (const int64_t nodes : {100, 500, 1000, 5000}) {
    const int64_t count = std::min<int64_t>(4000, nodes * 8);
    std::vector<double> bare, scan, alike, gang, many;
    for (int i = 0; i < runs; ++i) {  // side by side, so that a noisy moment hits all
      bare.push_back(bare_kernel(nodes, count, now_s));
      scan.push_back(place_loose(nodes, count, false, now_s));
      alike.push_back(place_loose(nodes, count, true, now_s));
      gang.push_back(admit_gang(nodes, std::min<int64_t>(1000, nodes * 8), now_s));
      many.push_back(admit_many(nodes, count, now_s));
    }
    const double bare_s = median(std::move(bare)), scan_s = median(std::move(scan));
    rows.push_back({"bare kernel, five columns", nodes, count, bare_s, 1});
    rows.push_back({"pods, every node for each", nodes, count, scan_s, bare_s / scan_s});
    rows.push_back({"pods, alike", nodes, count, median(std::move(alike))});
    rows.push_back(
        {"one gang", nodes, std::min<int64_t>(1000, nodes * 8), median(std::move(gang))});
    rows.push_back({"workloads of 30 queues", nodes, count, median(std::move(many))});
  }
  bench_busy(rows, runs, now_s);
  std::vector<double> preempts, gangs;
  for (int i = 0; i < runs; ++i) {
    preempts.push_back(preempt(now_s));
    gangs.push_back(admit_in_topology(5000, 1000, now_s));
  }
  rows.push_back({"preemptions over 10,000 admitted", 0, 30, median(std::move(preempts))});
  rows.push_back({"one gang in one block", 5000, 1000, median(std::move(gangs))});
  return rows;
}

}  // namespace tau::sim
