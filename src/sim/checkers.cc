#include "sim/checkers.h"

#include <fmt/format.h>

#include "base/text.h"
#include "kube/quantity.h"

namespace tau::sim {
namespace {

using Totals = std::map<std::string, int64_t>;  // resource -> thousandths

bool is_live(const kube::Pod& pod) {
  return pod.status.phase != "Succeeded" && pod.status.phase != "Failed";
}

void add_quantities(Totals& totals, const kube::StringMap& amounts, int64_t times = 1) {
  for (const auto& [resource, text] : amounts) {
    if (const auto milli = kube::parse_quantity_milli(text)) totals[resource] += *milli * times;
  }
}

Totals requests_of(const kube::PodSpec& spec) {
  Totals totals;
  for (const kube::Container& container : spec.containers) {
    add_quantities(totals, container.resources.requests);
  }
  totals["pods"] = 1000;
  return totals;
}

// "<container>=<uuid>,<uuid>[;...]"
std::vector<std::string> gpus_of(const kube::Pod& pod) {
  std::vector<std::string> uuids;
  const auto found = pod.metadata.annotations.find("taugrid.io/gpus");
  if (found == pod.metadata.annotations.end()) return uuids;
  for (const std::string_view part : split(found->second, ';')) {
    const size_t equals = part.find('=');
    if (equals == std::string_view::npos) continue;
    for (const std::string_view uuid : split(part.substr(equals + 1), ',')) {
      if (!uuid.empty()) uuids.emplace_back(uuid);
    }
  }
  return uuids;
}

std::string name_of(const kube::ObjectMeta& metadata) {
  return metadata.namespace_ + "/" + metadata.name;
}

bool holds_quota(const kube::Workload& workload) {
  return workload.status.admission && !kube::is_true(workload.status.conditions, "Finished") &&
         !kube::is_true(workload.status.conditions, "Evicted");
}

void check_nodes(const kube::Stores& stores, Violations& wrong) {
  std::map<std::string, Totals> used;
  std::map<std::string, std::string> owner_of_gpu;
  for (const auto& [key, pod] : stores.get<kube::Pod>().all()) {
    if (pod->spec.node_name.empty() || !is_live(*pod)) continue;
    for (const auto& [resource, milli] : requests_of(pod->spec)) {
      used[pod->spec.node_name][resource] += milli;
    }
    for (const std::string& uuid : gpus_of(*pod)) {
      const auto [at, is_new] = owner_of_gpu.emplace(uuid, name_of(pod->metadata));
      if (!is_new) {
        wrong.push_back(fmt::format("device {} is given to {} and to {}", uuid, at->second,
                                    name_of(pod->metadata)));
      }
    }
  }
  for (const auto& [node_name, totals] : used) {
    const auto node = stores.get<kube::Node>().find("", node_name);
    if (!node) continue;  // gone; its pods are taken away in time
    Totals allocatable;
    add_quantities(allocatable, node->status.allocatable);
    for (const auto& [resource, milli] : totals) {
      const auto limit = allocatable.find(resource);
      const int64_t has = limit == allocatable.end() ? 0 : limit->second;
      if (milli > has) {
        wrong.push_back(fmt::format("node {} holds {} of {} with {} allocatable (thousandths)",
                                    node_name, milli, resource, has));
      }
    }
  }
}

void check_gangs_whole(const kube::Stores& stores, Violations& wrong) {
  for (const auto& [key, workload] : stores.get<kube::Workload>().all()) {
    if (!holds_quota(*workload)) continue;
    const auto& assignments = workload->status.admission->pod_set_assignments;
    if (assignments.size() != workload->spec.pod_sets.size()) {
      wrong.push_back(fmt::format("workload {} is admitted with {} of {} pod sets",
                                  name_of(workload->metadata), assignments.size(),
                                  workload->spec.pod_sets.size()));
    }
    for (const kube::PodSetAssignment& assignment : assignments) {
      int64_t wanted = 0;
      for (const kube::PodSet& set : workload->spec.pod_sets) {
        if (set.name == assignment.name) wanted = set.count;
      }
      int64_t placed = assignment.count.value_or(wanted);
      if (assignment.topology_assignment) {
        placed = 0;
        for (const auto& domain : assignment.topology_assignment->domains) placed += domain.count;
      }
      if (placed != wanted) {
        wrong.push_back(fmt::format("workload {}: pod set {} is admitted with {} of {} pods",
                                    name_of(workload->metadata), assignment.name, placed, wanted));
      }
    }
  }
}

void check_quota(const kube::Stores& stores, Violations& wrong) {
  std::map<std::string, std::map<std::string, Totals>> used;  // queue -> flavor -> resource
  for (const auto& [key, workload] : stores.get<kube::Workload>().all()) {
    if (!holds_quota(*workload)) continue;
    const kube::Admission& admission = *workload->status.admission;
    for (const kube::PodSetAssignment& assignment : admission.pod_set_assignments) {
      for (const auto& [resource, flavor] : assignment.flavors) {
        const auto usage = assignment.resource_usage.find(resource);
        if (usage == assignment.resource_usage.end()) continue;
        if (const auto milli = kube::parse_quantity_milli(usage->second)) {
          used[admission.cluster_queue][flavor][resource] += *milli;
        }
      }
    }
  }
  for (const auto& [key, queue] : stores.get<kube::ClusterQueue>().all()) {
    // Quota that follows the nodes shrinks under running work when a node is lost; cohorts may
    // borrow.
    if (!queue->spec.cohort_name.empty()) continue;
    const auto follows = queue->metadata.annotations.find("taugrid.io/quota");
    if (follows != queue->metadata.annotations.end() && follows->second == "auto") continue;
    for (const kube::ResourceGroup& group : queue->spec.resource_groups) {
      for (const kube::FlavorQuotas& flavor : group.flavors) {
        for (const kube::ResourceQuota& quota : flavor.resources) {
          const int64_t nominal = kube::parse_quantity_milli(quota.nominal_quota).value_or(0);
          const int64_t has = used[key.name][flavor.name][quota.name];
          if (has > nominal) {
            wrong.push_back(fmt::format("queue {}: {} of flavor {} used {} over nominal {}",
                                        key.name, quota.name, flavor.name, has, nominal));
          }
        }
      }
    }
  }
}

bool is_ended(const kube::Job& job) {
  return kube::is_true(job.status.conditions, "Complete") ||
         kube::is_true(job.status.conditions, "Failed");
}

bool is_terminal(const std::string& phase) {
  return phase == "Succeeded" || phase == "Failed" || phase == "Cancelled";
}

// Free room per node, in thousandths.
std::map<std::string, Totals> free_room(const kube::Stores& stores) {
  std::map<std::string, Totals> room;
  for (const auto& [key, node] : stores.get<kube::Node>().all()) {
    if (node->spec.unschedulable || !kube::is_true(node->status.conditions, "Ready") ||
        !node->spec.taints.empty()) {
      continue;
    }
    add_quantities(room[key.name], node->status.allocatable);
  }
  for (const auto& [key, pod] : stores.get<kube::Pod>().all()) {
    const auto at = room.find(pod->spec.node_name);
    if (at == room.end() || !is_live(*pod)) continue;
    for (const auto& [resource, milli] : requests_of(pod->spec)) at->second[resource] -= milli;
  }
  return room;
}

// Only what surely fits is claimed: one pod, no selector, and quota that follows the nodes.
void check_nothing_fitting_waits(const kube::Stores& stores, Violations& wrong) {
  const auto room = free_room(stores);
  for (const auto& [key, workload] : stores.get<kube::Workload>().all()) {
    if (workload->status.admission || kube::is_true(workload->status.conditions, "Finished"))
      continue;
    const auto local = stores.get<kube::LocalQueue>().find(key.ns, workload->spec.queue_name);
    if (!local) continue;
    const auto queue = stores.get<kube::ClusterQueue>().find("", local->cluster_queue);
    if (!queue || !queue->metadata.annotations.contains("taugrid.io/quota")) continue;
    if (workload->spec.pod_sets.size() != 1 || workload->spec.pod_sets[0].count != 1) continue;
    const kube::PodSpec& spec = workload->spec.pod_sets[0].template_.spec;
    if (!spec.node_selector.empty() || !spec.required_node_affinity.empty()) continue;
    for (const auto& [node_name, free] : room) {
      const Totals wants = requests_of(spec);
      const bool fits = std::ranges::all_of(wants, [&](const auto& want) {
        const auto has = free.find(want.first);
        return has != free.end() && has->second >= want.second;
      });
      if (fits) {
        const kube::Condition* told =
            kube::find_condition(workload->status.conditions, "QuotaReserved");
        wrong.push_back(fmt::format("workload {} waits although node {} has room for it ({})",
                                    name_of(workload->metadata), node_name,
                                    told == nullptr ? "nothing is said" : told->message));
        break;
      }
    }
  }
}

}  // namespace

Violations check_always(const kube::Stores& stores) {
  Violations wrong;
  check_nodes(stores, wrong);
  check_gangs_whole(stores, wrong);
  check_quota(stores, wrong);
  return wrong;
}

Violations check_quiet(const QuietWorld& world) {
  Violations wrong;
  const kube::Stores& stores = world.stores;
  for (const auto& [key, pod] : stores.get<kube::Pod>().all()) {
    if (pod->metadata.deletion_timestamp) {
      wrong.push_back(fmt::format("pod {} is still being deleted", name_of(pod->metadata)));
    } else if (is_live(*pod) && pod->spec.node_name.empty()) {
      wrong.push_back(fmt::format("pod {} is not bound", name_of(pod->metadata)));
    }
  }
  std::map<std::string, int> terminal_records;
  const auto runs = world.history.query({.limit = 1'000'000});
  if (!runs) return {"history cannot be read: " + runs.error().message};
  for (const history::RunRecord& run : *runs) {
    if (is_terminal(run.phase)) ++terminal_records[run.uid];
  }
  for (const std::string& uid : world.submitted_uids) {
    const auto job = stores.get<kube::Job>().find_uid(uid);
    const int records = terminal_records.contains(uid) ? terminal_records[uid] : 0;
    const bool should_be_ended = !job || is_ended(*job);
    if (should_be_ended && records != 1) {
      wrong.push_back(fmt::format("ended job {} has {} terminal records, not 1",
                                  job ? name_of(job->metadata) : uid, records));
    }
    if (!should_be_ended && records != 0) {
      wrong.push_back(fmt::format("live job {} has a terminal record", name_of(job->metadata)));
    }
  }
  check_nothing_fitting_waits(stores, wrong);
  return wrong;
}

Violations TerminalRecords::observe(const std::vector<history::RunRecord>& runs) {
  Violations wrong;
  for (const history::RunRecord& run : runs) {
    if (!is_terminal(run.phase)) {
      if (const auto found = ends_.find(run.uid); found != ends_.end()) {
        wrong.push_back(
            fmt::format("run {} was {} and is {} again", run.id, found->second, run.phase));
      }
      continue;
    }
    const std::string end =
        run.phase + " " + (run.ended ? format_rfc3339_micros(*run.ended) : std::string("unknown"));
    const auto [at, is_new] = ends_.emplace(run.uid, end);
    if (!is_new && at->second != end) {
      wrong.push_back(fmt::format("run {} ended as {} and now as {}", run.id, at->second, end));
    }
  }
  return wrong;
}

}  // namespace tau::sim
