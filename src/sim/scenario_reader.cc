#include "sim/scenario_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <span>

#include "base/text.h"
#include "sim/scenario_json.h"

namespace tau::sim {
namespace json = boost::json;
using namespace engine;

namespace {

constexpr std::string_view no_names[] = {""};
constexpr std::string_view flavor_key[] = {"flavor"};
constexpr std::string_view node_keys[] = {"name",     "labels",    "taints", "ready",
                                          "cordoned", "unhealthy", "at",     "missingLevel",
                                          "host",     "gone"};

}  // namespace

// cpu in cores, memory in Gi, everything else counted.
int64_t ScenarioReader::value_of(std::string_view resource, const json::value& from) {
  const int64_t unit = resource == "cpu" ? 1000 : resource == "memory" ? int64_t{1} << 30 : 1;
  if (!from.is_number()) {
    problem(fmt::format("{}: want a number, got {}", resource, json::serialize(from)));
    return 0;
  }
  return std::llround(from.to_number<double>() * static_cast<double>(unit));
}

// Every key that is not one of `others` names a resource.
Amounts ScenarioReader::amounts(const json::object& from,
                                std::span<const std::string_view> others) {
  Amounts made;
  for (const auto& [name, value] : from) {
    if (std::ranges::find(others, std::string_view(name)) != others.end()) continue;
    const std::string_view resource =
        std::string_view(name) == "gpu" ? mirror::gpu_resource : std::string_view(name);
    made.push_back({names_.resources.intern(resource), value_of(std::string_view(name), value)});
  }
  std::ranges::sort(made);
  std::erase_if(made, [](const Amount& amount) { return amount.value == 0; });
  return made;
}

std::vector<Label> ScenarioReader::labels(const json::value* from) {
  std::vector<Label> made;
  if (from == nullptr || !from->is_object()) return made;
  for (const auto& [name, value] : from->as_object()) {
    made.push_back({names_.label_keys.intern(std::string_view(name)),
                    names_.label_values.intern(text_of(value))});
  }
  std::ranges::sort(made);
  return made;
}

namespace {
std::optional<Effect> effect_of(std::string_view text) {
  if (text == "PreferNoSchedule") return Effect::prefer_no_schedule;
  if (text == "NoExecute") return Effect::no_execute;
  if (text == "NoSchedule") return Effect::no_schedule;
  return std::nullopt;
}
}  // namespace

std::vector<Taint> ScenarioReader::taints(const json::value* from) {
  std::vector<Taint> made;
  for_each_object(items(from), [&](const json::object& taint) {
    made.push_back({names_.label_keys.intern(text_at(taint, "key")),
                    names_.label_values.intern(text_at(taint, "value")),
                    effect_of(text_at(taint, "effect")).value_or(Effect::no_schedule)});
  });
  return made;
}

std::vector<Toleration> ScenarioReader::tolerations(const json::value* from) {
  std::vector<Toleration> made;
  for_each_object(items(from), [&](const json::object& toleration) {
    Toleration one{.effect = effect_of(text_at(toleration, "effect"))};
    if (const std::string key = text_at(toleration, "key"); !key.empty())
      one.key = names_.label_keys.intern(key);
    if (text_at(toleration, "operator", "Equal") != "Exists")
      one.value = names_.label_values.intern(text_at(toleration, "value"));
    made.push_back(one);
  });
  return made;
}

FlavorQuota ScenarioReader::flavor_quota(const json::object& from) {
  FlavorQuota made{.flavor = names_.flavors.intern(text_at(from, "flavor"))};
  for (const auto& [name, value] : from) {
    if (std::string_view(name) == "flavor") continue;
    const std::string_view resource =
        std::string_view(name) == "gpu" ? mirror::gpu_resource : std::string_view(name);
    Quota quota{.resource = names_.resources.intern(resource)};
    if (!value.is_array()) {
      quota.nominal = value_of(std::string_view(name), value);
    } else if (const auto& parts = value.as_array(); parts.size() == 3) {
      quota.nominal = value_of(std::string_view(name), parts[0]);
      if (!parts[1].is_null()) quota.borrowing_limit = value_of(std::string_view(name), parts[1]);
      if (!parts[2].is_null()) quota.lending_limit = value_of(std::string_view(name), parts[2]);
    } else {
      problem(fmt::format("{}: an amount is a number or [nominal, borrowingLimit, lendingLimit]",
                          std::string_view(name)));
    }
    made.quotas.push_back(quota);
  }
  return made;
}

std::vector<ResourceGroup> ScenarioReader::groups(const json::value* from) {
  std::vector<ResourceGroup> made;
  for (const json::value& group : items(from)) {
    ResourceGroup one;
    for_each_object(items(&group), [&](const json::object& flavor) {
      one.flavors.push_back(flavor_quota(flavor));
    });
    for (const FlavorQuota& flavor : one.flavors) {
      for (const Quota& quota : flavor.quotas) {
        if (std::ranges::find(one.resources, quota.resource) == one.resources.end())
          one.resources.push_back(quota.resource);
      }
    }
    made.push_back(std::move(one));
  }
  return made;
}

FlavorUpsert ScenarioReader::flavor(const json::object& from) {
  return {.id = names_.flavors.intern(text_at(from, "name")),
          .node_labels = labels(from.if_contains("labels")),
          .node_taints = taints(from.if_contains("taints")),
          .tolerations = tolerations(from.if_contains("tolerations")),
          .levels = text_at(from, "topology").empty() ? std::vector<LabelKeyId>() : levels_};
}

CohortUpsert ScenarioReader::cohort(const json::object& from) {
  CohortUpsert made{.id = names_.cohorts.intern(text_at(from, "name"))};
  if (const std::string parent = text_at(from, "parent"); !parent.empty())
    made.parent = names_.cohorts.intern(parent);
  // A cohort's quota is one list; each flavor of it stands for itself.
  for_each_object(items(from, "quota"), [&](const json::object& flavor) {
    ResourceGroup one{.flavors = {flavor_quota(flavor)}};
    for (const Quota& quota : one.flavors[0].quotas) one.resources.push_back(quota.resource);
    made.groups.push_back(std::move(one));
  });
  made.weight = weight(from);
  return made;
}

int64_t ScenarioReader::weight(const json::object& from) {
  const json::value* found = from.if_contains("weight");
  if (found == nullptr) return weight_one;
  if (found->is_number()) return std::llround(found->to_number<double>() * weight_one);
  problem("weight: want a number, got " + json::serialize(*found));
  return weight_one;
}

FairSharing ScenarioReader::fair_sharing(const json::object& scenario) {
  FairSharing made{.is_on = text_at(scenario, "fairSharing") == "true"};
  if (!scenario.contains("fairSharingStrategies")) return made;
  made.rules.clear();
  for (const json::value& item : items(scenario, "fairSharingStrategies")) {
    const std::string word = text_of(item);
    if (word == "LessThanOrEqualToFinalShare")
      made.rules.push_back(FairRule::no_more_than_it_keeps);
    else if (word == "LessThanInitialShare")
      made.rules.push_back(FairRule::less_than_it_had);
    else
      problem(fmt::format("fairSharingStrategies: unknown word \"{}\"", word));
  }
  return made;
}

Preemption ScenarioReader::preemption(const json::object& from) {
  const auto choice = [&](const char* key, auto none, auto... others) {
    const std::string word = text_at(from, key, "Never");
    auto chosen = none;
    bool is_known = word == "Never";
    ((word == others.first ? (chosen = others.second, is_known = true) : false), ...);
    if (!is_known) problem(fmt::format("preempt: {}: unknown word \"{}\"", key, word));
    return chosen;
  };
  Preemption made{
      .within =
          choice("within", Within::never, std::pair("LowerPriority", Within::lower_priority),
                 std::pair("LowerOrNewerEqualPriority", Within::lower_or_newer_equal_priority)),
      .reclaim =
          choice("reclaim", Reclaim::never, std::pair("LowerPriority", Reclaim::lower_priority),
                 std::pair("Any", Reclaim::any)),
      .may_borrow = choice("borrow", false, std::pair("LowerPriority", true))};
  if (const auto most = parse_int(text_at(from, "borrowMax")))
    made.borrow_max_priority = static_cast<int32_t>(*most);
  return made;
}

QueueUpsert ScenarioReader::queue(const json::object& from) {
  QueueUpsert made{.id = names_.queues.intern(text_at(from, "name")),
                   .groups = groups(from.if_contains("groups"))};
  if (const std::string cohort = text_at(from, "cohort"); !cohort.empty())
    made.cohort = names_.cohorts.intern(cohort);
  if (text_at(from, "strategy") == "StrictFIFO") made.strategy = Strategy::strict_fifo;
  if (text_at(from, "stop") == "Hold") made.stop = StopPolicy::hold;
  if (text_at(from, "stop") == "HoldAndDrain") made.stop = StopPolicy::hold_and_drain;
  made.follows_nodes = text_at(from, "auto") == "true";
  if (const json::value* found = from.if_contains("fungibility");
      found != nullptr && found->is_object()) {
    made.tries_next_before_borrowing =
        text_at(found->as_object(), "whenCanBorrow") == "TryNextFlavor";
    made.stops_at_preemption = text_at(found->as_object(), "whenCanPreempt") == "MayStopSearch";
    made.prefers_preemption_to_borrowing =
        text_at(found->as_object(), "preference") == "PreemptionOverBorrowing";
  }
  made.weight = weight(from);
  if (const json::value* found = from.if_contains("preempt");
      found != nullptr && found->is_object())
    made.preemption = preemption(found->as_object());
  return made;
}

NodeUpsert ScenarioReader::node(const json::object& from) {
  const std::string at = text_at(from, "at", text_at(from, "host"));
  NodeUpsert made{.id = names_.nodes.intern(at.empty() ? text_at(from, "name") : at),
                  .allocatable = amounts(from, node_keys),
                  .labels = labels(from.if_contains("labels")),
                  .taints = taints(from.if_contains("taints"))};
  // "b1/r1/n1": its domains, from the top.
  const auto parts = split(at, '/');
  for (size_t i = 0; i < parts.size() && parts.size() == levels_.size(); ++i)
    made.labels.push_back({levels_[i], names_.label_values.intern(parts[i]), std::nullopt});
  std::ranges::sort(made.labels);
  const auto has = [&](ResourceId resource) {
    return std::ranges::find(made.allocatable, resource, &Amount::resource) !=
           made.allocatable.end();
  };
  // What is not said is not scarce.
  if (!has(cpu)) made.allocatable.push_back({cpu, 1'000'000});
  if (!has(memory)) made.allocatable.push_back({memory, int64_t{1} << 50});
  if (!has(pods)) made.allocatable.push_back({pods, 110});
  std::ranges::sort(made.allocatable);
  const auto devices = std::ranges::find(made.allocatable, gpu, &Amount::resource);
  if (devices != made.allocatable.end())
    made.healthy_gpus = devices->value >= 64 ? ~GpuMask{0} : (GpuMask{1} << devices->value) - 1;
  for (const json::value& index : items(from, "unhealthy")) {
    if (index.is_int64() && index.as_int64() >= 0 && index.as_int64() < 64)
      made.healthy_gpus &= ~(GpuMask{1} << index.as_int64());
  }
  made.is_ready = text_at(from, "ready", "true") == "true";
  made.is_cordoned = text_at(from, "cordoned") == "true";
  return made;
}

PodSet ScenarioReader::pod_set(const json::object& from) {
  PodSet made{.count = 1};
  if (const json::value* count = from.if_contains("count"); count != nullptr && count->is_int64())
    made.count = static_cast<int32_t>(count->as_int64());
  if (const json::value* done = from.if_contains("reclaimable");
      done != nullptr && done->is_int64())
    made.count -= static_cast<int32_t>(done->as_int64());
  if (const json::value* each = from.if_contains("each"); each != nullptr && each->is_object())
    made.request.amounts = amounts(each->as_object(), no_names);
  Term term;
  for (const Label& label : labels(from.if_contains("selector")))
    term.push_back({.key = label.key, .values = {label.value}});
  if (!term.empty()) made.request.terms.push_back(std::move(term));
  made.request.tolerations = tolerations(from.if_contains("tolerations"));
  if (const json::value* least = from.if_contains("min"); least != nullptr && least->is_int64())
    made.min_count = static_cast<int32_t>(least->as_int64());
  made.topology = topology(from);
  return made;
}

TopologyRequest ScenarioReader::topology(const json::object& from) {
  TopologyRequest made;
  using Kind = TopologyRequest::Kind;
  const auto level = [&](std::string_view key, Kind kind) {
    const std::string name = text_at(from, key);
    if (name.empty()) return;
    made.kind = kind;
    made.level = names_.label_keys.intern(name);
  };
  level("required", Kind::required);
  level("preferred", Kind::preferred);
  if (text_at(from, "unconstrained") == "true") made.kind = Kind::unconstrained;
  const auto slice = [&](const json::object& one, const char* name, const char* size) {
    made.slices.push_back({names_.label_keys.intern(text_at(one, name)),
                           static_cast<int32_t>(parse_int(text_at(one, size)).value_or(1))});
  };
  if (from.contains("sliceLevel")) slice(from, "sliceLevel", "sliceSize");
  for_each_object(items(from, "layers"),
                  [&](const json::object& layer) { slice(layer, "level", "size"); });
  if (const std::string group = text_at(from, "group"); !group.empty())
    made.group = names_.label_values.intern(group).value + 1;
  return made;
}

WorkloadUpsert ScenarioReader::work(const json::object& from) {
  const std::string name = text_at(from, "name");
  WorkloadUpsert made{.id = names_.workloads.intern(name),
                      .queue = names_.queues.find(text_at(from, "queue"))};
  const auto number = [&](std::string_view key) {
    return parse_int(text_at(from, key, "0")).value_or(0);
  };
  made.priority = static_cast<int32_t>(number("prio") + number("boost"));
  made.created = Time(seconds(number("created")));
  made.is_active = text_at(from, "active", "true") == "true";
  if (from.contains("notBefore")) made.not_before = Time(seconds(number("notBefore")));
  auto& sets = sets_[name];
  sets.clear();
  for_each_object(items(from, "podSets"), [&](const json::object& set) {
    sets.push_back(text_at(set, "name", "main"));
    made.pod_sets.push_back(pod_set(set));
  });
  return made;
}

WorkloadUpsert ScenarioReader::pending(const json::object& from) {
  return work(from);
}

WorkloadUpsert ScenarioReader::running(const json::object& from) {
  WorkloadUpsert made = work(from);
  std::vector<PodSetAdmission> admission;
  const auto uses = items(from, "uses");
  const bool has_sets = !made.pod_sets.empty();
  // `uses` says what is held in sum: without pod sets, one pod each.
  for_each_object(uses, [&](const json::object& use) {
    const FlavorId flavor = names_.flavors.intern(text_at(use, "flavor"));
    const Amounts held = amounts(use, flavor_key);
    PodSetAdmission one{.count = 1};
    for (const Amount& amount : held) one.flavors.emplace_back(amount.resource, flavor);
    if (!has_sets) {
      made.pod_sets.push_back({.request = {.amounts = held}, .count = 1});
      sets_[text_at(from, "name")].push_back("main");
      admission.push_back(std::move(one));
    } else if (admission.empty()) {
      one.count = made.pod_sets[0].count;
      admission.push_back(std::move(one));
    }
  });
  admission.resize(made.pod_sets.size());
  if (const json::value* at = from.if_contains("at");
      at != nullptr && at->is_object() && !admission.empty()) {
    for (const auto& [node, count] : at->as_object()) {
      admission[0].nodes.emplace_back(names_.nodes.intern(std::string_view(node)),
                                      static_cast<int32_t>(parse_int(text_of(count)).value_or(0)));
    }
    std::ranges::sort(admission[0].nodes);
  }
  made.admission = std::move(admission);
  made.reserved_at = Time(seconds(parse_int(text_at(from, "since", "0")).value_or(0)));
  made.is_evicted = text_at(from, "evicting") == "true";
  return made;
}

std::vector<Delta> ScenarioReader::cluster(const json::object& scenario) {
  std::vector<Delta> deltas;
  for (const json::value& level : items(scenario, "levels"))
    levels_.push_back(names_.label_keys.intern(text_of(level)));
  // In the order of their names, so that ties are broken by name.
  std::set<std::string> places, nodes_said;
  for_each_object(items(scenario, "nodes"), [&](const json::object& o) {
    const std::string at = text_at(o, "at");
    for (const std::string_view part : split(at, '/')) places.insert(std::string(part));
    if (!at.empty()) nodes_said.insert(at);
  });
  for (const std::string& part : places) names_.label_values.intern(part);
  for (const std::string& at : nodes_said) names_.nodes.intern(at);
  for_each_object(items(scenario, "flavors"),
                  [&](const json::object& o) { deltas.push_back(flavor(o)); });
  const size_t said = names_.flavors.capacity();
  deltas.push_back(fair_sharing(scenario));
  for_each_object(items(scenario, "cohorts"),
                  [&](const json::object& o) { deltas.push_back(cohort(o)); });
  for_each_object(items(scenario, "queues"),
                  [&](const json::object& o) { deltas.push_back(queue(o)); });
  for_each_object(items(scenario, "nodes"),
                  [&](const json::object& o) { deltas.push_back(node(o)); });
  // A flavor that is only named has no labels and no taints.
  for (size_t f = said; f < names_.flavors.capacity(); ++f)
    deltas.push_back(FlavorUpsert{.id = FlavorId(static_cast<uint32_t>(f))});
  return deltas;
}

std::vector<Delta> ScenarioReader::placement_only(const json::object& scenario) {
  WorkloadUpsert all = work(scenario);
  all.id = names_.workloads.intern("w");
  sets_["w"] = sets_[text_at(scenario, "name")];
  all.queue = names_.queues.intern("q");
  const FlavorId flavor = names_.flavors.intern("topology");
  std::set<ResourceId> resources;
  for (const PodSet& set : all.pod_sets) {
    for (const Amount& amount : set.request.amounts) resources.insert(amount.resource);
  }
  ResourceGroup group{.resources = {resources.begin(), resources.end()},
                      .flavors = {{.flavor = flavor, .quotas = {}}}};
  for (const ResourceId resource : resources)
    group.flavors[0].quotas.push_back({.resource = resource, .nominal = int64_t{1} << 50});
  return {FlavorUpsert{.id = flavor, .levels = levels_},
          QueueUpsert{.id = all.queue, .groups = {std::move(group)}}, std::move(all)};
}

std::vector<PodUpsert> ScenarioReader::other_pods(const json::object& scenario) {
  std::vector<PodUpsert> made;
  for_each_object(items(scenario, "otherPods"), [&](const json::object& from) {
    static constexpr std::string_view others[] = {"node", "phase"};
    const std::string phase = text_at(from, "phase");
    made.push_back({.id = PodId(static_cast<uint32_t>(made.size())),
                    .request = {.amounts = amounts(from, others)},
                    .node = names_.nodes.find(text_at(from, "node")),
                    .is_ended = phase == "Succeeded" || phase == "Failed"});
  });
  return made;
}

const std::vector<std::string>& ScenarioReader::sets_of(const std::string& workload) const {
  static const std::vector<std::string> none;
  const auto found = sets_.find(workload);
  return found == sets_.end() ? none : found->second;
}

}  // namespace tau::sim
