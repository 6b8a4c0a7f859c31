// Rules for Kueue's objects: those that users meet most.
#include <fmt/format.h>

#include "kube/field_errors.h"
#include "kube/json_access.h"
#include "kube/quantity.h"

namespace tau::kube {
namespace json = boost::json;

namespace {

struct GroupScope {
  bool has_cohort = false;           // limits are only for members of a cohort
  bool lends_above_nominal = false;  // a Cohort may
};

void check_quota(ErrorList& errors, const json::object& quota, const GroupScope& scope,
                 const std::string& path) {
  const json::value* nominal = quota.if_contains("nominalQuota");
  if (nominal == nullptr || nominal->is_null()) {
    errors.required(path + ".nominalQuota");
    return;
  }
  check_quantity(errors, *nominal, path + ".nominalQuota");
  for (const std::string_view key : {"borrowingLimit", "lendingLimit"}) {
    if (!has(quota, key)) continue;
    const std::string at = fmt::format("{}.{}", path, key);
    check_quantity(errors, *quota.if_contains(key), at);
    if (!scope.has_cohort)
      errors.invalid(at, text_at(quota, key), "must be nil when cohort is empty");
  }
  const auto lent = parse_quantity_milli(text_at(quota, "lendingLimit")),
             owned = parse_quantity_milli(text_at(quota, "nominalQuota"));
  if (!scope.lends_above_nominal && lent && owned && *lent > *owned) {
    errors.invalid(path + ".lendingLimit", text_at(quota, "lendingLimit"),
                   "must be less than or equal to the nominalQuota");
  }
}

void check_flavor(ErrorList& errors, const json::object& flavor, const json::array& covered,
                  const GroupScope& scope, const std::string& path) {
  const json::array& resources = array_at(flavor, "resources");
  errors.check(path + ".name", text_at(flavor, "name"), wrong_subdomain(text_at(flavor, "name")));
  if (resources.size() != covered.size()) {
    errors.invalid_value(path + ".resources", static_cast<int64_t>(resources.size()),
                         "must have the same number of resources as the coveredResources");
    return;
  }
  for (size_t i = 0; i < resources.size(); ++i) {
    const std::string at = fmt::format("{}.resources[{}]", path, i);
    const std::string_view name = text_at(as_object(resources[i]), "name");
    if (name != as_view(&covered[i]))
      errors.invalid(at + ".name", name, "must match the name in coveredResources");
    check_quota(errors, as_object(resources[i]), scope, at);
  }
}

void check_resource_groups(ErrorList& errors, const json::array& groups, const GroupScope& scope,
                           const std::string& path) {
  std::set<std::string_view> resources, flavors;
  if (groups.size() > 16)
    errors.invalid_value(path, static_cast<int64_t>(groups.size()), "must have at most 16 items");
  for (size_t i = 0; i < groups.size(); ++i) {
    const json::object& group = as_object(groups[i]);
    const std::string at = fmt::format("{}[{}]", path, i);
    const json::array& covered = array_at(group, "coveredResources");
    if (covered.empty()) errors.required(at + ".coveredResources");
    for (size_t j = 0; j < covered.size(); ++j) {
      const std::string here = fmt::format("{}.coveredResources[{}]", at, j);
      const std::string_view name = as_view(&covered[j]);
      errors.check(here, name, wrong_qualified_name(name));
      if (!resources.insert(name).second) errors.duplicate(here, name);
    }
    const json::array& list = array_at(group, "flavors");
    if (list.empty()) errors.required(at + ".flavors");
    for (size_t j = 0; j < list.size(); ++j) {
      const std::string here = fmt::format("{}.flavors[{}]", at, j);
      check_flavor(errors, as_object(list[j]), covered, scope, here);
      const std::string_view name = text_at(as_object(list[j]), "name");
      if (!flavors.insert(name).second) errors.duplicate(here + ".name", name);
    }
  }
}

void check_weight(ErrorList& errors, const json::object& spec) {
  const json::object& sharing = object_at(spec, "fairSharing");
  if (has(sharing, "weight"))
    check_quantity(errors, *sharing.if_contains("weight"), "spec.fairSharing.weight");
}

void check_cluster_queue(ErrorList& errors, const json::object& spec) {
  const std::string_view cohort = text_at(spec, "cohortName");
  if (!cohort.empty()) errors.check("spec.cohortName", cohort, wrong_subdomain(cohort));
  check_resource_groups(errors, array_at(spec, "resourceGroups"), {.has_cohort = !cohort.empty()},
                        "spec.resourceGroups");
  errors.one_of("spec.queueingStrategy", text_at(spec, "queueingStrategy"),
                {"StrictFIFO", "BestEffortFIFO"});
  errors.one_of("spec.stopPolicy", text_at(spec, "stopPolicy"), {"None", "Hold", "HoldAndDrain"});
  check_label_selector(errors, object_at(spec, "namespaceSelector"), "spec.namespaceSelector");
  const json::object& preemption = object_at(spec, "preemption");
  const std::string_view reclaim = text_at(preemption, "reclaimWithinCohort");
  const std::string_view borrow = text_at(object_at(preemption, "borrowWithinCohort"), "policy");
  errors.one_of("spec.preemption.withinClusterQueue", text_at(preemption, "withinClusterQueue"),
                {"Never", "LowerPriority", "LowerOrNewerEqualPriority"});
  errors.one_of("spec.preemption.reclaimWithinCohort", reclaim, {"Never", "LowerPriority", "Any"});
  errors.one_of("spec.preemption.borrowWithinCohort.policy", borrow, {"Never", "LowerPriority"});
  if ((reclaim.empty() || reclaim == "Never") && !borrow.empty() && borrow != "Never") {
    errors.invalid("spec.preemption", borrow,
                   "reclaimWithinCohort=Never and borrowWithinCohort.policy!=Never");
  }
  const json::object& fungibility = object_at(spec, "flavorFungibility");
  errors.one_of("spec.flavorFungibility.whenCanBorrow", text_at(fungibility, "whenCanBorrow"),
                {"MayStopSearch", "TryNextFlavor"});
  errors.one_of("spec.flavorFungibility.whenCanPreempt", text_at(fungibility, "whenCanPreempt"),
                {"MayStopSearch", "TryNextFlavor"});
  check_weight(errors, spec);
}

void check_resource_flavor(ErrorList& errors, const json::object& spec) {
  check_labels(errors, object_at(spec, "nodeLabels"), "spec.nodeLabels");
  check_taints(errors, array_at(spec, "nodeTaints"), "spec.nodeTaints");
  check_tolerations(errors, array_at(spec, "tolerations"), "spec.tolerations");
  if (object_at(spec, "nodeLabels").size() > 8)
    errors.invalid_value("spec.nodeLabels",
                         static_cast<int64_t>(object_at(spec, "nodeLabels").size()),
                         "must have at most 8 items");
  if (!text_at(spec, "topologyName").empty() && object_at(spec, "nodeLabels").empty())
    errors.required("spec.nodeLabels", "at least one nodeLabel is required when topology is set");
}

void check_topology(ErrorList& errors, const json::object& spec) {
  const json::array& levels = array_at(spec, "levels");
  if (levels.empty()) errors.required("spec.levels");
  std::set<std::string_view> seen;
  for (size_t i = 0; i < levels.size(); ++i) {
    const std::string at = fmt::format("spec.levels[{}].nodeLabel", i);
    const std::string_view label = text_at(as_object(levels[i]), "nodeLabel");
    errors.check(at, label, wrong_qualified_name(label));
    if (!seen.insert(label).second) errors.duplicate(at, label);
    if (label == "kubernetes.io/hostname" && i + 1 < levels.size())
      errors.invalid(at, label, "must only be used at the lowest level of topology");
  }
}

void check_workload(ErrorList& errors, const json::object& spec) {
  const json::array& sets = array_at(spec, "podSets");
  if (sets.empty()) errors.required("spec.podSets");
  std::set<std::string_view> names;
  for (size_t i = 0; i < sets.size(); ++i) {
    const json::object& set = as_object(sets[i]);
    const std::string at = fmt::format("spec.podSets[{}]", i);
    const std::string_view name = text_at(set, "name");
    errors.check(at + ".name", name, wrong_label(name));
    if (!names.insert(name).second) errors.duplicate(at, name);
    errors.not_negative(at, set, "count");
    const auto least = integer_at(set, "minCount"), count = integer_at(set, "count");
    if (least && count && (*least < 1 || *least > *count))
      errors.invalid_value(at + ".minCount", *least,
                           "minCount should be positive and less or equal to count");
  }
  if (has(spec, "priorityClassRef") && !has(spec, "priority"))
    errors.invalid_value("spec.priority", nullptr,
                         "priority should not be nil when priorityClassRef is set");
  const auto most = integer_at(spec, "maximumExecutionTimeSeconds");
  if (most && *most < 1)
    errors.invalid_value("spec.maximumExecutionTimeSeconds", *most,
                         "should be greater than or equal to 1");
}

bool has_quota(const json::object& workload) {
  for (const json::value& condition : array_at(object_at(workload, "status"), "conditions")) {
    const json::object& object = as_object(condition);
    if (text_at(object, "type") == "QuotaReserved" && text_at(object, "status") == "True")
      return true;
  }
  return false;
}

}  // namespace

void check_kueue(ErrorList& errors, Kind kind, const json::object& object) {
  const json::object& spec = object_at(object, "spec");
  switch (kind) {
    case Kind::cluster_queue:
      return check_cluster_queue(errors, spec);
    case Kind::resource_flavor:
      return check_resource_flavor(errors, spec);
    case Kind::topology:
      return check_topology(errors, spec);
    case Kind::workload:
      return check_workload(errors, spec);
    case Kind::cohort: {
      const std::string_view parent = text_at(spec, "parentName");
      if (!parent.empty()) errors.check("spec.parentName", parent, wrong_subdomain(parent));
      check_resource_groups(errors, array_at(spec, "resourceGroups"),
                            {.has_cohort = !parent.empty(), .lends_above_nominal = true},
                            "spec.resourceGroups");
      return check_weight(errors, spec);
    }
    case Kind::local_queue:
      errors.one_of("spec.stopPolicy", text_at(spec, "stopPolicy"),
                    {"None", "Hold", "HoldAndDrain"});
      if (text_at(spec, "clusterQueue").empty()) return errors.required("spec.clusterQueue");
      return errors.check("spec.clusterQueue", text_at(spec, "clusterQueue"),
                          wrong_subdomain(text_at(spec, "clusterQueue")));
    case Kind::workload_priority_class:
      if (!has(object, "value")) errors.required("value");
      if (text_at(object, "description").size() > 2048) errors.too_long("description", 2048);
      return;
    default:
      return;
  }
}

void check_kueue_update(ErrorList& errors, Kind kind, const json::object& now,
                        const json::object& old) {
  const json::object& spec = object_at(now, "spec");
  const json::object& before = object_at(old, "spec");
  if (kind == Kind::local_queue) check_immutable(errors, spec, before, "clusterQueue", "spec");
  if (kind == Kind::resource_flavor && has(before, "topologyName"))
    check_immutable(errors, spec, before, "topologyName", "spec");
  if (kind == Kind::workload && has_quota(old) && has_quota(now)) {
    for (const std::string_view key : {"podSets", "queueName", "maximumExecutionTimeSeconds"})
      check_immutable(errors, spec, before, key, "spec");
  }
}

}  // namespace tau::kube
