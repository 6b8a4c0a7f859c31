// Field tables: Kueue's objects in their v1beta2 form.
#include <fmt/format.h>

#include "kube/schema.h"
#include "kube/types.h"
#include "meta/fields.h"
#include "meta/json.h"

namespace tau::meta {
using namespace tau::kube;
namespace json = boost::json;

#define KUEUE "io.x-k8s.kueue.v1beta2."

template <>
const TypeInfo& type_of<ResourceQuota>() {
  static const TypeInfo type =
      table(KUEUE "ResourceQuota", "Quota of one resource in one flavor.",
            {field<&ResourceQuota::name>("name", "The resource.", {.is_required = true}),
             field<&ResourceQuota::nominal_quota>("nominalQuota", "What the queue owns.",
                                                  {.is_required = true, .type = quantity_type}),
             field<&ResourceQuota::borrowing_limit>(
                 "borrowingLimit", "How much more it may borrow; no limit when absent.",
                 {.type = quantity_type}),
             field<&ResourceQuota::lending_limit>("lendingLimit",
                                                  "How much of it others may use; all when absent.",
                                                  {.type = quantity_type})});
  return type;
}
template <>
const TypeInfo& type_of<FlavorQuotas>() {
  static const TypeInfo type =
      table(KUEUE "FlavorQuotas", "Quotas in one flavor.",
            {field<&FlavorQuotas::name>("name", "The ResourceFlavor.", {.is_required = true}),
             field<&FlavorQuotas::resources>("resources",
                                             "One quota per covered resource, in the same order.",
                                             {.is_required = true})});
  return type;
}
template <>
const TypeInfo& type_of<kube::ResourceGroup>() {
  static const TypeInfo type =
      table(KUEUE "ResourceGroup", "Resources that get their flavor together.",
            {field<&kube::ResourceGroup::covered_resources>("coveredResources", "The resources.",
                                                            {.is_required = true}),
             field<&kube::ResourceGroup::flavors>("flavors", "The flavors, in order of preference.",
                                                  {.is_required = true})});
  return type;
}
template <>
const TypeInfo& type_of<ResourceUsage>() {
  static const TypeInfo type = table(
      KUEUE "ResourceUsage", "Use of one resource.",
      {field<&ResourceUsage::name>("name", "The resource.", {.is_required = true}),
       field<&ResourceUsage::total>("total", "In use.", {.is_always = true, .type = quantity_type}),
       field<&ResourceUsage::borrowed>("borrowed", "Of that, borrowed.",
                                       {.is_always = true, .type = quantity_type})});
  return type;
}
template <>
const TypeInfo& type_of<FlavorUsage>() {
  static const TypeInfo type =
      table(KUEUE "FlavorUsage", "Use in one flavor.",
            {field<&FlavorUsage::name>("name", "The ResourceFlavor.", {.is_required = true}),
             field<&FlavorUsage::resources>("resources", "Use by resource.", {.is_always = true})});
  return type;
}

namespace {
const TypeInfo& flavor_spec() {
  static const TypeInfo type =
      table(KUEUE "ResourceFlavorSpec", "Which nodes a flavor means.",
            {field<&ResourceFlavor::node_labels>("nodeLabels", "Labels that its nodes have."),
             field<&ResourceFlavor::node_taints>("nodeTaints", "Taints that a workload must bear."),
             field<&ResourceFlavor::tolerations>("tolerations", "Tolerations given to its pods."),
             field<&ResourceFlavor::topology_name>("topologyName", "The Topology of its nodes.")});
  return type;
}
const TypeInfo& borrow_within() {
  static const TypeInfo type =
      table(KUEUE "BorrowWithinCohort", "Preemption while borrowing.",
            {field<&ClusterQueue::Spec::Preemption::borrow_within_cohort_policy>(
                 "policy", "Never or LowerPriority.", {.enum_values = "Never,LowerPriority"}),
             field<&ClusterQueue::Spec::Preemption::borrow_within_cohort_max_priority>(
                 "maxPriorityThreshold", "Only victims up to this priority.")});
  return type;
}
}  // namespace

template <>
const TypeInfo& type_of<ResourceFlavor>() {
  static const TypeInfo type = object_table(
      KUEUE "ResourceFlavor", "A kind of node that quota is given for.",
      {field<&ResourceFlavor::metadata>("metadata", "Name, labels and the like."),
       nested<ResourceFlavor, &flavor_spec>("spec", "Which nodes it means.", {.is_always = true})});
  return type;
}
template <>
const TypeInfo& type_of<ClusterQueue::Spec::Preemption>() {
  using P = ClusterQueue::Spec::Preemption;
  static const TypeInfo type =
      table(KUEUE "ClusterQueuePreemption", "Whom a waiting workload may push out.",
            {field<&P::reclaim_within_cohort>("reclaimWithinCohort", "Never, LowerPriority or Any.",
                                              {.enum_values = "Never,LowerPriority,Any"}),
             nested<P, &borrow_within>("borrowWithinCohort", "Preemption while borrowing."),
             field<&P::within_cluster_queue>(
                 "withinClusterQueue", "Never, LowerPriority or LowerOrNewerEqualPriority.",
                 {.enum_values = "Never,LowerPriority,LowerOrNewerEqualPriority"})});
  return type;
}
template <>
const TypeInfo& type_of<ClusterQueue::Spec::Fungibility>() {
  using F = ClusterQueue::Spec::Fungibility;
  static const TypeInfo type = table(
      KUEUE "FlavorFungibility", "When the next flavor is tried.",
      {field<&F::when_can_borrow>("whenCanBorrow", "MayStopSearch or TryNextFlavor."),
       field<&F::when_can_preempt>("whenCanPreempt", "MayStopSearch or TryNextFlavor."),
       field<&F::preference>("preference", "BorrowingOverPreemption or PreemptionOverBorrowing.")});
  return type;
}

namespace {
const TypeInfo& fair_sharing() {
  static const TypeInfo type = table(KUEUE "FairSharing", "Weight in fair sharing.",
                                     {field<&ClusterQueue::Spec::fair_sharing_weight>(
                                         "weight", "1 by default.", {.type = quantity_type})});
  return type;
}
const TypeInfo& cohort_fair_sharing() {
  static const TypeInfo type = table(
      KUEUE "CohortFairSharing", "Weight in fair sharing.",
      {field<&Cohort::fair_sharing_weight>("weight", "1 by default.", {.type = quantity_type})});
  return type;
}
}  // namespace

template <>
const TypeInfo& type_of<ClusterQueue::Spec>() {
  using S = ClusterQueue::Spec;
  static const TypeInfo type = table(
      KUEUE "ClusterQueueSpec", "Quota and order of a queue.",
      {field<&S::resource_groups>("resourceGroups", "Quota, by group of resources."),
       field<&S::cohort_name>("cohortName", "The cohort whose spare quota it may borrow."),
       field<&S::queueing_strategy>("queueingStrategy", "BestEffortFIFO or StrictFIFO.",
                                    {.enum_values = "BestEffortFIFO,StrictFIFO"}),
       field<&S::namespace_selector>(
           "namespaceSelector", "Namespaces that may use it; none when absent, all when empty."),
       field<&S::flavor_fungibility>("flavorFungibility", "When the next flavor is tried."),
       field<&S::preemption>("preemption", "Whom it may push out."),
       schema_only("admissionChecksStrategy", "Further checks before admission.", any_type),
       field<&S::stop_policy>("stopPolicy", "None, Hold or HoldAndDrain.",
                              {.enum_values = "None,Hold,HoldAndDrain"}),
       nested<S, &fair_sharing>("fairSharing", "Its weight."),
       schema_only("admissionScope", "How admission fair sharing applies.", any_type),
       schema_only("concurrentAdmissionPolicy", "Trying several flavors at once.", any_type)});
  return type;
}
template <>
const TypeInfo& type_of<ClusterQueue::Status>() {
  using S = ClusterQueue::Status;
  static const TypeInfo type =
      table(KUEUE "ClusterQueueStatus", "Use of a queue.",
            {field<&S::conditions>("conditions", "Aspects of its state.", {.merge_key = "type"}),
             field<&S::flavors_reservation>("flavorsReservation", "Quota reserved."),
             field<&S::flavors_usage>("flavorsUsage", "Quota in use by admitted workloads."),
             field<&S::pending_workloads>("pendingWorkloads", "Workloads that wait.",
                                          {.is_always = true}),
             field<&S::reserving_workloads>("reservingWorkloads", "Workloads with quota.",
                                            {.is_always = true}),
             field<&S::admitted_workloads>("admittedWorkloads", "Workloads admitted and not ended.",
                                           {.is_always = true}),
             schema_only("fairSharing", "Its share.", any_type)});
  return type;
}
template <>
const TypeInfo& type_of<ClusterQueue>() {
  static const TypeInfo type =
      object_table(KUEUE "ClusterQueue", "A pool of quota with a queue before it.",
                   {field<&ClusterQueue::metadata>("metadata", "Name, labels and the like."),
                    field<&ClusterQueue::spec>("spec", "Quota and order.", {.is_always = true}),
                    field<&ClusterQueue::status>("status", "Use.")});
  return type;
}

template <>
const TypeInfo& type_of<LocalQueue::Status>() {
  using S = LocalQueue::Status;
  static const TypeInfo type =
      table(KUEUE "LocalQueueStatus", "Use of a queue from one namespace.",
            {field<&S::conditions>("conditions", "Aspects of its state.", {.merge_key = "type"}),
             field<&S::pending_workloads>("pendingWorkloads", "Workloads that wait.",
                                          {.is_always = true}),
             field<&S::reserving_workloads>("reservingWorkloads", "Workloads with quota.",
                                            {.is_always = true}),
             field<&S::admitted_workloads>("admittedWorkloads", "Workloads admitted and not ended.",
                                           {.is_always = true}),
             field<&S::flavors_reservation>("flavorsReservation", "Quota reserved."),
             field<&S::flavors_usage>("flavorsUsage", "Quota in use by admitted workloads."),
             schema_only("fairSharing", "Its share.", any_type)});
  return type;
}
namespace {
const TypeInfo& local_queue_spec() {
  static const TypeInfo type =
      table(KUEUE "LocalQueueSpec", "Which ClusterQueue stands behind it.",
            {field<&LocalQueue::cluster_queue>(
                 "clusterQueue", "The ClusterQueue. Cannot be changed.", {.is_immutable = true}),
             field<&LocalQueue::stop_policy>("stopPolicy", "None, Hold or HoldAndDrain.",
                                             {.enum_values = "None,Hold,HoldAndDrain"}),
             schema_only("fairSharing", "Its weight.", any_type)});
  return type;
}
const TypeInfo& cohort_spec() {
  static const TypeInfo type =
      table(KUEUE "CohortSpec", "Place and quota of a cohort.",
            {field<&Cohort::parent_name>("parentName", "The cohort above."),
             field<&Cohort::resource_groups>("resourceGroups", "Own quota, for all below."),
             nested<Cohort, &cohort_fair_sharing>("fairSharing", "Its weight.")});
  return type;
}
const TypeInfo& topology_level() {
  static const TypeInfo type = table(KUEUE "TopologyLevel", "One level.",
                                     {schema_only("nodeLabel", "Node label that names the domain.",
                                                  string_type, {.is_required = true})});
  return type;
}
Result<void> decode_levels(Topology& to, const json::value& from) {
  const json::array* array = from.if_array();
  if (array == nullptr) return std::unexpected(wrong_type("array", from));
  to.levels.clear();
  for (const json::value& level : *array) to.levels.emplace_back(string_at(level, "nodeLabel"));
  return {};
}
bool encode_levels(const Topology& from, json::value& to) {
  json::array array;
  for (const std::string& level : from.levels) array.push_back(json::object{{"nodeLabel", level}});
  to = std::move(array);
  return true;
}
const TypeInfo& topology_spec() {
  static const TypeInfo type = table(
      KUEUE "TopologySpec", "Levels of a topology.",
      {custom<Topology>("levels", "From the widest to the narrowest.", list_of<topology_level>,
                        decode_levels, encode_levels, {.is_required = true})});
  return type;
}
}  // namespace

template <>
const TypeInfo& type_of<LocalQueue>() {
  static const TypeInfo type = object_table(
      KUEUE "LocalQueue", "A namespace's door to a ClusterQueue.",
      {field<&LocalQueue::metadata>("metadata", "Name, labels and the like."),
       nested<LocalQueue, &local_queue_spec>("spec", "What stands behind it.", {.is_always = true}),
       field<&LocalQueue::status>("status", "Use.")});
  return type;
}
template <>
const TypeInfo& type_of<Cohort>() {
  static const TypeInfo type =
      object_table(KUEUE "Cohort", "ClusterQueues that share spare quota.",
                   {field<&Cohort::metadata>("metadata", "Name, labels and the like."),
                    nested<Cohort, &cohort_spec>("spec", "Place and quota.", {.is_always = true}),
                    schema_only("status", "Its share.", any_type)});
  return type;
}
template <>
const TypeInfo& type_of<WorkloadPriorityClass>() {
  static const TypeInfo type = object_table(
      KUEUE "WorkloadPriorityClass", "A named priority for workloads.",
      {field<&WorkloadPriorityClass::metadata>("metadata", "Name, labels and the like."),
       field<&WorkloadPriorityClass::value>("value", "The priority; higher goes first.",
                                            {.is_required = true, .is_always = true}),
       field<&WorkloadPriorityClass::description>("description", "When to use it.")});
  return type;
}
template <>
const TypeInfo& type_of<Topology>() {
  static const TypeInfo type =
      object_table(KUEUE "Topology", "How nodes are grouped: block, rack, host.",
                   {field<&Topology::metadata>("metadata", "Name, labels and the like."),
                    nested<Topology, &topology_spec>("spec", "Its levels.", {.is_always = true})});
  return type;
}

// ---- Workload

template <>
const TypeInfo& type_of<TopologySlice>() {
  static const TypeInfo type =
      table(KUEUE "PodSetSliceRequiredTopologyConstraint", "One level of slices.",
            {field<&TopologySlice::topology>("topology", "Level that a slice must share.",
                                             {.is_required = true}),
             field<&TopologySlice::size>("size", "Pods of a slice.",
                                         {.is_required = true, .is_always = true})});
  return type;
}

namespace {
const TypeInfo& topology_request() {
  static const TypeInfo type =
      table(KUEUE "PodSetTopologyRequest", "How close the pods must be.",
            {field<&PodSet::required_topology>("required", "Level that all pods must share."),
             field<&PodSet::preferred_topology>("preferred", "Level that all pods should share."),
             field<&PodSet::unconstrained_topology>("unconstrained", "Any nodes of the topology."),
             schema_only("podIndexLabel", "Label with the pod's index.", string_type),
             schema_only("subGroupIndexLabel", "Label with the group's index.", string_type),
             schema_only("subGroupCount", "Number of groups.", integer_type),
             field<&PodSet::group_name>("podSetGroupName", "Pod sets placed together."),
             field<&PodSet::slice_required_topology>("podSetSliceRequiredTopology",
                                                     "Level that a slice must share."),
             field<&PodSet::slice_size>("podSetSliceSize", "Pods of a slice."),
             field<&PodSet::slice_constraints>("podsetSliceRequiredTopologyConstraints",
                                               "Slices of several levels, the widest first.")});
  return type;
}
const TypeInfo& priority_class_ref() {
  static const TypeInfo type =
      table(KUEUE "PriorityClassRef", "Where the priority comes from.",
            {schema_only("group", "API group of the class.", string_type),
             field<&Workload::Spec::priority_class_kind>("kind",
                                                         "PriorityClass or WorkloadPriorityClass."),
             field<&Workload::Spec::priority_class_name>("name", "The class.")});
  return type;
}
bool encode_class_ref(const Workload::Spec& from, json::value& to) {
  if (from.priority_class_name.empty()) return false;
  const bool is_pod_class = from.priority_class_kind == "PriorityClass";
  to = json::object{{"group", is_pod_class ? "scheduling.k8s.io" : "kueue.x-k8s.io"},
                    {"kind", from.priority_class_kind},
                    {"name", from.priority_class_name}};
  return true;
}
Result<void> decode_class_ref(Workload::Spec& to, const json::value& from) {
  return decode_into(&to, priority_class_ref(), from);
}

// One slice with the values and counts spelled out. Wire form:
// slices[].valuesPerLevel[].individual{prefix, suffix, roots} or universal; podCounts.individual or
// universal.
bool encode_topology(const std::optional<TopologyAssignment>& from, json::value& to) {
  if (!from) return false;
  json::array levels, values_per_level, counts;
  for (const std::string& level : from->levels) levels.push_back(json::value(level));
  for (size_t level = 0; level < from->levels.size(); ++level) {
    json::array roots;
    for (const TopologyDomain& domain : from->domains)
      roots.push_back(json::value(level < domain.values.size() ? domain.values[level] : ""));
    values_per_level.push_back(
        json::object{{"individual", json::object{{"roots", std::move(roots)}}}});
  }
  for (const TopologyDomain& domain : from->domains) counts.push_back(domain.count);
  json::array slices;
  slices.push_back(json::object{{"domainCount", static_cast<int64_t>(from->domains.size())},
                                {"valuesPerLevel", std::move(values_per_level)},
                                {"podCounts", json::object{{"individual", std::move(counts)}}}});
  to = json::object{{"levels", std::move(levels)}, {"slices", std::move(slices)}};
  return true;
}

std::string level_value(const json::value& values, size_t domain) {
  if (const json::value* universal = find_path(values, "universal");
      universal != nullptr && universal->is_string()) {
    return std::string(universal->get_string());
  }
  const json::value* roots = find_path(values, "individual.roots");
  if (roots == nullptr || !roots->is_array() || domain >= roots->get_array().size()) return {};
  const json::value& root = roots->get_array()[domain];
  if (!root.is_string()) return {};
  return fmt::format("{}{}{}", string_at(values, "individual.prefix"),
                     std::string_view(root.get_string()), string_at(values, "individual.suffix"));
}
int64_t pod_count(const json::value& slice, size_t domain) {
  if (const json::value* universal = find_path(slice, "podCounts.universal");
      universal != nullptr && universal->is_int64())
    return universal->get_int64();
  const json::value* counts = find_path(slice, "podCounts.individual");
  if (counts == nullptr || !counts->is_array() || domain >= counts->get_array().size()) return 0;
  const json::value& count = counts->get_array()[domain];
  return count.is_int64() ? count.get_int64() : 0;
}

// A few bytes may claim many domains, with a value for each level.
constexpr int64_t most_domains = 100'000;
constexpr size_t most_levels = 16;

Result<void> decode_topology(std::optional<TopologyAssignment>& to, const json::value& from) {
  TopologyAssignment& made = to.emplace();
  if (const json::value* levels = find_path(from, "levels"))
    TRY_VOID(Codec<std::vector<std::string>>::decode(made.levels, *levels));
  if (made.levels.size() > most_levels)
    return fail(ErrorCode::bad_request, fmt::format(": at most {} levels", most_levels));
  const json::value* slices = find_path(from, "slices");
  if (slices == nullptr || !slices->is_array()) return {};
  for (const json::value& slice : slices->get_array()) {
    const json::value* count = find_path(slice, "domainCount");
    const json::value* values = find_path(slice, "valuesPerLevel");
    if (count == nullptr || !count->is_int64() || count->get_int64() < 0 ||
        count->get_int64() > most_domains - static_cast<int64_t>(made.domains.size()))
      return fail(ErrorCode::bad_request,
                  fmt::format(": domainCount must be 0 to {}, all slices together", most_domains));
    for (size_t domain = 0; domain < static_cast<size_t>(count->get_int64()); ++domain) {
      TopologyDomain one;
      if (values != nullptr && values->is_array()) {
        for (const json::value& level : values->get_array()) {
          if (one.values.size() < made.levels.size())
            one.values.push_back(level_value(level, domain));
        }
      }
      one.values.resize(made.levels.size());
      one.count = pod_count(slice, domain);
      made.domains.push_back(std::move(one));
    }
  }
  return {};
}
}  // namespace

template <>
const TypeInfo& type_of<kube::PodSet>() {
  static const TypeInfo type = table(
      KUEUE "PodSet", "Identical pods of a workload.",
      {field<&kube::PodSet::name>("name", "Unique within the workload."),
       field<&kube::PodSet::template_>("template", "The pods.",
                                       {.is_required = true, .is_always = true}),
       field<&kube::PodSet::count>("count", "How many.", {.is_required = true, .is_always = true}),
       field<&kube::PodSet::min_count>("minCount", "How many are enough."),
       nested<kube::PodSet, &topology_request>("topologyRequest", "How close they must be.")});
  return type;
}
template <>
const TypeInfo& type_of<PodSetAssignment>() {
  static const TypeInfo type = table(
      KUEUE "PodSetAssignment", "What a pod set was given.",
      {field<&PodSetAssignment::name>("name", "The pod set."),
       field<&PodSetAssignment::flavors>("flavors", "Flavor by resource."),
       field<&PodSetAssignment::resource_usage>("resourceUsage", "Total by resource.",
                                                {.type = map_of<quantity_type>}),
       field<&PodSetAssignment::count>("count", "How many pods."),
       custom<PodSetAssignment>(
           "topologyAssignment", "Which domains, with how many pods each.", any_type,
           [](PodSetAssignment& to, const json::value& from) {
             return decode_topology(to.topology_assignment, from);
           },
           [](const PodSetAssignment& from, json::value& to) {
             return encode_topology(from.topology_assignment, to);
           }),
       schema_only("delayedTopologyRequest", "Whether placement is still to come.", string_type)});
  return type;
}
template <>
const TypeInfo& type_of<Admission>() {
  static const TypeInfo type = table(
      KUEUE "Admission", "What a workload was given.",
      {field<&Admission::cluster_queue>("clusterQueue", "By which queue.", {.is_required = true}),
       field<&Admission::pod_set_assignments>("podSetAssignments", "By pod set.")});
  return type;
}
template <>
const TypeInfo& type_of<RequeueState>() {
  static const TypeInfo type =
      table(KUEUE "RequeueState", "Back-off after an eviction.",
            {field<&RequeueState::count>("count", "How often."),
             field<&RequeueState::requeue_at>("requeueAt", "Not before.")});
  return type;
}
template <>
const TypeInfo& type_of<Workload::Spec>() {
  using S = Workload::Spec;
  static const TypeInfo type = table(
      KUEUE "WorkloadSpec", "What is to be admitted.",
      {field<&S::pod_sets>("podSets", "Its pods.", {.is_required = true, .merge_key = "name"}),
       field<&S::queue_name>("queueName", "Its LocalQueue."),
       custom<S>("priorityClassRef", "Where its priority comes from.", priority_class_ref,
                 decode_class_ref, encode_class_ref),
       field<&S::priority>("priority", "Higher goes first."),
       field<&S::active>("active", "False takes it out of the queue."),
       field<&S::maximum_execution_time_seconds>("maximumExecutionTimeSeconds",
                                                 "Seconds it may run."),
       schema_only("preemptionGates", "Gates before preemption.", list_of<any_type>)});
  return type;
}
template <>
const TypeInfo& type_of<Workload::Status>() {
  using S = Workload::Status;
  static const TypeInfo type =
      table(KUEUE "WorkloadStatus", "How a workload is.",
            {field<&S::conditions>("conditions", "Aspects of its state.", {.merge_key = "type"}),
             field<&S::admission>("admission", "What it was given."),
             field<&S::requeue_state>("requeueState", "Back-off after an eviction."),
             schema_only("reclaimablePods", "Pods that are done.", list_of<any_type>),
             schema_only("admissionChecks", "Further checks.", list_of<any_type>),
             schema_only("resourceRequests", "What was counted.", list_of<any_type>),
             field<&S::accumulated_past_execution_time_seconds>(
                 "accumulatedPastExecutionTimeSeconds", "Seconds that it ran before."),
             schema_only("schedulingStats", "Counts of evictions.", any_type),
             schema_only("nominatedClusterNames", "Clusters considered.", list_of<string_type>),
             schema_only("clusterName", "The cluster chosen.", string_type),
             schema_only("unhealthyNodes", "Nodes to be replaced.", list_of<any_type>),
             schema_only("preemptionGates", "State of the gates.", list_of<any_type>)});
  return type;
}
template <>
const TypeInfo& type_of<Workload>() {
  static const TypeInfo type =
      object_table(KUEUE "Workload", "What a queue admits: pods as a whole.",
                   {field<&Workload::metadata>("metadata", "Name, labels and the like."),
                    field<&Workload::spec>("spec", "What is to be admitted.", {.is_always = true}),
                    field<&Workload::status>("status", "How it is.")});
  return type;
}

}  // namespace tau::meta
