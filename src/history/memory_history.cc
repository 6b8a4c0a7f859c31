#include "history/memory_history.h"

#include <algorithm>

namespace tau::history {

bool is_terminal(const std::string& phase) {
  return phase == "Succeeded" || phase == "Failed" || phase == "Cancelled";
}

RunRecord merged(const RunRecord* before, RunRecord now) {
  if (before == nullptr || !is_terminal(before->phase)) return now;
  now.phase = before->phase;
  now.reason = before->reason;
  now.message = before->message;
  now.ended = before->ended;
  if (!now.deleted) now.deleted = before->deleted;
  if (now.pods.size() < before->pods.size()) now.pods = before->pods;
  if (now.attempts.size() < before->attempts.size()) now.attempts = before->attempts;
  return now;
}

bool matches(const RunRecord& run, const RunQuery& query) {
  if (!query.ns.empty() && run.ns != query.ns) return false;
  if (!query.queue.empty() && run.queue != query.queue) return false;
  if (!query.phase.empty() && run.phase != query.phase) return false;
  if (query.since && (!run.submitted || *run.submitted < *query.since)) return false;
  if (query.until && (!run.submitted || *run.submitted >= *query.until)) return false;
  if (query.name_or_id.empty()) return true;
  const std::string& wanted = query.name_or_id;
  return run.name == wanted || run.uid == wanted || run.id == wanted ||
         (wanted.starts_with("r-") && wanted.size() > 2 && run.id.starts_with(wanted));
}

Result<void> MemoryHistory::record(const RunRecord& run) {
  const auto found = runs_.find(run.uid);
  RunRecord kept = merged(found == runs_.end() ? nullptr : &found->second, run);
  runs_[run.uid] = std::move(kept);
  return {};
}

Result<std::vector<RunRecord>> MemoryHistory::query(const RunQuery& query) const {
  std::vector<RunRecord> found;
  for (const auto& [uid, run] : runs_) {
    if (matches(run, query)) found.push_back(run);
  }
  std::ranges::stable_sort(
      found, [](const RunRecord& a, const RunRecord& b) { return a.submitted > b.submitted; });
  const auto limit = static_cast<size_t>(std::max(0, query.limit));
  if (found.size() > limit) found.resize(limit);
  return found;
}

}  // namespace tau::history
