#include "kube/table.h"

#include <fmt/format.h>

#include "base/check.h"
#include "base/text.h"
#include "kube/json_access.h"
#include "kube/table_cells.h"

namespace tau::kube {
namespace json = boost::json;

namespace {

constexpr Column name_column{"Name", "string", "name",
                             "Name of the object; unique within its namespace and kind."};
constexpr Column age_column{"Age", "string", "", "Time since the object was made."};

constexpr std::array pod_columns{
    name_column,
    Column{"Ready", "string", "", "Containers that are ready, of all."},
    Column{"Status", "string", "", "The pod's state in one word."},
    Column{"Restarts", "string", "", "How often its containers were started again, and when last."},
    age_column,
    Column{"IP", "string", "", "Its address.", 1},
    Column{"Node", "string", "", "The node that it is bound to.", 1},
    Column{"Nominated Node", "string", "", "The node that is being cleared for it.", 1},
    Column{"Readiness Gates", "string", "", "Further conditions for readiness that hold, of all.",
           1}};
constexpr std::array job_columns{
    name_column,
    Column{"Status", "string", "", "The Job's state in one word."},
    Column{"Completions", "string", "", "Pods that succeeded, of those wanted."},
    Column{"Duration", "string", "", "Time from start to end, or to now."},
    age_column,
    Column{"Containers", "string", "", "Names of the template's containers.", 1},
    Column{"Images", "string", "", "Images of the template's containers.", 1},
    Column{"Selector", "string", "", "The labels of its pods.", 1}};
constexpr std::array node_columns{
    name_column,
    Column{"Status", "string", "", "Whether it is ready, and whether pods may be placed on it."},
    Column{"Roles", "string", "", "Its roles, from its labels."},
    age_column,
    Column{"Version", "string", "", "Version of its kubelet."},
    Column{"Internal-IP", "string", "", "Its address inside the cluster.", 1},
    Column{"External-IP", "string", "", "Its address outside the cluster.", 1},
    Column{"OS-Image", "string", "", "Its operating system.", 1},
    Column{"Kernel-Version", "string", "", "Its kernel.", 1},
    Column{"Container-Runtime", "string", "", "What runs its containers.", 1}};
constexpr std::array event_columns{
    Column{"Last Seen", "string", "", "Time since it last happened."},
    Column{"Type", "string", "", "Normal or Warning."},
    Column{"Reason", "string", "", "One word for what happened."},
    Column{"Object", "string", "", "What it happened to."},
    Column{"Subobject", "string", "", "The part of the object.", 1},
    Column{"Source", "string", "", "Who reported it.", 1},
    Column{"Message", "string", "", "What happened."},
    Column{"First Seen", "string", "", "Time since it first happened.", 1},
    Column{"Count", "string", "", "How often it happened.", 1},
    Column{"Name", "string", "name", "Name of the event itself.", 1}};
constexpr std::array namespace_columns{
    name_column, Column{"Status", "string", "", "Active or Terminating."}, age_column};
constexpr std::array config_map_columns{
    name_column, Column{"Data", "string", "", "Number of keys."}, age_column};
constexpr std::array secret_columns{name_column,
                                    Column{"Type", "string", "", "What kind of secret it is."},
                                    Column{"Data", "string", "", "Number of keys."}, age_column};
constexpr std::array plain_columns{name_column, age_column};
constexpr std::array priority_class_columns{
    name_column, Column{"Value", "integer", "", "The priority."},
    Column{"Global-Default", "boolean", "", "Whether pods without a class get it."}, age_column,
    Column{"PreemptionPolicy", "string", "", "Whether its pods push others out.", 1}};
constexpr std::array lease_columns{name_column, Column{"Holder", "string", "", "Who holds it."},
                                   age_column};
constexpr std::array cluster_queue_columns{
    name_column, Column{"Cohort", "string", "", "The cohort that it shares quota with."},
    Column{"Strategy", "string", "", "How waiting workloads are ordered.", 1},
    Column{"Pending Workloads", "integer", "", "Workloads that wait."},
    Column{"Admitted Workloads", "integer", "", "Workloads that are admitted and not finished.",
           1}};
constexpr std::array local_queue_columns{
    name_column, Column{"ClusterQueue", "string", "", "The ClusterQueue that it leads to."},
    Column{"Pending Workloads", "integer", "", "Workloads that wait."},
    Column{"Admitted Workloads", "integer", "", "Workloads that are admitted and not finished."}};
constexpr std::array workload_priority_class_columns{
    name_column, Column{"Value", "integer", "", "The priority."}};
constexpr std::array workload_columns{
    name_column,
    Column{"Queue", "string", "", "The LocalQueue that it waits in."},
    Column{"Reserved in", "string", "", "The ClusterQueue that holds quota for it."},
    Column{"Admitted", "string", "", "Whether it may run."},
    Column{"Finished", "string", "", "Whether it has ended."},
    age_column};

const json::object& metadata_of(const json::object& object) {
  return object_at(object, "metadata");
}
std::string or_text(std::string_view text, std::string_view other) {
  return std::string(text.empty() ? other : text);
}

const json::object* condition_of(const json::object& object, std::string_view type) {
  for (const json::value& condition : array_at(object_at(object, "status"), "conditions")) {
    if (text_at(as_object(condition), "type") == type) return &as_object(condition);
  }
  return nullptr;
}

std::string address_of(const json::object& node, std::string_view type) {
  for (const json::value& address : array_at(object_at(node, "status"), "addresses")) {
    if (text_at(as_object(address), "type") == type)
      return std::string(text_at(as_object(address), "address"));
  }
  return "<none>";
}

std::string roles_of(const json::object& node) {
  constexpr std::string_view prefix = "node-role.kubernetes.io/";
  std::set<std::string> roles;
  for (const auto& [key, value] : object_at(metadata_of(node), "labels")) {
    const std::string_view label = key;
    if (label.starts_with(prefix) && label.size() > prefix.size())
      roles.insert(std::string(label.substr(prefix.size())));
    if (label == "kubernetes.io/role" && !as_view(&value).empty())
      roles.insert(std::string(as_view(&value)));
  }
  if (roles.empty()) return "<none>";
  return join(std::vector<std::string>(roles.begin(), roles.end()), ",");
}

json::array node_cells(const json::object& node, Time now) {
  const json::object* ready = condition_of(node, "Ready");
  std::string status = ready == nullptr                      ? "Unknown"
                       : text_at(*ready, "status") == "True" ? "Ready"
                                                             : "NotReady";
  if (is_true_at(object_at(node, "spec"), "unschedulable")) status += ",SchedulingDisabled";
  const json::object& facts = object_at(object_at(node, "status"), "nodeInfo");
  std::string kernel = or_text(text_at(facts, "kernelVersion"), "<unknown>");
  if (const auto architecture = text_at(facts, "architecture"); !architecture.empty())
    kernel += fmt::format(" ({})", architecture);
  return {text_at(metadata_of(node), "name"),
          status,
          roles_of(node),
          age_since(text_at(metadata_of(node), "creationTimestamp"), now),
          text_at(facts, "kubeletVersion"),
          address_of(node, "InternalIP"),
          address_of(node, "ExternalIP"),
          or_text(text_at(facts, "osImage"), "<unknown>"),
          kernel,
          or_text(text_at(facts, "containerRuntimeVersion"), "<unknown>")};
}

json::array event_cells(const json::object& event, Time now) {
  const std::string_view first_seen = text_at(event, "firstTimestamp");
  const std::string first =
      age_since(first_seen.empty() ? text_at(event, "eventTime") : first_seen, now);
  const std::string_view last_seen = text_at(event, "lastTimestamp");
  std::string last = last_seen.empty() ? first : age_since(last_seen, now);
  int64_t count = integer_at(event, "count").value_or(0);
  if (has(event, "series")) {
    const json::object& series = object_at(event, "series");
    last = age_since(text_at(series, "lastObservedTime"), now);
    count = integer_at(series, "count").value_or(0);
  } else if (count == 0) {
    count = 1;
  }
  const json::object& involved = object_at(event, "involvedObject");
  std::string target = to_lower(text_at(involved, "kind"));
  if (const auto name = text_at(involved, "name"); !name.empty())
    target += fmt::format("/{}", name);
  const json::object& source = object_at(event, "source");
  std::string reporter =
      or_text(text_at(source, "component"), text_at(event, "reportingComponent"));
  const std::string instance =
      or_text(text_at(source, "host"), text_at(event, "reportingInstance"));
  if (!instance.empty()) reporter += ", " + instance;
  return {last,
          text_at(event, "type"),
          text_at(event, "reason"),
          target,
          text_at(involved, "fieldPath"),
          reporter,
          trim(text_at(event, "message")),
          first,
          count,
          text_at(metadata_of(event), "name")};
}

json::value condition_status(const json::object& object, std::string_view type) {
  const json::object* condition = condition_of(object, type);
  return condition == nullptr ? "" : json::value(json::string(text_at(*condition, "status")));
}

json::array workload_cells(const json::object& workload, std::string_view name, std::string age) {
  const json::object& admission = object_at(object_at(workload, "status"), "admission");
  return {name,
          text_at(object_at(workload, "spec"), "queueName"),
          text_at(admission, "clusterQueue"),
          condition_status(workload, "Admitted"),
          condition_status(workload, "Finished"),
          std::move(age)};
}

}  // namespace

std::string age_since(std::string_view time, Time now) {
  const auto then = parse_rfc3339(time);
  return then ? format_age(now - *then) : "<unknown>";
}

std::span<const Column> columns(Kind kind) {
  switch (kind) {
    case Kind::namespace_:
      return namespace_columns;
    case Kind::node:
      return node_columns;
    case Kind::pod:
      return pod_columns;
    case Kind::event:
      return event_columns;
    case Kind::config_map:
      return config_map_columns;
    case Kind::secret:
      return secret_columns;
    case Kind::priority_class:
      return priority_class_columns;
    case Kind::lease:
      return lease_columns;
    case Kind::job:
      return job_columns;
    case Kind::cluster_queue:
      return cluster_queue_columns;
    case Kind::local_queue:
      return local_queue_columns;
    case Kind::workload_priority_class:
      return workload_priority_class_columns;
    case Kind::workload:
      return workload_columns;
    case Kind::service_account:
    case Kind::resource_flavor:
    case Kind::cohort:
    case Kind::topology:
      return plain_columns;
  }
  CHECK(false);
}

json::array cells(Kind kind, const json::object& object, Time now) {
  const std::string_view name = text_at(metadata_of(object), "name");
  std::string age = age_since(text_at(metadata_of(object), "creationTimestamp"), now);
  const json::object& spec = object_at(object, "spec");
  const json::object& status = object_at(object, "status");
  switch (kind) {
    case Kind::namespace_:
      return {name, text_at(status, "phase"), age};
    case Kind::node:
      return node_cells(object, now);
    case Kind::pod:
      return pod_cells(object, now);
    case Kind::event:
      return event_cells(object, now);
    case Kind::config_map:
      return {name,
              static_cast<int64_t>(object_at(object, "data").size() +
                                   object_at(object, "binaryData").size()),
              age};
    case Kind::secret:
      return {name, text_at(object, "type"), static_cast<int64_t>(object_at(object, "data").size()),
              age};
    case Kind::priority_class:
      return {name, integer_at(object, "value").value_or(0), is_true_at(object, "globalDefault"),
              age, text_at(object, "preemptionPolicy")};
    case Kind::lease:
      return {name, text_at(spec, "holderIdentity"), age};
    case Kind::job:
      return job_cells(object, now);
    case Kind::cluster_queue:
      return {name, text_at(spec, "cohortName"), text_at(spec, "queueingStrategy"),
              integer_at(status, "pendingWorkloads").value_or(0),
              integer_at(status, "admittedWorkloads").value_or(0)};
    case Kind::local_queue:
      return {name, text_at(spec, "clusterQueue"),
              integer_at(status, "pendingWorkloads").value_or(0),
              integer_at(status, "admittedWorkloads").value_or(0)};
    case Kind::workload_priority_class:
      return {name, integer_at(object, "value").value_or(0)};
    case Kind::workload:
      return workload_cells(object, name, age);
    case Kind::service_account:
    case Kind::resource_flavor:
    case Kind::cohort:
    case Kind::topology:
      return {name, age};
  }
  CHECK(false);
}

}  // namespace tau::kube
