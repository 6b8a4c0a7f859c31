#include "control/queue_status.h"

#include <boost/json.hpp>

#include "kube/quantity.h"
#include "meta/fields.h"

namespace tau::control {
namespace json = boost::json;
using kube::Kind;

namespace {

constexpr Kind kinds[] = {Kind::cluster_queue, Kind::local_queue, Kind::workload,
                          Kind::resource_flavor};

// Flavor -> resource -> amount (cpu in thousandths).
using Use = std::map<std::string, std::map<std::string, int64_t>>;

struct Tally {
  int64_t pending = 0, reserving = 0, admitted = 0;
  Use reserved, used;
};

void add_use(Use& use, const kube::Admission& admission) {
  for (const kube::PodSetAssignment& set : admission.pod_set_assignments) {
    for (const auto& [resource, flavor] : set.flavors) {
      const auto amount = set.resource_usage.find(resource);
      if (amount == set.resource_usage.end()) continue;
      const auto value = resource == "cpu" ? kube::parse_quantity_milli(amount->second)
                                           : kube::parse_quantity(amount->second);
      use[flavor][resource] += value.value_or(0);
    }
  }
}

void count(Tally& tally, const kube::Workload& workload) {
  if (kube::is_true(workload.status.conditions, "Finished")) return;
  if (!workload.status.admission) {
    ++tally.pending;
    return;
  }
  ++tally.reserving;
  add_use(tally.reserved, *workload.status.admission);
  if (!kube::is_true(workload.status.conditions, "Admitted")) return;
  ++tally.admitted;
  add_use(tally.used, *workload.status.admission);
}

std::string text_of(const std::string& resource, int64_t value) {
  if (resource == "cpu") return kube::format_milli(value);
  if (resource == "memory") return kube::format_bytes(value);
  return std::to_string(value);
}

// In the order of the queue's own spec, every flavor and resource of it, used or not.
std::vector<kube::FlavorUsage> usage_of(const kube::ClusterQueue& queue, const Use& use) {
  const auto follows = queue.metadata.annotations.find("taugrid.io/quota");
  const bool is_auto = follows != queue.metadata.annotations.end() && follows->second == "auto";
  std::vector<kube::FlavorUsage> usages;
  for (const kube::ResourceGroup& group : queue.spec.resource_groups) {
    for (const kube::FlavorQuotas& flavor : group.flavors) {
      kube::FlavorUsage usage{.name = flavor.name};
      for (const kube::ResourceQuota& quota : flavor.resources) {
        int64_t total = 0;
        if (const auto by_flavor = use.find(flavor.name); by_flavor != use.end()) {
          if (const auto found = by_flavor->second.find(quota.name);
              found != by_flavor->second.end())
            total = found->second;
        }
        const auto nominal = quota.name == "cpu" ? kube::parse_quantity_milli(quota.nominal_quota)
                                                 : kube::parse_quantity(quota.nominal_quota);
        const int64_t borrowed = is_auto ? 0 : std::max<int64_t>(0, total - nominal.value_or(0));
        usage.resources.push_back(
            {quota.name, text_of(quota.name, total), text_of(quota.name, borrowed)});
      }
      usages.push_back(std::move(usage));
    }
  }
  return usages;
}

kube::Condition inactive(std::string reason, std::string message) {
  return {.type = "Active",
          .status = "False",
          .reason = std::move(reason),
          .message = std::move(message)};
}

template <class Queue>
kube::Actions patch_status(Kind kind, const Queue& queue, typename Queue::Status status,
                           kube::Condition active, Time now) {
  kube::Actions actions;
  status.conditions = queue.status.conditions;
  active.observed_generation = queue.metadata.generation;
  kube::set_condition(status.conditions, std::move(active), now);
  if (status == queue.status) return actions;
  const json::object patch{{"status", meta::encode(status)}};
  actions.requests.push_back(kube::merge_patch(kind, queue.metadata.namespace_, queue.metadata.name,
                                               json::serialize(patch), "status"));
  return actions;
}

std::string cluster_queue_name(const kube::Stores& stores, const kube::Workload& workload) {
  if (workload.status.admission) return workload.status.admission->cluster_queue;
  const auto local =
      stores.get<kube::LocalQueue>().find(workload.metadata.namespace_, workload.spec.queue_name);
  return local ? local->cluster_queue : "";
}

}  // namespace

kube::Actions StatusPace::pace(const kube::ObjectKey& key, kube::Actions actions, Time now) {
  constexpr Duration interval = seconds(1);
  if (actions.requests.empty()) return actions;
  const auto last = last_.find(key);
  if (last != last_.end() && now < last->second + interval) {
    return {.requests = {}, .again_after = last->second + interval - now};
  }
  last_[key] = now;
  return actions;
}

std::span<const Kind> ClusterQueueStatus::watches() const {
  return kinds;
}
std::span<const Kind> LocalQueueStatus::watches() const {
  return kinds;
}

void ClusterQueueStatus::keys_of(const kube::Stores& stores, const kube::AnyChange& change,
                                 const std::function<void(kube::ObjectKey)>& add) {
  if (const auto* queue = std::get_if<kube::Change<kube::ClusterQueue>>(&change)) {
    add({"", queue->latest().metadata.name});
  } else if (const auto* local = std::get_if<kube::Change<kube::LocalQueue>>(&change)) {
    add({"", local->latest().cluster_queue});
  } else if (const auto* workload = std::get_if<kube::Change<kube::Workload>>(&change)) {
    for (const auto& side : {workload->old, workload->now}) {
      if (!side) continue;
      if (const std::string name = cluster_queue_name(stores, *side); !name.empty())
        add({"", name});
    }
  } else if (std::holds_alternative<kube::Change<kube::ResourceFlavor>>(change)) {
    for (const auto& [key, queue] : stores.get<kube::ClusterQueue>().all()) add(key);
  }
}

kube::Actions ClusterQueueStatus::reconcile(const kube::Stores& stores, const kube::ObjectKey& key,
                                            Time now, Rng&) {
  const auto queue = stores.get<kube::ClusterQueue>().find(key);
  if (!queue) {
    pace_.forget(key);
    return {};
  }
  Tally tally;
  for (const auto& [at, workload] : stores.get<kube::Workload>().all()) {
    if (cluster_queue_name(stores, *workload) == key.name) count(tally, *workload);
  }
  kube::Condition active{
      .type = "Active", .status = "True", .reason = "Ready", .message = "Can admit new workloads"};
  for (const kube::ResourceGroup& group : queue->spec.resource_groups) {
    for (const kube::FlavorQuotas& flavor : group.flavors) {
      if (stores.get<kube::ResourceFlavor>().find("", flavor.name)) continue;
      active = inactive("FlavorNotFound", "Can't admit new workloads: ResourceFlavor " +
                                              flavor.name + " does not exist");
    }
  }
  if (!queue->spec.stop_policy.empty() && queue->spec.stop_policy != "None") {
    active = inactive("Stopped", "Can't admit new workloads: stopped");
  }
  kube::ClusterQueue::Status status{.pending_workloads = tally.pending,
                                    .reserving_workloads = tally.reserving,
                                    .admitted_workloads = tally.admitted};
  status.flavors_reservation = usage_of(*queue, tally.reserved);
  status.flavors_usage = usage_of(*queue, tally.used);
  return pace_.pace(
      key, patch_status(Kind::cluster_queue, *queue, std::move(status), std::move(active), now),
      now);
}

void LocalQueueStatus::keys_of(const kube::Stores& stores, const kube::AnyChange& change,
                               const std::function<void(kube::ObjectKey)>& add) {
  if (const auto* local = std::get_if<kube::Change<kube::LocalQueue>>(&change)) {
    add({local->latest().metadata.namespace_, local->latest().metadata.name});
  } else if (const auto* workload = std::get_if<kube::Change<kube::Workload>>(&change)) {
    add({workload->latest().metadata.namespace_, workload->latest().spec.queue_name});
  } else if (const auto* queue = std::get_if<kube::Change<kube::ClusterQueue>>(&change)) {
    for (const auto& [key, held] : stores.get<kube::LocalQueue>().all()) {
      if (held->cluster_queue == queue->latest().metadata.name) add(key);
    }
  }
}

kube::Actions LocalQueueStatus::reconcile(const kube::Stores& stores, const kube::ObjectKey& key,
                                          Time now, Rng&) {
  const auto local = stores.get<kube::LocalQueue>().find(key);
  if (!local) {
    pace_.forget(key);
    return {};
  }
  Tally tally;
  for (const auto& [at, workload] : stores.get<kube::Workload>().all()) {
    if (at.ns == key.ns && workload->spec.queue_name == key.name) count(tally, *workload);
  }
  kube::Condition active{.type = "Active",
                         .status = "True",
                         .reason = "Ready",
                         .message = "Can submit new workloads to ClusterQueue"};
  const auto queue = stores.get<kube::ClusterQueue>().find("", local->cluster_queue);
  if (!queue) {
    active = inactive("ClusterQueueDoesNotExist",
                      "Can't submit new workloads to ClusterQueue: it does not exist");
  } else if (kube::find_condition(queue->status.conditions, "Active") != nullptr &&
             !kube::is_true(queue->status.conditions, "Active")) {
    active = inactive("ClusterQueueIsInactive",
                      "Can't submit new workloads to ClusterQueue: it is inactive");
  }
  kube::LocalQueue::Status status{.pending_workloads = tally.pending,
                                  .reserving_workloads = tally.reserving,
                                  .admitted_workloads = tally.admitted};
  if (queue) {
    status.flavors_reservation = usage_of(*queue, tally.reserved);
    status.flavors_usage = usage_of(*queue, tally.used);
  }
  return pace_.pace(
      key, patch_status(Kind::local_queue, *local, std::move(status), std::move(active), now), now);
}

}  // namespace tau::control
