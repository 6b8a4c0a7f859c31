// Schema text: what every object carries.
// Names and types are the API's own; the format is in meta/schema_text.h.
#include "kube/schema_texts.h"

namespace tau::kube::schema_texts {

const std::string_view meta = R"schema(
package io.k8s.apimachinery.pkg.apis.meta.v1
type ObjectMeta | What every stored object carries.
  annotations map:string | Keys and values that tools attach; not for selection.
  creationTimestamp time | When the server made the object.
  deletionGracePeriodSeconds int64
      | Seconds left to end in an orderly way after deletion was asked for.
  deletionTimestamp time | When the object is to be gone; set by a graceful deletion.
  finalizers []string merge | Names that must be removed before the object can go.
  generateName string | Prefix from which the server makes a unique name when none is given.
  generation int64 | Counts changes of the wanted state; set by the server.
  labels map:string | Keys and values by which objects are grouped and selected.
  managedFields []ManagedFieldsEntry | Which manager set which field; kept for tools.
  name string | Unique within its namespace and kind. Cannot be changed.
  namespace string | The namespace of the object; empty for cluster-scoped kinds. Cannot be changed.
  ownerReferences []OwnerReference merge=uid
      | The objects that this one belongs to; when all are gone it is collected.
  resourceVersion string | Opaque version for optimistic concurrency and watches; set by the server.
  selfLink string | No longer filled by servers.
  uid string | Unique in time and space; set by the server.
type ManagedFieldsEntry | Which fields one manager set.
  apiVersion string | Group and version of this object's schema.
  fieldsType string | Form of the fields: FieldsV1.
  fieldsV1 any | The fields, as a tree.
  manager string | Name of the manager.
  operation string | Apply or Update.
  subresource string | The subresource that was written.
  time time | When it was written.
type OwnerReference | Names an object that this one belongs to.
  apiVersion* string | API version of the owner.
  blockOwnerDeletion boolean
      | True keeps the owner, when deleted in the foreground, until this object is gone.
  controller boolean | True for the one owner that manages this object.
  kind* string | Kind of the owner.
  name* string | Name of the owner.
  uid* string | UID of the owner.
type LabelSelector | Selects objects by label; all parts must hold.
  matchExpressions []LabelSelectorRequirement | Further tests that must hold.
  matchLabels map:string | Labels that must have exactly these values.
type LabelSelectorRequirement | A test of one label.
  key* string | The label's key.
  operator* string | In, NotIn, Exists, DoesNotExist; for nodes also Gt and Lt.
  values []string | Values to compare with; empty for Exists and DoesNotExist.
type DeleteOptions | How an object is deleted.
  apiVersion string | Group and version of this object's schema.
  dryRun []string | All: go through everything, but change nothing.
  gracePeriodSeconds int64 | Seconds to end in an orderly way; 0 ends at once.
  ignoreStoreReadErrorWithClusterBreakingPotential boolean
      | Deletes even what cannot be read; dangerous.
  kind string | What the object is.
  orphanDependents boolean | Old form of propagationPolicy.
  preconditions Preconditions | What must hold for the deletion to be carried out.
  propagationPolicy string | What becomes of dependents: Orphan, Background or Foreground.
type Preconditions | What must hold for a deletion.
  resourceVersion string | Version that is meant.
  uid string | UID of the object.
package io.k8s.api.policy.v1
type Eviction | Asks a pod to leave its node, if budgets allow.
  apiVersion string | Group and version of this object's schema.
  deleteOptions DeleteOptions | How the pod is deleted.
  kind string | What the object is.
  metadata ObjectMeta | Name, labels and the like.
)schema";

}  // namespace tau::kube::schema_texts
