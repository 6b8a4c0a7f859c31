// Times the engine on made-up work. The clock is the caller's: this floor has none.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace tau::sim {

struct BenchRow {
  const char* work = "";
  int64_t nodes = 0, pods = 0;
  double seconds = 0;  // the median of the runs
  double of_bare = 0;  // speed as a share of the bare kernel on the same nodes; 0 = not comparable
  double per_second() const { return seconds > 0 ? static_cast<double>(pods) / seconds : 0; }
};

// `now_s` is a steady clock in seconds. Each row is the median of `runs` runs on fresh engines;
// what is compared is measured side by side.
std::vector<BenchRow> bench_engine(const std::function<double()>& now_s, int runs);

}  // namespace tau::sim
