// Schema text: jobs. Names and types are the API's own; the format is in meta/schema_text.h.
#include "kube/schema_texts.h"

namespace tau::kube::schema_texts {

const std::string_view job = R"schema(
package io.k8s.api.batch.v1
type Job
  apiVersion string
  kind string
  metadata ObjectMeta
  spec JobSpec
  status JobStatus
type JobSpec
  activeDeadlineSeconds int64
  backoffLimit int32
  backoffLimitPerIndex int32
  completionMode string
  completions int32
  managedBy string
  manualSelector boolean
  maxFailedIndexes int32
  parallelism int32
  podFailurePolicy PodFailurePolicy
  podReplacementPolicy string
  scheduling JobSchedulingConfiguration
  selector LabelSelector
  successPolicy SuccessPolicy
  suspend boolean
  template* PodTemplateSpec
  ttlSecondsAfterFinished int32
type PodFailurePolicy
  rules* []PodFailurePolicyRule
type PodFailurePolicyRule
  action* string
  onExitCodes PodFailurePolicyOnExitCodesRequirement
  onPodConditions []PodFailurePolicyOnPodConditionsPattern
type PodFailurePolicyOnExitCodesRequirement
  containerName string
  operator* string
  values* []int32
type PodFailurePolicyOnPodConditionsPattern
  status string
  type* string
type JobSchedulingConfiguration
  disruptionMode WorkloadPodGroupDisruptionMode
  resourceClaims []WorkloadPodGroupResourceClaim merge=name
  schedulingConstraints WorkloadPodGroupSchedulingConstraints
  schedulingPolicy WorkloadPodGroupSchedulingPolicy
type SuccessPolicy
  rules* []SuccessPolicyRule
type SuccessPolicyRule
  succeededCount int32
  succeededIndexes string
type JobStatus
  active int32
  completedIndexes string
  completionTime time
  conditions []JobCondition merge=type
  failed int32
  failedIndexes string
  ready int32
  startTime time
  succeeded int32
  terminating int32
  uncountedTerminatedPods UncountedTerminatedPods
type JobCondition
  lastProbeTime time
  lastTransitionTime time
  message string
  reason string
  status* string
  type* string
type UncountedTerminatedPods
  failed []string
  succeeded []string
package io.k8s.api.scheduling.v1alpha3
type WorkloadPodGroupDisruptionMode
  all WorkloadPodGroupAllDisruptionMode
  single WorkloadPodGroupSingleDisruptionMode
type WorkloadPodGroupAllDisruptionMode
type WorkloadPodGroupSingleDisruptionMode
type WorkloadPodGroupResourceClaim
  name* string
  resourceClaimName string
  resourceClaimTemplateName string
type WorkloadPodGroupSchedulingConstraints
  topology []TopologyConstraint
type TopologyConstraint
  key* string
type WorkloadPodGroupSchedulingPolicy
  basic WorkloadPodGroupBasicSchedulingPolicy
  gang WorkloadPodGroupGangSchedulingPolicy
type WorkloadPodGroupBasicSchedulingPolicy
type WorkloadPodGroupGangSchedulingPolicy
  minCount int32
)schema";

}  // namespace tau::kube::schema_texts
