// Kubernetes and Kueue objects, as far as TauGrid reads or writes them: plain values with
// snake_case members. The field tables (types.cc and its neighbours) tie members to JSON names and
// carry the full schema, also of the fields that no member holds. Quantities stay text here and are
// parsed where they are used (quantity.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"

namespace tau::kube {

using StringMap = std::map<std::string, std::string>;

struct OwnerReference {
  std::string api_version, kind, name, uid;
  bool controller = false;
  bool block_owner_deletion = false;
  bool operator==(const OwnerReference&) const = default;
};

struct ObjectMeta {
  std::string name, generate_name, namespace_, uid, resource_version;
  int64_t generation = 0;
  std::optional<Time> creation_timestamp, deletion_timestamp;
  std::optional<int64_t> deletion_grace_period_seconds;
  StringMap labels, annotations;
  std::vector<OwnerReference> owner_references;
  std::vector<std::string> finalizers;
  bool operator==(const ObjectMeta&) const = default;
};
// The owner with controller: true, or null.
const OwnerReference* controller_of(const ObjectMeta& metadata);

struct Condition {  // metav1.Condition, and the older JobCondition/PodCondition/NodeCondition
  std::string type, status, reason, message;
  std::optional<Time> last_transition_time, last_probe_time, last_heartbeat_time;
  std::optional<int64_t> observed_generation;
  bool operator==(const Condition&) const = default;
};
const Condition* find_condition(const std::vector<Condition>& conditions, std::string_view type);
bool is_true(const std::vector<Condition>& conditions, std::string_view type);
// Sets or replaces by type; the transition time moves only when the status changes. True if
// anything changed.
bool set_condition(std::vector<Condition>& conditions, Condition condition, Time now);

struct LabelRequirement {      // matchExpressions of label and node selectors
  std::string key, operator_;  // In, NotIn, Exists, DoesNotExist, Gt, Lt
  std::vector<std::string> values;
  bool operator==(const LabelRequirement&) const = default;
};
struct LabelSelector {
  StringMap match_labels;
  std::vector<LabelRequirement> match_expressions;
  bool operator==(const LabelSelector&) const = default;
};

// ---- core/v1
// -------------------------------------------------------------------------------------------

struct ResourceRequirements {
  StringMap requests, limits;
  bool operator==(const ResourceRequirements&) const = default;
};
struct KeySelector {  // configMapKeyRef, secretKeyRef
  std::string name, key;
  bool optional = false;
  bool operator==(const KeySelector&) const = default;
};
struct EnvVar {
  std::string name, value;
  std::optional<std::string> field_path;  // valueFrom.fieldRef.fieldPath
  std::optional<std::string> resource;    // valueFrom.resourceFieldRef.resource
  std::optional<KeySelector> config_map_key, secret_key;
  bool operator==(const EnvVar&) const = default;
};
struct EnvFrom {
  std::string prefix;
  std::optional<std::string> config_map, secret;
  bool optional = false;
  bool operator==(const EnvFrom&) const = default;
};
struct VolumeMount {
  std::string name, mount_path, sub_path;
  bool read_only = false;
  bool operator==(const VolumeMount&) const = default;
};
struct ContainerPort {
  std::string name, protocol;
  int64_t container_port = 0, host_port = 0;
  bool operator==(const ContainerPort&) const = default;
};
struct Container {
  std::string name, image, working_dir, image_pull_policy;
  std::string termination_message_path,
      restart_policy;  // restartPolicy Always on an init container = sidecar
  std::vector<std::string> command, args;
  std::vector<EnvVar> env;
  std::vector<EnvFrom> env_from;
  std::vector<ContainerPort> ports;
  ResourceRequirements resources;
  std::vector<VolumeMount> volume_mounts;
  bool operator==(const Container&) const = default;
};
struct KeyToPath {
  std::string key, path;
  std::optional<int64_t> mode;
  bool operator==(const KeyToPath&) const = default;
};
struct PodVolume {
  std::string name;
  bool is_empty_dir = false;
  std::string empty_dir_medium;
  std::optional<std::string> config_map, secret, host_path, host_path_type;
  std::vector<KeyToPath> items;  // of configMap or secret
  bool optional = false;
  bool is_other = false;  // any other source: this runtime refuses it by name
  std::string other;      // its JSON key, e.g. "persistentVolumeClaim"
  bool operator==(const PodVolume&) const = default;
};
struct Toleration {
  std::string key, operator_, value, effect;
  std::optional<int64_t> toleration_seconds;
  bool operator==(const Toleration&) const = default;
};
struct NodeSelectorTerm {
  std::vector<LabelRequirement> match_expressions, match_fields;
  bool operator==(const NodeSelectorTerm&) const = default;
};
struct PreferredTerm {
  int64_t weight = 0;
  NodeSelectorTerm preference;
  bool operator==(const PreferredTerm&) const = default;
};
struct SchedulingGate {
  std::string name;
  bool operator==(const SchedulingGate&) const = default;
};
struct PodSpec {
  std::vector<Container> init_containers, containers;
  std::vector<PodVolume> volumes;
  std::string restart_policy, node_name, scheduler_name, service_account_name, priority_class_name;
  std::string hostname, subdomain;
  std::optional<int64_t> priority, termination_grace_period_seconds, active_deadline_seconds;
  StringMap node_selector;
  std::vector<NodeSelectorTerm> required_node_affinity;  // ORed terms
  std::vector<PreferredTerm> preferred_node_affinity;
  std::vector<Toleration> tolerations;
  std::vector<SchedulingGate> scheduling_gates;
  StringMap overhead;
  bool host_network = false;
  bool operator==(const PodSpec&) const = default;
};
struct ContainerStateWaiting {
  std::string reason, message;
  bool operator==(const ContainerStateWaiting&) const = default;
};
struct ContainerStateRunning {
  std::optional<Time> started_at;
  bool operator==(const ContainerStateRunning&) const = default;
};
struct ContainerStateTerminated {
  int64_t exit_code = 0, signal = 0;
  std::string reason, message, container_id;
  std::optional<Time> started_at, finished_at;
  bool operator==(const ContainerStateTerminated&) const = default;
};
struct ContainerStateValue {  // at most one is set
  std::optional<ContainerStateWaiting> waiting;
  std::optional<ContainerStateRunning> running;
  std::optional<ContainerStateTerminated> terminated;
  bool operator==(const ContainerStateValue&) const = default;
};
struct ContainerStatus {
  std::string name, image, image_id, container_id;
  bool ready = false;
  std::optional<bool> started;
  int64_t restart_count = 0;
  ContainerStateValue state, last_state;
  bool operator==(const ContainerStatus&) const = default;
};
struct PodStatus {
  std::string phase, reason, message, host_ip, pod_ip, qos_class, nominated_node_name;
  std::vector<Condition> conditions;
  std::optional<Time> start_time;
  std::vector<ContainerStatus> init_container_statuses, container_statuses;
  bool operator==(const PodStatus&) const = default;
};
struct Pod {
  ObjectMeta metadata;
  PodSpec spec;
  PodStatus status;
  bool operator==(const Pod&) const = default;
};
struct PodTemplate {
  ObjectMeta metadata;
  PodSpec spec;
  bool operator==(const PodTemplate&) const = default;
};

struct Taint {
  std::string key, value, effect;
  std::optional<Time> time_added;
  bool operator==(const Taint&) const = default;
};
struct NodeAddress {
  std::string type, address;
  bool operator==(const NodeAddress&) const = default;
};
struct NodeInfo {
  std::string machine_id, system_uuid, boot_id, kernel_version, os_image, container_runtime_version;
  std::string kubelet_version, kube_proxy_version, operating_system, architecture;
  bool operator==(const NodeInfo&) const = default;
};
struct Node {
  ObjectMeta metadata;
  struct Spec {
    bool unschedulable = false;
    std::vector<Taint> taints;
    std::string provider_id;
    bool operator==(const Spec&) const = default;
  } spec;
  struct Status {
    StringMap capacity, allocatable;
    std::vector<Condition> conditions;
    std::vector<NodeAddress> addresses;
    NodeInfo node_info;
    bool operator==(const Status&) const = default;
  } status;
  bool operator==(const Node&) const = default;
};

struct Namespace {
  ObjectMeta metadata;
  std::vector<std::string> finalizers;  // spec.finalizers
  std::string phase;                    // status.phase
  std::vector<Condition> conditions;
  bool operator==(const Namespace&) const = default;
};
struct ConfigMap {
  ObjectMeta metadata;
  StringMap data, binary_data;
  bool immutable = false;
  bool operator==(const ConfigMap&) const = default;
};
struct Secret {
  ObjectMeta metadata;
  std::string type;
  StringMap data;
  bool immutable = false;
  bool operator==(const Secret&) const = default;
};  // data: base64
struct ServiceAccount {
  ObjectMeta metadata;
  bool operator==(const ServiceAccount&) const = default;
};

struct ObjectReference {
  std::string api_version, kind, namespace_, name, uid, resource_version, field_path;
  bool operator==(const ObjectReference&) const = default;
};
struct Event {  // core/v1
  ObjectMeta metadata;
  ObjectReference involved_object;
  std::string reason, message, type, source_component, source_host, reporting_component,
      reporting_instance, action;
  std::optional<Time> first_timestamp, last_timestamp, event_time;
  int64_t count = 0;
  bool operator==(const Event&) const = default;
};
struct PriorityClass {
  ObjectMeta metadata;
  int64_t value = 0;
  bool global_default = false;
  std::string description, preemption_policy;
  bool operator==(const PriorityClass&) const = default;
};
struct Lease {
  ObjectMeta metadata;
  std::optional<std::string> holder_identity;
  std::optional<int64_t> lease_duration_seconds, lease_transitions;
  std::optional<Time> acquire_time, renew_time;
  bool operator==(const Lease&) const = default;
};

// ---- batch/v1
// ------------------------------------------------------------------------------------------

struct JobSpec {
  std::optional<int64_t> parallelism, completions, backoff_limit, active_deadline_seconds;
  std::optional<int64_t> ttl_seconds_after_finished;
  std::string completion_mode;  // NonIndexed, Indexed
  std::optional<bool> suspend, manual_selector;
  std::optional<LabelSelector> selector;
  PodTemplate template_;
  std::string pod_replacement_policy, managed_by;
  bool operator==(const JobSpec&) const = default;
};
struct UncountedPods {
  std::vector<std::string> succeeded, failed;
  bool operator==(const UncountedPods&) const = default;
};
struct JobStatus {
  int64_t active = 0, succeeded = 0, failed = 0;
  std::optional<int64_t> ready, terminating;
  std::optional<Time> start_time, completion_time;
  std::string completed_indexes;
  std::vector<Condition> conditions;
  std::optional<UncountedPods> uncounted_terminated_pods;
  bool operator==(const JobStatus&) const = default;
};
struct Job {
  ObjectMeta metadata;
  JobSpec spec;
  JobStatus status;
  bool operator==(const Job&) const = default;
};

// ---- kueue.x-k8s.io (v1beta2 form; v1beta1 is converted at the server's door)
// --------------------------------

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
struct PodSet {
  std::string name;
  int64_t count = 1;
  std::optional<int64_t> min_count;
  PodTemplate template_;
  std::optional<std::string> required_topology, preferred_topology;
  bool unconstrained_topology = false;
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
