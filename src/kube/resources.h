// The kinds that TauGrid knows: group, version, plural, scope. The one list that discovery,
// routing, clients and the command line share.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tau::kube {

// Dense and in this order in every table over kinds.
enum class Kind : uint8_t {
  namespace_,
  node,
  pod,
  event,
  config_map,
  secret,
  service_account,
  priority_class,
  lease,
  job,
  resource_flavor,
  cluster_queue,
  local_queue,
  cohort,
  workload_priority_class,
  topology,
  workload,
};
constexpr int kind_count = 17;

struct ResourceInfo {
  Kind kind;
  std::string_view group;     // "" for core
  std::string_view version;   // the preferred (and stored) one
  std::string_view resource;  // plural
  std::string_view singular;
  std::string_view kind_name;
  std::string_view short_names;  // comma separated
  std::string_view categories;   // comma separated: "all"
  bool is_namespaced;
  std::string_view subresources;    // comma separated: "status,log,binding,eviction"
  std::string_view other_versions;  // comma separated, served by conversion: "v1beta1"
};

std::span<const ResourceInfo> all_resources();
const ResourceInfo& info(Kind kind);
const ResourceInfo* find_resource(std::string_view group, std::string_view resource);
// By plural, singular, short name or kind name, with an optional ".group" suffix; case-insensitive.
// For people.
const ResourceInfo* find_resource_by_word(std::string_view word);
const ResourceInfo* find_kind(std::string_view api_version, std::string_view kind_name);
// "batch/v1", "v1"
std::string api_version(const ResourceInfo& resource);

// The C++ type's Kind: kind_of<Pod>.
template <class T>
struct KindOf;
struct Namespace;
struct Node;
struct Pod;
struct Event;
struct ConfigMap;
struct Secret;
struct ServiceAccount;
struct PriorityClass;
struct Lease;
struct Job;
struct ResourceFlavor;
struct ClusterQueue;
struct LocalQueue;
struct Cohort;
struct WorkloadPriorityClass;
struct Topology;
struct Workload;
template <>
struct KindOf<Namespace> {
  static constexpr Kind value = Kind::namespace_;
};
template <>
struct KindOf<Node> {
  static constexpr Kind value = Kind::node;
};
template <>
struct KindOf<Pod> {
  static constexpr Kind value = Kind::pod;
};
template <>
struct KindOf<Event> {
  static constexpr Kind value = Kind::event;
};
template <>
struct KindOf<ConfigMap> {
  static constexpr Kind value = Kind::config_map;
};
template <>
struct KindOf<Secret> {
  static constexpr Kind value = Kind::secret;
};
template <>
struct KindOf<ServiceAccount> {
  static constexpr Kind value = Kind::service_account;
};
template <>
struct KindOf<PriorityClass> {
  static constexpr Kind value = Kind::priority_class;
};
template <>
struct KindOf<Lease> {
  static constexpr Kind value = Kind::lease;
};
template <>
struct KindOf<Job> {
  static constexpr Kind value = Kind::job;
};
template <>
struct KindOf<ResourceFlavor> {
  static constexpr Kind value = Kind::resource_flavor;
};
template <>
struct KindOf<ClusterQueue> {
  static constexpr Kind value = Kind::cluster_queue;
};
template <>
struct KindOf<LocalQueue> {
  static constexpr Kind value = Kind::local_queue;
};
template <>
struct KindOf<Cohort> {
  static constexpr Kind value = Kind::cohort;
};
template <>
struct KindOf<WorkloadPriorityClass> {
  static constexpr Kind value = Kind::workload_priority_class;
};
template <>
struct KindOf<Topology> {
  static constexpr Kind value = Kind::topology;
};
template <>
struct KindOf<Workload> {
  static constexpr Kind value = Kind::workload;
};
template <class T>
constexpr Kind kind_of = KindOf<T>::value;

}  // namespace tau::kube
