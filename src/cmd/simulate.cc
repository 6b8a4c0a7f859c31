// tau simulate: the virtual platform by seeds, traces on described clusters, published experiments.
#include <fmt/format.h>

#include <boost/json.hpp>
#include <chrono>

#include "base/text.h"
#include "cmd/tools.h"
#include "host/files.h"
#include "sim/experiments.h"
#include "sim/world.h"

namespace tau::cmd {
namespace {

Outcome play_seeds(const SimulateOptions& options, const Console& console) {
  const size_t dots = options.seeds.find("..");
  const auto first = parse_int(options.seeds.substr(0, dots));
  const auto last = dots == std::string::npos ? first : parse_int(options.seeds.substr(dots + 2));
  if (!first || !last || *first < 0 || *last < *first)
    return failed(Failure("TG-SIM-001", ExitCode::usage,
                          fmt::format("--seed wants a number or A..B, not \"{}\"", options.seeds)));
  int64_t failures = 0;
  for (int64_t seed = *first; seed <= *last; ++seed) {
    const sim::Report report = sim::simulate({.seed = static_cast<uint64_t>(seed)});
    if (options.prints_log) console.out(report.log);
    for (const std::string& violation : report.violations)
      console.out(fmt::format("seed {}: {}\n", seed, violation));
    failures += report.violations.empty() ? 0 : 1;
    console.out(fmt::format("seed {}: {} jobs, {} faults, {} events, log {:016x}: {}\n", seed,
                            report.jobs, report.faults, report.events, report.log_hash,
                            report.violations.empty() ? "ok" : "FAILED"));
    if (!report.violations.empty())
      console.say(fmt::format("again: tau simulate --seed {} --log", seed));
  }
  console.out(fmt::format("{} passed, {} failed\n", *last - *first + 1 - failures, failures));
  return failures == 0 ? ExitCode::ok : ExitCode::partial;
}

std::string number(double value, int decimals) {
  return fmt::format("{:.{}f}", value, decimals);
}

Result<std::vector<const sim::Experiment*>> chosen(const std::vector<std::string>& ids) {
  std::vector<const sim::Experiment*> found;
  std::vector<std::string> known;
  for (const sim::Experiment& one : sim::experiments()) known.push_back(one.id);
  for (const std::string& id : ids) {
    if (id == "all") {
      for (const sim::Experiment& one : sim::experiments()) found.push_back(&one);
      continue;
    }
    const sim::Experiment* one = sim::find_experiment(to_lower(id));
    if (one == nullptr)
      return fail(ErrorCode::bad_request,
                  fmt::format("unknown experiment \"{}\": all, {}", id, join(known, ", ")));
    found.push_back(one);
  }
  return found;
}

// A line of progress that the next one overwrites; only on a terminal.
std::function<void(std::string_view)> progress_line(const Console& console) {
  return [&console](std::string_view line) {
    if (console.err_has_colour && !console.is_quiet) console.err(fmt::format("\r\x1b[K{}", line));
  };
}

Outcome run_experiments(const GlobalOptions& global, const SimulateOptions& options,
                        const Console& console) {
  const auto list = chosen(options.experiments);
  if (!list) return failed(Failure("TG-SIM-002", ExitCode::usage, list.error().message));
  const std::string folder = options.data;
  sim::ExperimentWorld world{
      .read = [&folder](const std::string& name) -> Result<std::string> {
        if (folder.empty())
          return fail(ErrorCode::not_found,
                      name + ": no data folder is named (--data DIR or TAU_DATA_DIR)");
        return host::read_file(folder + "/" + name);
      },
      .now_s =
          [] {
            const auto now = std::chrono::steady_clock::now().time_since_epoch();
            return std::chrono::duration<double>(now).count();
          },
      .say = progress_line(console)};
  boost::json::array items;
  Table table({{"EXPERIMENT"},
               {"WHAT"},
               {"PUBLISHED", false, true},
               {"OURS", false, true},
               {"DIFFERENCE", false, true},
               {"BAND", false, true},
               {"RESULT"}});
  std::vector<std::string> notes;
  bool is_passed = true;
  for (const sim::Experiment* one : *list) {
    const auto report = one->run(world);
    world.say("");
    if (!report)
      return failed(Failure("TG-SIM-003", ExitCode::usage, report.error().message)
                        .at(fmt::format("experiment {}", one->id)));
    is_passed = is_passed && report->is_passed();
    for (const std::string& note : report->notes)
      notes.push_back(fmt::format("{}: {}", one->id, note));
    for (const sim::ExperimentRow& row : report->rows) {
      const bool is_judged = row.rule != sim::ExperimentRow::Rule::shown;
      const char* result = !is_judged ? "-" : row.is_passed() ? "pass" : "FAIL";
      boost::json::object item{{"experiment", one->id},
                               {"what", row.name},
                               {"ours", row.ours},
                               {"band", row.band_text()},
                               {"isPassed", row.is_passed()},
                               {"isJudged", is_judged}};
      if (row.published) item["published"] = *row.published;
      items.push_back(std::move(item));
      table.add(
          {one->id, row.name, row.published ? number(*row.published, row.decimals) : "",
           number(row.ours, row.decimals),
           row.published ? fmt::format("{:+.{}f}", row.ours - *row.published, row.decimals) : "",
           row.band_text(),
           Cell(result, !is_judged        ? Tone::dim
                        : row.is_passed() ? Tone::good
                                          : Tone::bad)});
    }
  }
  TRY(print_items(global.format, "ExperimentRowList", console, table, std::move(items)));
  for (const std::string& note : notes) console.say(note);
  return is_passed ? ExitCode::ok : ExitCode::internal;
}

}  // namespace

Outcome simulate(const GlobalOptions& global, const SimulateOptions& options,
                 const Console& console) {
  if (!options.experiments.empty()) return run_experiments(global, options, console);
  return play_seeds(options, console);
}

}  // namespace tau::cmd
