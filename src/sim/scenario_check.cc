// Which keys of a scenario are read, and which feature each of the others waits for.
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/text.h"
#include "sim/scenario_json.h"
#include "sim/scenario_reader.h"

namespace tau::sim {
namespace json = boost::json;

void ScenarioReader::check_keys(const json::object& object, std::span<const Key> keys,
                                std::string_view where) {
  for (const auto& [name, value] : object) {
    const auto found = std::ranges::find(keys, std::string_view(name), &Key::name);
    if (found != keys.end()) {
      if (!found->missing.empty()) missing_.insert(std::string(found->missing));
      continue;
    }
    std::vector<std::string_view> known;
    for (const Key& key : keys) known.push_back(key.name);
    const auto near = nearest(std::string_view(name), known);
    problem(near ? fmt::format("{}: unknown key \"{}\"; did you mean \"{}\"?", where,
                               std::string_view(name), *near)
                 : fmt::format("{}: unknown key \"{}\"", where, std::string_view(name)));
  }
}

void ScenarioReader::check_queue(const json::object& queue) {
  static constexpr Key keys[] = {{"name", ""},
                                 {"cohort", ""},
                                 {"strategy", ""},
                                 {"groups", ""},
                                 {"preempt", ""},
                                 {"fungibility", ""},
                                 {"stop", ""},
                                 {"auto", ""},
                                 {"weight", ""},
                                 {"admissionMode", "admission fair sharing"},
                                 {"checks", "admission checks"}};
  check_keys(queue, keys, "queue " + text_at(queue, "name"));
  static constexpr Key preempt_keys[] = {
      {"within", ""}, {"reclaim", ""}, {"borrow", ""}, {"borrowMax", ""}};
  static constexpr Key fungibility_keys[] = {
      {"whenCanBorrow", ""}, {"whenCanPreempt", ""}, {"preference", ""}};
  const auto check_part = [&](const char* part, std::span<const Key> part_keys) {
    const json::value* found = queue.if_contains(part);
    if (found != nullptr && found->is_object()) check_keys(found->as_object(), part_keys, part);
  };
  check_part("preempt", preempt_keys);
  check_part("fungibility", fungibility_keys);
}

void ScenarioReader::check_work(const json::object& work, std::span<const Key> keys) {
  static constexpr Key set_keys[] = {{"name", ""},      {"count", ""},         {"each", ""},
                                     {"selector", ""},  {"tolerations", ""},   {"reclaimable", ""},
                                     {"min", ""},       {"group", ""},         {"required", ""},
                                     {"preferred", ""}, {"unconstrained", ""}, {"sliceLevel", ""},
                                     {"sliceSize", ""}, {"layers", ""}};
  const std::string where = "workload " + text_at(work, "name");
  check_keys(work, keys, where);
  for_each_object(items(work, "podSets"), [&](const json::object& set) {
    check_keys(set, set_keys, fmt::format("{}, pod set {}", where, text_at(set, "name", "main")));
  });
}

void ScenarioReader::check_steps(const json::object& scenario) {
  static constexpr Key step_keys[] = {{"do", ""}, {"expect", ""}};
  static constexpr Key do_keys[] = {
      {"cycle", ""},     {"run", ""},  {"restart", ""},       {"finish", ""},
      {"add", ""},       {"node", ""}, {"nodeGone", ""},      {"pods", ""},
      {"bindFails", ""}, {"wait", ""}, {"evictionsDone", ""}, {"requeueEvicted", ""}};
  static constexpr Key expect_keys[] = {
      {"admitted", ""},  {"pending", ""},   {"preempted", ""}, {"untouched", ""}, {"bound", ""},
      {"evicted", ""},   {"available", ""}, {"potential", ""}, {"shares", ""},    {"cycles", ""},
      {"placement", ""}, {"unplaced", ""},  {"sameDomain", ""}};
  const auto check_expect = [&](const json::value* expect) {
    if (expect != nullptr && expect->is_object())
      check_keys(expect->as_object(), expect_keys, "expect");
  };
  check_expect(scenario.if_contains("expect"));
  for_each_object(items(scenario, "then"), [&](const json::object& step) {
    check_keys(step, step_keys, "then");
    check_expect(step.if_contains("expect"));
    for (const json::value& act : items(step, "do")) {
      if (act.is_object())
        check_keys(act.as_object(), do_keys, "do");
      else
        check_keys({{text_of(act), nullptr}}, do_keys, "do");
    }
  });
}

void ScenarioReader::check(const json::object& scenario) {
  // The same words as the file's head; a key that belongs to a kind we do not play names its
  // feature.
  static constexpr Key keys[] = {{"id", ""},
                                 {"area", ""},
                                 {"title", ""},
                                 {"kind", ""},
                                 {"source", ""},
                                 {"why", ""},
                                 {"verified", ""},
                                 {"corrected", ""},
                                 {"remark", ""},
                                 {"note", ""},
                                 {"property", ""},
                                 {"betterPeerMayPlace", ""},
                                 {"ours", ""},
                                 {"gates", ""},
                                 {"flavors", ""},
                                 {"cohorts", ""},
                                 {"queues", ""},
                                 {"nodes", ""},
                                 {"running", ""},
                                 {"pending", ""},
                                 {"expect", ""},
                                 {"then", ""},
                                 {"fairSharing", ""},
                                 {"fairSharingStrategies", ""},
                                 {"levels", ""},
                                 {"podSets", ""},
                                 {"otherPods", ""},
                                 {"acceptReasons", ""},
                                 {"localQueues", "local queues"},
                                 {"events", "events"},
                                 {"given", "given values"},
                                 {"pods", "single pods"}};
  static constexpr Key flavor_keys[] = {
      {"name", ""}, {"labels", ""}, {"taints", ""}, {"tolerations", ""}, {"topology", ""}};
  static constexpr Key cohort_keys[] = {
      {"name", ""}, {"parent", ""}, {"quota", ""}, {"weight", ""}};
  static constexpr Key pending_keys[] = {{"name", ""},
                                         {"queue", ""},
                                         {"prio", ""},
                                         {"created", ""},
                                         {"podSets", ""},
                                         {"active", ""},
                                         {"notBefore", ""},
                                         {"boost", ""},
                                         {"localQueue", "local queues"},
                                         {"replaces", "elastic workloads"},
                                         {"annotations", "annotations"},
                                         {"preemptionGates", "preemption gates"}};
  static constexpr Key running_keys[] = {{"name", ""},
                                         {"queue", ""},
                                         {"prio", ""},
                                         {"created", ""},
                                         {"since", ""},
                                         {"uses", ""},
                                         {"podSets", ""},
                                         {"at", ""},
                                         {"boost", ""},
                                         {"evicting", ""},
                                         {"unhealthyNodes", "node replacement"},
                                         {"kindOfJob", "rank of pods"}};
  static constexpr Key gates[] = {{"SchedulingEquivalenceHashing", ""},
                                  {"PriorityBoost", ""},
                                  {"RecomputeAssignmentUponPreemptionTargetsOverlap", ""},
                                  {"TASRecomputeAssignmentWithinSchedulingCycle", ""}};
  check_keys(scenario, keys, "scenario");
  for_each_object(items(scenario, "flavors"), [&](const json::object& o) {
    check_keys(o, flavor_keys, "flavor " + text_at(o, "name"));
  });
  for_each_object(items(scenario, "cohorts"), [&](const json::object& o) {
    check_keys(o, cohort_keys, "cohort " + text_at(o, "name"));
  });
  for_each_object(items(scenario, "queues"), [&](const json::object& o) { check_queue(o); });
  for_each_object(items(scenario, "pending"),
                  [&](const json::object& o) { check_work(o, pending_keys); });
  if (scenario.contains("podSets")) check_work(scenario, keys);
  for_each_object(items(scenario, "running"),
                  [&](const json::object& o) { check_work(o, running_keys); });
  if (const json::value* named = scenario.if_contains("gates");
      named != nullptr && named->is_object()) {
    for (const auto& [name, value] : named->as_object()) {
      if (std::ranges::find(gates, std::string_view(name), &Key::name) == std::end(gates))
        missing_.insert(fmt::format("gate {}", std::string_view(name)));
    }
  }
  check_steps(scenario);
}

}  // namespace tau::sim
