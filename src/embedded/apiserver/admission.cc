#include "embedded/apiserver/admission.h"

#include <boost/json.hpp>

#include <fmt/format.h>

#include "embedded/apiserver/rules.h"
#include "kube/json_access.h"
#include "meta/json.h"

namespace tau::apiserver {
namespace {

namespace json = boost::json;
using kube::Kind;

constexpr std::string_view queue_label = "kueue.x-k8s.io/queue-name";

json::object& object_in(json::object& object, std::string_view key) {
  json::value& value = object[key];
  if (!value.is_object()) value = json::object();
  return value.get_object();
}

// A Job that belongs to a queue is created suspended, so that no pods exist and no deadline runs
// while it waits.
void admit_job(const Service& service, json::object& job) {
  json::object& metadata = metadata_of(job);
  json::object* labels = nullptr;
  if (json::value* value = metadata.if_contains("labels")) labels = value->if_object();
  const json::value* queue = labels ? labels->if_contains(queue_label) : nullptr;
  const bool has_queue = queue && queue->is_string() && !queue->get_string().empty();
  if (!has_queue) {
    if (!service.store.find(Kind::local_queue,
                            {std::string(text_in(metadata, "namespace")), "default"}))
      return;
    object_in(metadata, "labels")[queue_label] = "default";
  }
  json::object& spec = object_in(job, "spec");
  spec["suspend"] = true;
  object_in(object_in(spec, "template"), "spec")["schedulerName"] = "taugrid";
}

struct Priority {
  int64_t value = 0;
  std::string class_name, preemption_policy;
};

Priority parse_priority_class(const StoredObject& object) {
  const json::value value = json::parse(object.text);
  Priority priority{.class_name = object.key.name};
  if (const json::value* number = meta::find_path(value, "value"); number && number->is_int64()) {
    priority.value = number->get_int64();
  }
  priority.preemption_policy = meta::string_at(value, "preemptionPolicy");
  return priority;
}

// The class named, or the cluster's default one, or plain zero; nullopt: no such class.
std::optional<Priority> find_priority(const Service& service, std::string_view class_name) {
  if (!class_name.empty()) {
    const ObjectPointer found =
        service.store.find(Kind::priority_class, {"", std::string(class_name)});
    if (found == nullptr) return std::nullopt;
    return parse_priority_class(*found);
  }
  for (const auto& [key, object] : service.store.all(Kind::priority_class)) {
    if (object->text.find("\"globalDefault\":true") != std::string::npos)
      return parse_priority_class(*object);
  }
  return Priority{};
}

std::optional<StatusError> admit_priority(const Service& service, std::string_view name,
                                          json::object& spec) {
  const kube::ResourceInfo& pods = kube::info(Kind::pod);
  const std::string class_name(text_in(spec, "priorityClassName"));
  const auto priority = find_priority(service, class_name);
  if (!priority) {
    return forbidden(pods, name,
                     fmt::format("no PriorityClass with name {} was found", class_name));
  }
  if (const json::value* given = spec.if_contains("priority");
      given && given->is_int64() && given->get_int64() != priority->value) {
    return forbidden(
        pods, name,
        fmt::format("the integer value of priority ({}) must not be provided in pod spec; priority "
                    "admission controller computed {} from the given PriorityClass name",
                    given->get_int64(), priority->value));
  }
  spec["priority"] = priority->value;
  if (!priority->class_name.empty()) spec["priorityClassName"] = priority->class_name;
  if (text_in(spec, "preemptionPolicy").empty()) {
    spec["preemptionPolicy"] =
        priority->preemption_policy.empty() ? "PreemptLowerPriority" : priority->preemption_policy;
  }
  return std::nullopt;
}

std::optional<StatusError> admit_service_account(const Service& service,
                                                 const json::object& metadata, json::object& spec) {
  std::string name(text_in(spec, "serviceAccountName"));
  if (name.empty()) name = text_in(spec, "serviceAccount");
  if (name.empty()) name = "default";
  const std::string ns(text_in(metadata, "namespace"));
  if (!service.store.find(Kind::service_account, {ns, name})) {
    return forbidden(
        kube::info(Kind::pod), text_in(metadata, "name"),
        fmt::format("error looking up service account {}/{}: serviceaccount \"{}\" not found", ns,
                    name, name));
  }
  spec["serviceAccountName"] = name;
  spec["serviceAccount"] = name;
  return std::nullopt;
}

// Pods stay on a node that is lost for five minutes, unless they say otherwise.
void admit_tolerations(json::object& spec) {
  json::value& value = spec["tolerations"];
  if (!value.is_array()) value = json::array();
  for (const std::string_view key :
       {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
    const bool is_there = std::any_of(
        value.get_array().begin(), value.get_array().end(), [&](const json::value& item) {
          if (!item.is_object()) return false;
          const std::string_view has = text_in(item.get_object(), "key"),
                                 effect = text_in(item.get_object(), "effect");
          return (has == key || has.empty()) && (effect == "NoExecute" || effect.empty());
        });
    if (is_there) continue;
    value.get_array().push_back(json::object{
        {"key", key}, {"operator", "Exists"}, {"effect", "NoExecute"}, {"tolerationSeconds", 300}});
  }
}

std::optional<StatusError> admit_pod(const Service& service, json::object& pod) {
  json::object& metadata = metadata_of(pod);
  json::object& spec = object_in(pod, "spec");
  if (auto bad = admit_service_account(service, metadata, spec)) return bad;
  admit_tolerations(spec);
  return admit_priority(service, text_in(metadata, "name"), spec);
}

void admit_namespace(json::object& ns) {
  json::object& metadata = metadata_of(ns);
  const std::string name(text_in(metadata, "name"));  // a copy: adding a member moves the others
  object_in(metadata, "labels")["kubernetes.io/metadata.name"] = name;
  json::object& spec = object_in(ns, "spec");
  spec["finalizers"] = json::array{"kubernetes"};
  ns["status"] = json::object{{"phase", "Active"}};
}

}  // namespace

std::optional<StatusError> check_namespace(const Service& service,
                                           const kube::ResourceInfo& resource,
                                           const std::string& ns, std::string_view name) {
  if (!resource.is_namespaced) return std::nullopt;
  const ObjectPointer found = service.store.find(Kind::namespace_, {"", ns});
  if (found == nullptr) return not_found(kube::info(Kind::namespace_), ns);
  if (found->fields.front() != "Terminating") return std::nullopt;
  StatusError error = forbidden(
      resource, name,
      fmt::format("unable to create new content in namespace {} because it is being terminated",
                  ns));
  error.causes.push_back({"NamespaceTerminating",
                          fmt::format("namespace {} is being terminated", ns),
                          "metadata.namespace"});
  return error;
}

std::optional<StatusError> admit_new(const Service& service, Kind kind, json::object& object) {
  switch (kind) {
    case Kind::job:
      admit_job(service, object);
      return std::nullopt;
    case Kind::pod:
      return admit_pod(service, object);
    case Kind::namespace_:
      admit_namespace(object);
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

std::vector<std::string> ignored_fields(Kind kind, const json::object& object) {
  std::string path = "spec";
  const json::object* spec = &kube::object_at(object, "spec");
  if (kind == Kind::job) {
    path = "spec.template.spec";
    spec = &kube::object_at(kube::object_at(*spec, "template"), "spec");
  } else if (kind != Kind::pod) {
    return {};
  }
  std::vector<std::string> ignored;
  for (const std::string_view list : {"initContainers", "containers"}) {
    size_t number = 0;
    for (const json::value& container : kube::array_at(*spec, list)) {
      for (const std::string_view key :
           {"livenessProbe", "readinessProbe", "startupProbe", "lifecycle"}) {
        if (kube::as_object(container).contains(key))
          ignored.push_back(fmt::format("{}.{}[{}].{}: kept, but not carried out by this kubelet",
                                        path, list, number, key));
      }
      ++number;
    }
  }
  return ignored;
}

}  // namespace tau::apiserver
