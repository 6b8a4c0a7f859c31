#include "cmd/tools.h"

#include <fmt/format.h>

#include "base/text.h"
#include "sim/world.h"

namespace tau::cmd {

Outcome simulate(const ToolOptions& options, const Console& console) {
  const size_t dots = options.seeds.find("..");
  const auto first = parse_int(options.seeds.substr(0, dots));
  const auto last = dots == std::string::npos ? first : parse_int(options.seeds.substr(dots + 2));
  if (!first || !last || *first < 0 || *last < *first) return failed(Failure("TG-SIM-001", ExitCode::usage, fmt::format("--seed wants a number or A..B, not \"{}\"", options.seeds)));
  int64_t failures = 0;
  for (int64_t seed = *first; seed <= *last; ++seed) {
    const sim::Report report = sim::simulate({.seed = static_cast<uint64_t>(seed)});
    if (options.prints_log) console.out(report.log);
    for (const std::string& violation : report.violations) console.out(fmt::format("seed {}: {}\n", seed, violation));
    failures += report.violations.empty() ? 0 : 1;
    console.out(fmt::format("seed {}: {} jobs, {} faults, {} events, log {:016x}: {}\n", seed, report.jobs, report.faults, report.events, report.log_hash, report.violations.empty() ? "ok" : "FAILED"));
    if (!report.violations.empty()) console.say(fmt::format("again: tau simulate --seed {} --log", seed));
  }
  console.out(fmt::format("{} passed, {} failed\n", *last - *first + 1 - failures, failures));
  return failures == 0 ? ExitCode::ok : ExitCode::partial;
}

}  // namespace tau::cmd
