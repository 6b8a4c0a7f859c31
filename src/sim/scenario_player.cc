#include "sim/scenario_player.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/overloaded.h"
#include "base/text.h"
#include "sim/scenario_json.h"

namespace tau::sim {
namespace json = boost::json;
using namespace engine;

ScenarioPlayer::ScenarioPlayer(ScenarioReader& reader, const json::object& scenario,
                               ScenarioStage& stage)
    : reader_(reader), scenario_(scenario), stage_(stage) {}

void ScenarioPlayer::set_up() {
  const auto each = [&](const char* key, auto visit) {
    const json::value* list = scenario_.if_contains(key);
    if (list == nullptr || !list->is_array()) return;
    for (const json::value& item : list->as_array()) {
      if (item.is_object()) visit(item.as_object());
    }
  };
  cluster_ = reader_.cluster(scenario_);
  each("running", [&](const json::object& o) { work_[text_at(o, "name")] = reader_.running(o); });
  for (const auto& [name, work] : work_) {
    if (work.is_evicted) leaving_.insert(name);
  }
  each("pending", [&](const json::object& o) { work_[text_at(o, "name")] = reader_.pending(o); });
  for (const PodUpsert& pod : reader_.other_pods(scenario_)) {
    pods_[pod.id] = pod;
    next_pod_ = pod.id.value + 1;
  }
  if (text_at(scenario_, "kind") == "tas") {
    for (Delta& delta : reader_.placement_only(scenario_)) {
      if (const auto* work = std::get_if<WorkloadUpsert>(&delta))
        work_["w"] = *work;
      else
        cluster_.push_back(std::move(delta));
    }
  }
  stage_.apply(cluster_);
  for (const auto& [id, pod] : pods_) give(pod);
  for (const auto& [name, work] : work_) give(work);
}

std::vector<std::string> ScenarioPlayer::play() {
  set_up();
  if (!reader_.problems().empty()) return reader_.problems();
  // Where the product does better than the rule, `ours` holds what it does instead.
  const json::object* wanted = &scenario_;
  if (const json::value* ours = scenario_.if_contains("ours"); ours != nullptr && ours->is_object())
    wanted = &ours->as_object();
  const json::value* expect = wanted->if_contains("expect");
  if (expect != nullptr && expect->is_object()) {
    const json::object& first = expect->as_object();
    if (!first.contains("available") && !first.contains("potential") && !first.contains("shares") &&
        !first.contains("cycles"))
      cycle(1);
    play_cycles(first, "first cycle");
    compare(first, "first cycle");
  }
  const json::value* then = wanted->if_contains("then");
  if (then == nullptr || !then->is_array()) return std::move(differences_);
  int number = 0;
  for (const json::value& step : then->as_array()) {
    ++number;
    if (!step.is_object()) continue;
    if (const json::value* acts = step.as_object().if_contains("do");
        acts != nullptr && acts->is_array()) {
      for (const json::value& one : acts->as_array()) act(one);
    }
    const json::value* after = step.as_object().if_contains("expect");
    if (after != nullptr && after->is_object())
      compare(after->as_object(), fmt::format("step {}", number));
  }
  differences_.insert(differences_.end(), reader_.problems().begin(), reader_.problems().end());
  return std::move(differences_);
}

void ScenarioPlayer::act(const json::value& what) {
  if (what.is_object()) {
    for (const auto& [verb, with] : what.as_object()) act_on(verb, with);
    return;
  }
  const std::string verb = text_of(what);
  if (verb == "cycle")
    cycle(1);
  else if (verb == "run")
    cycle(0);
  else if (verb == "restart")
    restart();
  else if (verb == "evictionsDone") {
    for (const std::string& name : std::set(leaving_)) leave(name);
  } else {
    act_on(verb, {});
  }
}

void ScenarioPlayer::act_on(std::string_view verb, const json::value& with) {
  const std::string name = text_of(with);
  if (verb == "add" && with.is_object()) {
    const WorkloadUpsert added = reader_.pending(with.as_object());
    work_[text_at(with.as_object(), "name")] = added;
    give(added);
  } else if (verb == "requeueEvicted" && with.is_object()) {
    const std::string evicted = text_at(with.as_object(), "name");
    work_[evicted] = reader_.pending(with.as_object());
    leave(evicted);
  } else if (verb == "node" && with.is_object()) {
    const NodeUpsert node = reader_.node(with.as_object());
    nodes_[text_at(with.as_object(), "name")] = node;
    give(node);
  } else if (verb == "nodeGone") {
    const NodeId id = reader_.names().nodes.find(name);
    if (!id.is_some())
      return reader_.problem(fmt::format("nodeGone: there is no node \"{}\"", name));
    std::erase_if(cluster_, [&](const Delta& delta) {
      const auto* node = std::get_if<NodeUpsert>(&delta);
      return node != nullptr && node->id == id;
    });
    nodes_.erase(name);
    give(NodeGone{id});
  } else if (verb == "wait") {
    now_ += seconds(parse_int(name).value_or(0));
  } else if (!work_.contains(name)) {
    reader_.problem(fmt::format("{}: there is no workload \"{}\"", verb, name));
  } else if (verb == "finish") {
    WorkloadUpsert& work = work_[name];
    work.is_finished = true;
    work.admission.reset();
    give(work);
    for (auto& [id, pod] : pods_) {
      if (pod.workload != work.id) continue;
      pod.is_ended = true;
      give(pod);
    }
  } else if (verb == "pods") {
    make_pods(name);
  } else if (verb == "bindFails") {
    for (const auto& [id, pod] : pods_) {
      if (pod.workload == work_[name].id && !pod.node.is_some()) failing_.insert(id);
    }
  }
}

// Its pods are gone, and it is queued again.
void ScenarioPlayer::leave(const std::string& workload) {
  leaving_.erase(workload);
  WorkloadUpsert& work = work_[workload];
  work.admission.reset();
  work.is_evicted = false;
  std::erase_if(pods_, [&](const auto& entry) {
    if (entry.second.workload != work.id) return false;
    give(PodGone{entry.first});
    return true;
  });
  give(work);
}

void ScenarioPlayer::make_pods(const std::string& workload) {
  const WorkloadUpsert& work = work_[workload];
  for (size_t set = 0; set < work.pod_sets.size(); ++set) {
    for (int32_t i = 0; i < work.pod_sets[set].count; ++i) {
      const PodUpsert pod{.id = PodId(next_pod_++),
                          .workload = work.id,
                          .pod_set = static_cast<uint32_t>(set),
                          .request = work.pod_sets[set].request,
                          .priority = work.priority,
                          .created = now_};
      pods_[pod.id] = pod;
      give(pod);
    }
  }
}

// All that is known comes from the API again; what was in flight is lost.
void ScenarioPlayer::restart() {
  stage_.restart();
  stage_.apply(cluster_);
  for (const auto& [name, node] : nodes_) give(node);
  for (const auto& [id, pod] : pods_) give(pod);
  for (const auto& [name, work] : work_) give(work);
}

void ScenarioPlayer::cycle(int32_t heads_per_queue) {
  now_ += seconds(1);
  const CycleResult result = stage_.run_cycle(now_, rng_, {.max_heads_per_queue = heads_per_queue});
  for (const Decision& decision : result.decisions) note(decision);
  confirm(result);
  if (const std::string wrong = stage_.check_invariants(); !wrong.empty())
    differences_.push_back("ledger: " + wrong);
}

void ScenarioPlayer::note(const Decision& decision) {
  std::visit(Overloaded{
                 [&](const Admit& admit) {
                   const std::string name = workload_name(admit.workload);
                   admitted_.insert(name);
                   work_[name].admission = admit.pod_sets;
                 },
                 [&](const Bind& bind) {
                   PodUpsert& pod = pods_[bind.pod];
                   if (failing_.contains(bind.pod)) return;
                   pod.node = bind.node;
                   pod.gpus = bind.gpus;
                   ++bound_[workload_name(pod.workload)][reader_.names().nodes.name(bind.node)];
                 },
                 [&](const Evict& evict) {
                   leaving_.insert(workload_name(evict.workload));
                   evicted_[workload_name(evict.workload)] = {
                       evict.reason, evict.cause,
                       evict.preemptor.is_some() ? workload_name(evict.preemptor) : ""};
                 },
             },
             decision);
}

void ScenarioPlayer::confirm(const CycleResult& result) {
  for (const Decision& decision : result.decisions) {
    if (const auto* admit = std::get_if<Admit>(&decision))
      give(work_[workload_name(admit->workload)]);
    const auto* bind = std::get_if<Bind>(&decision);
    if (bind == nullptr) continue;
    if (failing_.erase(bind->pod) > 0)
      give(BindFailed{bind->pod});
    else
      give(pods_[bind->pod]);
  }
}

}  // namespace tau::sim
