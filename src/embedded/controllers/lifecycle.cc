// Time to live of Jobs, deletion of namespaces, life and death of nodes.
#include <fmt/format.h>

#include <boost/json.hpp>

#include "embedded/controllers/collectors.h"
#include "kube/event_request.h"
#include "meta/fields.h"

namespace tau::controllers {
namespace json = boost::json;
using kube::Kind;

// ---- JobTtl

std::span<const Kind> JobTtl::watches() const {
  static constexpr Kind kinds[] = {Kind::job};
  return kinds;
}

void JobTtl::keys_of(const kube::Stores&, const kube::AnyChange& change,
                     const std::function<void(kube::ObjectKey)>& add) {
  const auto* job = std::get_if<kube::Change<kube::Job>>(&change);
  if (job != nullptr && job->now && job->now->spec.ttl_seconds_after_finished)
    add({job->now->metadata.namespace_, job->now->metadata.name});
}

kube::Actions JobTtl::reconcile(const kube::Stores& stores, const kube::ObjectKey& key, Time now,
                                Rng&) {
  kube::Actions actions;
  const auto job = stores.get<kube::Job>().find(key);
  if (!job || job->metadata.deletion_timestamp || !job->spec.ttl_seconds_after_finished)
    return actions;
  for (const char* type : {"Complete", "Failed"}) {
    const kube::Condition* end = kube::find_condition(job->status.conditions, type);
    if (end == nullptr || end->status != "True" || !end->last_transition_time) continue;
    const Time due = *end->last_transition_time + seconds(*job->spec.ttl_seconds_after_finished);
    if (now >= due)
      actions.requests.push_back(kube::delete_request(Kind::job, key.ns, key.name, "Foreground"));
    else
      actions.again_after = due - now;
  }
  return actions;
}

// ---- NamespaceController

namespace {

template <class T>
void delete_all(const kube::Stores& stores, const std::string& ns, kube::Actions& actions,
                int64_t& left) {
  for (const auto& [key, object] : stores.get<T>().all()) {
    if (key.ns != ns) continue;
    ++left;
    if (!object->metadata.deletion_timestamp)
      actions.requests.push_back(kube::delete_request(kube::kind_of<T>, key.ns, key.name));
  }
}

}  // namespace

std::span<const Kind> NamespaceController::watches() const {
  static constexpr Kind kinds[] = {
      Kind::namespace_,  Kind::job,        Kind::pod,    Kind::workload,
      Kind::local_queue, Kind::config_map, Kind::secret, Kind::service_account,
      Kind::lease};
  return kinds;
}

void NamespaceController::keys_of(const kube::Stores& stores, const kube::AnyChange& change,
                                  const std::function<void(kube::ObjectKey)>& add) {
  std::visit(
      [&]<class T>(const kube::Change<T>& c) {
        if constexpr (std::is_same_v<T, kube::Namespace>) {
          if (c.now && c.now->metadata.deletion_timestamp) add({"", c.now->metadata.name});
        } else {
          const auto space = stores.get<kube::Namespace>().find("", c.latest().metadata.namespace_);
          if (space && space->metadata.deletion_timestamp) add({"", space->metadata.name});
        }
      },
      change);
}

kube::Actions NamespaceController::reconcile(const kube::Stores& stores, const kube::ObjectKey& key,
                                             Time, Rng&) {
  kube::Actions actions;
  const auto space = stores.get<kube::Namespace>().find(key);
  if (!space || !space->metadata.deletion_timestamp) return actions;
  int64_t left = 0;
  delete_all<kube::Job>(stores, key.name, actions, left);
  delete_all<kube::Workload>(stores, key.name, actions, left);
  delete_all<kube::Pod>(stores, key.name, actions, left);
  delete_all<kube::LocalQueue>(stores, key.name, actions, left);
  delete_all<kube::ConfigMap>(stores, key.name, actions, left);
  delete_all<kube::Secret>(stores, key.name, actions, left);
  delete_all<kube::ServiceAccount>(stores, key.name, actions, left);
  delete_all<kube::Lease>(stores, key.name, actions, left);
  if (left > 0) {
    actions.again_after = seconds(1);
    return actions;
  }
  json::object finalized{
      {"apiVersion", "v1"},
      {"kind", "Namespace"},
      {"metadata", json::object{{"name", key.name},
                                {"uid", space->metadata.uid},
                                {"resourceVersion", space->metadata.resource_version}}},
      {"spec", json::object{{"finalizers", json::array()}}}};
  actions.requests.push_back({.verb = kube::Verb::update,
                              .kind = Kind::namespace_,
                              .name = key.name,
                              .subresource = "finalize",
                              .body = json::serialize(finalized)});
  return actions;
}

// ---- NodeLife

namespace {

constexpr const char* unreachable_taint = "node.kubernetes.io/unreachable";

kube::ApiRequest set_taints(const kube::Node& node, const std::vector<kube::Taint>& taints) {
  json::array array;
  for (const kube::Taint& taint : taints) array.push_back(meta::encode(taint));
  const json::object patch{
      {"metadata", json::object{{"resourceVersion", node.metadata.resource_version}}},
      {"spec", json::object{{"taints", std::move(array)}}}};
  return kube::merge_patch(Kind::node, "", node.metadata.name, json::serialize(patch));
}

kube::ApiRequest set_ready_unknown(const kube::Node& node, Time now) {
  std::vector<kube::Condition> conditions = node.status.conditions;
  kube::set_condition(conditions,
                      {.type = "Ready",
                       .status = "Unknown",
                       .reason = "NodeStatusUnknown",
                       .message = "Kubelet stopped posting node status."},
                      now);
  json::array array;
  for (const kube::Condition& condition : conditions) array.push_back(meta::encode(condition));
  const json::object patch{{"status", json::object{{"conditions", std::move(array)}}}};
  return kube::merge_patch(Kind::node, "", node.metadata.name, json::serialize(patch), "status");
}

kube::ApiRequest fail_pod(const kube::Pod& pod, const char* reason, const std::string& message) {
  const json::object patch{
      {"status", json::object{{"phase", "Failed"}, {"reason", reason}, {"message", message}}}};
  return kube::merge_patch(Kind::pod, pod.metadata.namespace_, pod.metadata.name,
                           json::serialize(patch), "status");
}

bool is_live(const kube::Pod& pod) {
  return pod.status.phase != "Succeeded" && pod.status.phase != "Failed";
}

// The pods of a node that is not coming back: failed with the cause, then taken away without
// waiting for a kubelet.
void give_up_pods(const kube::Stores& stores, const std::string& node, const char* reason,
                  const std::string& message, kube::Actions& actions) {
  for (const auto& [key, pod] : stores.get<kube::Pod>().all()) {
    if (pod->spec.node_name != node) continue;
    if (is_live(*pod)) actions.requests.push_back(fail_pod(*pod, reason, message));
    if (!is_live(*pod) && !pod->metadata.deletion_timestamp &&
        kube::controller_of(pod->metadata) != nullptr)
      continue;
    kube::ApiRequest remove = kube::delete_request(Kind::pod, key.ns, key.name);
    remove.query += "&gracePeriodSeconds=0";
    if (pod->metadata.deletion_timestamp) actions.requests.push_back(std::move(remove));
  }
}

}  // namespace

std::span<const Kind> NodeLife::watches() const {
  static constexpr Kind kinds[] = {Kind::node, Kind::lease, Kind::pod};
  return kinds;
}

void NodeLife::keys_of(const kube::Stores& stores, const kube::AnyChange& change,
                       const std::function<void(kube::ObjectKey)>& add) {
  if (const auto* node = std::get_if<kube::Change<kube::Node>>(&change))
    add({"", node->latest().metadata.name});
  if (const auto* lease = std::get_if<kube::Change<kube::Lease>>(&change)) {
    if (lease->latest().metadata.namespace_ == "kube-node-lease")
      add({"", lease->latest().metadata.name});
  }
  if (const auto* pod = std::get_if<kube::Change<kube::Pod>>(&change)) {
    // A pod on a node that is gone or silent.
    const std::string& name = pod->latest().spec.node_name;
    if (name.empty()) return;
    const auto node = stores.get<kube::Node>().find("", name);
    if (!node || !kube::is_true(node->status.conditions, "Ready")) add({"", name});
  }
}

kube::Actions NodeLife::reconcile(const kube::Stores& stores, const kube::ObjectKey& key, Time now,
                                  Rng& rng) {
  kube::Actions actions;
  const auto node = stores.get<kube::Node>().find(key);
  if (!node) {
    give_up_pods(stores, key.name, "NodeLost", "Node " + key.name + " is gone", actions);
    return actions;
  }
  const auto lease = stores.get<kube::Lease>().find("kube-node-lease", key.name);
  const Time heard = lease && lease->renew_time ? *lease->renew_time
                                                : node->metadata.creation_timestamp.value_or(now);
  const auto tainted = std::ranges::find(node->spec.taints, unreachable_taint, &kube::Taint::key);
  if (now < heard + options_.grace) {
    actions.again_after = heard + options_.grace - now + seconds(1);
    if (tainted != node->spec.taints.end()) {
      std::vector<kube::Taint> left = node->spec.taints;
      std::erase_if(left, [](const kube::Taint& taint) { return taint.key == unreachable_taint; });
      actions.requests.push_back(set_taints(*node, left));
    }
    return actions;
  }
  if (const kube::Condition* ready = kube::find_condition(node->status.conditions, "Ready");
      ready == nullptr || ready->status != "Unknown") {
    actions.requests.push_back(set_ready_unknown(*node, now));
    actions.requests.push_back(kube::event_on(
        Kind::node, node->metadata, "Warning", "NodeNotReady",
        fmt::format("Node {} status is now: NodeNotReady", key.name), "node-controller", now, rng));
  }
  if (tainted == node->spec.taints.end()) {
    std::vector<kube::Taint> taints = node->spec.taints;
    taints.push_back({.key = unreachable_taint, .effect = "NoSchedule", .time_added = now});
    actions.requests.push_back(set_taints(*node, taints));
    actions.again_after = options_.pod_patience;
    return actions;
  }
  const Time since = tainted->time_added.value_or(heard + options_.grace);
  if (now < since + options_.pod_patience) {
    actions.again_after = since + options_.pod_patience - now;
    return actions;
  }
  give_up_pods(
      stores, key.name, "NodeLost",
      fmt::format("Node {} has not been heard of since {}", key.name, format_rfc3339(heard)),
      actions);
  actions.again_after = options_.pod_patience;
  return actions;
}

}  // namespace tau::controllers
