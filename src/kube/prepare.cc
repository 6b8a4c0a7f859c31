// What the server generates for a new object.
#include <fmt/format.h>

#include "kube/json_access.h"
#include "kube/quantity.h"
#include "kube/validation.h"

namespace tau::kube {
namespace json = boost::json;

namespace {

// A Job's pods carry its uid and name; its selector asks for the uid.
void prepare_job(json::object& job, std::string_view uid) {
  job["status"] = json::object{};
  json::object& spec = make_object(job, "spec");
  if (is_true_at(spec, "manualSelector")) return;
  json::object& template_metadata = make_object(make_object(spec, "template"), "metadata");
  json::object& labels = make_object(template_metadata, "labels");
  const json::object own_labels = object_at(object_at(job, "metadata"), "labels");
  const bool shares_labels = own_labels.empty() || own_labels == labels;
  const std::string name(text_at(object_at(job, "metadata"), "name"));
  for (const std::string_view prefix : {"", "batch.kubernetes.io/"}) {
    labels[fmt::format("{}controller-uid", prefix)] = uid;
    labels[fmt::format("{}job-name", prefix)] = name;
  }
  // A Job that brings no labels of its own has its template's, these included.
  if (shares_labels) make_object(job, "metadata")["labels"] = labels;
  json::object& selector = make_object(spec, "selector");
  make_object(selector, "matchLabels")["batch.kubernetes.io/controller-uid"] = uid;
}

// Guaranteed: every container limits cpu and memory and asks for just that; BestEffort: nobody asks
// for any.
std::string_view qos_class(const json::object& spec) {
  bool is_guaranteed = true, is_best_effort = true;
  for (const std::string_view list : {"containers", "initContainers"}) {
    for (const json::value& element : array_at(spec, list)) {
      const json::object& resources = object_at(as_object(element), "resources");
      const json::object& limits = object_at(resources, "limits");
      const json::object& requests = object_at(resources, "requests");
      for (const std::string_view name : {"cpu", "memory"}) {
        const std::string_view limit = text_at(limits, name), request = text_at(requests, name);
        if (parse_quantity_milli(limit).value_or(0) > 0 ||
            parse_quantity_milli(request).value_or(0) > 0)
          is_best_effort = false;
        if (limit.empty() ||
            parse_quantity_milli(limit).value_or(0) != parse_quantity_milli(request).value_or(0))
          is_guaranteed = false;
      }
    }
  }
  return is_best_effort ? "BestEffort" : is_guaranteed ? "Guaranteed" : "Burstable";
}

void prepare_pod(json::object& pod) {
  json::object& spec = make_object(pod, "spec");
  set_default_text(spec, "serviceAccountName", "default");
  if (integer_at(spec, "terminationGracePeriodSeconds").value_or(0) < 0)
    spec["terminationGracePeriodSeconds"] = 1;
  spec["serviceAccount"] = std::string(text_at(spec, "serviceAccountName"));
  json::object status{{"phase", "Pending"}, {"qosClass", qos_class(spec)}};
  if (!array_at(spec, "schedulingGates").empty()) {
    status["conditions"] = json::array{
        json::object{{"type", "PodScheduled"},
                     {"status", "False"},
                     {"reason", "SchedulingGated"},
                     {"message", "Scheduling is blocked due to non-empty scheduling gates"},
                     {"lastProbeTime", nullptr},
                     {"lastTransitionTime", nullptr}}};
  }
  pod["status"] = std::move(status);
}

}  // namespace

void prepare_create(Kind kind, json::object& object, std::string_view uid) {
  switch (kind) {
    case Kind::job:
      prepare_job(object, uid);
      break;
    case Kind::pod:
      prepare_pod(object);
      break;
    case Kind::namespace_:
      object["status"] = json::object{{"phase", "Active"}};
      // Taken away again when the namespace is empty and deleted.
      set_default(make_object(object, "spec"), "finalizers", json::array{"kubernetes"});
      break;
    case Kind::priority_class:
      break;
    case Kind::cluster_queue:
    case Kind::local_queue:
    case Kind::cohort:
    case Kind::workload:
      object.erase("status");
      break;
    default:
      return;  // nodes may bring their status; the others have none or no generation
  }
  if (kind != Kind::namespace_) make_object(object, "metadata")["generation"] = 1;
}

}  // namespace tau::kube
