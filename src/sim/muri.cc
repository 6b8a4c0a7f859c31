#include "sim/muri.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "base/check.h"
#include "sim/csv.h"

namespace tau::sim {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();
constexpr double same_instant_s = 1e-6;
constexpr double default_overhead_s = 10;  // of a pair that the table does not name
constexpr double cost_factor = 1.015;      // of interleaving's bookkeeping, charged to everybody
constexpr std::array<double, 2> las_limits = {3250, 7200};  // GPU-seconds

struct Run {
  MuriJob job;
  double left = 0;     // iterations
  double end = never;  // predicted, while it runs
  double served = 0;   // las: wall time while running
  double owed_s = 0;   // restart cost not paid yet, where only a start costs
  bool is_running = false, is_done = false;
  double left_s() const { return left * job.iteration_s; }
};

// What both simulators share: arrivals, progress, ends.
struct Simulator {
  std::vector<Run> runs;  // in order of submission
  std::vector<double> jct;
  size_t next = 0;  // to arrive
  double now = 0, last = 0;
  MuriResult result;

  MuriCharge charge;

  Simulator(const std::vector<MuriJob>& jobs, MuriCharge charge) : charge(charge) {
    for (const MuriJob& job : jobs) {
      runs.push_back({.job = job, .left = job.iterations});
      if (charge == MuriCharge::none) runs.back().job.overhead_s = 0;
    }
    std::ranges::stable_sort(runs, {}, [](const Run& run) { return run.job.submit_s; });
    last = now = runs.empty() ? 0 : runs[0].job.submit_s;
  }
  double next_arrival() const { return next < runs.size() ? runs[next].job.submit_s : never; }
  // Work done since the last event, less the restart cost.
  void advance(Run& run) const {
    double seconds = std::max(now - last - run.job.overhead_s, 0.0);
    if (charge == MuriCharge::at_start) {
      const double paid_s = std::min(run.owed_s, now - last);
      run.owed_s -= paid_s;
      seconds = now - last - paid_s;
    }
    run.left -= seconds / run.job.iteration_s;
  }
  void set_running(Run& run, bool is_running) const {
    if (is_running && !run.is_running && charge == MuriCharge::at_start)
      run.owed_s = run.job.overhead_s;
    run.is_running = is_running;
    run.end = is_running ? now + (run.owed_s + run.left_s()) : never;
  }
  void finish(Run& run) {
    run.is_running = false;
    run.is_done = true;
    run.end = never;
    jct.push_back(now - run.job.submit_s);
    result.makespan_s = now;
  }
  MuriResult finished() {
    std::ranges::sort(jct);
    if (jct.empty()) return result;
    result.mean_jct_s =
        std::accumulate(jct.begin(), jct.end(), 0.0) / static_cast<double>(jct.size());
    result.p99_jct_s = jct[static_cast<size_t>(0.99 * static_cast<double>(jct.size()))];
    return result;
  }
};

// Up to a node's size on the first node with room; more on free nodes, plus one for the rest.
bool place(std::vector<int>& free, int gpus_per_node, int gpus) {
  if (gpus <= gpus_per_node) {
    const auto node = std::ranges::find_if(free, [&](int left) { return left >= gpus; });
    if (node == free.end()) return false;
    *node -= gpus;
    return true;
  }
  int whole = gpus / gpus_per_node;
  const int rest = gpus % gpus_per_node;
  std::vector<size_t> chosen;
  for (size_t n = 0; n < free.size() && whole > 0; ++n) {
    if (free[n] != gpus_per_node) continue;
    chosen.push_back(n);
    --whole;
  }
  if (whole > 0) return false;
  std::vector<int> after = free;
  for (const size_t n : chosen) after[n] = 0;
  if (rest > 0 && !place(after, gpus_per_node, rest)) return false;
  free = std::move(after);
  return true;
}

MuriResult run_shortest(const std::vector<MuriJob>& jobs, bool by_service, MuriCharge charge,
                        int nodes, int gpus_per_node) {
  Simulator sim(jobs, charge);
  std::vector<Run*> active;
  while (true) {
    double end = never;
    for (const Run* run : active) end = std::min(end, run->end);
    sim.now = std::min(sim.next_arrival(), end);
    if (sim.now == never) break;
    ++sim.result.events;
    for (Run* run : active) {
      if (!run->is_running) continue;
      sim.advance(*run);
      if (run->end <= sim.now + same_instant_s) sim.finish(*run);
    }
    std::erase_if(active, [](const Run* run) { return run->is_done; });
    for (; sim.next_arrival() == sim.now; ++sim.next) active.push_back(&sim.runs[sim.next]);
    std::ranges::stable_sort(active, {}, [&](const Run* run) {
      return by_service ? run->left_s() * run->job.gpus : run->left_s();
    });
    std::vector<int> free(static_cast<size_t>(nodes), gpus_per_node);
    for (Run* run : active) {
      sim.set_running(*run, place(free, gpus_per_node, run->job.gpus));
    }
    sim.last = sim.now;
  }
  return sim.finished();
}

// Discretised 2D-LAS in three queues (Tiresias, NSDI 2019), GPUs counted and not placed.
struct LasSimulator : Simulator {
  using Simulator::Simulator;
  std::array<std::vector<Run*>, 3> queues;

  static double limit_s(const Run& run, size_t queue) {
    return std::ceil(las_limits[queue] / run.job.gpus);
  }
  double next_event() const {
    double when = next_arrival();
    for (size_t q = 0; q < queues.size(); ++q) {
      for (const Run* run : queues[q]) {
        if (!run->is_running) continue;
        when = std::min(when, run->end);
        if (q < las_limits.size()) when = std::min(when, limit_s(*run, q) - run->served + last);
      }
    }
    return when;
  }
  void update() {
    std::array<std::vector<Run*>, 3> demoted;
    for (size_t q = 0; q < queues.size(); ++q) {
      for (Run* run : queues[q]) {
        if (!run->is_running) continue;
        advance(*run);
        // In this order: (served - last) + now may lose the step, and then repeats for ever.
        run->served = (run->served + now) - last;
        if (run->end == now)
          finish(*run);
        else if (q < las_limits.size() && run->served * run->job.gpus >= las_limits[q])
          demoted[q + 1].push_back(run);
      }
    }
    for (size_t q = 0; q < queues.size(); ++q) {
      std::erase_if(queues[q], [&](Run* run) {
        return run->is_done || (q + 1 < queues.size() &&
                                std::ranges::find(demoted[q + 1], run) != demoted[q + 1].end());
      });
    }
    for (size_t q = 1; q < queues.size(); ++q) {
      std::ranges::sort(demoted[q]);  // addresses follow submission
      queues[q].insert(queues[q].end(), demoted[q].begin(), demoted[q].end());
    }
  }
  void give_gpus(int gpus) {
    for (auto& queue : queues) {
      for (Run* run : queue) {
        set_running(*run, run->job.gpus <= gpus);
        if (run->is_running) gpus -= run->job.gpus;
      }
      std::ranges::stable_partition(queue, [](const Run* run) { return run->is_running; });
    }
  }
};

MuriResult run_las(const std::vector<MuriJob>& jobs, MuriCharge charge, int gpus) {
  LasSimulator sim(jobs, charge);
  while (true) {
    sim.now = sim.next_event();
    if (sim.now == never) break;
    CHECK(++sim.result.events < 100'000'000);
    sim.update();
    for (; sim.next_arrival() == sim.now; ++sim.next) sim.queues[0].push_back(&sim.runs[sim.next]);
    sim.give_gpus(gpus);
    sim.last = sim.now;
  }
  return sim.finished();
}

}  // namespace

Result<std::vector<MuriJob>> read_muri(std::string_view trace, std::string_view overheads) {
  std::map<std::pair<int64_t, std::string_view>, double> costs;
  const CsvTable cost = TRY(CsvTable::parse(overheads));
  const size_t cost_gpus = TRY(cost.need("num_gpus")), cost_model = TRY(cost.need("model")),
               cost_s = TRY(cost.need("overhead_s"));
  for (size_t row = 0; row < cost.rows(); ++row)
    costs[{TRY(cost.whole(row, cost_gpus)), cost.cell(row, cost_model)}] =
        TRY(cost.number(row, cost_s));
  const CsvTable table = TRY(CsvTable::parse(trace));
  const size_t gpus = TRY(table.need("num_gpu")), submit = TRY(table.need("submit_time")),
               iterations = TRY(table.need("iterations")),
               iteration = TRY(table.need("iteration_time")), model = TRY(table.need("model_name"));
  std::vector<MuriJob> jobs;
  for (size_t row = 0; row < table.rows(); ++row) {
    const int64_t count = TRY(table.whole(row, gpus));
    if (count < 1 || count > 4096)
      return fail(ErrorCode::bad_request, table.where(row, gpus) + ": want 1..4096");
    const auto found = costs.find({count, table.cell(row, model)});
    jobs.push_back({.gpus = static_cast<int>(count),
                    .submit_s = TRY(table.number(row, submit)) / 1000,
                    .iterations = TRY(table.number(row, iterations)),
                    .iteration_s = TRY(table.number(row, iteration)) * cost_factor / 1000,
                    .overhead_s = found == costs.end() ? default_overhead_s : found->second});
    if (!(jobs.back().iteration_s > 0))
      return fail(ErrorCode::bad_request, table.where(row, iteration) + ": want more than 0");
  }
  return jobs;
}

MuriResult run_muri(const std::vector<MuriJob>& jobs, MuriPolicy policy, MuriCharge charge,
                    int nodes, int gpus_per_node) {
  if (policy == MuriPolicy::las) return run_las(jobs, charge, nodes * gpus_per_node);
  return run_shortest(jobs, policy == MuriPolicy::srsf, charge, nodes, gpus_per_node);
}

}  // namespace tau::sim
