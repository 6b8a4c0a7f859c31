// Defaults, kind by kind, as the API server fills them.
#include <fmt/format.h>

#include "base/text.h"
#include "kube/defaults.h"
#include "kube/json_access.h"
#include "kube/quantity.h"
#include "kube/validation.h"

namespace tau::kube {
namespace json = boost::json;

namespace {

constexpr int64_t int32_max = INT32_MAX;
constexpr int64_t file_mode = 0644;

// "1000m" -> "1", 2 -> "2": the server answers with canonical amounts.
void canonicalize_amounts(json::object& holder, std::string_view key) {
  json::object* amounts = if_object_at(holder, key);
  if (amounts == nullptr) return;
  for (auto& [name, amount] : *amounts) {
    std::string text(as_view(&amount));
    if (const double* real = amount.if_double()) text = fmt::format("{}", *real);
    if (amount.is_int64() || amount.is_uint64()) text = json::serialize(amount);
    if (auto canonical = canonical_quantity(text)) amount = *canonical;
  }
}

void default_probe(json::object& container, std::string_view key) {
  json::object* probe = if_object_at(container, key);
  if (probe == nullptr) return;
  set_default(*probe, "timeoutSeconds", 1);
  set_default(*probe, "periodSeconds", 10);
  set_default(*probe, "successThreshold", 1);
  set_default(*probe, "failureThreshold", 3);
  if (json::object* get = if_object_at(*probe, "httpGet")) {
    set_default_text(*get, "path", "/");
    set_default_text(*get, "scheme", "HTTP");
  }
  if (json::object* grpc = if_object_at(*probe, "grpc")) set_default(*grpc, "service", "");
}

// Images without a tag, or with "latest", are looked for each time.
std::string_view pull_policy(std::string_view image) {
  if (image.find('@') != image.npos) return "IfNotPresent";
  const size_t slash = image.rfind('/');
  const std::string_view name = slash == image.npos ? image : image.substr(slash + 1);
  const size_t colon = name.rfind(':');
  const std::string_view tag = colon == name.npos ? "" : name.substr(colon + 1);
  return tag.empty() || tag == "latest" ? "Always" : "IfNotPresent";
}

void default_container(json::object& container) {
  set_default_text(container, "imagePullPolicy", pull_policy(text_at(container, "image")));
  set_default_text(container, "terminationMessagePath", "/dev/termination-log");
  set_default_text(container, "terminationMessagePolicy", "File");
  json::object& resources = make_object(container, "resources");
  canonicalize_amounts(resources, "requests");
  canonicalize_amounts(resources, "limits");
  for_each_object(container, "ports",
                  [](json::object& port) { set_default_text(port, "protocol", "TCP"); });
  for_each_object(container, "env", [](json::object& variable) {
    json::object* from = if_object_at(variable, "valueFrom");
    if (from == nullptr) return;
    if (json::object* field = if_object_at(*from, "fieldRef"))
      set_default_text(*field, "apiVersion", "v1");
    if (json::object* resource = if_object_at(*from, "resourceFieldRef"))
      set_default(*resource, "divisor", "0");
  });
  for (const std::string_view key : {"livenessProbe", "readinessProbe", "startupProbe"})
    default_probe(container, key);
}

void default_projected(json::object& projected) {
  set_default(projected, "defaultMode", file_mode);
  for_each_object(projected, "sources", [](json::object& source) {
    if (json::object* token = if_object_at(source, "serviceAccountToken"))
      set_default(*token, "expirationSeconds", 3600);
  });
}

void default_volume(json::object& volume) {
  for (const std::string_view key : {"secret", "configMap", "downwardAPI"}) {
    if (json::object* source = if_object_at(volume, key))
      set_default(*source, "defaultMode", file_mode);
  }
  if (json::object* projected = if_object_at(volume, "projected")) default_projected(*projected);
  if (json::object* path = if_object_at(volume, "hostPath")) set_default(*path, "type", "");
  if (volume.size() == 1 && volume.contains("name")) volume["emptyDir"] = json::object{};
}

void default_job(json::object& job) {
  json::object& spec = make_object(job, "spec");
  if (!has(spec, "completions") && !has(spec, "parallelism")) spec["completions"] = 1;
  set_default(spec, "parallelism", 1);
  set_default(spec, "backoffLimit", has(spec, "backoffLimitPerIndex") ? int32_max : int64_t{6});
  set_default_text(spec, "completionMode", "NonIndexed");
  set_default(spec, "suspend", false);
  set_default(spec, "manualSelector", false);
  set_default_text(spec, "podReplacementPolicy",
                   has(spec, "podFailurePolicy") ? "Failed" : "TerminatingOrFailed");
  if (json::object* policy = if_object_at(spec, "podFailurePolicy")) {
    for_each_object(*policy, "rules", [](json::object& rule) {
      for_each_object(rule, "onPodConditions",
                      [](json::object& pattern) { set_default_text(pattern, "status", "True"); });
    });
  }
  json::object& template_ = make_object(spec, "template");
  default_pod_spec(make_object(template_, "spec"));
  const json::object labels = object_at(object_at(template_, "metadata"), "labels");
  json::object& metadata = make_object(job, "metadata");
  if (!labels.empty() && object_at(metadata, "labels").empty()) metadata["labels"] = labels;
}

// A limit without a request asks for the limit; only pods themselves get this, not templates.
void default_requests(json::object& container) {
  json::object& resources = make_object(container, "resources");
  const json::object limits = object_at(resources, "limits");
  if (limits.empty()) return;
  json::object& requests = make_object(resources, "requests");
  for (const auto& [name, amount] : limits) set_default(requests, name, amount);
}

// On the node's network a port is the node's port.
void default_host_ports(json::object& container) {
  for_each_object(container, "ports", [](json::object& port) {
    if (const auto number = integer_at(port, "containerPort"))
      set_default(port, "hostPort", *number);
  });
}

void default_pod(json::object& pod) {
  json::object& spec = make_object(pod, "spec");
  default_pod_spec(spec);
  set_default(spec, "enableServiceLinks", true);
  const bool is_host_network = is_true_at(spec, "hostNetwork");
  for (const std::string_view key : {"containers", "initContainers"}) {
    for_each_object(spec, key, default_requests);
    if (is_host_network) for_each_object(spec, key, default_host_ports);
  }
}

void default_secret(json::object& secret) {
  set_default_text(secret, "type", "Opaque");
  const json::object texts = object_at(secret, "stringData");
  secret.erase("stringData");
  if (texts.empty()) return;
  json::object& data = make_object(secret, "data");
  for (const auto& [key, text] : texts) data[key] = base64_encode(as_view(&text));
}

void default_namespace(json::object& object) {
  json::object& metadata = make_object(object, "metadata");
  const std::string name(text_at(metadata, "name"));
  if (!name.empty()) make_object(metadata, "labels")["kubernetes.io/metadata.name"] = name;
  make_object(object, "spec");
  set_default_text(make_object(object, "status"), "phase", "Active");
}

void canonicalize_quota(json::object& holder) {
  for_each_object(holder, "resourceGroups", [](json::object& group) {
    for_each_object(group, "flavors", [](json::object& flavor) {
      for_each_object(flavor, "resources", [](json::object& quota) {
        for (const std::string_view key : {"nominalQuota", "borrowingLimit", "lendingLimit"}) {
          json::value* amount = quota.if_contains(key);
          if (amount == nullptr) continue;
          const std::string text =
              amount->is_string() ? std::string(as_view(amount)) : json::serialize(*amount);
          if (auto canonical = canonical_quantity(text)) *amount = *canonical;
        }
      });
    });
  });
}

void default_cluster_queue(json::object& queue) {
  json::object& spec = make_object(queue, "spec");
  set_default_text(spec, "queueingStrategy", "BestEffortFIFO");
  set_default_text(spec, "stopPolicy", "None");
  json::object& preemption = make_object(spec, "preemption");
  set_default_text(preemption, "withinClusterQueue", "Never");
  set_default_text(preemption, "reclaimWithinCohort", "Never");
  json::object& borrow = make_object(preemption, "borrowWithinCohort");
  set_default_text(borrow, "policy", "Never");
  json::object& fungibility = make_object(spec, "flavorFungibility");
  set_default_text(fungibility, "whenCanBorrow", "MayStopSearch");
  set_default_text(fungibility, "whenCanPreempt", "TryNextFlavor");
  canonicalize_quota(spec);
}

void default_workload(json::object& workload) {
  json::object& spec = make_object(workload, "spec");
  set_default(spec, "active", true);
  for_each_object(spec, "podSets", [](json::object& set) {
    set_default_text(set, "name", "main");
    set_default(set, "count", 1);
    json::object& template_ = make_object(set, "template");
    make_object(template_, "spec");
  });
}

// A null says no more than an absent member.
void drop_nulls(json::object& object) {
  for (auto member = object.begin(); member != object.end();) {
    if (member->value().is_null()) {
      member = object.erase(member);
      continue;
    }
    if (json::object* inner = member->value().if_object()) drop_nulls(*inner);
    if (json::array* list = member->value().if_array()) {
      for (json::value& element : *list) {
        if (json::object* inner = element.if_object()) drop_nulls(*inner);
      }
    }
    ++member;
  }
}

}  // namespace

void default_pod_spec(json::object& spec) {
  set_default_text(spec, "restartPolicy", "Always");
  set_default_text(spec, "dnsPolicy", "ClusterFirst");
  set_default_text(spec, "schedulerName", "default-scheduler");
  set_default(spec, "terminationGracePeriodSeconds", 30);
  make_object(spec, "securityContext");
  // Two names of one field.
  const std::string account(text_at(spec, "serviceAccountName").empty()
                                ? text_at(spec, "serviceAccount")
                                : text_at(spec, "serviceAccountName"));
  if (!account.empty()) spec["serviceAccountName"] = spec["serviceAccount"] = account;
  for (const std::string_view key : {"containers", "initContainers", "ephemeralContainers"}) {
    for_each_object(spec, key, default_container);
  }
  for_each_object(spec, "volumes", default_volume);
  canonicalize_amounts(spec, "overhead");
}

void apply_defaults(Kind kind, json::object& object) {
  drop_nulls(object);
  switch (kind) {
    case Kind::pod:
      return default_pod(object);
    case Kind::job:
      return default_job(object);
    case Kind::secret:
      return default_secret(object);
    case Kind::namespace_:
      return default_namespace(object);
    case Kind::priority_class:
      return set_default_text(object, "preemptionPolicy", "PreemptLowerPriority");
    case Kind::cluster_queue:
      return default_cluster_queue(object);
    case Kind::cohort:
      return canonicalize_quota(make_object(object, "spec"));
    case Kind::local_queue:
      return set_default_text(make_object(object, "spec"), "stopPolicy", "None");
    case Kind::workload:
      return default_workload(object);
    case Kind::resource_flavor:
    case Kind::topology:
      make_object(object, "spec");
      return;
    case Kind::node:
      make_object(object, "spec");
      if (json::object* status = if_object_at(object, "status")) {
        set_default(*status, "allocatable", object_at(*status, "capacity"));
        canonicalize_amounts(*status, "capacity");
        canonicalize_amounts(*status, "allocatable");
      }
      return;
    case Kind::lease:
      make_object(object, "spec");
      return;
    case Kind::event:
      set_default(object, "source", json::object{});
      set_default(object, "reportingComponent", "");
      set_default(object, "reportingInstance", "");
      return;
    case Kind::config_map:
    case Kind::service_account:
    case Kind::workload_priority_class:
      return;
  }
}

}  // namespace tau::kube
