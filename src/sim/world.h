// The whole platform in one process and virtual time, from one seed: drawn nodes, work and faults,
// checked after every change and once more when it is quiet.
#pragma once

#include <cstdint>
#include <string>

#include "base/time.h"
#include "sim/checkers.h"

namespace tau::sim {

struct Options {
  uint64_t seed = 1;
  Duration length = minutes(10);  // of virtual time, under faults; then calm until quiet
};

struct Report {
  Violations violations;
  std::string log;  // byte-identical for the same seed
  uint64_t log_hash = 0;
  int64_t jobs = 0, faults = 0, preemptions = 0, events = 0;
};

Report simulate(const Options& options);

}  // namespace tau::sim
