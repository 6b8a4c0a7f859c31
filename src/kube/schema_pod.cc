#include "kube/schema_pod.h"

#include "kube/types.h"
#include "meta/fields.h"

namespace tau::meta {
namespace {

const TypeInfo& exec_action() {
  static const TypeInfo type = table("io.k8s.api.core.v1.ExecAction", "Runs a command in the container.", {
      schema_only("command", "The command and its arguments.", list_of<string_type>)});
  return type;
}
const TypeInfo& http_header() {
  static const TypeInfo type = table("io.k8s.api.core.v1.HTTPHeader", "A header to send.", {
      schema_only("name", "Its name.", string_type, {.is_required = true}), schema_only("value", "Its value.", string_type, {.is_required = true})});
  return type;
}
const TypeInfo& http_get_action() {
  static const TypeInfo type = table("io.k8s.api.core.v1.HTTPGetAction", "Asks a URL.", {
      schema_only("path", "Path of the URL.", string_type), schema_only("port", "Port number or name.", int_or_string_type, {.is_required = true}),
      schema_only("host", "Host; the pod by default.", string_type), schema_only("scheme", "HTTP or HTTPS.", string_type),
      schema_only("httpHeaders", "Headers to send.", list_of<http_header>)});
  return type;
}
const TypeInfo& tcp_action() {
  static const TypeInfo type = table("io.k8s.api.core.v1.TCPSocketAction", "Opens a connection.", {
      schema_only("port", "Port number or name.", int_or_string_type, {.is_required = true}), schema_only("host", "Host; the pod by default.", string_type)});
  return type;
}
const TypeInfo& grpc_action() {
  static const TypeInfo type = table("io.k8s.api.core.v1.GRPCAction", "Asks a gRPC health service.", {
      schema_only("port", "Port number.", integer_type, {.is_required = true}), schema_only("service", "Service name.", string_type)});
  return type;
}
const TypeInfo& capabilities() {
  static const TypeInfo type = table("io.k8s.api.core.v1.Capabilities", "Rights added and dropped.", {
      schema_only("add", "Rights added.", list_of<string_type>), schema_only("drop", "Rights dropped.", list_of<string_type>)});
  return type;
}

const TypeInfo& topology_spread() {
  static const TypeInfo type = table("io.k8s.api.core.v1.TopologySpreadConstraint", "How evenly pods are spread.", {
      schema_only("maxSkew", "Largest difference between domains.", integer_type, {.is_required = true}),
      schema_only("topologyKey", "Node label that names the domain.", string_type, {.is_required = true}),
      schema_only("whenUnsatisfiable", "DoNotSchedule or ScheduleAnyway.", string_type, {.is_required = true}),
      schema_only("labelSelector", "Which pods are counted.", type_of<tau::kube::LabelSelector>),
      schema_only("minDomains", "Least number of domains.", integer_type), schema_only("nodeAffinityPolicy", "Whether node affinity counts.", string_type),
      schema_only("nodeTaintsPolicy", "Whether taints count.", string_type), schema_only("matchLabelKeys", "Labels taken from the pod itself.", list_of<string_type>)});
  return type;
}
const TypeInfo& host_alias() {
  static const TypeInfo type = table("io.k8s.api.core.v1.HostAlias", "A line of the hosts file.", {
      schema_only("ip", "Address.", string_type, {.is_required = true}), schema_only("hostnames", "Names.", list_of<string_type>)});
  return type;
}
const TypeInfo& local_reference() {
  static const TypeInfo type = table("io.k8s.api.core.v1.LocalObjectReference", "An object of the same namespace.", {schema_only("name", "Its name.", string_type)});
  return type;
}
const TypeInfo& readiness_gate() {
  static const TypeInfo type = table("io.k8s.api.core.v1.PodReadinessGate", "A further condition for readiness.", {
      schema_only("conditionType", "The condition's type.", string_type, {.is_required = true})});
  return type;
}
const TypeInfo& resource_claim() {
  static const TypeInfo type = table("io.k8s.api.core.v1.PodResourceClaim", "Devices claimed for the pod.", {
      schema_only("name", "Unique within the pod.", string_type, {.is_required = true}), schema_only("resourceClaimName", "An existing claim.", string_type),
      schema_only("resourceClaimTemplateName", "A template for a claim of its own.", string_type)});
  return type;
}
const TypeInfo& scheduling_group() {
  static const TypeInfo type = table("io.k8s.api.core.v1.PodSchedulingGroup", "The gang that the pod belongs to.", {schema_only("podGroupName", "Name of the PodGroup.", string_type)});
  return type;
}
const TypeInfo& dns_config() {
  static const TypeInfo type = table("io.k8s.api.core.v1.PodDNSConfig", "Name resolution of the pod.", {
      schema_only("nameservers", "Servers.", list_of<string_type>), schema_only("searches", "Search domains.", list_of<string_type>),
      schema_only("options", "Resolver options.", list_of<any_type>)});
  return type;
}

}  // namespace

const TypeInfo& probe_type() {
  static const TypeInfo type = table("io.k8s.api.core.v1.Probe", "A health check of a container.", {
      schema_only("exec", "By command.", exec_action), schema_only("httpGet", "By URL.", http_get_action), schema_only("tcpSocket", "By connection.", tcp_action),
      schema_only("grpc", "By gRPC health service.", grpc_action), schema_only("initialDelaySeconds", "Seconds before the first check.", integer_type),
      schema_only("timeoutSeconds", "Seconds a check may take.", integer_type), schema_only("periodSeconds", "Seconds between checks.", integer_type),
      schema_only("successThreshold", "Successes in a row that count as healthy.", integer_type),
      schema_only("failureThreshold", "Failures in a row that count as failed.", integer_type),
      schema_only("terminationGracePeriodSeconds", "Seconds between TERM and KILL after a failed check.", integer_type)});
  return type;
}

const TypeInfo& security_context_type() {
  static const TypeInfo type = table("io.k8s.api.core.v1.SecurityContext", "Rights of a container.", {
      schema_only("capabilities", "Rights added and dropped.", capabilities), schema_only("privileged", "All rights of the node.", boolean_type),
      schema_only("seLinuxOptions", "SELinux label.", any_type), schema_only("windowsOptions", "Windows settings.", any_type),
      schema_only("runAsUser", "User id.", integer_type), schema_only("runAsGroup", "Group id.", integer_type),
      schema_only("runAsNonRoot", "Refuses to run as root.", boolean_type), schema_only("readOnlyRootFilesystem", "Forbids writing to the image's files.", boolean_type),
      schema_only("allowPrivilegeEscalation", "Whether a child may gain rights.", boolean_type), schema_only("procMount", "How /proc is shown.", string_type),
      schema_only("seccompProfile", "System call filter.", any_type), schema_only("appArmorProfile", "AppArmor profile.", any_type)});
  return type;
}

const TypeInfo& pod_security_context_type() {
  static const TypeInfo type = table("io.k8s.api.core.v1.PodSecurityContext", "Rights of all containers.", {
      schema_only("seLinuxOptions", "SELinux label.", any_type), schema_only("windowsOptions", "Windows settings.", any_type),
      schema_only("runAsUser", "User id.", integer_type), schema_only("runAsGroup", "Group id.", integer_type),
      schema_only("runAsNonRoot", "Refuses to run as root.", boolean_type), schema_only("supplementalGroups", "Further group ids.", list_of<integer_type>),
      schema_only("supplementalGroupsPolicy", "How group ids are merged.", string_type), schema_only("fsGroup", "Group that owns volumes.", integer_type),
      schema_only("sysctls", "Kernel settings.", list_of<any_type>), schema_only("fsGroupChangePolicy", "When volumes change owner.", string_type),
      schema_only("seccompProfile", "System call filter.", any_type), schema_only("appArmorProfile", "AppArmor profile.", any_type),
      schema_only("seLinuxChangePolicy", "How volumes are labelled.", string_type)});
  return type;
}

const TypeInfo& empty_dir_type() {
  static const TypeInfo type = table("io.k8s.api.core.v1.EmptyDirVolumeSource", "An empty directory.", {
      schema_only("medium", "Memory keeps it in memory.", string_type), schema_only("sizeLimit", "The most it may hold.", quantity_type)});
  return type;
}
const TypeInfo& host_path_type() {
  static const TypeInfo type = table("io.k8s.api.core.v1.HostPathVolumeSource", "A path of the node.", {
      schema_only("path", "The path.", string_type, {.is_required = true}), schema_only("type", "What it must be: Directory, File, ...", string_type)});
  return type;
}
const TypeInfo& config_map_volume_type() {
  static const TypeInfo type = table("io.k8s.api.core.v1.ConfigMapVolumeSource", "A ConfigMap as files.", {
      schema_only("name", "The ConfigMap.", string_type), schema_only("items", "Which keys, and where; all by default.", list_of<type_of<tau::kube::KeyToPath>>),
      schema_only("defaultMode", "Permission bits.", integer_type), schema_only("optional", "True lets it be absent.", boolean_type)});
  return type;
}
const TypeInfo& secret_volume_type() {
  static const TypeInfo type = table("io.k8s.api.core.v1.SecretVolumeSource", "A Secret as files.", {
      schema_only("secretName", "The Secret.", string_type), schema_only("items", "Which keys, and where; all by default.", list_of<type_of<tau::kube::KeyToPath>>),
      schema_only("defaultMode", "Permission bits.", integer_type), schema_only("optional", "True lets it be absent.", boolean_type)});
  return type;
}

std::vector<Field> pod_spec_schema_only() {
  return {
      schema_only("ephemeralContainers", "Containers added for debugging.", list_of<any_type>, {.merge_key = "name"}),
      schema_only("dnsPolicy", "How names are resolved.", string_type), schema_only("serviceAccount", "Old name of serviceAccountName.", string_type),
      schema_only("automountServiceAccountToken", "Whether a token is mounted.", boolean_type), schema_only("hostPID", "Whether it shares the node's processes.", boolean_type),
      schema_only("hostIPC", "Whether it shares the node's IPC.", boolean_type), schema_only("shareProcessNamespace", "Whether its containers see each other's processes.", boolean_type),
      schema_only("securityContext", "Rights of all containers.", pod_security_context_type),
      schema_only("imagePullSecrets", "Credentials for pulling images.", list_of<local_reference>, {.merge_key = "name"}),
      schema_only("hostAliases", "Lines of the hosts file.", list_of<host_alias>, {.merge_key = "ip"}), schema_only("dnsConfig", "Name resolution.", dns_config),
      schema_only("readinessGates", "Further conditions for readiness.", list_of<readiness_gate>), schema_only("runtimeClassName", "How containers are run.", string_type),
      schema_only("enableServiceLinks", "Whether services appear as variables.", boolean_type), schema_only("preemptionPolicy", "Never, or PreemptLowerPriority.", string_type),
      schema_only("topologySpreadConstraints", "How evenly pods are spread.", list_of<topology_spread>, {.merge_key = "topologyKey"}),
      schema_only("setHostnameAsFQDN", "Whether the host name is the full name.", boolean_type), schema_only("os", "The operating system.", any_type),
      schema_only("hostUsers", "Whether it shares the node's user ids.", boolean_type),
      schema_only("resourceClaims", "Devices claimed for it.", list_of<resource_claim>, {.merge_key = "name"}),
      schema_only("resources", "What the whole pod asks for.", type_of<tau::kube::ResourceRequirements>), schema_only("hostnameOverride", "Its host name, exactly.", string_type),
      schema_only("schedulingGroup", "The gang that it belongs to.", scheduling_group)};
}

}  // namespace tau::meta
