#include "embedded/kubelet/node_reconciler.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/text.h"
#include "kube/codec.h"
#include "kube/quantity.h"
#include "meta/fields.h"

namespace tau::kubelet {
namespace json = boost::json;
using kube::Kind;

namespace {
constexpr Duration lease_period = seconds(10);
constexpr Duration heartbeat_period = minutes(5);

kube::Node wanted_node(const NodeModel& model, Time now) {
  kube::Node node;
  node.metadata.name = model.name;
  node.metadata.labels = model.labels;
  std::vector<std::string> uuids;
  for (const GpuModel& gpu : model.gpus) uuids.push_back(gpu.uuid);
  if (!uuids.empty()) node.metadata.annotations["taugrid.io/gpu-devices"] = join(uuids, ",");
  node.spec.taints = model.taints;
  node.status.capacity = {{"cpu", kube::format_milli(model.cpu_milli)},
                          {"memory", kube::format_bytes(model.memory_bytes)},
                          {"pods", std::to_string(model.max_pods)}};
  if (!model.gpus.empty())
    node.status.capacity["nvidia.com/gpu"] = std::to_string(model.gpus.size());
  node.status.allocatable = node.status.capacity;
  node.status.addresses = {{"InternalIP", "127.0.0.1"}, {"Hostname", model.name}};
  node.status.node_info = model.info;
  const auto condition = [&](const char* type, const char* status, const char* reason,
                             const char* message) {
    node.status.conditions.push_back({.type = type,
                                      .status = status,
                                      .reason = reason,
                                      .message = message,
                                      .last_transition_time = now,
                                      .last_heartbeat_time = now});
  };
  condition("MemoryPressure", "False", "KubeletHasSufficientMemory",
            "kubelet has sufficient memory available");
  condition("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure");
  condition("PIDPressure", "False", "KubeletHasSufficientPID",
            "kubelet has sufficient PID available");
  condition("Ready", "True", "KubeletReady",
            model.is_simulated ? "simulated node is ready" : "local node is ready");
  return node;
}

json::value conditions_json(const std::vector<kube::Condition>& conditions) {
  json::array array;
  for (const kube::Condition& condition : conditions) array.push_back(meta::encode(condition));
  return array;
}
}  // namespace

NodeReconciler::NodeReconciler(std::vector<NodeModel> nodes) {
  for (NodeModel& node : nodes) {
    const std::string name = node.name;
    nodes_.emplace(name, std::move(node));
  }
}

std::span<const Kind> NodeReconciler::watches() const {
  static constexpr Kind kinds[] = {Kind::node, Kind::lease};
  return kinds;
}

std::vector<kube::ObjectKey> NodeReconciler::initial_keys() const {
  std::vector<kube::ObjectKey> keys;
  for (const auto& [name, model] : nodes_) keys.push_back({"", name});
  return keys;
}

void NodeReconciler::keys_of(const kube::Stores&, const kube::AnyChange& change,
                             const std::function<void(kube::ObjectKey)>& add) {
  const auto* node = std::get_if<kube::Change<kube::Node>>(&change);
  if (node != nullptr && nodes_.contains(node->latest().metadata.name))
    add({"", node->latest().metadata.name});
}

void NodeReconciler::set_silent(const std::string& node, bool is_silent) {
  if (is_silent)
    silent_.insert(node);
  else
    silent_.erase(node);
}

kube::Actions NodeReconciler::reconcile(const kube::Stores& stores, const kube::ObjectKey& key,
                                        Time now, Rng&) {
  kube::Actions actions;
  const auto found = nodes_.find(key.name);
  if (found == nodes_.end()) return actions;
  actions.again_after = lease_period;
  if (silent_.contains(key.name)) return actions;
  const kube::Node wanted = wanted_node(found->second, now);
  const auto node = stores.get<kube::Node>().find(key);
  if (!node) {
    actions.requests.push_back(kube::create_request(Kind::node, "", kube::object_text(wanted)));
    // The server takes no status at creation.
    json::object status{{"status", meta::encode(wanted.status)}};
    actions.requests.push_back(
        kube::merge_patch(Kind::node, "", key.name, json::serialize(status), "status"));
  } else {
    const kube::Condition* ready = kube::find_condition(node->status.conditions, "Ready");
    const bool is_stale = ready == nullptr || ready->status != "True" ||
                          !ready->last_heartbeat_time ||
                          now - *ready->last_heartbeat_time >= heartbeat_period;
    if (is_stale || node->status.allocatable != wanted.status.allocatable ||
        node->status.node_info != wanted.status.node_info) {
      std::vector<kube::Condition> conditions = wanted.status.conditions;
      for (kube::Condition& condition : conditions) {
        const kube::Condition* held = kube::find_condition(node->status.conditions, condition.type);
        if (held != nullptr && held->status == condition.status && held->last_transition_time)
          condition.last_transition_time = held->last_transition_time;
      }
      json::object status = meta::encode(wanted.status).as_object();
      status["conditions"] = conditions_json(conditions);
      actions.requests.push_back(kube::merge_patch(
          Kind::node, "", key.name, json::serialize(json::object{{"status", std::move(status)}}),
          "status"));
    }
    const auto devices = node->metadata.annotations.find("taugrid.io/gpu-devices");
    const std::string has = devices == node->metadata.annotations.end() ? "" : devices->second;
    const auto wants = wanted.metadata.annotations.find("taugrid.io/gpu-devices");
    if (wants != wanted.metadata.annotations.end() && has != wants->second) {
      json::object labels;
      for (const auto& [label, value] : wanted.metadata.labels) labels[label] = value;
      const json::object patch{
          {"metadata",
           json::object{{"labels", std::move(labels)},
                        {"annotations", json::object{{"taugrid.io/gpu-devices", wants->second}}}}}};
      actions.requests.push_back(
          kube::merge_patch(Kind::node, "", key.name, json::serialize(patch)));
    }
  }
  const auto lease = stores.get<kube::Lease>().find("kube-node-lease", key.name);
  if (!lease) {
    kube::Lease made;
    made.metadata.name = key.name;
    made.metadata.namespace_ = "kube-node-lease";
    made.holder_identity = key.name;
    made.lease_duration_seconds = 40;
    made.renew_time = made.acquire_time = now;
    actions.requests.push_back(
        kube::create_request(Kind::lease, "kube-node-lease", kube::object_text(made)));
  } else if (!lease->renew_time || now - *lease->renew_time >= lease_period) {
    const json::object patch{{"spec", json::object{{"renewTime", format_rfc3339_micros(now)}}}};
    actions.requests.push_back(
        kube::merge_patch(Kind::lease, "kube-node-lease", key.name, json::serialize(patch)));
  }
  return actions;
}

}  // namespace tau::kubelet
