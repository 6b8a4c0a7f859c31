// Schema text: the state of pods. Names and types are the API's own; the format is in meta/schema_text.h.
#include "kube/schema_texts.h"

namespace tau::kube::schema_texts {

const std::string_view status = R"schema(
package io.k8s.api.core.v1
type PodStatus
  allocatedResources map:quantity
  conditions []PodCondition merge=type
  containerStatuses []ContainerStatus
  ephemeralContainerStatuses []ContainerStatus
  extendedResourceClaimStatus PodExtendedResourceClaimStatus
  hostIP string
  hostIPs []HostIP merge=ip
  initContainerStatuses []ContainerStatus
  message string
  nodeAllocatableResourceClaimStatuses []NodeAllocatableResourceClaimStatus merge=resourceClaimName
  nominatedNodeName string
  observedGeneration int64
  phase string
  podIP string
  podIPs []PodIP merge=ip
  qosClass string
  reason string
  resize string
  resourceClaimStatuses []PodResourceClaimStatus merge=name retain
  resources ResourceRequirements
  startTime time
  volumeHealth []PodVolumeHealth
type PodCondition
  lastProbeTime time
  lastTransitionTime time
  message string
  observedGeneration int64
  reason string
  status* string
  type* string
type ContainerStatus
  allocatedResources map:quantity
  allocatedResourcesStatus []ResourceStatus merge=name
  containerID string
  image* string
  imageID* string
  lastState ContainerState
  name* string
  ready* boolean
  resources ResourceRequirements
  restartCount* int32
  started boolean
  state ContainerState
  stopSignal string
  user ContainerUser
  volumeMounts []VolumeMountStatus merge=mountPath
type ResourceStatus
  name* string
  resources []ResourceHealth
type ResourceHealth
  health string
  message string
  resourceID* string
type ContainerState
  running ContainerStateRunning
  terminated ContainerStateTerminated
  waiting ContainerStateWaiting
type ContainerStateRunning
  startedAt time
type ContainerStateTerminated
  containerID string
  exitCode* int32
  finishedAt time
  message string
  reason string
  signal int32
  startedAt time
type ContainerStateWaiting
  message string
  reason string
type ContainerUser
  linux LinuxContainerUser
type LinuxContainerUser
  gid* int64
  supplementalGroups []int64
  uid* int64
type VolumeMountStatus
  mountPath* string
  name* string
  readOnly boolean
  recursiveReadOnly string
  volumeStatus VolumeStatus
type VolumeStatus
  image ImageVolumeStatus
type ImageVolumeStatus
  imageRef* string
type PodExtendedResourceClaimStatus
  requestMappings* []ContainerExtendedResourceRequest
  resourceClaimName* string
type ContainerExtendedResourceRequest
  containerName* string
  requestName* string
  resourceName* string
type HostIP
  ip* string
type NodeAllocatableResourceClaimStatus
  containers []string
  mapping []NodeAllocatableMappedResources merge=name
  overhead []NodeAllocatableOverheadResources merge=name
  resourceClaimName* string
type NodeAllocatableMappedResources
  name* string
  quantity* quantity
type NodeAllocatableOverheadResources
  name* string
  perContainer quantity
  perPod quantity
type PodIP
  ip* string
type PodResourceClaimStatus
  name* string
  resourceClaimName string
type PodVolumeHealth
  healthConditions []VolumeHealthCondition merge=status
  lastTransitionTime time
  name* string
type VolumeHealthCondition
  message string
  reason* string
  status* string
)schema";

}  // namespace tau::kube::schema_texts
