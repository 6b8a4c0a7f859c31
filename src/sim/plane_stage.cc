#include "sim/plane_stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/overloaded.h"
#include "base/text.h"
#include "kube/codec.h"
#include "meta/fields.h"
#include "mirror/translate.h"
#include "sim/scenario_reader.h"

namespace tau::sim {
namespace json = boost::json;
using namespace engine;
using kube::Kind;

namespace {

constexpr const char* space = "default";
// A flavor with a topology must name its nodes by a label; where a scenario names none, all are.
constexpr const char* every_node = "scenario/every-node";
constexpr Time before_all{seconds(1'000'000)};  // far from the times that scenarios speak of

void set_true(std::vector<kube::Condition>& conditions, const char* type, const char* reason,
              Time when) {
  kube::set_condition(conditions, {.type = type, .status = "True", .reason = reason}, when);
}
std::string pod_name(PodId id) {
  return fmt::format("pod-{}", id.value);
}

}  // namespace

void PlaneStage::put_flavor(const FlavorUpsert& flavor) {
  kube::ResourceFlavor made;
  made.metadata.name = named(reader_.names().flavors.name(flavor.id));
  made.node_labels = labels(flavor.node_labels);
  made.node_taints = taints(flavor.node_taints);
  made.tolerations = tolerations(flavor.tolerations);
  if (!flavor.levels.empty()) {
    kube::Topology topology;
    topology.metadata.name = made.metadata.name;
    for (const LabelKeyId level : flavor.levels)
      topology.levels.push_back(reader_.names().label_keys.name(level));
    create(topology);
    made.topology_name = topology.metadata.name;
    if (made.node_labels.empty()) made.node_labels[every_node] = "true";
  }
  create(made);
}

void PlaneStage::put_cohort(const CohortUpsert& cohort) {
  kube::Cohort made;
  made.metadata.name = named(reader_.names().cohorts.name(cohort.id));
  if (cohort.parent.is_some())
    made.parent_name = named(reader_.names().cohorts.name(cohort.parent));
  made.resource_groups = groups(cohort.groups);
  made.fair_sharing_weight = fmt::format("{}m", cohort.weight / (weight_one / 1000));
  create(made);
}

void PlaneStage::put_queue(const QueueUpsert& queue) {
  kube::ClusterQueue made;
  made.metadata.name = named(reader_.names().queues.name(queue.id));
  if (queue.follows_nodes)
    made.metadata.annotations[std::string(mirror::quota_annotation)] = "auto";
  auto& spec = made.spec;
  if (queue.cohort.is_some()) spec.cohort_name = named(reader_.names().cohorts.name(queue.cohort));
  spec.queueing_strategy =
      queue.strategy == Strategy::strict_fifo ? "StrictFIFO" : "BestEffortFIFO";
  spec.stop_policy = queue.stop == StopPolicy::none   ? "None"
                     : queue.stop == StopPolicy::hold ? "Hold"
                                                      : "HoldAndDrain";
  spec.resource_groups = groups(queue.groups);
  spec.namespace_selector.emplace();
  spec.flavor_fungibility.when_can_borrow =
      queue.tries_next_before_borrowing ? "TryNextFlavor" : "MayStopSearch";
  spec.flavor_fungibility.when_can_preempt =
      queue.stops_at_preemption ? "MayStopSearch" : "TryNextFlavor";
  if (queue.prefers_preemption_to_borrowing)
    spec.flavor_fungibility.preference = "PreemptionOverBorrowing";
  const Preemption& from = queue.preemption;
  spec.preemption.within_cluster_queue = from.within == Within::never ? "Never"
                                         : from.within == Within::lower_priority
                                             ? "LowerPriority"
                                             : "LowerOrNewerEqualPriority";
  spec.preemption.reclaim_within_cohort = from.reclaim == Reclaim::never ? "Never"
                                          : from.reclaim == Reclaim::lower_priority
                                              ? "LowerPriority"
                                              : "Any";
  if (from.may_borrow && from.reclaim == Reclaim::never)
    missing_.insert("borrowWithinCohort without reclaimWithinCohort, which the API refuses");
  spec.preemption.borrow_within_cohort_policy = from.may_borrow ? "LowerPriority" : "Never";
  if (from.borrow_max_priority)
    spec.preemption.borrow_within_cohort_max_priority = *from.borrow_max_priority;
  spec.fair_sharing_weight = fmt::format("{}m", queue.weight / (weight_one / 1000));
  create(made);
  kube::LocalQueue local;
  local.metadata.name = made.metadata.name;
  local.metadata.namespace_ = space;
  local.cluster_queue = made.metadata.name;
  create(local);
}

void PlaneStage::put_node(const NodeUpsert& node) {
  int64_t gpus = 0;
  for (const Amount& amount : node.allocatable) {
    if (amount.resource == gpu) gpus = amount.value;
  }
  const GpuMask all = gpus >= 64 ? ~GpuMask{0} : (GpuMask{1} << gpus) - 1;
  if (node.healthy_gpus != all) missing_.insert("unhealthy devices");
  kube::Node made;
  made.metadata.name = named(reader_.names().nodes.name(node.id));
  made.metadata.labels = labels(node.labels);
  made.metadata.labels[every_node] = "true";
  std::vector<std::string> devices;
  for (int64_t i = 0; i < gpus; ++i)
    devices.push_back(fmt::format("GPU-51300000-{}-{}", made.metadata.name, i));
  if (gpus > 0)
    made.metadata.annotations[std::string(mirror::gpu_devices_annotation)] = join(devices, ",");
  made.spec.taints = taints(node.taints);
  made.spec.unschedulable = node.is_cordoned;
  const auto held = rig_->stores().get<kube::Node>().find("", made.metadata.name);
  if (held) {
    const json::value whole = meta::encode(made);
    json::object patch;
    for (const char* part : {"metadata", "spec"}) {
      if (const json::value* found = whole.as_object().if_contains(part)) patch[part] = *found;
    }
    if (!patch["spec"].is_object()) patch["spec"].emplace_object();
    json::object& spec = patch["spec"].as_object();
    spec["unschedulable"] = node.is_cordoned;
    if (made.spec.taints.empty()) spec["taints"] = nullptr;
    send(kube::merge_patch(Kind::node, "", made.metadata.name, json::serialize(patch)));
  } else {
    create(made);
  }
  made.status.allocatable = quantities(node.allocatable);
  made.status.capacity = made.status.allocatable;
  kube::set_condition(made.status.conditions,
                      {.type = "Ready", .status = node.is_ready ? "True" : "False"},
                      rig_->loop().now());
  send(kube::merge_patch(Kind::node, "", made.metadata.name,
                         json::serialize(json::object{{"status", meta::encode(made.status)}}),
                         "status"));
}

// Its Job is named but not there: the pods of work whose Job the scenario leaves out.
void PlaneStage::put_pod(const PodUpsert& pod) {
  const std::string name = pod_name(pod.id);
  const auto held = rig_->stores().get<kube::Pod>().find(space, name);
  if (!held) {
    kube::Pod made;
    made.metadata.name = name;
    made.metadata.namespace_ = space;
    if (pod.workload.is_some()) {
      const std::string owner = name_of(pod.workload);
      made.metadata.owner_references.push_back({.api_version = "batch/v1",
                                                .kind = "Job",
                                                .name = owner,
                                                .uid = "job-" + owner,
                                                .controller = true});
    }
    made.spec = pod_spec(pod.request);
    if (pod.node.is_some()) {
      made.spec.node_name = named(reader_.names().nodes.name(pod.node));
      bound_.insert(name);
    }
    create(made);
    pods_[name] = pod.id;
  }
  if (pod.is_ended && (!held || held->status.phase != "Succeeded"))
    send(
        kube::merge_patch(Kind::pod, space, name, R"({"status":{"phase":"Succeeded"}})", "status"));
}

void PlaneStage::make_workload(const WorkloadUpsert& work) {
  kube::Workload made;
  const std::string name = name_of(work.id);
  made.metadata.name = name;
  made.metadata.namespace_ = space;
  made.metadata.owner_references.push_back({.api_version = "batch/v1",
                                            .kind = "Job",
                                            .name = name,
                                            .uid = "job-" + name,
                                            .controller = true});
  made.spec.queue_name =
      work.queue.is_some() ? named(reader_.names().queues.name(work.queue)) : "no-such-queue";
  made.spec.priority = work.priority;
  made.spec.active = work.is_active;
  const auto& sets = reader_.sets_of(reader_.names().workloads.name(work.id));
  for (size_t i = 0; i < work.pod_sets.size(); ++i) {
    const PodSet& from = work.pod_sets[i];
    kube::PodSet set{.name = i < sets.size() ? sets[i] : "main", .count = from.count};
    if (from.min_count) set.min_count = *from.min_count;
    set.template_.spec = pod_spec(from.request);
    ask_topology(set, from.topology);
    made.spec.pod_sets.push_back(std::move(set));
  }
  create(made);
  if (work.not_before)
    made.status.requeue_state = kube::RequeueState{
        .count = 1, .requeue_at = rig_->loop().now() + (*work.not_before - *last_)};
  if (work.admission) {
    made.status.admission = admission(made, work);
    const Time since = before_all + (work.reserved_at.value_or(Time{}) - Time{});
    set_true(made.status.conditions, "QuotaReserved", "QuotaReserved", since);
    set_true(made.status.conditions, "Admitted", "Admitted", since);
    if (work.is_evicted) set_true(made.status.conditions, "Evicted", "Preempted", since);
  }
  if (made.status == kube::Workload::Status{}) return;
  write_status(std::make_shared<const kube::Workload>(made));
  rig_->settle();
  if (const auto shown = find(work.id); shown && work.admission)
    seen_[name] = {admission_shown(*shown), rig_->loop().now()};
}

// Only what the API does not show yet is written: much of what comes is its own news again.
void PlaneStage::put_workload(const WorkloadUpsert& work) {
  const auto held = find(work.id);
  if (!held) {
    std::erase_if(coming_, [&](const WorkloadUpsert& one) { return one.id == work.id; });
    coming_.push_back(work);
    return;
  }
  if (!work.admission) leaving_.erase(work.id);
  auto now = std::make_shared<kube::Workload>(*held);
  auto& conditions = now->status.conditions;
  if (work.is_finished) set_true(conditions, "Finished", "Succeeded", rig_->loop().now());
  if (!work.is_finished && !work.admission && held->status.admission) {
    now->status.admission.reset();
    for (const char* type : {"QuotaReserved", "Admitted"})
      kube::set_condition(conditions, {.type = type, .status = "False", .reason = "Pending"},
                          rig_->loop().now());
  }
  if (now->status == held->status) return;
  write_status(std::shared_ptr<const kube::Workload>(now));
}

// ---- the way there and back

std::string PlaneStage::name_of(WorkloadId id) const {
  return named(reader_.names().workloads.name(id));
}
std::string PlaneStage::named(const std::string& name) const {
  std::string made = to_lower(name);
  std::ranges::replace(made, '/', '.');
  originals_.try_emplace(made, name);
  return made;
}
const std::string& PlaneStage::original(const std::string& name) const {
  const auto found = originals_.find(name);
  return found == originals_.end() ? name : found->second;
}
kube::Store<kube::Workload>::Pointer PlaneStage::find(WorkloadId id) const {
  return rig_->stores().get<kube::Workload>().find(space, name_of(id));
}

template <class T>
void PlaneStage::create(const T& object) {
  // After a restart all that the API holds is told again.
  if (!made_
           .insert(
               fmt::format("{}/{}", kube::info(kube::kind_of<T>).singular, object.metadata.name))
           .second)
    return;
  send(kube::create_request(kube::kind_of<T>, object.metadata.namespace_,
                            kube::object_text(object)));
}
void PlaneStage::send(const kube::ApiRequest& request) {
  if (const auto answer = rig_->send(request); !answer && trouble_.empty())
    trouble_ = fmt::format("the server refused: {}", answer.error().message);
}
template <class Pointer>
void PlaneStage::write_status(const Pointer& object) {
  json::value status = meta::encode(object->status);
  if (!object->status.admission) status.as_object()["admission"] = nullptr;
  send(kube::merge_patch(Kind::workload, space, object->metadata.name,
                         json::serialize(json::object{{"status", std::move(status)}}), "status"));
}
void PlaneStage::remove(Kind kind, const std::string& ns, const std::string& name) {
  made_.erase(fmt::format("{}/{}", kube::info(kind).singular, name));
  send({.verb = kube::Verb::remove,
        .kind = kind,
        .ns = ns,
        .name = name,
        .body = R"({"gracePeriodSeconds":0})"});
}

void PlaneStage::put(const Delta& delta) {
  std::visit(Overloaded{[&](const NodeUpsert& d) { put_node(d); },
                        [&](const NodeGone& d) {
                          remove(Kind::node, "", named(reader_.names().nodes.name(d.id)));
                        },
                        [&](const PodUpsert& d) { put_pod(d); },
                        [&](const PodGone& d) { remove(Kind::pod, space, pod_name(d.id)); },
                        [&](const WorkloadUpsert& d) { put_workload(d); },
                        [&](const FlavorUpsert& d) { put_flavor(d); },
                        [&](const QueueUpsert& d) { put_queue(d); },
                        [&](const CohortUpsert& d) { put_cohort(d); }, [](const FairSharing&) {},
                        [&](const auto&) { missing_.insert("failing writes"); }},
             delta);
}

void PlaneStage::apply(std::span<const Delta> deltas) {
  for (const Delta& delta : deltas) {
    if (const auto* fair = std::get_if<FairSharing>(&delta)) fair_sharing_ = *fair;
  }
  if (!rig_)
    rig_ = std::make_unique<Rig>(plane::PlaneOptions{.fair_sharing = fair_sharing_},
                                 before_all + seconds(100'000'000));
  for (const Delta& delta : deltas) {
    put(delta);
    rig_->settle();
  }
}

void PlaneStage::restart() {
  rig_->start_plane();
}

void PlaneStage::flush() {
  std::ranges::stable_sort(coming_, {}, &WorkloadUpsert::created);
  std::optional<Time> last;
  for (const WorkloadUpsert& work : std::exchange(coming_, {})) {
    if (last != work.created) rig_->advance(seconds(1));  // what the API tells apart
    last = work.created;
    make_workload(work);
    rig_->settle();
  }
}

CycleResult PlaneStage::run_cycle(Time now, Rng&, const CycleOptions& how) {
  if (last_ && now > *last_ + seconds(1)) rig_->advance(now - *last_ - seconds(1));
  last_ = now;
  flush();
  rig_->advance(seconds(1));
  CycleResult result;
  if (how.max_heads_per_queue != 0) {
    rig_->cycle(how);
    note_changes(result);
    return result;
  }
  // Until nothing more comes of it, as the control plane itself goes on.
  for (size_t had = 1, rounds = 0; had > 0 && rounds < 32; ++rounds) {
    const size_t before = result.decisions.size();
    rig_->cycle(how);
    note_changes(result);
    had = result.decisions.size() - before;
  }
  return result;
}

namespace {

EvictReason evict_reason(std::string_view text) {
  if (text == "ClusterQueueStopped") return EvictReason::queue_stopped;
  if (text == "LocalQueueStopped") return EvictReason::local_queue_stopped;
  if (text == "NodeFailures") return EvictReason::node_lost;
  return text == "Preempted" ? EvictReason::preempted : EvictReason::deactivated;
}
PreemptCause preempt_cause(std::string_view text) {
  if (text == "InCohortReclamation") return PreemptCause::reclaim;
  if (text == "InCohortReclaimWhileBorrowing") return PreemptCause::reclaim_while_borrowing;
  return text == "InCohortFairSharing" ? PreemptCause::fair_sharing : PreemptCause::in_queue;
}
// Of "Makes room for workload <namespace>/<name>: ...".
std::string preemptor_in(std::string_view message) {
  const size_t slash = message.find('/'), colon = message.find(':');
  if (slash == std::string_view::npos || colon == std::string_view::npos || colon < slash)
    return "";
  return std::string(message.substr(slash + 1, colon - slash - 1));
}

}  // namespace

void PlaneStage::note_changes(CycleResult& result) {
  for (const auto& [key, workload] : rig_->stores().get<kube::Workload>().all()) {
    const WorkloadId id = reader_.names().workloads.find(original(key.name));
    auto& [held, evicted] = seen_[key.name];
    const auto* eviction = kube::find_condition(workload->status.conditions, "Evicted");
    if (eviction != nullptr && eviction->status == "True" &&
        eviction->last_transition_time.value_or(Time{}) > evicted && !held.empty()) {
      evicted = *eviction->last_transition_time;
      Evict made{.workload = id, .reason = evict_reason(eviction->reason)};
      if (made.reason == EvictReason::preempted) {
        const auto* why = kube::find_condition(workload->status.conditions, "Preempted");
        if (why != nullptr) made.cause = preempt_cause(why->reason);
        made.preemptor = reader_.names().workloads.find(original(preemptor_in(eviction->message)));
      }
      if (made.preemptor.is_some()) leaving_[id] = made.preemptor;
      result.decisions.emplace_back(made);
    }
    std::vector<PodSetAdmission> shown;
    if (workload->status.admission) shown = admission_shown(*workload);
    if (!shown.empty() && shown != held && !kube::is_true(workload->status.conditions, "Finished"))
      result.decisions.emplace_back(Admit{
          id, reader_.names().queues.find(original(workload->status.admission->cluster_queue)),
          shown});
    if (held.empty() && !shown.empty() &&
        std::ranges::any_of(leaving_, [&](const auto& one) { return one.second == id; }))
      missing_.insert("victims that take their time to go");
    held = std::move(shown);
  }
  for (const auto& [key, pod] : rig_->stores().get<kube::Pod>().all()) {
    if (pod->spec.node_name.empty() || !bound_.insert(key.name).second) continue;
    GpuMask mask = 0;
    if (const auto node = rig_->stores().get<kube::Node>().find("", pod->spec.node_name))
      mask = mirror::mask_of(*pod, mirror::devices_of(*node));
    result.decisions.emplace_back(
        Bind{pods_[key.name], reader_.names().nodes.find(original(pod->spec.node_name)), mask});
  }
}

std::map<WorkloadId, PendingFacts> PlaneStage::pending() {
  std::map<WorkloadId, PendingFacts> facts;
  for (const auto& [key, workload] : rig_->stores().get<kube::Workload>().all()) {
    if (workload->status.admission || kube::is_true(workload->status.conditions, "Finished"))
      continue;
    PendingFacts& one = facts[reader_.names().workloads.find(original(key.name))];
    const auto* why = kube::find_condition(workload->status.conditions, "QuotaReserved");
    one["reason"] = why == nullptr ? "PendingEvaluation" : why->reason;
    if (why != nullptr) one["word"] = why->message.substr(0, why->message.find(':'));
  }
  return facts;
}

std::string PlaneStage::reason_of(WorkloadId workload) {
  const auto facts = pending();
  const auto found = facts.find(workload);
  return found == facts.end() ? "" : found->second.at("reason");
}

}  // namespace tau::sim
