// Schema text: the pod and how it is placed. Names and types are the API's own; the format is in meta/schema_text.h.
#include "kube/schema_texts.h"

namespace tau::kube::schema_texts {

const std::string_view pod = R"schema(
package io.k8s.api.core.v1
type Pod
  apiVersion string
  kind string
  metadata ObjectMeta
  spec PodSpec
  status PodStatus
type PodSpec
  activeDeadlineSeconds int64
  affinity Affinity
  automountServiceAccountToken boolean
  containers* []Container merge=name
  dnsConfig PodDNSConfig
  dnsPolicy string
  enableServiceLinks boolean
  ephemeralContainers []EphemeralContainer merge=name
  evictionResponders []EvictionResponder merge=name
  hostAliases []HostAlias merge=ip
  hostIPC boolean
  hostNetwork boolean
  hostPID boolean
  hostUsers boolean
  hostname string
  hostnameOverride string
  imagePullSecrets []LocalObjectReference merge=name
  initContainers []Container merge=name
  nodeName string
  nodeSelector map:string
  os PodOS
  overhead map:quantity
  preemptionPolicy string
  priority int32
  priorityClassName string
  readinessGates []PodReadinessGate
  resourceClaims []PodResourceClaim merge=name retain
  resources ResourceRequirements
  restartPolicy string
  runtimeClassName string
  schedulerName string
  schedulingGates []PodSchedulingGate merge=name
  schedulingGroup PodSchedulingGroup
  securityContext PodSecurityContext
  serviceAccount string
  serviceAccountName string
  setHostnameAsFQDN boolean
  shareProcessNamespace boolean
  subdomain string
  terminationGracePeriodSeconds int64
  tolerations []Toleration
  topologySpreadConstraints []TopologySpreadConstraint merge=topologyKey
  volumes []Volume merge=name retain
type Affinity
  nodeAffinity NodeAffinity
  podAffinity PodAffinity
  podAntiAffinity PodAntiAffinity
type NodeAffinity
  preferredDuringSchedulingIgnoredDuringExecution []PreferredSchedulingTerm
  requiredDuringSchedulingIgnoredDuringExecution NodeSelector
type PreferredSchedulingTerm
  preference* NodeSelectorTerm
  weight* int32
type NodeSelectorTerm
  matchExpressions []NodeSelectorRequirement
  matchFields []NodeSelectorRequirement
type NodeSelectorRequirement
  key* string
  operator* string
  values []string
type NodeSelector
  nodeSelectorTerms* []NodeSelectorTerm
type PodAffinity
  preferredDuringSchedulingIgnoredDuringExecution []WeightedPodAffinityTerm
  requiredDuringSchedulingIgnoredDuringExecution []PodAffinityTerm
type WeightedPodAffinityTerm
  podAffinityTerm* PodAffinityTerm
  weight* int32
type PodAffinityTerm
  labelSelector LabelSelector
  matchLabelKeys []string
  mismatchLabelKeys []string
  namespaceSelector LabelSelector
  namespaces []string
  topologyKey* string
type PodAntiAffinity
  preferredDuringSchedulingIgnoredDuringExecution []WeightedPodAffinityTerm
  requiredDuringSchedulingIgnoredDuringExecution []PodAffinityTerm
type PodDNSConfig
  nameservers []string
  options []PodDNSConfigOption
  searches []string
type PodDNSConfigOption
  name string
  value string
type EvictionResponder
  name* string
  priority* int32
type HostAlias
  hostnames []string
  ip* string
type PodOS
  name* string
type PodReadinessGate
  conditionType* string
type PodResourceClaim
  name* string
  resourceClaimName string
  resourceClaimTemplateName string
type PodSchedulingGate
  name* string
type PodSchedulingGroup
  podGroupName string
type PodSecurityContext
  appArmorProfile AppArmorProfile
  fsGroup int64
  fsGroupChangePolicy string
  runAsGroup int64
  runAsNonRoot boolean
  runAsUser int64
  seLinuxChangePolicy string
  seLinuxOptions SELinuxOptions
  seccompProfile SeccompProfile
  supplementalGroups []int64
  supplementalGroupsPolicy string
  sysctls []Sysctl
  windowsOptions WindowsSecurityContextOptions
type Sysctl
  name* string
  value* string
type Toleration
  effect string
  key string
  operator string
  tolerationSeconds int64
  value string
type TopologySpreadConstraint
  labelSelector LabelSelector
  matchLabelKeys []string
  maxSkew* int32
  minDomains int32
  nodeAffinityPolicy string
  nodeTaintsPolicy string
  topologyKey* string
  whenUnsatisfiable* string
type PodTemplateSpec
  metadata ObjectMeta
  spec PodSpec
)schema";

}  // namespace tau::kube::schema_texts
