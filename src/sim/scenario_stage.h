// Where a scenario is played: the engine alone, or the whole plane behind its API. Both take the
// same deltas and tell the same decisions, so that one player serves them.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "mirror/names.h"

namespace tau::sim {

// What is seen of one that waits, by the keys of `expect.pending`. What a stage does not show is
// left out.
using PendingFacts = std::map<std::string, std::string>;

class ScenarioStage {
 public:
  virtual ~ScenarioStage() = default;
  virtual void apply(std::span<const engine::Delta> deltas) = 0;
  virtual engine::CycleResult run_cycle(Time now, Rng& rng, const engine::CycleOptions& how) = 0;
  // Forgets all that is not in the API; what is known is then given again.
  virtual void restart() = 0;
  // By workload.
  virtual std::map<engine::WorkloadId, PendingFacts> pending() = 0;
  // Of the first blocker, whether or not it still waits: "" = nothing is said.
  virtual std::string reason_of(engine::WorkloadId workload) = 0;
  virtual engine::View view() = 0;
  virtual std::string check_invariants() = 0;
  // What it could not play, by feature.
  virtual std::set<std::string> missing() const { return {}; }
};

class EngineStage : public ScenarioStage {
 public:
  explicit EngineStage(const mirror::Names& names) : names_(names) {}
  void apply(std::span<const engine::Delta> deltas) override { engine_->apply(deltas); }
  engine::CycleResult run_cycle(Time now, Rng& rng, const engine::CycleOptions& how) override {
    return engine_->run_cycle(now, rng, how);
  }
  void restart() override { engine_ = std::make_unique<engine::Engine>(); }
  std::map<engine::WorkloadId, PendingFacts> pending() override;
  std::string reason_of(engine::WorkloadId workload) override;
  engine::View view() override { return engine_->view(); }
  std::string check_invariants() override { return engine_->check_invariants(); }

 private:
  const mirror::Names& names_;
  std::unique_ptr<engine::Engine> engine_ = std::make_unique<engine::Engine>();
};

}  // namespace tau::sim
