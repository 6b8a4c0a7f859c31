// Schema text: what every object carries. Names and types are the API's own; the format is in meta/schema_text.h.
#include "kube/schema_texts.h"

namespace tau::kube::schema_texts {

const std::string_view meta = R"schema(
package io.k8s.apimachinery.pkg.apis.meta.v1
type ObjectMeta
  annotations map:string
  creationTimestamp time
  deletionGracePeriodSeconds int64
  deletionTimestamp time
  finalizers []string merge
  generateName string
  generation int64
  labels map:string
  managedFields []ManagedFieldsEntry
  name string
  namespace string
  ownerReferences []OwnerReference merge=uid
  resourceVersion string
  selfLink string
  uid string
type ManagedFieldsEntry
  apiVersion string
  fieldsType string
  fieldsV1 any
  manager string
  operation string
  subresource string
  time time
type OwnerReference
  apiVersion* string
  blockOwnerDeletion boolean
  controller boolean
  kind* string
  name* string
  uid* string
type LabelSelector
  matchExpressions []LabelSelectorRequirement
  matchLabels map:string
type LabelSelectorRequirement
  key* string
  operator* string
  values []string
type DeleteOptions
  apiVersion string
  dryRun []string
  gracePeriodSeconds int64
  ignoreStoreReadErrorWithClusterBreakingPotential boolean
  kind string
  orphanDependents boolean
  preconditions Preconditions
  propagationPolicy string
type Preconditions
  resourceVersion string
  uid string
package io.k8s.api.policy.v1
type Eviction
  apiVersion string
  deleteOptions DeleteOptions
  kind string
  metadata ObjectMeta
)schema";

}  // namespace tau::kube::schema_texts
