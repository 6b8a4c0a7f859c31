#include "control/defaults.h"

#include "kube/codec.h"

namespace tau::control {
using kube::Kind;

std::span<const Kind> Defaults::watches() const {
  static constexpr Kind kinds[] = {Kind::config_map};
  return kinds;
}

kube::Actions Defaults::reconcile(const kube::Stores& stores, const kube::ObjectKey& key, Time,
                                  Rng&) {
  kube::Actions actions;
  if (stores.get<kube::ConfigMap>().find(key)) return actions;
  kube::ResourceFlavor flavor;
  flavor.metadata.name = "default";
  kube::ClusterQueue queue;
  queue.metadata.name = "default";
  queue.metadata.annotations = {{"taugrid.io/quota", "auto"}, {"taugrid.io/backfill", "easy"}};
  queue.spec.namespace_selector.emplace();
  queue.spec.queueing_strategy = "BestEffortFIFO";
  kube::ResourceGroup group;
  kube::FlavorQuotas quotas{.name = "default"};
  for (const char* resource : {"cpu", "memory", "nvidia.com/gpu", "pods"}) {
    group.covered_resources.emplace_back(resource);
    quotas.resources.push_back(
        {.name = resource, .nominal_quota = "0"});  // replaced by what the nodes have
  }
  group.flavors.push_back(std::move(quotas));
  queue.spec.resource_groups.push_back(std::move(group));
  kube::LocalQueue local;
  local.metadata.name = "default";
  local.metadata.namespace_ = "default";
  local.cluster_queue = "default";
  kube::ConfigMap marker;
  marker.metadata.name = key.name;
  marker.metadata.namespace_ = key.ns;
  marker.data["made"] = "ResourceFlavor/default,ClusterQueue/default,LocalQueue/default";
  actions.requests = {kube::create_request(Kind::resource_flavor, "", kube::object_text(flavor)),
                      kube::create_request(Kind::cluster_queue, "", kube::object_text(queue)),
                      kube::create_request(Kind::local_queue, "default", kube::object_text(local)),
                      kube::create_request(Kind::config_map, key.ns, kube::object_text(marker))};
  return actions;
}

}  // namespace tau::control
