#include "kube/resources.h"

#include <array>

#include "base/check.h"
#include "base/text.h"

namespace tau::kube {
namespace {

constexpr std::string_view kueue = "kueue.x-k8s.io";

// In the order of Kind.
constexpr std::array<ResourceInfo, kind_count> resources{{
    {Kind::namespace_, "", "v1", "namespaces", "namespace", "Namespace", "ns", "", false,
     "status,finalize", ""},
    {Kind::node, "", "v1", "nodes", "node", "Node", "no", "", false, "status", ""},
    {Kind::pod, "", "v1", "pods", "pod", "Pod", "po", "all", true, "status,binding,eviction,log",
     ""},
    {Kind::event, "", "v1", "events", "event", "Event", "ev", "", true, "", ""},
    {Kind::config_map, "", "v1", "configmaps", "configmap", "ConfigMap", "cm", "", true, "", ""},
    {Kind::secret, "", "v1", "secrets", "secret", "Secret", "", "", true, "", ""},
    {Kind::service_account, "", "v1", "serviceaccounts", "serviceaccount", "ServiceAccount", "sa",
     "", true, "token", ""},
    {Kind::priority_class, "scheduling.k8s.io", "v1", "priorityclasses", "priorityclass",
     "PriorityClass", "pc", "", false, "", ""},
    {Kind::lease, "coordination.k8s.io", "v1", "leases", "lease", "Lease", "", "", true, "", ""},
    {Kind::job, "batch", "v1", "jobs", "job", "Job", "", "all", true, "status", ""},
    {Kind::resource_flavor, kueue, "v1beta2", "resourceflavors", "resourceflavor", "ResourceFlavor",
     "flavor,flavors,rf", "", false, "", "v1beta1"},
    {Kind::cluster_queue, kueue, "v1beta2", "clusterqueues", "clusterqueue", "ClusterQueue", "cq",
     "", false, "status", "v1beta1"},
    {Kind::local_queue, kueue, "v1beta2", "localqueues", "localqueue", "LocalQueue",
     "queue,queues,lq", "", true, "status", "v1beta1"},
    {Kind::cohort, kueue, "v1beta2", "cohorts", "cohort", "Cohort", "", "", false, "status",
     "v1beta1"},
    {Kind::workload_priority_class, kueue, "v1beta2", "workloadpriorityclasses",
     "workloadpriorityclass", "WorkloadPriorityClass", "", "", false, "", "v1beta1"},
    {Kind::topology, kueue, "v1beta2", "topologies", "topology", "Topology", "", "", false, "",
     "v1beta1"},
    {Kind::workload, kueue, "v1beta2", "workloads", "workload", "Workload", "wl", "", true,
     "status", "v1beta1"},
}};

bool has_word(std::string_view list, std::string_view word) {
  if (list.empty()) return false;
  for (const std::string_view item : split(list, ',')) {
    if (item == word) return true;
  }
  return false;
}

}  // namespace

std::span<const ResourceInfo> all_resources() {
  return resources;
}

const ResourceInfo& info(Kind kind) {
  const ResourceInfo& found = resources[static_cast<size_t>(kind)];
  CHECK(found.kind == kind);
  return found;
}

const ResourceInfo* find_resource(std::string_view group, std::string_view resource) {
  for (const ResourceInfo& r : resources) {
    if (r.group == group && r.resource == resource) return &r;
  }
  return nullptr;
}

const ResourceInfo* find_resource_by_word(std::string_view word) {
  const std::string lower = to_lower(word);
  std::string_view name = lower, group;
  if (const size_t dot = name.find('.'); dot != std::string_view::npos) {
    group = name.substr(dot + 1);
    name = name.substr(0, dot);
  }
  for (const ResourceInfo& r : resources) {
    if (!group.empty() && !group.ends_with(r.group)) continue;
    if (r.resource == name || r.singular == name || has_word(r.short_names, name)) return &r;
  }
  return nullptr;
}

const ResourceInfo* find_kind(std::string_view api_version, std::string_view kind_name) {
  const size_t slash = api_version.find('/');
  const bool is_core = slash == std::string_view::npos;
  const std::string_view group = is_core ? std::string_view() : api_version.substr(0, slash);
  const std::string_view version = is_core ? api_version : api_version.substr(slash + 1);
  for (const ResourceInfo& r : resources) {
    if (r.kind_name == kind_name && r.group == group &&
        (r.version == version || has_word(r.other_versions, version))) {
      return &r;
    }
  }
  return nullptr;
}

std::string api_version(const ResourceInfo& resource) {
  if (resource.group.empty()) return std::string(resource.version);
  return std::string(resource.group) + "/" + std::string(resource.version);
}

}  // namespace tau::kube
