// The discrete-event simulator behind the published tables of Muri (SIGCOMM 2022) for its three
// baselines, to the last digit: doubles in the same order of operations, restart cost charged at
// every event, the cluster emptied and filled anew each time. Not how this product schedules
// (replay.h is); it exists so that numbers can be compared.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tau::sim {

struct MuriJob {
  int gpus = 1;
  double submit_s = 0;
  double iterations = 0;
  double iteration_s = 0;  // alone
  double overhead_s = 0;   // charged at each event while it runs
};
enum class MuriPolicy { srtf, srsf, las };
// When the restart cost is charged: at every event while a job runs, which is how the published
// numbers arise; when it starts or resumes, which is what it means; never.
enum class MuriCharge { every_event, at_start, none };
struct MuriResult {
  double mean_jct_s = 0, makespan_s = 0, p99_jct_s = 0;
  size_t events = 0;
};

// `trace` and `overheads` are the texts of a trace and of start_overhead_s.csv.
Result<std::vector<MuriJob>> read_muri(std::string_view trace, std::string_view overheads);
// On `nodes` of `gpus_per_node` GPUs; las counts GPUs alone.
MuriResult run_muri(const std::vector<MuriJob>& jobs, MuriPolicy policy, MuriCharge charge,
                    int nodes, int gpus_per_node);

}  // namespace tau::sim
