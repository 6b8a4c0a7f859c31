// Rules for pod specs, and for what may change in a pod.
#include <fmt/format.h>

#include "kube/field_errors.h"
#include "kube/json_access.h"
#include "kube/quantity.h"

namespace tau::kube {
namespace json = boost::json;

namespace {

bool is_native(std::string_view resource) {
  return resource.find('/') == resource.npos || resource.find("kubernetes.io/") != resource.npos;
}
bool is_huge_pages(std::string_view resource) {
  return resource.starts_with("hugepages-");
}
bool may_overcommit(std::string_view resource) {
  return is_native(resource) && !is_huge_pages(resource);
}

void check_resource_name(ErrorList& errors, std::string_view name, const std::string& path) {
  errors.check(path, name, wrong_qualified_name(name));
  if (name.find('/') != name.npos || is_huge_pages(name)) return;
  if (name == "cpu" || name == "memory" || name == "ephemeral-storage") return;
  errors.invalid(path, name, "must be a standard resource type or fully qualified");
  errors.invalid(path, name, "must be a standard resource for containers");
}

std::string amount_text(const json::value& value) {
  return value.is_string() ? std::string(as_view(&value)) : json::serialize(value);
}

void check_amounts(ErrorList& errors, const json::object& amounts, const std::string& path) {
  for (const auto& [key, value] : amounts) {
    const std::string_view name = key;
    const std::string at = fmt::format("{}[{}]", path, name);
    check_resource_name(errors, name, at);
    check_quantity(errors, value, at);
    const auto milli = parse_quantity_milli(amount_text(value));
    if (!is_native(name) && milli && *milli % 1000 != 0)
      errors.invalid(at, amount_text(value), "must be an integer");
  }
}

void check_resources(ErrorList& errors, const json::object& resources, const std::string& path) {
  const json::object& limits = object_at(resources, "limits");
  const json::object& requests = object_at(resources, "requests");
  check_amounts(errors, limits, path + ".limits");
  check_amounts(errors, requests, path + ".requests");
  for (const auto& [key, value] : requests) {
    const std::string_view name = key;
    const json::value* limit = limits.if_contains(name);
    if (limit == nullptr) {
      if (!may_overcommit(name))
        errors.required(path + ".limits", "Limit must be set for non overcommitable resources");
      continue;
    }
    const auto wanted = parse_quantity_milli(amount_text(value)),
               most = parse_quantity_milli(amount_text(*limit));
    if (!wanted || !most) continue;
    if (*wanted != *most && !may_overcommit(name)) {
      errors.invalid(path + ".requests", amount_text(value),
                     fmt::format("must be equal to {} limit of {}", name, amount_text(*limit)));
    } else if (*wanted > *most) {
      errors.invalid(
          path + ".requests", amount_text(value),
          fmt::format("must be less than or equal to {} limit of {}", name, amount_text(*limit)));
    }
  }
}

bool is_environment_name(std::string_view name) {
  return std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return c >= ' ' && c <= '~' && c != '='; });
}

void check_env(ErrorList& errors, const json::array& env, const std::string& path) {
  for (size_t i = 0; i < env.size(); ++i) {
    const json::object& variable = as_object(env[i]);
    const std::string at = fmt::format("{}[{}]", path, i);
    const std::string_view name = text_at(variable, "name");
    if (name.empty()) {
      errors.required(at + ".name");
    } else if (!is_environment_name(name)) {
      errors.invalid(at + ".name", name,
                     "a valid environment variable name must consist only of printable ASCII "
                     "characters other than '='");
    }
    if (!has(variable, "valueFrom")) continue;
    const json::object& from = object_at(variable, "valueFrom");
    if (from.empty()) {
      errors.invalid(at + ".valueFrom", "",
                     "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, "
                     "`secretKeyRef` or `fileKeyRef`");
    } else if (!text_at(variable, "value").empty()) {
      errors.invalid(at + ".valueFrom", "", "may not be specified when `value` is not empty");
    } else if (from.size() > 1) {
      errors.invalid(at + ".valueFrom", "", "may not have more than one field specified at a time");
    }
    for (const std::string_view reference : {"configMapKeyRef", "secretKeyRef"}) {
      if (!has(from, reference)) continue;
      if (text_at(object_at(from, reference), "name").empty())
        errors.required(fmt::format("{}.valueFrom.{}.name", at, reference));
      if (text_at(object_at(from, reference), "key").empty())
        errors.required(fmt::format("{}.valueFrom.{}.key", at, reference));
    }
    if (has(from, "fieldRef") && text_at(object_at(from, "fieldRef"), "fieldPath").empty())
      errors.required(at + ".valueFrom.fieldRef.fieldPath");
  }
}

void check_ports(ErrorList& errors, const json::array& ports, const std::string& path) {
  for (size_t i = 0; i < ports.size(); ++i) {
    const json::object& port = as_object(ports[i]);
    const std::string at = fmt::format("{}[{}]", path, i);
    const auto number = integer_at(port, "containerPort");
    if (!number || *number == 0) {
      errors.required(at + ".containerPort");
    } else if (*number < 1 || *number > 65535) {
      errors.invalid_value(at + ".containerPort", *number,
                           "must be between 1 and 65535, inclusive");
    }
    errors.one_of(at + ".protocol", text_at(port, "protocol"), {"SCTP", "TCP", "UDP"});
  }
}

void check_mounts(ErrorList& errors, const json::array& mounts,
                  const std::set<std::string_view>& volumes, const std::string& path) {
  std::set<std::string_view> paths;
  for (size_t i = 0; i < mounts.size(); ++i) {
    const json::object& mount = as_object(mounts[i]);
    const std::string at = fmt::format("{}[{}]", path, i);
    const std::string_view name = text_at(mount, "name"), mount_path = text_at(mount, "mountPath");
    if (name.empty()) {
      errors.required(at + ".name");
    } else if (!volumes.contains(name)) {
      errors.not_found(at + ".name", name);
    }
    if (mount_path.empty()) {
      errors.required(at + ".mountPath");
    } else if (!paths.insert(mount_path).second) {
      errors.invalid(at + ".mountPath", mount_path, "must be unique");
    }
  }
}

void check_container(ErrorList& errors, const json::object& container,
                     const std::set<std::string_view>& volumes, const std::string& path) {
  const std::string_view name = text_at(container, "name");
  if (name.empty()) {
    errors.required(path + ".name");
  } else {
    errors.check(path + ".name", name, wrong_label(name));
  }
  const std::string_view image = text_at(container, "image");
  if (image.empty()) errors.required(path + ".image");
  if (image.starts_with(' ') || image.ends_with(' '))
    errors.invalid(path + ".image", image, "must not have leading or trailing whitespace");
  errors.one_of(path + ".terminationMessagePolicy", text_at(container, "terminationMessagePolicy"),
                {"FallbackToLogsOnError", "File"});
  errors.one_of(path + ".imagePullPolicy", text_at(container, "imagePullPolicy"),
                {"Always", "IfNotPresent", "Never"});
  check_ports(errors, array_at(container, "ports"), path + ".ports");
  check_env(errors, array_at(container, "env"), path + ".env");
  check_mounts(errors, array_at(container, "volumeMounts"), volumes, path + ".volumeMounts");
  check_resources(errors, object_at(container, "resources"), path + ".resources");
}

std::set<std::string_view> check_volumes(ErrorList& errors, const json::array& volumes,
                                         const std::string& path) {
  std::set<std::string_view> names;
  for (size_t i = 0; i < volumes.size(); ++i) {
    const json::object& volume = as_object(volumes[i]);
    const std::string at = fmt::format("{}[{}]", path, i);
    const std::string_view name = text_at(volume, "name");
    if (name.empty()) {
      errors.required(at + ".name");
    } else {
      errors.check(at + ".name", name, wrong_label(name));
      // A volume that is wrong in itself does not take its name.
      const bool is_single = std::count_if(volume.begin(), volume.end(), [](const auto& member) {
                               return !member.value().is_null();
                             }) <= 2;
      if (is_single && !names.insert(name).second) errors.duplicate(at + ".name", name);
    }
    int sources = 0;
    for (const auto& [key, value] : volume) {
      const bool is_source = key != "name" && !value.is_null();
      if (is_source && sources++ > 0)
        errors.forbidden(fmt::format("{}.{}", at, std::string_view(key)),
                         "may not specify more than 1 volume type");
    }
    if (has(volume, "hostPath") && text_at(object_at(volume, "hostPath"), "path").empty())
      errors.required(at + ".hostPath.path");
    if (has(volume, "configMap") && text_at(object_at(volume, "configMap"), "name").empty())
      errors.required(at + ".configMap.name");
    if (has(volume, "secret") && text_at(object_at(volume, "secret"), "secretName").empty())
      errors.required(at + ".secret.secretName");
    if (has(volume, "persistentVolumeClaim") &&
        text_at(object_at(volume, "persistentVolumeClaim"), "claimName").empty()) {
      errors.required(at + ".persistentVolumeClaim.claimName");
    }
  }
  return names;
}

void check_node_selector_terms(ErrorList& errors, const json::object& spec,
                               const std::string& path) {
  const json::object& affinity = object_at(object_at(spec, "affinity"), "nodeAffinity");
  const std::string at = path + ".affinity.nodeAffinity";
  const auto check_term = [&errors](const json::object& term, const std::string& where) {
    const json::array& expressions = array_at(term, "matchExpressions");
    for (size_t i = 0; i < expressions.size(); ++i) {
      const json::object& expression = as_object(expressions[i]);
      const std::string here = fmt::format("{}.matchExpressions[{}]", where, i);
      const std::string_view operator_ = text_at(expression, "operator");
      const size_t values = array_at(expression, "values").size();
      errors.check(here + ".key", text_at(expression, "key"),
                   wrong_qualified_name(text_at(expression, "key")));
      if (operator_ == "In" || operator_ == "NotIn") {
        if (values == 0)
          errors.required(here + ".values", "must be specified when `operator` is 'In' or 'NotIn'");
      } else if (operator_ == "Exists" || operator_ == "DoesNotExist") {
        if (values > 0)
          errors.forbidden(here + ".values",
                           "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
      } else if (operator_ == "Gt" || operator_ == "Lt") {
        if (values != 1)
          errors.required(here + ".values",
                          "must be specified single value when `operator` is 'Lt' or 'Gt'");
      } else {
        errors.invalid(here + ".operator", operator_, "not a valid selector operator");
      }
    }
  };
  if (has(affinity, "requiredDuringSchedulingIgnoredDuringExecution")) {
    const json::array& terms = array_at(
        object_at(affinity, "requiredDuringSchedulingIgnoredDuringExecution"), "nodeSelectorTerms");
    const std::string list =
        at + ".requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";
    if (terms.empty()) errors.required(list, "must have at least one node selector term");
    for (size_t i = 0; i < terms.size(); ++i)
      check_term(as_object(terms[i]), fmt::format("{}[{}]", list, i));
  }
  const json::array& preferred =
      array_at(affinity, "preferredDuringSchedulingIgnoredDuringExecution");
  for (size_t i = 0; i < preferred.size(); ++i) {
    const std::string here =
        fmt::format("{}.preferredDuringSchedulingIgnoredDuringExecution[{}]", at, i);
    const int64_t weight = integer_at(as_object(preferred[i]), "weight").value_or(0);
    if (weight < 1 || weight > 100)
      errors.invalid_value(here + ".weight", weight, "must be in the range 1-100");
    check_term(object_at(as_object(preferred[i]), "preference"), here + ".preference");
  }
}

void check_gates(ErrorList& errors, const json::array& gates, const std::string& path) {
  std::set<std::string_view> names;
  for (size_t i = 0; i < gates.size(); ++i) {
    const std::string at = fmt::format("{}[{}].name", path, i);
    const std::string_view name = text_at(as_object(gates[i]), "name");
    errors.check(at, name, wrong_qualified_name(name));
    if (!names.insert(name).second) errors.duplicate(fmt::format("{}[{}]", path, i), name);
  }
}

}  // namespace

void check_pod_spec(ErrorList& errors, const json::object& spec, const std::string& path) {
  const std::set<std::string_view> volumes =
      check_volumes(errors, array_at(spec, "volumes"), path + ".volumes");
  std::set<std::string_view> names;
  if (array_at(spec, "containers").empty()) errors.required(path + ".containers");
  for (const std::string_view list : {"containers", "initContainers"}) {
    const json::array& containers = array_at(spec, list);
    for (size_t i = 0; i < containers.size(); ++i) {
      const std::string at = fmt::format("{}.{}[{}]", path, list, i);
      const std::string_view name = text_at(as_object(containers[i]), "name");
      check_container(errors, as_object(containers[i]), volumes, at);
      if (!name.empty() && !names.insert(name).second) errors.duplicate(at + ".name", name);
    }
  }
  errors.one_of(path + ".restartPolicy", text_at(spec, "restartPolicy"),
                {"Always", "OnFailure", "Never"});
  errors.one_of(path + ".dnsPolicy", text_at(spec, "dnsPolicy"),
                {"ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"});
  check_labels(errors, object_at(spec, "nodeSelector"), path + ".nodeSelector");
  const auto deadline = integer_at(spec, "activeDeadlineSeconds");
  if (deadline && (*deadline < 1 || *deadline > INT32_MAX)) {
    errors.invalid_value(path + ".activeDeadlineSeconds", *deadline,
                         fmt::format("must be between 1 and {}, inclusive", INT32_MAX));
  }
  for (const std::string_view key : {"nodeName", "serviceAccountName", "priorityClassName"}) {
    const std::string_view name = text_at(spec, key);
    if (!name.empty()) errors.check(fmt::format("{}.{}", path, key), name, wrong_subdomain(name));
  }
  for (const std::string_view key : {"hostname", "subdomain"}) {
    const std::string_view name = text_at(spec, key);
    if (!name.empty()) errors.check(fmt::format("{}.{}", path, key), name, wrong_label(name));
  }
  check_node_selector_terms(errors, spec, path);
  check_tolerations(errors, array_at(spec, "tolerations"), path + ".tolerations");
  check_gates(errors, array_at(spec, "schedulingGates"), path + ".schedulingGates");
  if (!array_at(spec, "schedulingGates").empty() && !text_at(spec, "nodeName").empty()) {
    errors.forbidden(path + ".nodeName",
                     "cannot be set until all schedulingGates have been cleared");
  }
}

namespace {

// False when the lists cannot be compared further.
bool check_same_containers(ErrorList& errors, const json::object& now, const json::object& old,
                           std::string_view list) {
  const json::array& containers = array_at(now, list);
  if (containers.size() == array_at(old, list).size()) return true;
  errors.forbidden(fmt::format("spec.{}", list), "pod updates may not add or remove containers");
  return false;
}

void check_deadline_update(ErrorList& errors, const json::object& now, const json::object& old) {
  const auto then = integer_at(old, "activeDeadlineSeconds"),
             value = integer_at(now, "activeDeadlineSeconds");
  if (!then) return;
  if (!value) {
    errors.invalid_value("spec.activeDeadlineSeconds", nullptr,
                         "must not update from a positive integer to nil value");
  } else if (*value > *then) {
    errors.invalid_value("spec.activeDeadlineSeconds", *value,
                         "must be less than or equal to previous value");
  }
}

void check_only_added_tolerations(ErrorList& errors, const json::object& now,
                                  const json::object& old) {
  const auto without_seconds = [](const json::value& toleration) {
    json::object object = as_object(toleration);
    object.erase("tolerationSeconds");
    return object;
  };
  for (const json::value& before : array_at(old, "tolerations")) {
    bool is_kept = false;
    for (const json::value& after : array_at(now, "tolerations"))
      is_kept |= without_seconds(after) == without_seconds(before);
    if (is_kept) continue;
    errors.forbidden("spec.tolerations",
                     "existing toleration can not be modified except its tolerationSeconds");
    return;
  }
}

void check_only_removed_gates(ErrorList& errors, const json::object& now, const json::object& old) {
  const json::array& gates = array_at(now, "schedulingGates");
  const json::array& before = array_at(old, "schedulingGates");
  for (size_t i = 0; i < gates.size(); ++i) {
    const std::string_view name = text_at(as_object(gates[i]), "name");
    const bool was_there = std::any_of(
        before.begin(), before.end(),
        [name](const json::value& gate) { return text_at(as_object(gate), "name") == name; });
    if (!was_there) {
      errors.forbidden(
          fmt::format("spec.schedulingGates[{}].name", i),
          fmt::format("only deletion is allowed, but found new scheduling gate '{}'", name));
    }
  }
}

// A gated pod's node selector may be narrowed, nothing else.
bool only_adds(const json::object& now, const json::object& old) {
  return std::all_of(old.begin(), old.end(), [&now](const auto& label) {
    const json::value* kept = now.if_contains(label.key());
    return kept != nullptr && *kept == label.value();
  });
}

// What may not change, with what may taken out.
json::object fixed_part(json::object spec, const json::object& now, const json::object& old) {
  for (const std::string_view list : {"containers", "initContainers"}) {
    for_each_object(spec, list, [](json::object& container) { container.erase("image"); });
  }
  for (const std::string_view key : {"activeDeadlineSeconds", "tolerations", "schedulingGates"})
    spec.erase(key);
  const bool was_gated = !array_at(old, "schedulingGates").empty();
  if (was_gated && only_adds(object_at(now, "nodeSelector"), object_at(old, "nodeSelector")))
    spec.erase("nodeSelector");
  if (was_gated) spec.erase("affinity");
  if (integer_at(old, "terminationGracePeriodSeconds").value_or(0) < 0)
    spec.erase("terminationGracePeriodSeconds");
  return spec;
}

}  // namespace

void check_pod_update(ErrorList& errors, const json::object& now, const json::object& old) {
  const json::object& spec = object_at(now, "spec");
  const json::object& before = object_at(old, "spec");
  for (const std::string_view list : {"containers", "initContainers"}) {
    if (!check_same_containers(errors, spec, before, list)) return;
  }
  check_deadline_update(errors, spec, before);
  check_only_added_tolerations(errors, spec, before);
  check_only_removed_gates(errors, spec, before);
  if (fixed_part(spec, spec, before) == fixed_part(before, spec, before)) return;
  errors.forbidden(
      "spec",
      "pod updates may not change fields other than "
      "`spec.containers[*].image`,`spec.initContainers[*].image`,"
      "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
      "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously "
      "negative)");
}

}  // namespace tau::kube
