// What a scenario expects, beside what the engine decided.
#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/text.h"
#include "sim/scenario_json.h"
#include "sim/scenario_player.h"

namespace tau::sim {
namespace json = boost::json;
using namespace engine;

namespace {

std::string_view cause_word(PreemptCause cause) {
  switch (cause) {
    case PreemptCause::none:
      return "none";
    case PreemptCause::in_queue:
      return "InClusterQueue";
    case PreemptCause::reclaim:
      return "InCohortReclamation";
    case PreemptCause::reclaim_while_borrowing:
      return "InCohortReclaimWhileBorrowing";
    case PreemptCause::fair_sharing:
      return "InCohortFairSharing";
  }
  return "?";
}
std::string places_line(const std::map<std::string, std::string>& places) {
  std::string out;
  for (const auto& [node, count] : places)
    out += fmt::format("{}{}: {}", out.empty() ? "" : ", ", node, count);
  return "{" + out + "}";
}
std::string_view evict_word(EvictReason reason) {
  switch (reason) {
    case EvictReason::preempted:
      return "Preempted";
    case EvictReason::queue_stopped:
      return "ClusterQueueStopped";
    case EvictReason::local_queue_stopped:
      return "LocalQueueStopped";
    case EvictReason::deactivated:
      return "Deactivated";
    case EvictReason::node_lost:
      return "NodeFailures";
  }
  return "?";
}

}  // namespace

void ScenarioPlayer::expect_equal(const std::string& what, const std::string& want,
                                  const std::string& got) {
  if (want != got) differences_.push_back(fmt::format("{}: want {}, got {}", what, want, got));
}

// One expectation for each of several cycles.
void ScenarioPlayer::play_cycles(const json::object& expect, const std::string& where) {
  int number = 0;
  for_each_object(items(expect, "cycles"), [&](const json::object& one) {
    cycle(1);
    compare(one, fmt::format("{}, cycle {}", where, ++number));
  });
}

void ScenarioPlayer::compare(const json::object& expect, const std::string& where) {
  if (text_at(scenario_, "kind") == "tas")
    compare_placement(expect, where);
  else
    compare_admitted(expect.if_contains("admitted"), where);
  compare_evicted(expect, where);
  const auto object = [&](const char* key, auto then) {
    if (const json::value* found = expect.if_contains(key); found != nullptr && found->is_object())
      then(found->as_object());
  };
  object("pending", [&](const json::object& o) { compare_pending(o, where); });
  object("bound", [&](const json::object& o) { compare_bound(o, where); });
  object("available", [&](const json::object& o) { compare_quota(o, true, where); });
  object("potential", [&](const json::object& o) { compare_quota(o, false, where); });
  object("shares", [&](const json::object& o) { compare_shares(o, where); });
  if (const json::value* untouched = expect.if_contains("untouched")) {
    for (const json::value& name : items(untouched)) {
      if (evicted_.contains(text_of(name)))
        differences_.push_back(fmt::format("{}: {}: want untouched", where, text_of(name)));
    }
  }
  admitted_.clear();
  evicted_.clear();
  bound_.clear();
}

void ScenarioPlayer::compare_set(const std::string& what, const WorkloadUpsert& got, size_t set,
                                 const json::object& want) {
  const PodSetAdmission& admission = got.admission->at(set);
  for (const auto& [key, value] : want) {
    const std::string_view name = key;
    if (name == "count") {
      expect_equal(what + ": count", text_of(value), std::to_string(admission.count));
    } else if (name == "at" && value.is_object()) {
      std::map<std::string, std::string> wanted, held;
      for (const auto& [node, count] : value.as_object())
        wanted[std::string(node)] = text_of(count);
      for (const auto& [node, count] : admission.nodes)
        held[reader_.names().nodes.name(node)] = std::to_string(count);
      expect_equal(what + ": nodes", places_line(wanted), places_line(held));
    } else {
      const ResourceId resource =
          reader_.names().resources.find(name == "gpu" ? mirror::gpu_resource : name);
      const auto found =
          std::ranges::find(admission.flavors, resource, &std::pair<ResourceId, FlavorId>::first);
      expect_equal(
          fmt::format("{}: flavor of {}", what, name), text_of(value),
          found == admission.flavors.end() ? "none" : reader_.names().flavors.name(found->second));
    }
  }
}

void ScenarioPlayer::compare_admitted(const json::value* want, const std::string& where) {
  std::set<std::string> expected;
  if (want != nullptr && want->is_object()) {
    for (const auto& [workload, sets] : want->as_object()) {
      const std::string name(workload);
      expected.insert(name);
      if (!admitted_.contains(name)) {
        differences_.push_back(
            fmt::format("{}: {}: want admitted, got {}", where, name,
                        work_.contains(name) ? "not admitted" : "no such workload"));
        continue;
      }
      if (!sets.is_object()) continue;
      const auto& set_names = reader_.sets_of(name);
      for (const auto& [set, how] : sets.as_object()) {
        const auto at = std::ranges::find(set_names, std::string(set));
        if (at == set_names.end())
          differences_.push_back(
              fmt::format("{}: {} has no pod set {}", where, name, std::string_view(set)));
        else if (how.is_object())
          compare_set(fmt::format("{}: {}, pod set {}", where, name, std::string_view(set)),
                      work_[name], static_cast<size_t>(at - set_names.begin()), how.as_object());
      }
    }
  }
  for (const std::string& name : admitted_) {
    if (!expected.contains(name))
      differences_.push_back(fmt::format("{}: {}: want not admitted, got admitted", where, name));
  }
}

void ScenarioPlayer::compare_evicted(const json::object& expect, const std::string& where) {
  std::map<std::string, std::string> want, got;
  const auto each = [&](const char* key, auto then) {
    const json::value* found = expect.if_contains(key);
    if (found == nullptr || !found->is_object()) return;
    for (const auto& [name, how] : found->as_object()) then(std::string(name), how);
  };
  each("preempted", [&](const std::string& name, const json::value& how) {
    want[name] = "Preempted";
    if (how.is_object())
      want[name] += fmt::format(", {} by {}", text_at(how.as_object(), "reason"),
                                text_at(how.as_object(), "by"));
  });
  each("evicted",
       [&](const std::string& name, const json::value& how) { want[name] = text_of(how); });
  for (const auto& [name, how] : evicted_) {
    got[name] = evict_word(how.reason);
    if (how.reason == EvictReason::preempted)
      got[name] += fmt::format(", {} by {}", cause_word(how.cause), how.by);
  }
  for (const auto& [name, reason] : want)
    expect_equal(fmt::format("{}: {}", where, name), "evicted, " + reason,
                 got.contains(name) ? "evicted, " + got[name] : "not evicted");
  for (const auto& [name, reason] : got) {
    if (!want.contains(name))
      differences_.push_back(
          fmt::format("{}: {}: want not evicted, got evicted, {}", where, name, reason));
  }
}

void ScenarioPlayer::compare_pending(const json::object& want, const std::string& where) {
  static constexpr std::string_view known[] = {"state",      "reason",     "word",     "podsWanted",
                                               "podsPlaced", "gpusWanted", "gpusFree", "position"};
  const std::map<WorkloadId, PendingFacts> pending = stage_.pending();
  for (const auto& [workload, how] : want) {
    const std::string what = fmt::format("{}: {}", where, std::string_view(workload));
    const auto seen = pending.find(reader_.names().workloads.find(workload));
    if (seen == pending.end()) {
      differences_.push_back(what + ": want pending, got not pending");
      continue;
    }
    if (!how.is_object()) continue;
    for (const auto& [key, value] : how.as_object()) {
      const auto found = seen->second.find(std::string(key));
      if (std::ranges::find(known, std::string_view(key)) == std::end(known))
        reader_.problem(fmt::format("{}: unknown key \"{}\"", what, std::string_view(key)));
      else if (found != seen->second.end())
        expect_equal(fmt::format("{}: {}", what, std::string_view(key)), text_of(value),
                     found->second);
    }
  }
}

void ScenarioPlayer::compare_bound(const json::object& want, const std::string& where) {
  for (const auto& [workload, nodes] : want) {
    const auto& got = bound_[std::string(workload)];
    int32_t pods_bound = 0;
    for (const auto& [node, count] : got) pods_bound += count;
    if (!nodes.is_object()) {
      expect_equal(fmt::format("{}: {}: pods bound", where, std::string_view(workload)),
                   text_of(nodes), std::to_string(pods_bound));
      continue;
    }
    for (const auto& [node, count] : nodes.as_object()) {
      const auto found = got.find(std::string(node));
      expect_equal(fmt::format("{}: {}: pods bound on {}", where, std::string_view(workload),
                               std::string_view(node)),
                   text_of(count), std::to_string(found == got.end() ? 0 : found->second));
    }
  }
}

void ScenarioPlayer::compare_quota(const json::object& want, bool is_available,
                                   const std::string& where) {
  const View view = stage_.view();
  for (const auto& [queue, cells] : want) {
    const auto seen =
        std::ranges::find(view.queues, reader_.names().queues.find(queue), &QueueView::id);
    if (seen == view.queues.end() || !cells.is_object()) {
      differences_.push_back(fmt::format("{}: no queue {}", where, std::string_view(queue)));
      continue;
    }
    for (const auto& [cell, value] : cells.as_object()) {
      const auto parts = split(std::string_view(cell), '/');  // flavor/resource
      if (parts.size() != 2) continue;
      const FlavorId flavor = reader_.names().flavors.find(parts[0]);
      const ResourceId resource =
          reader_.names().resources.find(parts[1] == "gpu" ? mirror::gpu_resource : parts[1]);
      std::string got = "none";
      for (const auto& [id, amounts] : is_available ? seen->available : seen->potential) {
        for (const Amount& amount : amounts) {
          if (id != flavor || amount.resource != resource) continue;
          got = std::to_string(resource == cpu      ? amount.value / 1000
                               : resource == memory ? amount.value >> 30
                                                    : amount.value);
        }
      }
      expect_equal(fmt::format("{}: {} {} of {}", where, is_available ? "available" : "potential",
                               std::string_view(cell), std::string_view(queue)),
                   text_of(value), got);
    }
  }
}

// Per mille, to a thousandth.
void ScenarioPlayer::compare_shares(const json::object& want, const std::string& where) {
  const View view = stage_.view();
  for (const auto& [name, value] : want) {
    std::optional<std::optional<int64_t>> got;
    for (const QueueView& queue : view.queues) {
      if (queue.id == reader_.names().queues.find(name)) got = queue.share;
    }
    for (const CohortView& cohort : view.cohorts) {
      if (!got && cohort.id == reader_.names().cohorts.find(name)) got = cohort.share;
    }
    const auto text = [](double share) { return fmt::format("{:.3f}", share); };
    expect_equal(fmt::format("{}: share of {}", where, std::string_view(name)),
                 value.is_number() ? text(value.to_number<double>()) : text_of(value),
                 !got    ? "none"
                 : !*got ? "unbounded"
                         : text(static_cast<double>(**got) / 1e6));
  }
}

// Of placements any is right that keeps the property; without one, exactly the nodes that are
// named.
void ScenarioPlayer::compare_placement(const json::object& expect, const std::string& where) {
  const WorkloadUpsert& work = work_["w"];
  if (const json::value* unplaced = expect.if_contains("unplaced")) {
    if (work.admission) return differences_.push_back(where + ": want not placed, got placed");
    return expect_equal(where + ": reason", text_of(*unplaced), stage_.reason_of(work.id));
  }
  if (!work.admission) return differences_.push_back(where + ": want placed, got not placed");
  const auto& set_names = reader_.sets_of("w");
  if (const json::value* same = expect.if_contains("sameDomain");
      same != nullptr && same->is_object()) {
    const std::string domain = text_at(same->as_object(), "domain");
    for (const PodSetAdmission& set : *work.admission) {
      for (const auto& [node, count] : set.nodes) {
        const std::string name = reader_.names().nodes.name(node);
        const auto parts = split(name, '/');
        if (std::ranges::find(parts, domain) == parts.end())
          differences_.push_back(fmt::format("{}: want all in {}, got {}", where, domain, name));
      }
    }
  }
  const json::value* placement = expect.if_contains("placement");
  if (placement == nullptr || !placement->is_object()) return;
  for (const auto& [name, nodes] : placement->as_object()) {
    const auto at = std::ranges::find(set_names, std::string(name));
    if (at == set_names.end() || !nodes.is_object()) continue;
    std::map<std::string, std::string> wanted, held;
    for (const auto& [node, count] : nodes.as_object()) wanted[std::string(node)] = text_of(count);
    for (const auto& [node, count] :
         (*work.admission)[static_cast<size_t>(at - set_names.begin())].nodes)
      held[reader_.names().nodes.name(node)] = std::to_string(count);
    expect_equal(fmt::format("{}: {}", where, std::string_view(name)), places_line(wanted),
                 places_line(held));
  }
}

}  // namespace tau::sim
