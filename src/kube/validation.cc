// Validation's front door: metadata, the small kinds, and the way to each kind's own rules.
#include "kube/validation.h"

#include <fmt/format.h>

#include "kube/field_errors.h"
#include "kube/json_access.h"

namespace tau::kube {
namespace json = boost::json;

namespace {

void check_metadata(ErrorList& errors, Kind kind, const json::object& metadata) {
  const std::string_view name = text_at(metadata, "name"),
                         prefix = text_at(metadata, "generateName");
  if (!prefix.empty() && name.empty()) {
    const std::string sample = std::string(prefix) + "x";
    errors.check("metadata.generateName", prefix, wrong_subdomain(sample));
  }
  if (name.empty()) {
    errors.required("metadata.name", "name or generateName is required");
  } else {
    const bool has_dots = kind == Kind::namespace_ && name.find('.') != name.npos;
    if (has_dots) {
      errors.invalid("metadata.name", name, "must not contain dots");
    } else {
      errors.check("metadata.name", name,
                   kind == Kind::namespace_ ? wrong_label(name) : wrong_subdomain(name));
    }
  }
  check_labels(errors, object_at(metadata, "labels"), "metadata.labels");
  check_annotations(errors, object_at(metadata, "annotations"), "metadata.annotations");
  int controllers = 0;
  const json::array& owners = array_at(metadata, "ownerReferences");
  for (size_t i = 0; i < owners.size(); ++i) {
    const json::object& owner = as_object(owners[i]);
    const std::string at = fmt::format("metadata.ownerReferences[{}]", i);
    for (const std::string_view key : {"apiVersion", "kind", "name", "uid"}) {
      if (text_at(owner, key).empty())
        errors.invalid(fmt::format("{}.{}", at, key), "", "must not be empty");
    }
    if (is_true_at(owner, "controller") && ++controllers == 2) {
      errors.invalid_value("metadata.ownerReferences", owners,
                           "Only one reference can have Controller set to true.");
    }
  }
  const json::array& finalizers = array_at(metadata, "finalizers");
  for (size_t i = 0; i < finalizers.size(); ++i) {
    const std::string_view finalizer = as_view(&finalizers[i]);
    errors.check(fmt::format("metadata.finalizers[{}]", i), finalizer,
                 wrong_qualified_name(finalizer));
  }
}

void check_data(ErrorList& errors, const json::object& object,
                std::initializer_list<std::string_view> members) {
  constexpr size_t most_bytes = 1024 * 1024;
  size_t bytes = 0;
  for (const std::string_view member : members) {
    for (const auto& [key, value] : object_at(object, member)) {
      bytes += as_view(&value).size();
      const std::string_view name = key;
      const bool is_right = !name.empty() && name.size() <= 253 && name != "." && name != ".." &&
                            std::all_of(name.begin(), name.end(), [](unsigned char c) {
                              return std::isalnum(c) || c == '-' || c == '_' || c == '.';
                            });
      if (!is_right) {
        errors.invalid(
            fmt::format("{}[{}]", member, name), name,
            "a valid config key must consist of alphanumeric characters, '-', '_' or '.' "
            "(e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is "
            "'[-._a-zA-Z0-9]+')");
      }
    }
  }
  if (bytes > most_bytes) errors.too_long("", most_bytes);
}

void check_priority_class(ErrorList& errors, const json::object& object) {
  constexpr int64_t most_for_users = 1'000'000'000;
  const int64_t value = integer_at(object, "value").value_or(0);
  const bool is_system = text_at(object_at(object, "metadata"), "name").starts_with("system-");
  if (value > most_for_users && !is_system) {
    errors.forbidden("value", fmt::format("maximum allowed value of a user defined priority is {}",
                                          most_for_users));
  }
  errors.one_of("preemptionPolicy", text_at(object, "preemptionPolicy"),
                {"Never", "PreemptLowerPriority"});
}

void check_lease(ErrorList& errors, const json::object& spec) {
  const auto duration = integer_at(spec, "leaseDurationSeconds"),
             transitions = integer_at(spec, "leaseTransitions");
  if (duration && *duration <= 0)
    errors.invalid_value("spec.leaseDurationSeconds", *duration, "must be greater than 0");
  if (transitions && *transitions < 0)
    errors.invalid_value("spec.leaseTransitions", *transitions,
                         "must be greater than or equal to 0");
}

// The rules that hold for new and changed objects alike.
void check_object(ErrorList& errors, Kind kind, const json::object& object) {
  check_metadata(errors, kind, object_at(object, "metadata"));
  switch (kind) {
    case Kind::pod:
      return check_pod_spec(errors, object_at(object, "spec"), "spec");
    case Kind::job:
      return check_job(errors, object);
    case Kind::node:
      return check_taints(errors, array_at(object_at(object, "spec"), "taints"), "metadata.taints");
    case Kind::config_map:
      return check_data(errors, object, {"data", "binaryData"});
    case Kind::secret:
      return check_data(errors, object, {"data"});
    case Kind::priority_class:
      return check_priority_class(errors, object);
    case Kind::lease:
      return check_lease(errors, object_at(object, "spec"));
    case Kind::event:
      if (text_at(object_at(object, "involvedObject"), "namespace") !=
              text_at(object_at(object, "metadata"), "namespace") &&
          !text_at(object_at(object, "involvedObject"), "namespace").empty()) {
        errors.invalid("involvedObject.namespace",
                       text_at(object_at(object, "involvedObject"), "namespace"),
                       "does not match event.namespace");
      }
      return;
    case Kind::namespace_:
    case Kind::service_account:
      return;
    default:
      return check_kueue(errors, kind, object);
  }
}

void check_fixed_metadata(ErrorList& errors, const json::object& now, const json::object& old) {
  for (const std::string_view key : {"name", "namespace", "uid", "creationTimestamp"}) {
    check_immutable(errors, object_at(now, "metadata"), object_at(old, "metadata"), key,
                    "metadata");
  }
  if (!has(object_at(old, "metadata"), "deletionTimestamp")) return;
  const json::array& before = array_at(object_at(old, "metadata"), "finalizers");
  std::string added;
  for (const json::value& finalizer : array_at(object_at(now, "metadata"), "finalizers")) {
    if (std::find(before.begin(), before.end(), finalizer) != before.end()) continue;
    added += fmt::format("{}\"{}\"", added.empty() ? "" : ", ", as_view(&finalizer));
  }
  if (added.empty()) return;
  errors.forbidden("metadata.finalizers",
                   fmt::format("no new finalizers can be added if the object is being deleted, "
                               "found new finalizers []string{{{}}}",
                               added));
}

// data of an object marked immutable.
void check_frozen_data(ErrorList& errors, const json::object& now, const json::object& old) {
  if (!is_true_at(old, "immutable")) return;
  if (!is_true_at(now, "immutable"))
    errors.forbidden("immutable", "field is immutable when `immutable` is set");
  for (const std::string_view key : {"data", "binaryData"}) {
    if (object_at(now, key) != object_at(old, key))
      errors.forbidden(std::string(key), "field is immutable when `immutable` is set");
  }
}

}  // namespace

FieldErrors validate_create(Kind kind, const json::object& object) {
  ErrorList errors;
  check_object(errors, kind, object);
  return errors.take();
}

FieldErrors validate_update(Kind kind, const json::object& now, const json::object& old,
                            std::string_view subresource) {
  ErrorList errors;
  check_fixed_metadata(errors, now, old);
  if (!subresource.empty()) return errors.take();  // a status is the business of its writer
  check_object(errors, kind, now);
  switch (kind) {
    case Kind::pod:
      check_pod_update(errors, now, old);
      break;
    case Kind::job:
      check_job_update(errors, now, old);
      break;
    case Kind::config_map:
    case Kind::secret:
      check_frozen_data(errors, now, old);
      check_immutable(errors, now, old, "type", "");
      break;
    case Kind::priority_class:
      check_immutable(errors, now, old, "value", "");
      check_immutable(errors, now, old, "preemptionPolicy", "");
      break;
    default:
      check_kueue_update(errors, kind, now, old);
      break;
  }
  return errors.take();
}

}  // namespace tau::kube
