// Field tables: metadata, conditions, selectors, and the small objects of core, scheduling and
// coordination.
#include "kube/schema.h"
#include "kube/types.h"
#include "meta/fields.h"

namespace tau::meta {
using namespace tau::kube;

template <>
const TypeInfo& type_of<OwnerReference>() {
  static const TypeInfo type = full_table(
      "io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference",
      "Names an object that this one belongs to.",
      {
          field<&OwnerReference::api_version>("apiVersion", "API version of the owner.",
                                              {.is_required = true}),
          field<&OwnerReference::kind>("kind", "Kind of the owner.", {.is_required = true}),
          field<&OwnerReference::name>("name", "Name of the owner.", {.is_required = true}),
          field<&OwnerReference::uid>("uid", "UID of the owner.", {.is_required = true}),
          field<&OwnerReference::controller>("controller",
                                             "True for the one owner that manages this object."),
          field<&OwnerReference::block_owner_deletion>(
              "blockOwnerDeletion",
              "True keeps the owner, when deleted in the foreground, until this object is gone."),
      });
  return type;
}

template <>
const TypeInfo& type_of<ObjectMeta>() {
  static const TypeInfo type = full_table(
      "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta", "What every stored object carries.",
      {
          field<&ObjectMeta::name>("name",
                                   "Unique within its namespace and kind. Cannot be changed."),
          field<&ObjectMeta::generate_name>(
              "generateName",
              "Prefix from which the server makes a unique name when none is given."),
          field<&ObjectMeta::namespace_>(
              "namespace",
              "The namespace of the object; empty for cluster-scoped kinds. Cannot be changed."),
          schema_only("selfLink", "No longer filled by servers.", string_type),
          field<&ObjectMeta::uid>("uid", "Unique in time and space; set by the server."),
          field<&ObjectMeta::resource_version>(
              "resourceVersion",
              "Opaque version for optimistic concurrency and watches; set by the server."),
          field<&ObjectMeta::generation>("generation",
                                         "Counts changes of the wanted state; set by the server."),
          field<&ObjectMeta::creation_timestamp>("creationTimestamp",
                                                 "When the server made the object."),
          field<&ObjectMeta::deletion_timestamp>(
              "deletionTimestamp", "When the object is to be gone; set by a graceful deletion."),
          field<&ObjectMeta::deletion_grace_period_seconds>(
              "deletionGracePeriodSeconds",
              "Seconds left to end in an orderly way after deletion was asked for."),
          field<&ObjectMeta::labels>("labels",
                                     "Keys and values by which objects are grouped and selected."),
          field<&ObjectMeta::annotations>("annotations",
                                          "Keys and values that tools attach; not for selection."),
          field<&ObjectMeta::owner_references>(
              "ownerReferences",
              "The objects that this one belongs to; when all are gone it is collected.",
              {.merge_key = "uid"}),
          field<&ObjectMeta::finalizers>("finalizers",
                                         "Names that must be removed before the object can go.",
                                         {.merges_primitives = true}),
          schema_only("managedFields", "Which manager set which field; kept for tools.",
                      list_of<any_type>),
      });
  return type;
}

template <>
const TypeInfo& type_of<Condition>() {
  static const TypeInfo type = full_table(
      "io.k8s.apimachinery.pkg.apis.meta.v1.Condition", "One aspect of an object's state.",
      {
          field<&Condition::type>("type", "Name of the aspect.", {.is_required = true}),
          field<&Condition::status>("status", "True, False or Unknown.", {.is_required = true}),
          field<&Condition::observed_generation>("observedGeneration",
                                                 "The generation that the condition speaks of."),
          field<&Condition::last_probe_time>("lastProbeTime", "When it was last looked at."),
          field<&Condition::last_heartbeat_time>("lastHeartbeatTime", "When it was last reported."),
          field<&Condition::last_transition_time>("lastTransitionTime",
                                                  "When the status last changed."),
          schema_only("lastUpdateTime", "When it was last written.", time_type),
          field<&Condition::reason>("reason", "One CamelCase word for the cause."),
          field<&Condition::message>("message", "The cause in words."),
      });
  return type;
}

template <>
const TypeInfo& type_of<LabelRequirement>() {
  static const TypeInfo type = full_table(
      "io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelectorRequirement", "A test of one label.",
      {
          field<&LabelRequirement::key>("key", "The label's key.", {.is_required = true}),
          field<&LabelRequirement::operator_>(
              "operator", "In, NotIn, Exists, DoesNotExist; for nodes also Gt and Lt.",
              {.is_required = true}),
          field<&LabelRequirement::values>(
              "values", "Values to compare with; empty for Exists and DoesNotExist."),
      });
  return type;
}

template <>
const TypeInfo& type_of<LabelSelector>() {
  static const TypeInfo type =
      full_table("io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector",
                 "Selects objects by label; all parts must hold.",
                 {
                     field<&LabelSelector::match_labels>(
                         "matchLabels", "Labels that must have exactly these values."),
                     field<&LabelSelector::match_expressions>("matchExpressions",
                                                              "Further tests that must hold."),
                 });
  return type;
}

namespace {
const TypeInfo& namespace_spec() {
  static const TypeInfo type =
      full_table("io.k8s.api.core.v1.NamespaceSpec", "Wanted state of a namespace.",
                 {field<&Namespace::finalizers>(
                     "finalizers", "Names that must be removed before the namespace can go.")});
  return type;
}
const TypeInfo& namespace_status() {
  static const TypeInfo type =
      full_table("io.k8s.api.core.v1.NamespaceStatus", "State of a namespace.",
                 {field<&Namespace::conditions>("conditions", "What holds up its deletion.",
                                                {.merge_key = "type"}),
                  field<&Namespace::phase>("phase", "Active or Terminating.")});
  return type;
}
}  // namespace

template <>
const TypeInfo& type_of<Namespace>() {
  static const TypeInfo type = object_table(
      "io.k8s.api.core.v1.Namespace", "A border for names, quota and access.",
      {field<&Namespace::metadata>("metadata", "Name, labels and the like."),
       nested<Namespace, &namespace_spec>("spec", "Wanted state.", {.is_always = true}),
       nested<Namespace, &namespace_status>("status", "State as seen.")});
  return type;
}

template <>
const TypeInfo& type_of<ConfigMap>() {
  static const TypeInfo type = object_table(
      "io.k8s.api.core.v1.ConfigMap", "Configuration for pods to read.",
      {field<&ConfigMap::metadata>("metadata", "Name, labels and the like."),
       field<&ConfigMap::data>("data", "Texts by key."),
       field<&ConfigMap::binary_data>("binaryData", "Bytes by key, in base64.",
                                      {.type = map_of<bytes_type>}),
       field<&ConfigMap::immutable>("immutable", "True forbids any later change of the data.")});
  return type;
}

template <>
const TypeInfo& type_of<Secret>() {
  static const TypeInfo type = object_table(
      "io.k8s.api.core.v1.Secret", "Small confidential data for pods to read.",
      {field<&Secret::metadata>("metadata", "Name, labels and the like."),
       field<&Secret::data>("data", "Bytes by key, in base64.", {.type = map_of<bytes_type>}),
       schema_only("stringData",
                   "Texts by key; written into data by the server and never read back.",
                   map_of<string_type>),
       field<&Secret::type>("type", "What kind of secret it is; Opaque by default."),
       field<&Secret::immutable>("immutable", "True forbids any later change of the data.")});
  return type;
}

template <>
const TypeInfo& type_of<ServiceAccount>() {
  static const TypeInfo type = object_table(
      "io.k8s.api.core.v1.ServiceAccount", "An identity for pods.",
      {field<&ServiceAccount::metadata>("metadata", "Name, labels and the like."),
       schema_only("secrets", "Secrets that its pods may use.", list_of<any_type>,
                   {.merge_key = "name"}),
       schema_only("imagePullSecrets", "Credentials for pulling images.", list_of<any_type>),
       schema_only("automountServiceAccountToken", "Whether its token is mounted into pods.",
                   boolean_type)});
  return type;
}

template <>
const TypeInfo& type_of<ObjectReference>() {
  static const TypeInfo type = full_table(
      "io.k8s.api.core.v1.ObjectReference", "Points to another object.",
      {field<&ObjectReference::api_version>("apiVersion", "API version of the object."),
       field<&ObjectReference::field_path>("fieldPath",
                                           "A part of the object, such as one container."),
       field<&ObjectReference::kind>("kind", "Kind of the object."),
       field<&ObjectReference::name>("name", "Name of the object."),
       field<&ObjectReference::namespace_>("namespace", "Namespace of the object."),
       field<&ObjectReference::resource_version>("resourceVersion", "Version that was meant."),
       field<&ObjectReference::uid>("uid", "UID of the object.")});
  return type;
}

namespace {
const TypeInfo& event_source() {
  static const TypeInfo type =
      full_table("io.k8s.api.core.v1.EventSource", "Who reported an event.",
                 {field<&Event::source_component>("component", "The component."),
                  field<&Event::source_host>("host", "The node it ran on.")});
  return type;
}
}  // namespace

template <>
const TypeInfo& type_of<Event>() {
  static const TypeInfo type = object_table(
      "io.k8s.api.core.v1.Event", "Something that happened to an object; kept for an hour.",
      {field<&Event::metadata>("metadata", "Name, labels and the like.", {.is_required = true}),
       field<&Event::involved_object>("involvedObject", "The object that it happened to.",
                                      {.is_required = true, .is_always = true}),
       field<&Event::reason>("reason", "One CamelCase word for what happened."),
       field<&Event::message>("message", "What happened, in words."),
       nested<Event, &event_source>("source", "Who reported it.", {.is_always = true}),
       field<&Event::first_timestamp>("firstTimestamp", "When it was first seen."),
       field<&Event::last_timestamp>("lastTimestamp", "When it was last seen."),
       field<&Event::count>("count", "How often it was seen."),
       field<&Event::type>("type", "Normal or Warning."),
       field<&Event::event_time>("eventTime", "When it was first seen, exactly.",
                                 {.type = micro_time_type}),
       schema_only("series", "How often a repeated event was seen.", any_type),
       field<&Event::action>("action", "What was done or tried."),
       schema_only("related", "A second object that it concerns.", type_of<ObjectReference>),
       field<&Event::reporting_component>("reportingComponent", "The controller that reported it."),
       field<&Event::reporting_instance>("reportingInstance",
                                         "Which instance of the controller.")});
  return type;
}

template <>
const TypeInfo& type_of<PriorityClass>() {
  static const TypeInfo type = object_table(
      "io.k8s.api.scheduling.v1.PriorityClass", "A named priority for pods.",
      {field<&PriorityClass::metadata>("metadata", "Name, labels and the like."),
       field<&PriorityClass::value>("value", "The priority; higher goes first.",
                                    {.is_required = true, .is_always = true, .is_immutable = true}),
       field<&PriorityClass::global_default>("globalDefault",
                                             "Whether pods without a class get this one."),
       field<&PriorityClass::description>("description", "When to use it."),
       field<&PriorityClass::preemption_policy>("preemptionPolicy",
                                                "Never, or PreemptLowerPriority.",
                                                {.enum_values = "Never,PreemptLowerPriority"})});
  return type;
}

namespace {
const TypeInfo& lease_spec() {
  static const TypeInfo type = full_table(
      "io.k8s.api.coordination.v1.LeaseSpec", "Who holds the lease, and until when.",
      {field<&Lease::holder_identity>("holderIdentity", "The holder."),
       field<&Lease::lease_duration_seconds>(
           "leaseDurationSeconds", "Seconds after renewTime at which others may take it."),
       field<&Lease::acquire_time>("acquireTime", "When the holder took it.",
                                   {.type = micro_time_type}),
       field<&Lease::renew_time>("renewTime", "When the holder last renewed it.",
                                 {.type = micro_time_type}),
       field<&Lease::lease_transitions>("leaseTransitions", "How often the holder changed."),
       schema_only("strategy", "How a leader is chosen.", string_type),
       schema_only("preferredHolder", "Who should hold it.", string_type)});
  return type;
}
}  // namespace

template <>
const TypeInfo& type_of<Lease>() {
  static const TypeInfo type =
      object_table("io.k8s.api.coordination.v1.Lease", "A lock with an expiry.",
                   {field<&Lease::metadata>("metadata", "Name, labels and the like."),
                    nested<Lease, &lease_spec>("spec", "Who holds it.")});
  return type;
}

}  // namespace tau::meta
