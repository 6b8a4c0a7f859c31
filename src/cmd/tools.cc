#include "cmd/tools.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <chrono>

#include "base/text.h"
#include "cmd/bench_apiserver.h"
#include "host/files.h"
#include "sim/bench_engine.h"
#include "sim/scenario.h"

namespace tau::cmd {

Outcome scenario(const ToolOptions& options, const Console& console) {
  sim::ScenarioReport sum;
  for (const std::string& file : options.files) {
    const auto text = host::read_file(file);
    if (!text) return failed(Failure("TG-SCN-001", ExitCode::usage, text.error().message).at(file));
    auto report = sim::run_scenarios(*text, {.only = options.only, .is_plane = options.is_plane});
    if (!report)
      return failed(Failure("TG-SCN-002", ExitCode::usage, report.error().message).at(file));
    sum.passed += report->passed;
    sum.failed += report->failed;
    sum.skipped += report->skipped;
    std::ranges::move(report->scenarios, std::back_inserter(sum.scenarios));
  }
  if (!options.only.empty() && sum.scenarios.empty())
    return failed(Failure("TG-SCN-003", ExitCode::not_found,
                          fmt::format("no scenario has the id \"{}\"", options.only)));
  console.out(sim::to_text(sum));
  return sum.failed == 0 ? ExitCode::ok : ExitCode::partial;
}

Outcome print_items(Format format, std::string_view kind, const Console& console,
                    const Table& table, boost::json::array items) {
  const boost::json::value list = list_object(kind, std::move(items));
  if (format == Format::json) {
    console.out(to_pretty_json(list));
  } else if (format == Format::yaml) {
    console.out(to_yaml(list));
  } else {
    console.out(table.text(false, console.has_colour));
  }
  return ExitCode::ok;
}

namespace {

Outcome print_rows(const GlobalOptions& global, const ToolOptions& options, const Console& console,
                   const Table& table, boost::json::array items) {
  return print_items(options.prints_json ? Format::json : global.format, "BenchRowList", console,
                     table, std::move(items));
}

Outcome too_few_runs() {
  return failed(Failure("TG-BENCH-001", ExitCode::usage, "--runs is 1 or more"));
}

}  // namespace

Outcome bench_engine(const GlobalOptions& global, const ToolOptions& options,
                     const Console& console) {
  if (options.runs < 1) return too_few_runs();
  const auto clock = [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  };
  const auto rows = sim::bench_engine(clock, options.runs);
  boost::json::array items;
  Table table({{"WORK"},
               {"NODES", false, true},
               {"PODS", false, true},
               {"MS", false, true},
               {"PODS/S", false, true},
               {"OF BARE", false, true}});
  for (const sim::BenchRow& row : rows) {
    items.push_back(boost::json::object{{"work", row.work},
                                        {"nodes", row.nodes},
                                        {"pods", row.pods},
                                        {"seconds", row.seconds},
                                        {"podsPerSecond", row.per_second()},
                                        {"ofBareKernel", row.of_bare}});
    table.add({row.work, std::to_string(row.nodes), std::to_string(row.pods),
               fmt::format("{:.2f}", row.seconds * 1000), fmt::format("{:.0f}", row.per_second()),
               row.of_bare > 0 ? fmt::format("{:.0f}%", row.of_bare * 100) : "-"});
  }
  return print_rows(global, options, console, table, std::move(items));
}

Outcome bench_apiserver(const GlobalOptions& global, const ToolOptions& options,
                        const Console& console) {
  if (options.runs < 1) return too_few_runs();
  const auto rows = measure_apiserver(options.runs);
  if (!rows) return failed(Failure("TG-BENCH-002", ExitCode::internal, rows.error().message));
  boost::json::array items;
  Table table({{"WORK"},
               {"REQUESTS", false, true},
               {"CLIENTS", false, true},
               {"WATCHERS", false, true},
               {"PER SECOND", false, true},
               {"P50 US", false, true},
               {"P99 US", false, true}});
  for (const ServerBenchRow& row : *rows) {
    items.push_back(boost::json::object{{"work", row.work},
                                        {"requests", row.requests},
                                        {"clients", row.clients},
                                        {"watchers", row.watchers},
                                        {"seconds", row.seconds},
                                        {"requestsPerSecond", row.per_second()},
                                        {"p50Microseconds", row.p50_us},
                                        {"p99Microseconds", row.p99_us}});
    table.add({row.work, std::to_string(row.requests), std::to_string(row.clients),
               std::to_string(row.watchers), fmt::format("{:.0f}", row.per_second()),
               fmt::format("{:.0f}", row.p50_us), fmt::format("{:.0f}", row.p99_us)});
  }
  return print_rows(global, options, console, table, std::move(items));
}

}  // namespace tau::cmd
