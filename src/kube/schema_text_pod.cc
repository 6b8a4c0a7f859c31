// Schema text: the pod and how it is placed.
// Names and types are the API's own; the format is in meta/schema_text.h.
#include "kube/schema_texts.h"

namespace tau::kube::schema_texts {

const std::string_view pod = R"schema(
package io.k8s.api.core.v1
type Pod | Containers that run together on one node.
  apiVersion string | Group and version of this object's schema.
  kind string | What the object is.
  metadata ObjectMeta | Name, labels and the like.
  spec PodSpec | What it is to run, and where it may.
  status PodStatus | How it is; set by the node and the scheduler.
type PodSpec | What a pod is to run, and where it may.
  activeDeadlineSeconds int64 | Seconds after which it is ended as failed.
  affinity Affinity | Which nodes and neighbours it wants.
  automountServiceAccountToken boolean | Whether a token is mounted.
  containers* []Container merge=name | The programs; at least one. Cannot be added or removed later.
  dnsConfig PodDNSConfig | Name resolution.
  dnsPolicy string | How names are resolved.
  enableServiceLinks boolean | Whether services appear as variables.
  ephemeralContainers []EphemeralContainer merge=name | Containers added for debugging.
  evictionResponders []EvictionResponder merge=name | Who reacts to an eviction of the pod.
  hostAliases []HostAlias merge=ip | Lines of the hosts file.
  hostIPC boolean | Whether it shares the node's IPC.
  hostNetwork boolean | Whether it shares the node's network.
  hostPID boolean | Whether it shares the node's processes.
  hostUsers boolean | Whether it shares the node's user ids.
  hostname string | Its host name.
  hostnameOverride string | Its host name, exactly.
  imagePullSecrets []LocalObjectReference merge=name | Credentials for pulling images.
  initContainers []Container merge=name
      | Programs that end, one after the other, before the containers start.
  nodeName string | The node that it was bound to.
  nodeSelector map:string | Labels that its node must have.
  os PodOS | The operating system.
  overhead map:quantity | Resources added on top of what containers ask for.
  preemptionPolicy string | Never, or PreemptLowerPriority.
  priority int32 | Its priority; set from the class.
  priorityClassName string | Its named priority.
  readinessGates []PodReadinessGate | Further conditions for readiness.
  resourceClaims []PodResourceClaim merge=name retain | Devices claimed for it.
  resources ResourceRequirements | What the whole pod asks for.
  restartPolicy string | Always, OnFailure or Never.
  runtimeClassName string | How containers are run.
  schedulerName string | The scheduler that places it.
  schedulingGates []PodSchedulingGate merge=name | Names that hold it back until all are removed.
  schedulingGroup PodSchedulingGroup | The gang that it belongs to.
  securityContext PodSecurityContext | Rights of all containers.
  serviceAccount string | Old name of serviceAccountName.
  serviceAccountName string | Its identity.
  setHostnameAsFQDN boolean | Whether the host name is the full name.
  shareProcessNamespace boolean | Whether its containers see each other's processes.
  subdomain string | Its sub-domain.
  terminationGracePeriodSeconds int64 | Seconds between TERM and KILL; 30 by default.
  tolerations []Toleration | Taints that it bears.
  topologySpreadConstraints []TopologySpreadConstraint merge=topologyKey
      | How evenly pods are spread.
  volumes []Volume merge=name retain | Files that its containers share.
type Affinity | Which nodes and neighbours a pod wants.
  nodeAffinity NodeAffinity | Which nodes.
  podAffinity PodAffinity | Which neighbours.
  podAntiAffinity PodAntiAffinity | Which neighbours not.
type NodeAffinity | Which nodes a pod wants.
  preferredDuringSchedulingIgnoredDuringExecution []PreferredSchedulingTerm
      | What a node should have.
  requiredDuringSchedulingIgnoredDuringExecution NodeSelector | What a node must have.
type PreferredSchedulingTerm | A wish about the node.
  preference* NodeSelectorTerm | What is wished for.
  weight* int32 | 1 to 100.
type NodeSelectorTerm | Tests of one node; all must hold.
  matchExpressions []NodeSelectorRequirement | Tests of its labels.
  matchFields []NodeSelectorRequirement | Tests of its fields.
type NodeSelectorRequirement | A test of one node label or field.
  key* string | Key within the source.
  operator* string | How key and values are compared.
  values []string | Values to compare with.
type NodeSelector | Tests of a node; one term must hold.
  nodeSelectorTerms* []NodeSelectorTerm | The terms.
type PodAffinity | Which pods it wants to be near.
  preferredDuringSchedulingIgnoredDuringExecution []WeightedPodAffinityTerm
      | Should hold when the pod is placed; weighted.
  requiredDuringSchedulingIgnoredDuringExecution []PodAffinityTerm
      | Must hold when the pod is placed.
type WeightedPodAffinityTerm | A weighted wish about neighbours.
  podAffinityTerm* PodAffinityTerm | The wish.
  weight* int32 | From 1 to 100; adds to a node's score.
type PodAffinityTerm | Pods to be near to or away from, and what near means.
  labelSelector LabelSelector | Which pods are meant.
  matchLabelKeys []string | Labels whose value must equal the pod's own.
  mismatchLabelKeys []string | Labels whose value must differ from the pod's own.
  namespaceSelector LabelSelector | Namespaces of the pods that are meant, by label.
  namespaces []string | Namespaces of the pods that are meant; the pod's own by default.
  topologyKey* string | Node label whose value names the domain.
type PodAntiAffinity | Which pods it wants to be away from.
  preferredDuringSchedulingIgnoredDuringExecution []WeightedPodAffinityTerm
      | Should hold when the pod is placed; weighted.
  requiredDuringSchedulingIgnoredDuringExecution []PodAffinityTerm
      | Must hold when the pod is placed.
type PodDNSConfig | Name resolution of the pod.
  nameservers []string | Servers.
  options []PodDNSConfigOption | Resolver options.
  searches []string | Search domains.
type PodDNSConfigOption | An option of the resolver.
  name string | Name of the thing referred to, or of this entry.
  value string | The value.
type EvictionResponder | One who reacts to an eviction of the pod.
  name* string | Name of the thing referred to, or of this entry.
  priority* int32 | Higher goes first.
type HostAlias | A line of the hosts file.
  hostnames []string | Names.
  ip* string | Address.
type PodOS | The operating system of the pod.
  name* string | Name of the thing referred to, or of this entry.
type PodReadinessGate | A further condition for readiness.
  conditionType* string | The condition's type.
type PodResourceClaim | Devices claimed for the pod.
  name* string | Unique within the pod.
  resourceClaimName string | An existing claim.
  resourceClaimTemplateName string | A template for a claim of its own.
type PodSchedulingGate | Holds a pod back from scheduling.
  name* string | Unique within the pod.
type PodSchedulingGroup | The gang that the pod belongs to.
  podGroupName string | Name of the PodGroup.
type PodSecurityContext | Rights of all containers.
  appArmorProfile AppArmorProfile | AppArmor profile.
  fsGroup int64 | Group that owns volumes.
  fsGroupChangePolicy string | When volumes change owner.
  runAsGroup int64 | Group id.
  runAsNonRoot boolean | Refuses to run as root.
  runAsUser int64 | User id.
  seLinuxChangePolicy string | How volumes are labelled.
  seLinuxOptions SELinuxOptions | SELinux label.
  seccompProfile SeccompProfile | System call filter.
  supplementalGroups []int64 | Further group ids.
  supplementalGroupsPolicy string | How group ids are merged.
  sysctls []Sysctl | Kernel settings.
  windowsOptions WindowsSecurityContextOptions | Windows settings.
type Sysctl | A kernel setting.
  name* string | Name of the thing referred to, or of this entry.
  value* string | The value.
type Toleration | Lets a pod onto nodes with a matching taint.
  effect string | The taint's effect; empty means all.
  key string | The taint's key; empty with Exists means all.
  operator string | Equal or Exists.
  tolerationSeconds int64 | How long a NoExecute taint is borne.
  value string | The taint's value for Equal.
type TopologySpreadConstraint | How evenly pods are spread.
  labelSelector LabelSelector | Which pods are counted.
  matchLabelKeys []string | Labels taken from the pod itself.
  maxSkew* int32 | Largest difference between domains.
  minDomains int32 | Least number of domains.
  nodeAffinityPolicy string | Whether node affinity counts.
  nodeTaintsPolicy string | Whether taints count.
  topologyKey* string | Node label that names the domain.
  whenUnsatisfiable* string | DoNotSchedule or ScheduleAnyway.
type PodTemplateSpec | The pods to be made.
  metadata ObjectMeta | Labels and annotations of the pods.
  spec PodSpec | What they are to run.
)schema";

}  // namespace tau::kube::schema_texts
