// MemoryHistory: a HistoryStore without a disk, for simulation and tests; and the rules that all
// stores share.
#pragma once

#include <map>

#include "history/records.h"

namespace tau::history {

bool is_terminal(const std::string& phase);
// What is kept when `now` is recorded over `before`: a terminal phase and what belongs to it never
// revert.
RunRecord merged(const RunRecord* before, RunRecord now);
bool matches(const RunRecord& run, const RunQuery& query);

class MemoryHistory : public HistoryStore {
 public:
  Result<void> record(const RunRecord& run) override;
  Result<std::vector<RunRecord>> query(const RunQuery& query) const override;

 private:
  std::map<std::string, RunRecord> runs_;  // by uid
};

}  // namespace tau::history
