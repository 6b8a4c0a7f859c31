#include "kube/schema.h"

#include "base/check.h"
#include "kube/schema_texts.h"
#include "kube/types.h"
#include "meta/fields.h"
#include "meta/schema_text.h"

namespace tau::meta {
using namespace tau::kube;

// The types that structs hold are described by their own tables wherever the texts refer to them.
static const SchemaText& schema_text() {
  static const std::array texts{schema_texts::meta,   schema_texts::pod,    schema_texts::container,
                                schema_texts::volume, schema_texts::status, schema_texts::node,
                                schema_texts::job,    schema_texts::small};
  static const std::array<SchemaText::Known, 29> known{
      {{"ObjectMeta", &type_of<ObjectMeta>},
       {"OwnerReference", &type_of<OwnerReference>},
       {"LabelSelector", &type_of<LabelSelector>},
       {"LabelSelectorRequirement", &type_of<LabelRequirement>},
       {"ResourceRequirements", &type_of<ResourceRequirements>},
       {"EnvVar", &type_of<EnvVar>},
       {"EnvFromSource", &type_of<EnvFrom>},
       {"VolumeMount", &type_of<VolumeMount>},
       {"ContainerPort", &type_of<ContainerPort>},
       {"Container", &type_of<Container>},
       {"KeyToPath", &type_of<KeyToPath>},
       {"Volume", &type_of<PodVolume>},
       {"Toleration", &type_of<Toleration>},
       {"NodeSelectorTerm", &type_of<NodeSelectorTerm>},
       {"PreferredSchedulingTerm", &type_of<PreferredTerm>},
       {"PodSchedulingGate", &type_of<SchedulingGate>},
       {"PodSpec", &type_of<PodSpec>},
       {"PodTemplateSpec", &type_of<PodTemplate>},
       {"PodStatus", &type_of<PodStatus>},
       {"ContainerStatus", &type_of<ContainerStatus>},
       {"ContainerState", &type_of<ContainerStateValue>},
       {"Taint", &type_of<Taint>},
       {"NodeAddress", &type_of<NodeAddress>},
       {"NodeSystemInfo", &type_of<NodeInfo>},
       {"NodeSpec", &type_of<Node::Spec>},
       {"NodeStatus", &type_of<Node::Status>},
       {"JobSpec", &type_of<JobSpec>},
       {"JobStatus", &type_of<JobStatus>},
       {"ObjectReference", &type_of<ObjectReference>}}};
  static const SchemaText read(texts, known);
  return read;
}

TypeInfo full_table(std::string_view name, std::string_view description,
                    std::vector<Field> fields) {
  return schema_text().complete(table(name, description, std::move(fields)));
}

TypeInfo object_table(std::string_view name, std::string_view description,
                      std::vector<Field> fields) {
  std::vector<Field> all;
  all.push_back(
      schema_only("apiVersion", "Group and version of this object's schema.", string_type));
  all.push_back(schema_only("kind", "What the object is.", string_type));
  for (Field& field : fields) all.push_back(std::move(field));
  return full_table(name, description, std::move(all));
}
}  // namespace tau::meta

namespace tau::kube {
const meta::TypeInfo* schema_named(std::string_view name) {
  return meta::schema_text().find(name);
}

const meta::TypeInfo& schema_of(Kind kind) {
  switch (kind) {
    case Kind::namespace_:
      return meta::type_of<Namespace>();
    case Kind::node:
      return meta::type_of<Node>();
    case Kind::pod:
      return meta::type_of<Pod>();
    case Kind::event:
      return meta::type_of<Event>();
    case Kind::config_map:
      return meta::type_of<ConfigMap>();
    case Kind::secret:
      return meta::type_of<Secret>();
    case Kind::service_account:
      return meta::type_of<ServiceAccount>();
    case Kind::priority_class:
      return meta::type_of<PriorityClass>();
    case Kind::lease:
      return meta::type_of<Lease>();
    case Kind::job:
      return meta::type_of<Job>();
    case Kind::resource_flavor:
      return meta::type_of<ResourceFlavor>();
    case Kind::cluster_queue:
      return meta::type_of<ClusterQueue>();
    case Kind::local_queue:
      return meta::type_of<LocalQueue>();
    case Kind::cohort:
      return meta::type_of<Cohort>();
    case Kind::workload_priority_class:
      return meta::type_of<WorkloadPriorityClass>();
    case Kind::topology:
      return meta::type_of<Topology>();
    case Kind::workload:
      return meta::type_of<Workload>();
  }
  CHECK(false);
}
}  // namespace tau::kube
