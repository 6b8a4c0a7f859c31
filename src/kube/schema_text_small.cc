// Schema text: the small kinds.
// Names and types are the API's own; the format is in meta/schema_text.h.
#include "kube/schema_texts.h"

namespace tau::kube::schema_texts {

const std::string_view small = R"schema(
package io.k8s.api.core.v1
type Namespace | A border for names, quota and access.
  apiVersion string | Group and version of this object's schema.
  kind string | What the object is.
  metadata ObjectMeta | Name, labels and the like.
  spec NamespaceSpec | Wanted state.
  status NamespaceStatus | State as seen.
type NamespaceSpec | Wanted state of a namespace.
  finalizers []string | Names that must be removed before the namespace can go.
type NamespaceStatus | State of a namespace.
  conditions []NamespaceCondition merge=type | What holds up its deletion.
  phase string | Active or Terminating.
type NamespaceCondition | One aspect of a namespace's state.
  lastTransitionTime time | When the status last changed.
  message string | The cause in words.
  reason string | One CamelCase word for the cause.
  status* string | True, False or Unknown; or the state's name.
  type* string | Which kind of it this is.
type Event | Something that happened to an object; kept for an hour.
  action string | What was done or tried.
  apiVersion string | Group and version of this object's schema.
  count int32 | How often it was seen.
  eventTime micro_time | When it was first seen, exactly.
  firstTimestamp time | When it was first seen.
  involvedObject* ObjectReference | The object that it happened to.
  kind string | What the object is.
  lastTimestamp time | When it was last seen.
  message string | What happened, in words.
  metadata* ObjectMeta | Name, labels and the like.
  reason string | One CamelCase word for what happened.
  related ObjectReference | A second object that it concerns.
  reportingComponent string | The controller that reported it.
  reportingInstance string | Which instance of the controller.
  series EventSeries | How often a repeated event was seen.
  source EventSource | Who reported it.
  type string | Normal or Warning.
type ObjectReference | Points to another object.
  apiVersion string | API version of the object.
  fieldPath string | A part of the object, such as one container.
  kind string | Kind of the object.
  name string | Name of the object.
  namespace string | Namespace of the object.
  resourceVersion string | Version that was meant.
  uid string | UID of the object.
type EventSeries | How often a repeated event was seen.
  count int32 | How often.
  lastObservedTime micro_time | When it was last seen.
type EventSource | Who reported an event.
  component string | The component.
  host string | The node it ran on.
type ConfigMap | Configuration for pods to read.
  apiVersion string | Group and version of this object's schema.
  binaryData map:bytes | Bytes by key, in base64.
  data map:string | Texts by key.
  immutable boolean | True forbids any later change of the data.
  kind string | What the object is.
  metadata ObjectMeta | Name, labels and the like.
type Secret | Small confidential data for pods to read.
  apiVersion string | Group and version of this object's schema.
  data map:bytes | Bytes by key, in base64.
  immutable boolean | True forbids any later change of the data.
  kind string | What the object is.
  metadata ObjectMeta | Name, labels and the like.
  stringData map:string | Texts by key; written into data by the server and never read back.
  type string | What kind of secret it is; Opaque by default.
type ServiceAccount | An identity for pods.
  apiVersion string | Group and version of this object's schema.
  automountServiceAccountToken boolean | Whether its token is mounted into pods.
  imagePullSecrets []LocalObjectReference | Credentials for pulling images.
  kind string | What the object is.
  metadata ObjectMeta | Name, labels and the like.
  secrets []ObjectReference merge=name | Secrets that its pods may use.
type Binding | Puts a pod on a node.
  apiVersion string | Group and version of this object's schema.
  kind string | What the object is.
  metadata ObjectMeta | Name, labels and the like.
  target* ObjectReference | What is bound to: a node.
package io.k8s.api.scheduling.v1
type PriorityClass | A named priority for pods.
  apiVersion string | Group and version of this object's schema.
  description string | When to use it.
  globalDefault boolean | Whether pods without a class get this one.
  kind string | What the object is.
  metadata ObjectMeta | Name, labels and the like.
  preemptionPolicy string | Never, or PreemptLowerPriority.
  value int32 | The priority; higher goes first.
package io.k8s.api.coordination.v1
type Lease | A lock with an expiry.
  apiVersion string | Group and version of this object's schema.
  kind string | What the object is.
  metadata ObjectMeta | Name, labels and the like.
  spec LeaseSpec | Who holds it.
type LeaseSpec | Who holds the lease, and until when.
  acquireTime micro_time | When the holder took it.
  holderIdentity string | The holder.
  leaseDurationSeconds int32 | Seconds after renewTime at which others may take it.
  leaseTransitions int32 | How often the holder changed.
  preferredHolder string | Who should hold it.
  renewTime micro_time | When the holder last renewed it.
  strategy string | How a leader is chosen.
)schema";

}  // namespace tau::kube::schema_texts
