// Field tables: pod status, nodes and Jobs.
#include "kube/schema.h"
#include "kube/types.h"
#include "meta/fields.h"

namespace tau::meta {
using namespace tau::kube;

template <>
const TypeInfo& type_of<ContainerStateWaiting>() {
  static const TypeInfo type =
      full_table("io.k8s.api.core.v1.ContainerStateWaiting", "Not started yet.",
                 {field<&ContainerStateWaiting::reason>("reason", "One word for why."),
                  field<&ContainerStateWaiting::message>("message", "Why, in words.")});
  return type;
}
template <>
const TypeInfo& type_of<ContainerStateRunning>() {
  static const TypeInfo type =
      full_table("io.k8s.api.core.v1.ContainerStateRunning", "Running.",
                 {field<&ContainerStateRunning::started_at>("startedAt", "Since when.")});
  return type;
}
template <>
const TypeInfo& type_of<ContainerStateTerminated>() {
  static const TypeInfo type = full_table(
      "io.k8s.api.core.v1.ContainerStateTerminated", "Ended.",
      {field<&ContainerStateTerminated::exit_code>("exitCode", "Exit code.",
                                                   {.is_required = true, .is_always = true}),
       field<&ContainerStateTerminated::signal>("signal", "Signal that ended it."),
       field<&ContainerStateTerminated::reason>("reason", "One word for how."),
       field<&ContainerStateTerminated::message>("message", "How, in words."),
       field<&ContainerStateTerminated::started_at>("startedAt", "Start."),
       field<&ContainerStateTerminated::finished_at>("finishedAt", "End."),
       field<&ContainerStateTerminated::container_id>("containerID", "Id at the runtime.")});
  return type;
}
template <>
const TypeInfo& type_of<ContainerStateValue>() {
  static const TypeInfo type =
      full_table("io.k8s.api.core.v1.ContainerState", "One of waiting, running, terminated.",
                 {field<&ContainerStateValue::waiting>("waiting", "Not started yet."),
                  field<&ContainerStateValue::running>("running", "Running."),
                  field<&ContainerStateValue::terminated>("terminated", "Ended.")});
  return type;
}
template <>
const TypeInfo& type_of<ContainerStatus>() {
  static const TypeInfo type = full_table(
      "io.k8s.api.core.v1.ContainerStatus", "How a container is.",
      {field<&ContainerStatus::name>("name", "The container.", {.is_required = true}),
       field<&ContainerStatus::state>("state", "Its state now."),
       field<&ContainerStatus::last_state>("lastState", "How its last run ended.",
                                           {.is_always = true}),
       field<&ContainerStatus::ready>("ready", "Whether it is ready.",
                                      {.is_required = true, .is_always = true}),
       field<&ContainerStatus::restart_count>("restartCount", "How often it was started again.",
                                              {.is_required = true, .is_always = true}),
       field<&ContainerStatus::image>("image", "Its image.",
                                      {.is_required = true, .is_always = true}),
       field<&ContainerStatus::image_id>("imageID", "Digest of the image.",
                                         {.is_required = true, .is_always = true}),
       field<&ContainerStatus::container_id>("containerID", "Id at the runtime."),
       field<&ContainerStatus::started>("started", "Whether it passed its startup probe."),
       schema_only("allocatedResources", "What the node set aside.", map_of<quantity_type>),
       schema_only("resources", "What is in force.", type_of<ResourceRequirements>),
       schema_only("volumeMounts", "Mounts in force.", list_of<any_type>),
       schema_only("user", "User ids in force.", any_type),
       schema_only("allocatedResourcesStatus", "Health of its devices.", list_of<any_type>),
       schema_only("stopSignal", "Signal that stops it.", string_type)});
  return type;
}
template <>
const TypeInfo& type_of<PodStatus>() {
  static const TypeInfo type = full_table(
      "io.k8s.api.core.v1.PodStatus", "How a pod is.",
      {schema_only("observedGeneration", "The generation that it speaks of.", integer_type),
       field<&PodStatus::phase>("phase", "Pending, Running, Succeeded, Failed or Unknown."),
       field<&PodStatus::conditions>("conditions", "Aspects of its state.", {.merge_key = "type"}),
       field<&PodStatus::message>("message", "Why it is so, in words."),
       field<&PodStatus::reason>("reason", "One word for why, such as Evicted."),
       field<&PodStatus::nominated_node_name>("nominatedNodeName",
                                              "The node where room is being made."),
       field<&PodStatus::host_ip>("hostIP", "Address of its node."),
       schema_only("hostIPs", "Addresses of its node.", list_of<any_type>, {.merge_key = "ip"}),
       field<&PodStatus::pod_ip>("podIP", "Its address."),
       schema_only("podIPs", "Its addresses.", list_of<any_type>, {.merge_key = "ip"}),
       field<&PodStatus::start_time>("startTime", "When the node took it."),
       field<&PodStatus::init_container_statuses>("initContainerStatuses", "Its init containers."),
       field<&PodStatus::container_statuses>("containerStatuses", "Its containers."),
       field<&PodStatus::qos_class>("qosClass", "Guaranteed, Burstable or BestEffort."),
       schema_only("ephemeralContainerStatuses", "Its debug containers.", list_of<any_type>),
       schema_only("resize", "State of a change of resources.", string_type),
       schema_only("resourceClaimStatuses", "Its claims.", list_of<any_type>,
                   {.merge_key = "name"}),
       schema_only("extendedResourceClaimStatus", "Claim for extended resources.", any_type),
       schema_only("allocatedResources", "What the node set aside.", map_of<quantity_type>),
       schema_only("resources", "What is in force.", any_type)});
  return type;
}

// ---- nodes

template <>
const TypeInfo& type_of<Taint>() {
  static const TypeInfo type =
      full_table("io.k8s.api.core.v1.Taint", "Keeps pods away that do not bear it.",
                 {field<&Taint::key>("key", "Its key.", {.is_required = true}),
                  field<&Taint::value>("value", "Its value."),
                  field<&Taint::effect>("effect", "NoSchedule, PreferNoSchedule or NoExecute.",
                                        {.is_required = true}),
                  field<&Taint::time_added>("timeAdded", "Since when.")});
  return type;
}
template <>
const TypeInfo& type_of<NodeAddress>() {
  static const TypeInfo type = full_table(
      "io.k8s.api.core.v1.NodeAddress", "An address of a node.",
      {field<&NodeAddress::type>("type", "Hostname, InternalIP, ...", {.is_required = true}),
       field<&NodeAddress::address>("address", "The address.", {.is_required = true})});
  return type;
}
template <>
const TypeInfo& type_of<NodeInfo>() {
  static const TypeInfo type = full_table(
      "io.k8s.api.core.v1.NodeSystemInfo", "Facts about a node's system.",
      {field<&NodeInfo::machine_id>("machineID", "Machine id.", {.is_always = true}),
       field<&NodeInfo::system_uuid>("systemUUID", "Hardware id.", {.is_always = true}),
       field<&NodeInfo::boot_id>("bootID", "Id of this boot.", {.is_always = true}),
       field<&NodeInfo::kernel_version>("kernelVersion", "Kernel.", {.is_always = true}),
       field<&NodeInfo::os_image>("osImage", "Operating system.", {.is_always = true}),
       field<&NodeInfo::container_runtime_version>("containerRuntimeVersion", "Runtime.",
                                                   {.is_always = true}),
       field<&NodeInfo::kubelet_version>("kubeletVersion", "Kubelet.", {.is_always = true}),
       field<&NodeInfo::kube_proxy_version>("kubeProxyVersion", "Proxy.", {.is_always = true}),
       field<&NodeInfo::operating_system>("operatingSystem", "linux.", {.is_always = true}),
       field<&NodeInfo::architecture>("architecture", "amd64, arm64.", {.is_always = true}),
       schema_only("swap", "Swap space.", any_type)});
  return type;
}
template <>
const TypeInfo& type_of<Node::Spec>() {
  static const TypeInfo type = full_table(
      "io.k8s.api.core.v1.NodeSpec", "Wanted state of a node.",
      {schema_only("podCIDR", "Address range of its pods.", string_type),
       schema_only("podCIDRs", "Address ranges of its pods.", list_of<string_type>,
                   {.merges_primitives = true}),
       field<&Node::Spec::provider_id>("providerID", "Its name at the cloud."),
       field<&Node::Spec::unschedulable>("unschedulable", "True keeps new pods away (cordon)."),
       field<&Node::Spec::taints>("taints", "What keeps pods away."),
       schema_only("configSource", "No longer used.", any_type),
       schema_only("externalID", "No longer used.", string_type)});
  return type;
}
template <>
const TypeInfo& type_of<Node::Status>() {
  static const TypeInfo type = full_table(
      "io.k8s.api.core.v1.NodeStatus", "How a node is.",
      {field<&Node::Status::capacity>("capacity", "All that it has, by resource.",
                                      {.type = map_of<quantity_type>}),
       field<&Node::Status::allocatable>("allocatable", "What pods may use, by resource.",
                                         {.type = map_of<quantity_type>}),
       schema_only("phase", "No longer used.", string_type),
       field<&Node::Status::conditions>("conditions", "Aspects of its state.",
                                        {.merge_key = "type"}),
       field<&Node::Status::addresses>("addresses", "Its addresses.", {.merge_key = "type"}),
       schema_only("daemonEndpoints", "Port of its kubelet.", any_type),
       field<&Node::Status::node_info>("nodeInfo", "Facts about its system."),
       schema_only("images", "Images that it holds.", list_of<any_type>),
       schema_only("volumesInUse", "Volumes in use.", list_of<string_type>),
       schema_only("volumesAttached", "Volumes attached.", list_of<any_type>),
       schema_only("config", "No longer used.", any_type),
       schema_only("runtimeHandlers", "Runtimes that it has.", list_of<any_type>),
       schema_only("features", "What it can do.", any_type),
       schema_only("declaredFeatures", "What it says that it can do.", list_of<string_type>)});
  return type;
}
template <>
const TypeInfo& type_of<Node>() {
  static const TypeInfo type =
      object_table("io.k8s.api.core.v1.Node", "A machine that runs pods.",
                   {field<&Node::metadata>("metadata", "Name, labels and the like."),
                    field<&Node::spec>("spec", "Wanted state.", {.is_always = true}),
                    field<&Node::status>("status", "State as seen.", {.is_always = true})});
  return type;
}

// ---- batch

template <>
const TypeInfo& type_of<ExitCodeMatch>() {
  static const TypeInfo type = full_table(
      "io.k8s.api.batch.v1.PodFailurePolicyOnExitCodesRequirement",
      "Matches by a container's exit code.",
      {field<&ExitCodeMatch::container_name>("containerName", "Name of the container."),
       field<&ExitCodeMatch::operator_>("operator", "How key and values are compared.",
                                        {.is_required = true}),
       field<&ExitCodeMatch::values>("values", "Values to compare with.", {.is_required = true})});
  return type;
}
template <>
const TypeInfo& type_of<PodConditionMatch>() {
  static const TypeInfo type = full_table(
      "io.k8s.api.batch.v1.PodFailurePolicyOnPodConditionsPattern",
      "Matches by a condition of the pod.",
      {field<&PodConditionMatch::type>("type", "Which kind of it this is.", {.is_required = true}),
       field<&PodConditionMatch::status>("status", "True, False or Unknown.")});
  return type;
}
template <>
const TypeInfo& type_of<PodFailureRule>() {
  static const TypeInfo type = full_table(
      "io.k8s.api.batch.v1.PodFailurePolicyRule",
      "One rule; it matches by exit code or by condition.",
      {field<&PodFailureRule::action>("action", "What is done when the rule matches.",
                                      {.is_required = true}),
       field<&PodFailureRule::on_exit_codes>("onExitCodes", "Matches by a container's exit code."),
       field<&PodFailureRule::on_pod_conditions>("onPodConditions",
                                                 "Matches by a condition of the pod.")});
  return type;
}
template <>
const TypeInfo& type_of<PodFailurePolicy>() {
  static const TypeInfo type = full_table(
      "io.k8s.api.batch.v1.PodFailurePolicy", "What a pod's failure means for the Job.",
      {field<&PodFailurePolicy::rules>(
          "rules", "The rules, in order; the first that matches counts.", {.is_required = true})});
  return type;
}
template <>
const TypeInfo& type_of<SuccessRule>() {
  static const TypeInfo type = full_table(
      "io.k8s.api.batch.v1.SuccessPolicyRule", "One rule; when it is met the Job has succeeded.",
      {field<&SuccessRule::succeeded_indexes>("succeededIndexes",
                                              "Indexes that must have succeeded, such as 0,2-4."),
       field<&SuccessRule::succeeded_count>("succeededCount",
                                            "How many indexes must have succeeded.")});
  return type;
}
template <>
const TypeInfo& type_of<SuccessPolicy>() {
  static const TypeInfo type = full_table(
      "io.k8s.api.batch.v1.SuccessPolicy", "When a Job counts as succeeded early.",
      {field<&SuccessPolicy::rules>("rules", "The rules, in order; the first that matches counts.",
                                    {.is_required = true})});
  return type;
}
template <>
const TypeInfo& type_of<JobSpec>() {
  static const TypeInfo type = full_table(
      "io.k8s.api.batch.v1.JobSpec", "What a Job is to run, and how often.",
      {field<&JobSpec::parallelism>("parallelism", "The most pods that run at once."),
       field<&JobSpec::completions>("completions", "How many pods must succeed."),
       field<&JobSpec::active_deadline_seconds>("activeDeadlineSeconds",
                                                "Seconds of running after which it fails."),
       field<&JobSpec::pod_failure_policy>(
           "podFailurePolicy", "What a pod's failure means, by exit code or condition."),
       field<&JobSpec::success_policy>("successPolicy", "When the Job counts as succeeded early."),
       field<&JobSpec::backoff_limit>("backoffLimit",
                                      "Pod failures borne before it fails; 6 by default."),
       field<&JobSpec::backoff_limit_per_index>("backoffLimitPerIndex",
                                                "Failures borne per index."),
       field<&JobSpec::max_failed_indexes>("maxFailedIndexes", "Failed indexes borne."),
       field<&JobSpec::selector>("selector", "Its pods; made by the server."),
       field<&JobSpec::manual_selector>("manualSelector", "True leaves the selector to the user."),
       field<&JobSpec::template_>("template", "The pods to be made.",
                                  {.is_required = true, .is_always = true}),
       field<&JobSpec::ttl_seconds_after_finished>("ttlSecondsAfterFinished",
                                                   "Seconds after its end at which it is deleted."),
       field<&JobSpec::completion_mode>("completionMode", "NonIndexed or Indexed.",
                                        {.enum_values = "NonIndexed,Indexed"}),
       field<&JobSpec::suspend>("suspend", "True keeps it from having pods."),
       field<&JobSpec::pod_replacement_policy>("podReplacementPolicy",
                                               "TerminatingOrFailed or Failed.",
                                               {.enum_values = "TerminatingOrFailed,Failed"}),
       field<&JobSpec::managed_by>("managedBy", "The controller that runs it."),
       schema_only("scheduling", "How its pods are placed as a group.", any_type)});
  return type;
}
template <>
const TypeInfo& type_of<UncountedPods>() {
  static const TypeInfo type = full_table(
      "io.k8s.api.batch.v1.UncountedTerminatedPods", "Ended pods not yet in the counters.",
      {field<&UncountedPods::succeeded>("succeeded", "UIDs of succeeded ones."),
       field<&UncountedPods::failed>("failed", "UIDs of failed ones.")});
  return type;
}
template <>
const TypeInfo& type_of<JobStatus>() {
  static const TypeInfo type = full_table(
      "io.k8s.api.batch.v1.JobStatus", "How a Job is.",
      {field<&JobStatus::conditions>("conditions", "Aspects of its state.", {.merge_key = "type"}),
       field<&JobStatus::start_time>("startTime", "When it last began to run."),
       field<&JobStatus::completion_time>("completionTime", "When it succeeded."),
       field<&JobStatus::active>("active", "Pods not ended."),
       field<&JobStatus::terminating>("terminating", "Pods being ended."),
       field<&JobStatus::ready>("ready", "Pods ready."),
       field<&JobStatus::succeeded>("succeeded", "Pods succeeded."),
       field<&JobStatus::failed>("failed", "Pods failed."),
       field<&JobStatus::completed_indexes>("completedIndexes", "Indexes succeeded, as 1,3-5."),
       field<&JobStatus::failed_indexes>("failedIndexes", "Indexes failed."),
       field<&JobStatus::uncounted_terminated_pods>("uncountedTerminatedPods",
                                                    "Ended pods not yet counted.")});
  return type;
}
template <>
const TypeInfo& type_of<Job>() {
  static const TypeInfo type = object_table(
      "io.k8s.api.batch.v1.Job", "Pods that run to their end.",
      {field<&Job::metadata>("metadata", "Name, labels and the like."),
       field<&Job::spec>("spec", "What it is to run, and how often.", {.is_always = true}),
       field<&Job::status>("status", "How it is.", {.is_always = true})});
  return type;
}

}  // namespace tau::meta
