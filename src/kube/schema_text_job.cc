// Schema text: jobs. Names and types are the API's own; the format is in meta/schema_text.h.
#include "kube/schema_texts.h"

namespace tau::kube::schema_texts {

const std::string_view job = R"schema(
package io.k8s.api.batch.v1
type Job | Pods that run to their end.
  apiVersion string | Group and version of this object's schema.
  kind string | What the object is.
  metadata ObjectMeta | Name, labels and the like.
  spec JobSpec | What it is to run, and how often.
  status JobStatus | How it is.
type JobSpec | What a Job is to run, and how often.
  activeDeadlineSeconds int64 | Seconds of running after which it fails.
  backoffLimit int32 | Pod failures borne before it fails; 6 by default.
  backoffLimitPerIndex int32 | Failures borne per index.
  completionMode string | NonIndexed or Indexed.
  completions int32 | How many pods must succeed.
  managedBy string | The controller that runs it.
  manualSelector boolean | True leaves the selector to the user.
  maxFailedIndexes int32 | Failed indexes borne.
  parallelism int32 | The most pods that run at once.
  podFailurePolicy PodFailurePolicy | What a pod's failure means, by exit code or condition.
  podReplacementPolicy string | TerminatingOrFailed or Failed.
  scheduling JobSchedulingConfiguration | How its pods are placed as a group.
  selector LabelSelector | Its pods; made by the server.
  successPolicy SuccessPolicy | When the Job counts as succeeded early.
  suspend boolean | True keeps it from having pods.
  template* PodTemplateSpec | The pods to be made.
  ttlSecondsAfterFinished int32 | Seconds after its end at which it is deleted.
type PodFailurePolicy | What a pod's failure means for the Job.
  rules* []PodFailurePolicyRule | The rules, in order; the first that matches counts.
type PodFailurePolicyRule | One rule; it matches by exit code or by condition.
  action* string | What is done when the rule matches.
  onExitCodes PodFailurePolicyOnExitCodesRequirement | Matches by a container's exit code.
  onPodConditions []PodFailurePolicyOnPodConditionsPattern | Matches by a condition of the pod.
type PodFailurePolicyOnExitCodesRequirement | Matches by a container's exit code.
  containerName string | Name of the container.
  operator* string | How key and values are compared.
  values* []int32 | Values to compare with.
type PodFailurePolicyOnPodConditionsPattern | Matches by a condition of the pod.
  status string | True, False or Unknown; or the state's name.
  type* string | Which kind of it this is.
type JobSchedulingConfiguration | How the Job's pods are placed as a group.
  disruptionMode WorkloadPodGroupDisruptionMode | Whether pods are disrupted one by one or together.
  resourceClaims []WorkloadPodGroupResourceClaim merge=name | Devices claimed for it.
  schedulingConstraints WorkloadPodGroupSchedulingConstraints | Where the group may be placed.
  schedulingPolicy WorkloadPodGroupSchedulingPolicy | How the pods are placed as a group.
type SuccessPolicy | When a Job counts as succeeded early.
  rules* []SuccessPolicyRule | The rules, in order; the first that matches counts.
type SuccessPolicyRule | One rule; when it is met the Job has succeeded.
  succeededCount int32 | How many indexes must have succeeded.
  succeededIndexes string | Indexes that must have succeeded, such as 0,2-4.
type JobStatus | How a Job is.
  active int32 | Pods not ended.
  completedIndexes string | Indexes succeeded, as 1,3-5.
  completionTime time | When it succeeded.
  conditions []JobCondition merge=type | Aspects of its state.
  failed int32 | Pods failed.
  failedIndexes string | Indexes failed.
  ready int32 | Pods ready.
  startTime time | When it last began to run.
  succeeded int32 | Pods succeeded.
  terminating int32 | Pods being ended.
  uncountedTerminatedPods UncountedTerminatedPods | Ended pods not yet counted.
type JobCondition | One aspect of a Job's state.
  lastProbeTime time | When it was last looked at.
  lastTransitionTime time | When the status last changed.
  message string | The cause in words.
  reason string | One CamelCase word for the cause.
  status* string | True, False or Unknown; or the state's name.
  type* string | Which kind of it this is.
type UncountedTerminatedPods | Ended pods not yet in the counters.
  failed []string | UIDs of failed ones.
  succeeded []string | UIDs of succeeded ones.
package io.k8s.api.scheduling.v1alpha3
type WorkloadPodGroupDisruptionMode | Whether pods are disrupted one by one or together.
  all WorkloadPodGroupAllDisruptionMode | All pods are disrupted together.
  single WorkloadPodGroupSingleDisruptionMode | Pods may be disrupted one by one.
type WorkloadPodGroupAllDisruptionMode | All pods are disrupted together.
type WorkloadPodGroupSingleDisruptionMode | Pods may be disrupted one by one.
type WorkloadPodGroupResourceClaim | Devices claimed for the group.
  name* string | Name of the thing referred to, or of this entry.
  resourceClaimName string | An existing claim in the same namespace.
  resourceClaimTemplateName string | Template from which a claim is made for the pod alone.
type WorkloadPodGroupSchedulingConstraints | Where the group may be placed.
  topology []TopologyConstraint | Topology levels that must be shared.
type TopologyConstraint | A level that the group must share.
  key* string | Key within the source.
type WorkloadPodGroupSchedulingPolicy | How the group is placed; just one is set.
  basic WorkloadPodGroupBasicSchedulingPolicy | Pods are placed one by one.
  gang WorkloadPodGroupGangSchedulingPolicy | All or at least some of the pods are placed together.
type WorkloadPodGroupBasicSchedulingPolicy | Pods are placed one by one.
type WorkloadPodGroupGangSchedulingPolicy | Pods are placed together.
  minCount int32 | How many pods must be placed together.
)schema";

}  // namespace tau::kube::schema_texts
