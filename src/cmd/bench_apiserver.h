// Times the embedded API server: in process over memory, and as `tau up` serves it, over TLS and
// SQLite. Client and server share one thread, so the figures are of both together.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace tau::cmd {

struct ServerBenchRow {
  std::string work;
  int64_t requests = 0;
  int clients = 0, watchers = 0;  // callers at once, and watches open meanwhile
  double seconds = 0;             // of the median run
  double p50_us = 0, p99_us = 0;  // one request, in that run
  double per_second() const { return seconds > 0 ? static_cast<double>(requests) / seconds : 0; }
};

// Each row is the median of `runs` runs on fresh servers. Fails if an answer is not the one wanted,
// or if a watcher missed a change.
Result<std::vector<ServerBenchRow>> measure_apiserver(int runs);

}  // namespace tau::cmd
