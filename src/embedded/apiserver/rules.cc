#include "embedded/apiserver/rules.h"

#include <boost/json.hpp>

#include <fmt/format.h>

#include "base/check.h"
#include "base/text.h"

namespace tau::apiserver {
namespace {

namespace json = boost::json;
using kube::Kind;

// Takes `key` from `from`, or drops it if it is not there.
void keep(json::object& to, const json::object& from, std::string_view key) {
  if (const json::value* value = from.if_contains(key)) {
    to[key] = *value;
  } else {
    to.erase(key);
  }
}

void keep_server_metadata(const json::object& current, json::object& next) {
  for (const std::string_view key :
       {"name", "namespace", "uid", "creationTimestamp", "deletionTimestamp",
        "deletionGracePeriodSeconds", "generation", "generateName", "selfLink"}) {
    keep(next, current, key);
  }
  next["resourceVersion"] = text_in(current, "resourceVersion");
  // Who owns which field outlives writers that know nothing of it; an empty list clears it.
  if (!next.contains("managedFields")) {
    keep(next, current, "managedFields");
  } else if (next["managedFields"].is_array() && next["managedFields"].get_array().empty()) {
    next.erase("managedFields");
  }
}

// A write to "status": what else it may touch is labels and annotations, and for CRDs nothing.
json::object with_status_only(const kube::ResourceInfo& resource, const json::object& current,
                              json::object next) {
  json::object merged = current;
  keep(merged, next, "status");
  if (!is_custom_resource(resource)) {
    json::object& metadata = metadata_of(merged);
    for (const std::string_view key : {"labels", "annotations", "finalizers", "managedFields"})
      keep(metadata, metadata_of(next), key);
  }
  return merged;
}

std::optional<StatusError> check_same_object(const Call& call, const json::object& current,
                                             const json::object& next, bool needs_version) {
  const kube::ResourceInfo& resource = *call.route.resource;
  const std::string_view name = text_in(next, "name"), ns = text_in(next, "namespace"),
                         uid = text_in(next, "uid");
  if (name != call.route.name) {
    return bad_request(
        fmt::format("the name of the object ({}) does not match the name on the URL ({})",
                    name.empty() ? "<empty>" : name, call.route.name));
  }
  if (!ns.empty() && ns != call.route.ns) {
    return bad_request(
        "the namespace of the provided object does not match the namespace sent on the request");
  }
  if (!uid.empty() && uid != text_in(current, "uid")) {
    return conflict(
        resource, name,
        fmt::format("Precondition failed: UID in precondition: {}, UID in object meta: {}", uid,
                    text_in(current, "uid")));
  }
  const std::string_view version = text_in(next, "resourceVersion");
  if (!version.empty() && version != "0" && version != text_in(current, "resourceVersion")) {
    return modified(resource, name);
  }
  if (version.empty() && needs_version) {
    return invalid(resource, name,
                   {{"FieldValueInvalid", "Invalid value: 0x0: must be specified for an update",
                     "metadata.resourceVersion"}});
  }
  return std::nullopt;
}

std::optional<StatusError> check_finalizers(const Call& call, const json::object& current,
                                            const json::object& next) {
  if (!is_deleting(current)) return std::nullopt;
  const auto before = finalizers_of(current);
  std::vector<std::string> added;
  for (const std::string& finalizer : finalizers_of(next)) {
    if (std::find(before.begin(), before.end(), finalizer) == before.end())
      added.push_back("\"" + finalizer + "\"");
  }
  if (added.empty()) return std::nullopt;
  return invalid(*call.route.resource, call.route.name,
                 {{"FieldValueForbidden",
                   fmt::format("Forbidden: no new finalizers can be added if the object is being "
                               "deleted, found new finalizers []string{{{}}}",
                               join(added, ", ")),
                   "metadata.finalizers"}});
}

}  // namespace

json::object& metadata_of(json::object& object) {
  json::value& metadata = object["metadata"];
  if (!metadata.is_object()) metadata = json::object();
  return metadata.get_object();
}

const json::value* find_in(const json::object& object, std::string_view path) {
  const json::object* at = &object;
  const std::vector<std::string_view> parts = split(path, '.');
  for (size_t i = 0; i < parts.size(); ++i) {
    const json::value* value = at->if_contains(parts[i]);
    if (value == nullptr || i + 1 == parts.size()) return value;
    at = value->if_object();
    if (at == nullptr) return nullptr;
  }
  return nullptr;
}

std::string_view text_in(const json::object& object, std::string_view path) {
  const json::value* value = find_in(object, path);
  if (value == nullptr || !value->is_string()) return "";
  return {value->get_string().data(), value->get_string().size()};
}

std::vector<std::string> finalizers_of(const json::object& object) {
  std::vector<std::string> result;
  const json::value* metadata = object.if_contains("metadata");
  if (metadata == nullptr || !metadata->is_object()) return result;
  const json::value* list = metadata->get_object().if_contains("finalizers");
  if (list == nullptr || !list->is_array()) return result;
  for (const json::value& item : list->get_array()) {
    if (item.is_string()) result.emplace_back(item.get_string());
  }
  return result;
}

bool is_deleting(const json::object& object) {
  const json::value* metadata = object.if_contains("metadata");
  return metadata && metadata->is_object() && metadata->get_object().contains("deletionTimestamp");
}

bool has_status_subresource(const kube::ResourceInfo& resource) {
  const auto subresources = split(resource.subresources, ',');
  return std::find(subresources.begin(), subresources.end(), "status") != subresources.end();
}

bool is_custom_resource(const kube::ResourceInfo& resource) {
  return resource.group == "kueue.x-k8s.io";
}

bool has_generation(const kube::ResourceInfo& resource) {
  return resource.kind == Kind::pod || resource.kind == Kind::job ||
         resource.kind == Kind::priority_class || is_custom_resource(resource);
}

std::optional<StatusError> check_identity(const Call& call, json::object& object) {
  json::object& metadata = metadata_of(object);
  const kube::ResourceInfo& resource = *call.route.resource;
  if (const std::string_view ns = text_in(metadata, "namespace");
      !ns.empty() && ns != call.route.ns) {
    return bad_request(
        "the namespace of the provided object does not match the namespace sent on the request");
  }
  if (resource.is_namespaced) metadata["namespace"] = call.route.ns;
  if (text_in(metadata, "name").empty() && text_in(metadata, "generateName").empty()) {
    return invalid(resource, "",
                   {{"FieldValueRequired", "Required value: name or generateName is required",
                     "metadata.name"}});
  }
  if (!text_in(metadata, "resourceVersion").empty()) {
    return bad_request("resourceVersion should not be set on objects to be created");
  }
  return std::nullopt;
}

void stamp_new(const kube::ResourceInfo& resource, json::object& object, Time now, Rng& rng) {
  const json::object given = std::move(metadata_of(object));
  // The order in which upstream writes them.
  json::object metadata;
  for (const std::string_view key : {"name", "generateName", "namespace"}) {
    if (const std::string_view text = text_in(given, key); !text.empty()) metadata[key] = text;
  }
  metadata["uid"] = make_uuid(rng);
  metadata["resourceVersion"] = "";
  if (has_generation(resource)) metadata["generation"] = 1;
  metadata["creationTimestamp"] = format_rfc3339(now);
  for (const std::string_view key :
       {"labels", "annotations", "ownerReferences", "finalizers", "managedFields"}) {
    const json::value* value = given.if_contains(key);
    const bool is_empty = value == nullptr || value->is_null() ||
                          (value->is_object() && value->get_object().empty()) ||
                          (value->is_array() && value->get_array().empty());
    if (!is_empty) metadata[key] = *value;
  }
  object["metadata"] = std::move(metadata);
}

Answer<json::object> merge_update(const Call& call, const json::object& current,
                                  json::object next) {
  const kube::ResourceInfo& resource = *call.route.resource;
  const json::object& current_metadata = current.at("metadata").as_object();
  const bool is_put = call.request.method == "PUT";
  json::object& metadata = metadata_of(next);
  if (auto bad = check_same_object(call, current_metadata, metadata,
                                   is_put && is_custom_resource(resource))) {
    return refuse(std::move(*bad));
  }
  keep_server_metadata(current_metadata, metadata);
  if (auto bad = check_finalizers(call, current, next)) return refuse(std::move(*bad));
  if (call.route.subresource == "status")
    return with_status_only(resource, current, std::move(next));
  if (has_status_subresource(resource)) keep(next, current, "status");
  // A namespace's own finalizers change through /finalize alone.
  if (resource.kind == Kind::namespace_ && call.route.subresource != "finalize")
    keep(next, current, "spec");
  return next;
}

void bump_generation(const kube::ResourceInfo& resource, const json::object& current,
                     json::object& next) {
  if (!has_generation(resource)) return;
  json::object a = current, b = next;
  for (json::object* object : {&a, &b}) {
    object->erase("metadata");
    object->erase("status");
  }
  if (a == b) return;
  json::value& generation = metadata_of(next)["generation"];
  generation = generation.is_int64() ? generation.get_int64() + 1 : 1;
}

bool is_same_state(const json::object& a, const json::object& b) {
  json::object x = a, y = b;
  for (json::object* object : {&x, &y}) {
    metadata_of(*object).erase("resourceVersion");
  }
  return x == y;
}

}  // namespace tau::apiserver
