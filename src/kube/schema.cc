#include "kube/schema.h"

#include "base/check.h"
#include "kube/types.h"
#include "meta/fields.h"

namespace tau::meta {
TypeInfo object_table(std::string_view name, std::string_view description, std::vector<Field> fields) {
  std::vector<Field> all;
  all.push_back(schema_only("apiVersion", "Group and version of this object's schema.", string_type));
  all.push_back(schema_only("kind", "What the object is.", string_type));
  for (Field& field : fields) all.push_back(std::move(field));
  return table(name, description, std::move(all));
}
}  // namespace tau::meta

namespace tau::kube {
const meta::TypeInfo& schema_of(Kind kind) {
  switch (kind) {
    case Kind::namespace_: return meta::type_of<Namespace>();
    case Kind::node: return meta::type_of<Node>();
    case Kind::pod: return meta::type_of<Pod>();
    case Kind::event: return meta::type_of<Event>();
    case Kind::config_map: return meta::type_of<ConfigMap>();
    case Kind::secret: return meta::type_of<Secret>();
    case Kind::service_account: return meta::type_of<ServiceAccount>();
    case Kind::priority_class: return meta::type_of<PriorityClass>();
    case Kind::lease: return meta::type_of<Lease>();
    case Kind::job: return meta::type_of<Job>();
    case Kind::resource_flavor: return meta::type_of<ResourceFlavor>();
    case Kind::cluster_queue: return meta::type_of<ClusterQueue>();
    case Kind::local_queue: return meta::type_of<LocalQueue>();
    case Kind::cohort: return meta::type_of<Cohort>();
    case Kind::workload_priority_class: return meta::type_of<WorkloadPriorityClass>();
    case Kind::topology: return meta::type_of<Topology>();
    case Kind::workload: return meta::type_of<Workload>();
  }
  CHECK(false);
}
}  // namespace tau::kube
