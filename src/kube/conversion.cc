#include "kube/conversion.h"

#include <fmt/format.h>

#include "base/text.h"
#include "kube/json_access.h"

namespace tau::kube {
namespace json = boost::json;

namespace {

constexpr std::string_view old_version = "v1beta1", new_version = "v1beta2";
constexpr std::string_view misspelt_time = "accumulatedPastExexcutionTimeSeconds";
constexpr std::string_view past_time = "accumulatedPastExecutionTimeSeconds";

void rename(json::object& object, std::string_view from, std::string_view to) {
  json::value* found = object.if_contains(from);
  if (found == nullptr) return;
  json::value moved = std::move(*found);
  object.erase(from);
  object[to] = std::move(moved);
}

// ---- v1beta1 -> v1beta2

void upgrade_cluster_queue(json::object& queue) {
  json::object* spec = if_object_at(queue, "spec");
  if (spec == nullptr) return;
  rename(*spec, "cohort", "cohortName");
  const json::array names = array_at(*spec, "admissionChecks");
  spec->erase("admissionChecks");
  if (!names.empty()) {
    json::array checks;
    for (const json::value& name : names) checks.push_back(json::object{{"name", name}});
    make_object(*spec, "admissionChecksStrategy")["admissionChecks"] = std::move(checks);
  }
  json::object* fungibility = if_object_at(*spec, "flavorFungibility");
  if (fungibility == nullptr) return;
  for (const std::string_view key : {"whenCanBorrow", "whenCanPreempt"}) {
    const std::string_view value = text_at(*fungibility, key);
    if (value == "Borrow" || value == "Preempt") (*fungibility)[key] = "MayStopSearch";
  }
}

struct PriorityReference {
  std::string_view source, group, kind;
};
constexpr std::array priority_references{
    PriorityReference{"scheduling.k8s.io/priorityclass", "scheduling.k8s.io", "PriorityClass"},
    PriorityReference{"kueue.x-k8s.io/workloadpriorityclass", "kueue.x-k8s.io",
                      "WorkloadPriorityClass"}};

Result<void> upgrade_priority(json::object& spec) {
  const std::string source(text_at(spec, "priorityClassSource")),
      name(text_at(spec, "priorityClassName"));
  spec.erase("priorityClassSource");
  spec.erase("priorityClassName");
  if (source.empty()) return {};
  for (const PriorityReference& known : priority_references) {
    if (known.source != source) continue;
    spec["priorityClassRef"] =
        json::object{{"group", known.group}, {"kind", known.kind}, {"name", name}};
    return {};
  }
  return fail(
      ErrorCode::invalid,
      fmt::format("spec.priorityClassSource: Unsupported value: \"{}\": supported values: "
                  "\"kueue.x-k8s.io/workloadpriorityclass\", \"scheduling.k8s.io/priorityclass\"",
                  source));
}

// domains[{values, count}] -> one slice with a root per domain.
void upgrade_topology(json::object& assignment) {
  const json::array domains = array_at(assignment, "domains");
  assignment.erase("domains");
  const size_t levels = array_at(assignment, "levels").size();
  json::array values_per_level, counts;
  for (size_t level = 0; level < levels; ++level) {
    json::array roots;
    for (const json::value& domain : domains) {
      const json::array& values = array_at(as_object(domain), "values");
      roots.push_back(level < values.size() ? values[level] : json::value(""));
    }
    values_per_level.push_back(
        json::object{{"individual", json::object{{"roots", std::move(roots)}}}});
  }
  for (const json::value& domain : domains)
    counts.push_back(integer_at(as_object(domain), "count").value_or(0));
  assignment["slices"] =
      json::array{json::object{{"domainCount", static_cast<int64_t>(domains.size())},
                               {"valuesPerLevel", std::move(values_per_level)},
                               {"podCounts", json::object{{"individual", std::move(counts)}}}}};
}

void for_each_assignment(json::object& workload, void (*change)(json::object&)) {
  json::object* status = if_object_at(workload, "status");
  json::object* admission = status == nullptr ? nullptr : if_object_at(*status, "admission");
  if (admission == nullptr) return;
  for_each_object(*admission, "podSetAssignments", [change](json::object& set) {
    if (json::object* assignment = if_object_at(set, "topologyAssignment")) change(*assignment);
  });
}

Result<void> upgrade_workload(json::object& workload) {
  if (json::object* spec = if_object_at(workload, "spec")) TRY_VOID(upgrade_priority(*spec));
  if (json::object* status = if_object_at(workload, "status"))
    rename(*status, misspelt_time, past_time);
  for_each_assignment(workload, upgrade_topology);
  return {};
}

// ---- v1beta2 -> v1beta1

void downgrade_cluster_queue(json::object& queue) {
  if (json::object* spec = if_object_at(queue, "spec")) rename(*spec, "cohortName", "cohort");
}

void downgrade_priority(json::object& spec) {
  if (!has(spec, "priorityClassRef")) return;
  const json::object reference = object_at(spec, "priorityClassRef");
  spec.erase("priorityClassRef");
  for (const PriorityReference& known : priority_references) {
    if (known.kind != text_at(reference, "kind")) continue;
    spec["priorityClassSource"] = known.source;
    spec["priorityClassName"] = std::string(text_at(reference, "name"));
  }
}

// A level's value in one domain of a slice: common to all, or prefix + root + suffix.
std::string value_at(const json::object& level, size_t domain) {
  if (has(level, "universal")) return std::string(text_at(level, "universal"));
  const json::object& individual = object_at(level, "individual");
  const json::array& roots = array_at(individual, "roots");
  return fmt::format("{}{}{}", text_at(individual, "prefix"),
                     domain < roots.size() ? as_view(&roots[domain]) : "",
                     text_at(individual, "suffix"));
}

void downgrade_topology(json::object& assignment) {
  const json::array slices = array_at(assignment, "slices");
  assignment.erase("slices");
  json::array domains;
  for (const json::value& element : slices) {
    const json::object& slice = as_object(element);
    const json::object& counts = object_at(slice, "podCounts");
    const json::array& levels = array_at(slice, "valuesPerLevel");
    const json::array& individual = array_at(counts, "individual");
    // Never more than there are values for: the count alone must not make memory grow.
    size_t domain_count =
        static_cast<size_t>(std::max<int64_t>(integer_at(slice, "domainCount").value_or(0), 0));
    size_t most = std::max<size_t>(individual.size(), 1);
    for (const json::value& level : levels) {
      most = std::max(most, array_at(object_at(as_object(level), "individual"), "roots").size());
    }
    domain_count = std::min(domain_count, most);
    for (size_t domain = 0; domain < domain_count; ++domain) {
      json::array values;
      for (const json::value& level : levels)
        values.push_back(json::string(value_at(as_object(level), domain)));
      const json::value count = domain < individual.size()
                                    ? individual[domain]
                                    : json::value(integer_at(counts, "universal").value_or(0));
      domains.push_back(json::object{{"values", std::move(values)}, {"count", count}});
    }
  }
  assignment["domains"] = std::move(domains);
}

void downgrade_workload(json::object& workload) {
  if (json::object* spec = if_object_at(workload, "spec")) {
    downgrade_priority(*spec);
    for_each_object(*spec, "podSets", [](json::object& set) {
      if (json::object* request = if_object_at(set, "topologyRequest"))
        request->erase("podsetSliceRequiredTopologyConstraints");
    });
  }
  if (json::object* status = if_object_at(workload, "status"))
    rename(*status, past_time, misspelt_time);
  for_each_assignment(workload, downgrade_topology);
}

Result<void> upgrade(Kind kind, json::object& object) {
  if (kind == Kind::cluster_queue) upgrade_cluster_queue(object);
  if (kind == Kind::workload) TRY_VOID(upgrade_workload(object));
  if (kind == Kind::cohort) {
    if (json::object* spec = if_object_at(object, "spec")) rename(*spec, "parent", "parentName");
  }
  if (kind == Kind::local_queue) {
    if (json::object* status = if_object_at(object, "status")) {
      rename(*status, "flavorUsage", "flavorsUsage");
      status->erase("flavors");
    }
  }
  return {};
}

void downgrade(Kind kind, json::object& object) {
  if (kind == Kind::cluster_queue) downgrade_cluster_queue(object);
  if (kind == Kind::workload) downgrade_workload(object);
  if (kind == Kind::local_queue) {
    if (json::object* status = if_object_at(object, "status"))
      rename(*status, "flavorsUsage", "flavorUsage");
  }
}

}  // namespace

Result<void> convert(Kind kind, json::object& object, std::string_view from_version,
                     std::string_view to_version) {
  if (from_version == to_version) return {};
  const ResourceInfo& resource = info(kind);
  const auto is_served = [&resource](std::string_view version) {
    if (version == resource.version) return true;
    const auto others = split(resource.other_versions, ',');
    return std::find(others.begin(), others.end(), version) != others.end();
  };
  if (!is_served(from_version) || !is_served(to_version)) {
    return fail(ErrorCode::bad_request, fmt::format("{}: cannot convert from {} to {}",
                                                    resource.kind_name, from_version, to_version));
  }
  if (from_version == old_version && to_version == new_version) TRY_VOID(upgrade(kind, object));
  if (from_version == new_version && to_version == old_version) downgrade(kind, object);
  object["apiVersion"] = fmt::format("{}/{}", resource.group, to_version);
  return {};
}

}  // namespace tau::kube
