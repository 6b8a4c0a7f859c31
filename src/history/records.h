// What happened, as records: runs, their attempts, the pods of each attempt and the GPUs that they
// had.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace tau::history {

struct PodRecord {
  std::string uid, name, node;
  int attempt = 1;  // of the run, from 1
  std::vector<std::string> gpu_uuids;
  std::string gpu_product;
  std::optional<Time> created, bound, started, ended;
  std::string phase;  // Pending, Running, Succeeded, Failed
  std::optional<int> exit_code, signal;
  std::string reason;  // OOMKilled, Error, Completed, NodeLost, ...
};

struct AttemptRecord {
  int number = 1;
  std::optional<Time> admitted, started, ended;
  std::string outcome;  // "", Succeeded, Failed, Preempted, Cancelled, NodeLost
  std::string reason, message;
};

struct RunRecord {
  std::string uid;  // of the root object
  std::string id;   // r-xxxxxx
  std::string kind, ns, name;
  std::string queue, cluster_queue, user;
  int64_t gpus_requested = 0, pods_requested = 0;
  std::optional<Time> submitted, admitted, started, ended, deleted;
  std::string phase;  // Queued, Starting, Running, Succeeded, Failed, Cancelled
  std::string reason, message;
  std::vector<AttemptRecord> attempts;
  std::vector<PodRecord> pods;
};

struct RunQuery {
  std::string ns;          // "" = all
  std::string name_or_id;  // exact name, run id, uid or unique id prefix; "" = all
  std::string queue, phase;
  std::optional<Time> since, until;
  int limit = 1000;
};

// Keeps and answers. Memory (here); SQLite and PostgreSQL (host).
class HistoryStore {
 public:
  virtual ~HistoryStore() = default;
  // Inserts or replaces the run with this uid, whole. Terminal phases never revert: such a write
  // keeps the old phase, outcome and end.
  virtual Result<void> record(const RunRecord& run) = 0;
  // Newest submission first.
  virtual Result<std::vector<RunRecord>> query(const RunQuery& query) const = 0;
};

}  // namespace tau::history
