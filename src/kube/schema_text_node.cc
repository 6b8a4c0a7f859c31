// Schema text: nodes. Names and types are the API's own; the format is in meta/schema_text.h.
#include "kube/schema_texts.h"

namespace tau::kube::schema_texts {

const std::string_view node = R"schema(
package io.k8s.api.core.v1
type Node | A machine that runs pods.
  apiVersion string | Group and version of this object's schema.
  kind string | What the object is.
  metadata ObjectMeta | Name, labels and the like.
  spec NodeSpec | Wanted state.
  status NodeStatus | State as seen.
type NodeSpec | Wanted state of a node.
  configSource NodeConfigSource | No longer used.
  externalID string | No longer used.
  podCIDR string | Address range of its pods.
  podCIDRs []string merge | Address ranges of its pods.
  podPreemptionPolicy NodePodPreemptionPolicy | Limits on preemption on this node.
  providerID string | Its name at the cloud.
  taints []Taint | What keeps pods away.
  unschedulable boolean | True keeps new pods away (cordon).
type NodeConfigSource | Where a kubelet's configuration came from; no longer used.
  configMap ConfigMapNodeConfigSource | The ConfigMap.
type ConfigMapNodeConfigSource | A ConfigMap with a kubelet's configuration; no longer used.
  kubeletConfigKey* string | Key that holds the configuration.
  name* string | Name of the thing referred to, or of this entry.
  namespace* string | Namespace of the object.
  resourceVersion string | Version that is meant.
  uid string | UID of the object.
type NodePodPreemptionPolicy | Limits on preemption on a node.
  disableResizePreemption []string | Resizes for which nobody is preempted.
type Taint | Keeps pods away that do not bear it.
  effect* string | NoSchedule, PreferNoSchedule or NoExecute.
  key* string | Its key.
  timeAdded time | Since when.
  value string | Its value.
type NodeStatus | How a node is.
  addresses []NodeAddress merge=type | Its addresses.
  allocatable map:quantity | What pods may use, by resource.
  capacity map:quantity | What the node has, by resource.
  conditions []NodeCondition merge=type | Aspects of its state.
  config NodeConfigStatus | No longer used.
  daemonEndpoints NodeDaemonEndpoints | Port of its kubelet.
  declaredFeatures []string | What it says that it can do.
  features NodeFeatures | What it can do.
  images []ContainerImage | Images that it holds.
  nodeInfo NodeSystemInfo | Facts about its system.
  phase string | No longer used.
  runtimeHandlers []NodeRuntimeHandler | Runtimes that it has.
  volumesAttached []AttachedVolume | Volumes attached.
  volumesInUse []string | Volumes in use.
type NodeAddress | An address of a node.
  address* string | The address.
  type* string | Hostname, InternalIP, ...
type NodeCondition | One aspect of a node's state.
  lastHeartbeatTime time | When it was last reported.
  lastTransitionTime time | When the status last changed.
  message string | The cause in words.
  reason string | One CamelCase word for the cause.
  status* string | True, False or Unknown; or the state's name.
  type* string | Which kind of it this is.
type NodeConfigStatus | State of a kubelet's configuration; no longer used.
  active NodeConfigSource | The configuration in use.
  assigned NodeConfigSource | The configuration that is wanted.
  error string | What is wrong.
  lastKnownGood NodeConfigSource | Last configuration that worked.
type NodeDaemonEndpoints | Where the node's daemons listen.
  kubeletEndpoint DaemonEndpoint | Where the kubelet listens.
type DaemonEndpoint | A port of a daemon.
  Port* int32 | Port number.
type NodeFeatures | What the node's runtime can do.
  supplementalGroupsPolicy boolean | Whether groups of the image are merged in.
type ContainerImage | An image that is on the node.
  names []string | Names under which the image is known.
  sizeBytes int64 | Size in bytes.
type NodeSystemInfo | Facts about a node's system.
  architecture* string | amd64, arm64.
  bootID* string | Id of this boot.
  containerRuntimeVersion* string | Runtime.
  kernelVersion* string | Kernel.
  kubeProxyVersion* string | Proxy.
  kubeletVersion* string | Kubelet.
  machineID* string | Machine id.
  operatingSystem* string | linux.
  osImage* string | Operating system.
  runningInUserNamespace boolean | Whether the kubelet runs in a user namespace.
  swap NodeSwapStatus | Swap space.
  systemUUID* string | Hardware id.
type NodeSwapStatus | Swap space of the node.
  capacity int64 | Size in bytes.
type NodeRuntimeHandler | A runtime that the node has.
  features NodeRuntimeHandlerFeatures | What it can do.
  name string | Name of the thing referred to, or of this entry.
type NodeRuntimeHandlerFeatures | What a runtime can do.
  recursiveReadOnlyMounts boolean | Whether recursive read-only mounts are supported.
  userNamespaces boolean | Whether user namespaces are supported.
type AttachedVolume | A volume attached to the node.
  devicePath* string | Path of the device inside the container.
  name* string | Name of the thing referred to, or of this entry.
)schema";

}  // namespace tau::kube::schema_texts
