#include "sim/scenario.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/text.h"
#include "meta/yaml.h"
#include "sim/plane_stage.h"
#include "sim/scenario_json.h"
#include "sim/scenario_player.h"
#include "sim/scenario_reader.h"

namespace tau::sim {
namespace json = boost::json;

namespace {

// What cannot be played at all, or "".
std::string missing_kind(const json::object& scenario) {
  const std::string kind = text_at(scenario, "kind");
  if (kind == "cycle" || kind == "available" || kind == "shares" || kind == "tas") return {};
  if (kind != "manual") return "kind " + kind;
  // Mixed scenarios are played if they are told in cycles.
  const json::value* expect = scenario.if_contains("expect");
  const bool is_plain =
      expect != nullptr && expect->is_object() &&
      (expect->as_object().contains("admitted") || expect->as_object().contains("pending") ||
       expect->as_object().contains("preempted") ||
       (expect->as_object().contains("cycles") && scenario.contains("pending")));
  return is_plain ? "" : "kind manual";
}

ScenarioResult skip(ScenarioResult result, const std::set<std::string>& missing) {
  result.outcome = ScenarioOutcome::skipped;
  result.lines = {"not supported: " + join(std::vector(missing.begin(), missing.end()), ", ")};
  return result;
}

// Numbers that no API shows.
std::set<std::string> missing_in_plane(const json::object& scenario) {
  std::set<std::string> missing;
  const std::string kind = text_at(scenario, "kind");
  if (kind == "available" || kind == "shares") missing.insert("kind " + kind + " in the API");
  return missing;
}

ScenarioResult run(const json::object& scenario, const ScenarioOptions& options) {
  ScenarioResult result{
      .id = text_at(scenario, "id"), .title = text_at(scenario, "title"), .lines = {}};
  if (const std::string kind = missing_kind(scenario); !kind.empty()) {
    result.outcome = ScenarioOutcome::skipped;
    result.lines = {"not supported: " + kind};
    return result;
  }
  ScenarioReader reader;
  reader.check(scenario);
  if (!reader.missing().empty()) return skip(std::move(result), reader.missing());
  std::unique_ptr<ScenarioStage> stage;
  if (options.is_plane) {
    if (const auto missing = missing_in_plane(scenario); !missing.empty())
      return skip(std::move(result), missing);
    stage = std::make_unique<PlaneStage>(reader);
  } else {
    stage = std::make_unique<EngineStage>(reader.names());
  }
  result.lines = reader.problems();
  if (result.lines.empty()) result.lines = ScenarioPlayer(reader, scenario, *stage).play();
  if (!stage->missing().empty()) return skip(std::move(result), stage->missing());
  if (!result.lines.empty()) {
    result.outcome = ScenarioOutcome::failed;
    return result;
  }
  if (const json::value* ours = scenario.if_contains("ours"); ours != nullptr && ours->is_object())
    result.lines = {text_at(ours->as_object(), "why")};
  return result;
}

}  // namespace

Result<ScenarioReport> run_scenarios(std::string_view yaml, const ScenarioOptions& options) {
  const std::vector<json::value> documents = TRY(meta::parse_yaml(yaml));
  const json::value* list = documents.size() == 1 && documents[0].is_object()
                                ? documents[0].as_object().if_contains("scenarios")
                                : nullptr;
  if (list == nullptr || !list->is_array())
    return fail(ErrorCode::bad_request,
                "a scenario file has one document with a list \"scenarios\"");
  ScenarioReport report;
  for (const json::value& item : list->as_array()) {
    if (!item.is_object() || text_at(item.as_object(), "id").empty())
      return fail(ErrorCode::bad_request, "each scenario is an object with an id");
    if (!options.only.empty() && text_at(item.as_object(), "id") != options.only) continue;
    report.scenarios.push_back(run(item.as_object(), options));
    switch (report.scenarios.back().outcome) {
      case ScenarioOutcome::passed:
        ++report.passed;
        break;
      case ScenarioOutcome::failed:
        ++report.failed;
        break;
      case ScenarioOutcome::skipped:
        ++report.skipped;
        break;
    }
  }
  return report;
}

std::string to_text(const ScenarioReport& report) {
  std::string out;
  for (const ScenarioResult& one : report.scenarios) {
    if (one.outcome == ScenarioOutcome::failed)
      out += fmt::format("{}: FAILED: {}\n", one.id, one.title);
    for (const std::string& line : one.lines) {
      if (one.outcome == ScenarioOutcome::failed)
        out += fmt::format("  {}\n", line);
      else
        out += fmt::format(
            "{}: {}{}\n", one.id,
            one.outcome == ScenarioOutcome::passed ? "passed; better by design: " : "", line);
    }
  }
  return out + fmt::format("{} passed, {} failed, {} skipped\n", report.passed, report.failed,
                           report.skipped);
}

}  // namespace tau::sim
