// Schema text: the state of pods.
// Names and types are the API's own; the format is in meta/schema_text.h.
#include "kube/schema_texts.h"

namespace tau::kube::schema_texts {

const std::string_view status = R"schema(
package io.k8s.api.core.v1
type PodStatus | How a pod is.
  allocatedResources map:quantity | What the node set aside.
  conditions []PodCondition merge=type | Aspects of its state.
  containerStatuses []ContainerStatus | Its containers.
  ephemeralContainerStatuses []ContainerStatus | Its debug containers.
  extendedResourceClaimStatus PodExtendedResourceClaimStatus | Claim for extended resources.
  hostIP string | Address of its node.
  hostIPs []HostIP merge=ip | Addresses of its node.
  initContainerStatuses []ContainerStatus | Its init containers.
  message string | Why it is so, in words.
  nodeAllocatableResourceClaimStatuses []NodeAllocatableResourceClaimStatus merge=resourceClaimName
      | Node resources that come from claims.
  nominatedNodeName string | The node where room is being made.
  observedGeneration int64 | The generation that it speaks of.
  phase string | Pending, Running, Succeeded, Failed or Unknown.
  podIP string | Its address.
  podIPs []PodIP merge=ip | Its addresses.
  qosClass string | Guaranteed, Burstable or BestEffort.
  reason string | One word for why, such as Evicted.
  resize string | State of a change of resources.
  resourceClaimStatuses []PodResourceClaimStatus merge=name retain | Its claims.
  resources ResourceRequirements | What is in force.
  startTime time | When the node took it.
  volumeHealth []PodVolumeHealth | Health of the pod's volumes.
type PodCondition | One aspect of a pod's state.
  lastProbeTime time | When it was last looked at.
  lastTransitionTime time | When the status last changed.
  message string | The cause in words.
  observedGeneration int64 | The generation that it speaks of.
  reason string | One CamelCase word for the cause.
  status* string | True, False or Unknown; or the state's name.
  type* string | Which kind of it this is.
type ContainerStatus | How a container is.
  allocatedResources map:quantity | What the node set aside.
  allocatedResourcesStatus []ResourceStatus merge=name | Health of its devices.
  containerID string | Id at the runtime.
  image* string | Its image.
  imageID* string | Digest of the image.
  lastState ContainerState | How its last run ended.
  name* string | The container.
  ready* boolean | Whether it is ready.
  resources ResourceRequirements | What is in force.
  restartCount* int32 | How often it was started again.
  started boolean | Whether it passed its startup probe.
  state ContainerState | Its state now.
  stopSignal string | Signal that stops it.
  user ContainerUser | User ids in force.
  volumeMounts []VolumeMountStatus merge=mountPath | Mounts in force.
type ResourceStatus | Health of the devices of one resource.
  name* string | Name of the thing referred to, or of this entry.
  resources []ResourceHealth | What it asks for and may use at most.
type ResourceHealth | Health of one device.
  health string | Healthy, Unhealthy or Unknown.
  message string | The cause in words.
  resourceID* string | Identifier of the device.
type ContainerState | One of waiting, running, terminated.
  running ContainerStateRunning | Running.
  terminated ContainerStateTerminated | Ended.
  waiting ContainerStateWaiting | Not started yet.
type ContainerStateRunning | Running.
  startedAt time | Since when.
type ContainerStateTerminated | Ended.
  containerID string | Id at the runtime.
  exitCode* int32 | Exit code.
  finishedAt time | End.
  message string | How, in words.
  reason string | One word for how.
  signal int32 | Signal that ended it.
  startedAt time | Start.
type ContainerStateWaiting | Not started yet.
  message string | Why, in words.
  reason string | One word for why.
type ContainerUser | Ids in force in the container.
  linux LinuxContainerUser | Ids in force on Linux.
type LinuxContainerUser | Ids in force on Linux.
  gid* int64 | Group id.
  supplementalGroups []int64 | Further group ids.
  uid* int64 | UID of the object.
type VolumeMountStatus | A mount in force.
  mountPath* string | Path inside the container.
  name* string | Name of the thing referred to, or of this entry.
  readOnly boolean | True forbids writing.
  recursiveReadOnly string
      | Whether mounts below are read-only too: Disabled, IfPossible or Enabled.
  volumeStatus VolumeStatus | What the runtime says of the volume.
type VolumeStatus | What the runtime says of a volume.
  image ImageVolumeStatus | Image to use.
type ImageVolumeStatus | What the runtime says of an image volume.
  imageRef* string | The image in use, by digest.
type PodExtendedResourceClaimStatus | The claim that serves extended resources of the pod.
  requestMappings* []ContainerExtendedResourceRequest
      | Which request of the claim serves which resource.
  resourceClaimName* string | An existing claim in the same namespace.
type ContainerExtendedResourceRequest | Which request serves which resource of a container.
  containerName* string | Name of the container.
  requestName* string | Name of the request within the claim.
  resourceName* string | Name of the resource.
type HostIP | An address of the node.
  ip* string | The address.
type NodeAllocatableResourceClaimStatus | Node resources that come from one claim.
  containers []string | Names of the containers concerned.
  mapping []NodeAllocatableMappedResources merge=name | Amounts by resource.
  overhead []NodeAllocatableOverheadResources merge=name
      | Resources added on top of what containers ask for.
  resourceClaimName* string | An existing claim in the same namespace.
type NodeAllocatableMappedResources | An amount of one node resource.
  name* string | Name of the thing referred to, or of this entry.
  quantity* quantity | The amount.
type NodeAllocatableOverheadResources | Overhead in one node resource.
  name* string | Name of the thing referred to, or of this entry.
  perContainer quantity | Amount for each container.
  perPod quantity | Amount for each pod.
type PodIP | An address of the pod.
  ip* string | The address.
type PodResourceClaimStatus | The claim made for one of the pod's entries.
  name* string | Name of the thing referred to, or of this entry.
  resourceClaimName string | An existing claim in the same namespace.
type PodVolumeHealth | Health of one volume.
  healthConditions []VolumeHealthCondition merge=status | What is wrong with the volume.
  lastTransitionTime time | When the status last changed.
  name* string | Name of the thing referred to, or of this entry.
type VolumeHealthCondition | One thing that is wrong with a volume.
  message string | The cause in words.
  reason* string | One CamelCase word for the cause.
  status* string | True, False or Unknown; or the state's name.
)schema";

}  // namespace tau::kube::schema_texts
