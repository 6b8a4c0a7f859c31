// Single objects in the engine's terms.
#pragma once

#include <optional>

#include "engine/values.h"
#include "kube/types.h"
#include "mirror/names.h"

namespace tau::mirror {

// Amounts by resource name; what cannot be parsed is left out (the API server has refused it
// already).
engine::Amounts amounts_of(Names& names, const kube::StringMap& quantities);
// cpu in thousandths, everything else in whole units. The reverse of amounts_of.
std::string quantity_text(engine::ResourceId resource, int64_t value);
// What a pod asks for: containers summed, at least the largest init container, overhead added.
engine::Amounts pod_amounts(Names& names, const kube::PodSpec& spec);
engine::Request request_of(Names& names, const kube::PodSpec& spec);
engine::NodeUpsert node_of(Names& names, const kube::Node& node);
std::vector<std::string> devices_of(const kube::Node& node);
engine::GpuMask mask_of(const kube::Pod& pod, const std::vector<std::string>& devices);
engine::QueueUpsert queue_of(Names& names, const kube::ClusterQueue& queue);
engine::FlavorUpsert flavor_of(Names& names, const kube::ResourceFlavor& flavor);
engine::StopPolicy stop_of(std::string_view policy);
engine::TopologyRequest topology_of(Names& names, const kube::PodSet& set);
engine::CohortUpsert cohort_of(Names& names, const kube::Cohort& cohort);
std::vector<engine::PodSetAdmission> admission_of(Names& names, const kube::Workload& workload);
kube::Admission admission_text(const Names& names, const kube::Workload& workload,
                               const engine::Admit& admit);

}  // namespace tau::mirror
