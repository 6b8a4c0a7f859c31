#include "sim/scenario_stage.h"

#include <algorithm>

#include "mirror/verdict_text.h"

namespace tau::sim {
using namespace engine;

namespace {

std::string_view state_word(PendingState state) {
  switch (state) {
    case PendingState::untried:
      return "untried";
    case PendingState::retry:
      return "retry";
    case PendingState::parked:
      return "parked";
    case PendingState::sticky:
      return "sticky";
    case PendingState::held_back:
      return "heldBack";
  }
  return "?";
}

Blocker first_blocker(const View& view, WorkloadId id) {
  const auto verdict = std::ranges::find(view.verdicts, id, &Verdict::workload);
  return verdict == view.verdicts.end() || verdict->blockers.empty() ? Blocker{}
                                                                     : verdict->blockers[0];
}

}  // namespace

std::map<WorkloadId, PendingFacts> EngineStage::pending() {
  std::map<WorkloadId, PendingFacts> facts;
  const View view = engine_->view();
  for (size_t q = 0; q < names_.queues.capacity(); ++q) {
    for (const PendingView& one : engine_->pending(QueueId(static_cast<uint32_t>(q)))) {
      const Blocker first = first_blocker(view, one.workload);
      facts[one.workload] = {{"state", std::string(state_word(one.state))},
                             {"reason", std::string(mirror::kueue_reason(first.reason))},
                             {"word", std::string(mirror::reason_word(first.reason))},
                             {"podsWanted", std::to_string(first.pods_wanted)},
                             {"podsPlaced", std::to_string(first.pods_placed)},
                             {"gpusWanted", std::to_string(first.gpus_wanted)},
                             {"gpusFree", std::to_string(first.gpus_free)},
                             {"position", std::to_string(first.position)}};
    }
  }
  return facts;
}

std::string EngineStage::reason_of(WorkloadId workload) {
  return std::string(mirror::kueue_reason(first_blocker(engine_->view(), workload).reason));
}

}  // namespace tau::sim
