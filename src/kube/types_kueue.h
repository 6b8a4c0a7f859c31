// kueue.x-k8s.io objects as values, in the v1beta2 form; v1beta1 is converted at the server's door.
#pragma once

#include "kube/types_core.h"

namespace tau::kube {

struct ResourceFlavor {
  ObjectMeta metadata;
  StringMap node_labels;
  std::vector<Taint> node_taints;
  std::vector<Toleration> tolerations;
  std::string topology_name;
  bool operator==(const ResourceFlavor&) const = default;
};
struct ResourceQuota {
  std::string name;  // resource
  std::string nominal_quota;
  std::optional<std::string> borrowing_limit, lending_limit;
  bool operator==(const ResourceQuota&) const = default;
};
struct FlavorQuotas {
  std::string name;
  std::vector<ResourceQuota> resources;
  bool operator==(const FlavorQuotas&) const = default;
};
struct ResourceGroup {
  std::vector<std::string> covered_resources;
  std::vector<FlavorQuotas> flavors;
  bool operator==(const ResourceGroup&) const = default;
};
struct ResourceUsage {
  std::string name, total, borrowed;
  bool operator==(const ResourceUsage&) const = default;
};
struct FlavorUsage {
  std::string name;
  std::vector<ResourceUsage> resources;
  bool operator==(const FlavorUsage&) const = default;
};
struct ClusterQueue {
  ObjectMeta metadata;
  struct Spec {
    std::string cohort_name, queueing_strategy, stop_policy;
    std::vector<ResourceGroup> resource_groups;
    std::optional<LabelSelector> namespace_selector;
    struct Preemption {
      std::string within_cluster_queue, reclaim_within_cohort, borrow_within_cohort_policy;
      std::optional<int64_t> borrow_within_cohort_max_priority;
      bool operator==(const Preemption&) const = default;
    } preemption;
    struct Fungibility {
      std::string when_can_borrow, when_can_preempt, preference;
      bool operator==(const Fungibility&) const = default;
    } flavor_fungibility;
    std::optional<std::string> fair_sharing_weight;
    bool operator==(const Spec&) const = default;
  } spec;
  struct Status {
    int64_t pending_workloads = 0, reserving_workloads = 0, admitted_workloads = 0;
    std::vector<FlavorUsage> flavors_reservation, flavors_usage;
    std::vector<Condition> conditions;
    bool operator==(const Status&) const = default;
  } status;
  bool operator==(const ClusterQueue&) const = default;
};
struct LocalQueue {
  ObjectMeta metadata;
  std::string cluster_queue, stop_policy;  // spec
  struct Status {
    int64_t pending_workloads = 0, reserving_workloads = 0, admitted_workloads = 0;
    std::vector<FlavorUsage> flavors_reservation, flavors_usage;
    std::vector<Condition> conditions;
    bool operator==(const Status&) const = default;
  } status;
  bool operator==(const LocalQueue&) const = default;
};
struct Cohort {
  ObjectMeta metadata;
  std::string parent_name;
  std::vector<ResourceGroup> resource_groups;
  std::optional<std::string> fair_sharing_weight;
  bool operator==(const Cohort&) const = default;
};
struct WorkloadPriorityClass {
  ObjectMeta metadata;
  int64_t value = 0;
  std::string description;
  bool operator==(const WorkloadPriorityClass&) const = default;
};
struct Topology {
  ObjectMeta metadata;
  std::vector<std::string> levels;
  bool operator==(const Topology&) const = default;
};  // nodeLabel of each
struct TopologySlice {
  std::string topology;  // level that so many pods have to share
  int64_t size = 0;
  bool operator==(const TopologySlice&) const = default;
};
struct PodSet {
  std::string name;
  int64_t count = 1;
  std::optional<int64_t> min_count;
  PodTemplate template_;
  std::optional<std::string> required_topology, preferred_topology;
  bool unconstrained_topology = false;
  std::optional<std::string> slice_required_topology;
  std::optional<int64_t> slice_size;
  std::vector<TopologySlice> slice_constraints;  // several levels of slices, the widest first
  std::string group_name;                        // sets of one group share flavor and domain
  bool operator==(const PodSet&) const = default;
};
// status.admission.podSetAssignments[].topologyAssignment: which nodes were chosen, and how many
// pods on each.
struct TopologyDomain {
  std::vector<std::string> values;
  int64_t count = 0;
  bool operator==(const TopologyDomain&) const = default;
};
struct TopologyAssignment {
  std::vector<std::string> levels;
  std::vector<TopologyDomain> domains;
  bool operator==(const TopologyAssignment&) const = default;
};
struct PodSetAssignment {
  std::string name;
  StringMap flavors;         // resource -> flavor
  StringMap resource_usage;  // resource -> total over all pods
  std::optional<int64_t> count;
  std::optional<TopologyAssignment> topology_assignment;
  bool operator==(const PodSetAssignment&) const = default;
};
struct Admission {
  std::string cluster_queue;
  std::vector<PodSetAssignment> pod_set_assignments;
  bool operator==(const Admission&) const = default;
};
struct RequeueState {
  std::optional<int64_t> count;
  std::optional<Time> requeue_at;
  bool operator==(const RequeueState&) const = default;
};
struct Workload {
  ObjectMeta metadata;
  struct Spec {
    std::vector<PodSet> pod_sets;
    std::string queue_name, priority_class_name, priority_class_kind;  // priorityClassRef
    std::optional<int64_t> priority, maximum_execution_time_seconds;
    std::optional<bool> active;
    bool operator==(const Spec&) const = default;
  } spec;
  struct Status {
    std::optional<Admission> admission;
    std::vector<Condition> conditions;
    std::optional<RequeueState> requeue_state;
    std::optional<int64_t> accumulated_past_execution_time_seconds;
    bool operator==(const Status&) const = default;
  } status;
  bool operator==(const Workload&) const = default;
};

}  // namespace tau::kube
