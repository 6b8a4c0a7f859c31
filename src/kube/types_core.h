// Kubernetes objects, as far as TauGrid reads or writes them: plain values with
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

struct ExitCodeMatch {
  std::string container_name;  // "" = any
  std::string operator_;       // In, NotIn
  std::vector<int64_t> values;
  bool operator==(const ExitCodeMatch&) const = default;
};
struct PodConditionMatch {
  std::string type, status;
  bool operator==(const PodConditionMatch&) const = default;
};
struct PodFailureRule {
  std::string action;  // Count, FailIndex, FailJob, Ignore
  std::optional<ExitCodeMatch> on_exit_codes;
  std::vector<PodConditionMatch> on_pod_conditions;
  bool operator==(const PodFailureRule&) const = default;
};
struct PodFailurePolicy {
  std::vector<PodFailureRule> rules;
  bool operator==(const PodFailurePolicy&) const = default;
};
struct SuccessRule {
  std::string succeeded_indexes;  // "1,3-5"; "" = all count
  std::optional<int64_t> succeeded_count;
  bool operator==(const SuccessRule&) const = default;
};
struct SuccessPolicy {
  std::vector<SuccessRule> rules;
  bool operator==(const SuccessPolicy&) const = default;
};
struct JobSpec {
  std::optional<int64_t> parallelism, completions, backoff_limit, active_deadline_seconds;
  std::optional<int64_t> ttl_seconds_after_finished, backoff_limit_per_index, max_failed_indexes;
  std::optional<PodFailurePolicy> pod_failure_policy;
  std::optional<SuccessPolicy> success_policy;
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
  std::optional<std::string> failed_indexes;  // there only with a limit per index
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

}  // namespace tau::kube
