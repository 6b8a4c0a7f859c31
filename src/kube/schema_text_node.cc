// Schema text: nodes. Names and types are the API's own; the format is in meta/schema_text.h.
#include "kube/schema_texts.h"

namespace tau::kube::schema_texts {

const std::string_view node = R"schema(
package io.k8s.api.core.v1
type Node
  apiVersion string
  kind string
  metadata ObjectMeta
  spec NodeSpec
  status NodeStatus
type NodeSpec
  configSource NodeConfigSource
  externalID string
  podCIDR string
  podCIDRs []string merge
  podPreemptionPolicy NodePodPreemptionPolicy
  providerID string
  taints []Taint
  unschedulable boolean
type NodeConfigSource
  configMap ConfigMapNodeConfigSource
type ConfigMapNodeConfigSource
  kubeletConfigKey* string
  name* string
  namespace* string
  resourceVersion string
  uid string
type NodePodPreemptionPolicy
  disableResizePreemption []string
type Taint
  effect* string
  key* string
  timeAdded time
  value string
type NodeStatus
  addresses []NodeAddress merge=type
  allocatable map:quantity
  capacity map:quantity
  conditions []NodeCondition merge=type
  config NodeConfigStatus
  daemonEndpoints NodeDaemonEndpoints
  declaredFeatures []string
  features NodeFeatures
  images []ContainerImage
  nodeInfo NodeSystemInfo
  phase string
  runtimeHandlers []NodeRuntimeHandler
  volumesAttached []AttachedVolume
  volumesInUse []string
type NodeAddress
  address* string
  type* string
type NodeCondition
  lastHeartbeatTime time
  lastTransitionTime time
  message string
  reason string
  status* string
  type* string
type NodeConfigStatus
  active NodeConfigSource
  assigned NodeConfigSource
  error string
  lastKnownGood NodeConfigSource
type NodeDaemonEndpoints
  kubeletEndpoint DaemonEndpoint
type DaemonEndpoint
  Port* int32
type NodeFeatures
  supplementalGroupsPolicy boolean
type ContainerImage
  names []string
  sizeBytes int64
type NodeSystemInfo
  architecture* string
  bootID* string
  containerRuntimeVersion* string
  kernelVersion* string
  kubeProxyVersion* string
  kubeletVersion* string
  machineID* string
  operatingSystem* string
  osImage* string
  runningInUserNamespace boolean
  swap NodeSwapStatus
  systemUUID* string
type NodeSwapStatus
  capacity int64
type NodeRuntimeHandler
  features NodeRuntimeHandlerFeatures
  name string
type NodeRuntimeHandlerFeatures
  recursiveReadOnlyMounts boolean
  userNamespaces boolean
type AttachedVolume
  devicePath* string
  name* string
)schema";

}  // namespace tau::kube::schema_texts
