// Names to the engine's ids and back: the only place where both vocabularies meet.
#pragma once

#include <string>
#include <vector>

#include "base/interner.h"
#include "engine/values.h"

namespace tau::mirror {

// What the writers need of a pod or workload once only its id is left.
struct PodName {
  std::string ns, name, uid;
};
struct WorkloadName {
  std::string ns, name, uid;
};

class Names {
 public:
  Names();
  Interner<engine::NodeId> nodes;
  Interner<engine::PodId> pods;            // by uid
  Interner<engine::WorkloadId> workloads;  // by uid
  Interner<engine::QueueId> queues;
  Interner<engine::CohortId> cohorts;
  Interner<engine::FlavorId> flavors;
  Interner<engine::ResourceId> resources;
  Interner<engine::LabelKeyId> label_keys;
  Interner<engine::LabelValueId> label_values;
  std::vector<PodName> pod_names;            // by id
  std::vector<WorkloadName> workload_names;  // by id
};

// Kubernetes' names of the fixed resources.
inline constexpr std::string_view gpu_resource = "nvidia.com/gpu";
inline constexpr std::string_view gpu_devices_annotation =
    "taugrid.io/gpu-devices";  // on nodes: uuid,uuid,...
inline constexpr std::string_view gpus_annotation =
    "taugrid.io/gpus";  // on pods: container=uuid,uuid;...
inline constexpr std::string_view quota_annotation = "taugrid.io/quota";
inline constexpr std::string_view backfill_annotation = "taugrid.io/backfill";
inline constexpr std::string_view hostname_level = "kubernetes.io/hostname";

}  // namespace tau::mirror
