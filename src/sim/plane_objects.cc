// Parts of objects from parts of deltas, and what is admitted back.
#include <fmt/format.h>

#include <algorithm>

#include "mirror/translate.h"
#include "sim/plane_stage.h"
#include "sim/scenario_reader.h"

namespace tau::sim {
using namespace engine;

namespace {

std::string effect_text(std::optional<Effect> effect) {
  if (!effect) return "";
  switch (*effect) {
    case Effect::no_schedule:
      return "NoSchedule";
    case Effect::prefer_no_schedule:
      return "PreferNoSchedule";
    case Effect::no_execute:
      return "NoExecute";
  }
  return "";
}
}  // namespace

kube::StringMap PlaneStage::quantities(const Amounts& amounts) const {
  kube::StringMap made;
  for (const Amount& amount : amounts)
    made[reader_.names().resources.name(amount.resource)] =
        mirror::quantity_text(amount.resource, amount.value);
  return made;
}
kube::StringMap PlaneStage::labels(const std::vector<Label>& from) const {
  kube::StringMap made;
  for (const Label& label : from)
    made[reader_.names().label_keys.name(label.key)] =
        reader_.names().label_values.name(label.value);
  return made;
}
std::vector<kube::Taint> PlaneStage::taints(const std::vector<Taint>& from) const {
  std::vector<kube::Taint> made;
  for (const Taint& taint : from)
    made.push_back({.key = reader_.names().label_keys.name(taint.key),
                    .value = reader_.names().label_values.name(taint.value),
                    .effect = effect_text(taint.effect)});
  return made;
}
std::vector<kube::Toleration> PlaneStage::tolerations(const std::vector<Toleration>& from) const {
  std::vector<kube::Toleration> made;
  for (const Toleration& one : from) {
    kube::Toleration toleration{.effect = effect_text(one.effect)};
    if (one.key.is_some()) toleration.key = reader_.names().label_keys.name(one.key);
    toleration.operator_ = one.value.is_some() ? "Equal" : "Exists";
    if (one.value.is_some()) toleration.value = reader_.names().label_values.name(one.value);
    made.push_back(std::move(toleration));
  }
  return made;
}

std::vector<kube::ResourceGroup> PlaneStage::groups(const std::vector<ResourceGroup>& from) const {
  const auto& names = reader_.names();
  std::vector<kube::ResourceGroup> made;
  for (const ResourceGroup& group : from) {
    kube::ResourceGroup one;
    for (const ResourceId resource : group.resources)
      one.covered_resources.push_back(names.resources.name(resource));
    for (const FlavorQuota& flavor : group.flavors) {
      kube::FlavorQuotas quotas{.name = named(names.flavors.name(flavor.flavor))};
      for (const ResourceId resource : group.resources) {
        const auto found = std::ranges::find(flavor.quotas, resource, &Quota::resource);
        const Quota quota = found == flavor.quotas.end() ? Quota{.resource = resource} : *found;
        const auto text = [&](int64_t value) { return mirror::quantity_text(resource, value); };
        kube::ResourceQuota cell{.name = names.resources.name(resource),
                                 .nominal_quota = text(quota.nominal)};
        if (quota.borrowing_limit) cell.borrowing_limit = text(*quota.borrowing_limit);
        if (quota.lending_limit) cell.lending_limit = text(*quota.lending_limit);
        quotas.resources.push_back(std::move(cell));
      }
      one.flavors.push_back(std::move(quotas));
    }
    made.push_back(std::move(one));
  }
  return made;
}

kube::PodSpec PlaneStage::pod_spec(const Request& request) {
  kube::PodSpec spec;
  spec.restart_policy = "Never";
  spec.scheduler_name = "taugrid";
  kube::Container container{.name = "main", .image = "x"};
  container.resources.requests = quantities(request.amounts);
  for (const auto& [resource, amount] : container.resources.requests) {
    if (resource != "cpu" && resource != "memory") container.resources.limits[resource] = amount;
  }
  spec.containers.push_back(std::move(container));
  spec.tolerations = tolerations(request.tolerations);
  for (const Term& term : request.terms) {
    kube::NodeSelectorTerm one;
    for (const Requirement& from : term) {
      kube::LabelRequirement made{.key = reader_.names().label_keys.name(from.key),
                                  .operator_ = "In"};
      if (from.op != Operator::in) missing_.insert("node affinity other than In");
      for (const LabelValueId value : from.values)
        made.values.push_back(reader_.names().label_values.name(value));
      one.match_expressions.push_back(std::move(made));
    }
    spec.required_node_affinity.push_back(std::move(one));
  }
  return spec;
}

void PlaneStage::ask_topology(kube::PodSet& set, const TopologyRequest& from) {
  using Asked = TopologyRequest::Kind;
  const auto level = [&](LabelKeyId id) { return reader_.names().label_keys.name(id); };
  if (from.kind == Asked::required) set.required_topology = level(from.level);
  if (from.kind == Asked::preferred) set.preferred_topology = level(from.level);
  if (from.kind == Asked::unconstrained) set.unconstrained_topology = true;
  if (from.slices.size() == 1) {
    set.slice_required_topology = level(from.slices[0].level);
    set.slice_size = from.slices[0].size;
  } else {
    for (const TopologyRequest::Slice& slice : from.slices)
      set.slice_constraints.push_back({level(slice.level), slice.size});
  }
  if (from.group != 0) set.group_name = fmt::format("group-{}", from.group);
}

kube::Admission PlaneStage::admission(const kube::Workload& workload, const WorkloadUpsert& work) {
  kube::Admission made{.cluster_queue = workload.spec.queue_name};
  for (size_t i = 0; i < work.pod_sets.size(); ++i) {
    const PodSetAdmission& from = work.admission->at(i);
    kube::PodSetAssignment set{.name = workload.spec.pod_sets[i].name, .count = from.count};
    for (const auto& [resource, flavor] : from.flavors) {
      const std::string& name = reader_.names().resources.name(resource);
      set.flavors[name] = named(reader_.names().flavors.name(flavor));
      int64_t each = resource == engine::pods ? 1 : 0;
      for (const Amount& amount : work.pod_sets[i].request.amounts) {
        if (amount.resource == resource) each = amount.value;
      }
      set.resource_usage[name] = mirror::quantity_text(resource, each * from.count);
    }
    if (!from.nodes.empty()) {
      kube::TopologyAssignment& topology = set.topology_assignment.emplace();
      topology.levels = {std::string(mirror::hostname_level)};
      for (const auto& [node, count] : from.nodes)
        topology.domains.push_back({{named(reader_.names().nodes.name(node))}, count});
    }
    made.pod_set_assignments.push_back(std::move(set));
  }
  return made;
}

std::vector<PodSetAdmission> PlaneStage::admission_shown(const kube::Workload& workload) const {
  std::vector<PodSetAdmission> made;
  auto& names = reader_.names();
  for (const kube::PodSetAssignment& from : workload.status.admission->pod_set_assignments) {
    PodSetAdmission set{.count = static_cast<int32_t>(from.count.value_or(0))};
    for (const auto& [resource, flavor] : from.flavors)
      set.flavors.emplace_back(names.resources.intern(resource),
                               names.flavors.intern(original(flavor)));
    std::ranges::sort(set.flavors);
    if (from.topology_assignment) {
      for (const kube::TopologyDomain& domain : from.topology_assignment->domains) {
        if (!domain.values.empty())
          set.nodes.emplace_back(names.nodes.intern(original(domain.values.back())),
                                 static_cast<int32_t>(domain.count));
      }
    }
    std::ranges::sort(set.nodes);
    made.push_back(std::move(set));
  }
  return made;
}

}  // namespace tau::sim
