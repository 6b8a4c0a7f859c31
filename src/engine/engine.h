// Engine: the scheduler. Deltas in, cycles run, decisions and verdicts out. Pure and deterministic:
// the same deltas, times and seed give byte-identical results. One state; what-if worlds are
// copies.
#pragma once

#include <memory>
#include <span>

#include "base/rng.h"
#include "engine/values.h"

namespace tau::engine {

struct CycleOptions {
  int32_t max_heads_per_queue = 0;  // 0 = go on until no progress or the budget is spent
  int64_t step_budget = 200'000;    // search steps, never time
};

// What an observer may ask between cycles.
struct NodeView {
  NodeId id;
  Amounts allocatable, used;
  GpuMask gpus_used = 0;
};
struct QueueView {
  QueueId id;
  int32_t pending = 0, admitted = 0;
  std::vector<std::pair<FlavorId, Amounts>> used;     // by flavor
  std::vector<std::pair<FlavorId, Amounts>> nominal;  // as in force (auto quota resolved)
  std::vector<std::pair<FlavorId, Amounts>>
      available;  // what may still be taken, borrowed amounts included
  std::vector<std::pair<FlavorId, Amounts>> potential;  // the same, if nobody used anything
  std::optional<int64_t> share;  // of what its cohort can lend, in billionths; none = without bound
};
struct CohortView {
  CohortId id;
  std::optional<int64_t> share;
};
// untried: not looked at since it came or changed. retry: looked at, to be tried again. parked:
// waits until something changes. sticky: its room is held until those it pushed out are gone.
// held_back: inactive, in back-off, on its way out, or in a stopped queue.
enum class PendingState : uint8_t { untried, retry, parked, sticky, held_back };
struct PendingView {
  WorkloadId workload;
  PendingState state = PendingState::untried;
};
struct View {
  std::vector<NodeView> nodes;
  std::vector<QueueView> queues;
  std::vector<CohortView> cohorts;
  std::vector<Verdict> verdicts;  // of all that wait
};

class Engine {
 public:
  struct State;  // state.h; for the engine's own files
  Engine();
  ~Engine();
  Engine(const Engine& other);  // a what-if world
  Engine& operator=(Engine&&) noexcept;

  // Takes deltas in order. Contradictory ones (an unknown id gone, a pod on a node not known yet)
  // are never fatal: the ledger stays right, and what cannot be placed yet counts once its node
  // appears.
  void apply(std::span<const Delta> deltas);
  // One round of decisions. Kept placements are assumed until the API confirms them, or expire.
  CycleResult run_cycle(Time now, Rng& rng, const CycleOptions& options = {});
  View view() const;
  // What waits in a queue, in its order.
  std::vector<PendingView> pending(QueueId queue) const;
  // Recomputes every total from scratch and compares: "" or what differs. For tests and the ledger
  // check.
  std::string check_invariants() const;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace tau::engine
