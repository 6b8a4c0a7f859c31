// Scenarios: text files that say a cluster, its queues and work, and what the engine must decide.
// Played against the engine alone; what the engine does not do yet is reported as not supported,
// never as passed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tau::sim {

struct ScenarioOptions {
  std::string only;       // the id of one scenario; empty = all
  bool is_plane = false;  // through the API and the whole control plane, in virtual time
};

enum class ScenarioOutcome : uint8_t { passed, failed, skipped };
struct ScenarioResult {
  std::string id, title;
  ScenarioOutcome outcome = ScenarioOutcome::passed;
  // Of failed: one line for each difference (want, got). Of skipped: "not supported: ...".
  // Of passed: where the product does better than the rule it is compared with, by its own words.
  std::vector<std::string> lines;
};
struct ScenarioReport {
  std::vector<ScenarioResult> scenarios;
  int64_t passed = 0, failed = 0, skipped = 0;
};

// Plays every scenario of one file. Fails only if the text is not YAML or holds no scenarios; a
// scenario that cannot be read is one that failed.
Result<ScenarioReport> run_scenarios(std::string_view yaml, const ScenarioOptions& options = {});
// A line for each scenario that did not pass, then "N passed, N failed, N skipped".
std::string to_text(const ScenarioReport& report);

}  // namespace tau::sim
