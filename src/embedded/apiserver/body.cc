#include "embedded/apiserver/body.h"

#include <boost/json.hpp>

#include <fmt/format.h>

#include "base/text.h"
#include "embedded/apiserver/kinds.h"
#include "embedded/apiserver/protobuf.h"
#include "kube/schema.h"
#include "meta/json.h"
#include "meta/schema_check.h"
#include "meta/yaml.h"

namespace tau::apiserver {
namespace {

namespace json = boost::json;

constexpr size_t warnings_kept = 50;

// Drops every field that the schema does not know; nulls count as absent and go too.
void prune(json::value& value, const meta::TypeInfo& type) {
  switch (type.shape) {
    case meta::Shape::object: {
      json::object* object = value.if_object();
      if (object == nullptr) return;
      for (auto it = object->begin(); it != object->end();) {
        const meta::Field* field = type.find(it->key());
        if (field == nullptr ? !type.keeps_unknown_fields : it->value().is_null()) {
          it = object->stable_erase(it);
          continue;
        }
        if (field != nullptr && field->type != nullptr) prune(it->value(), field->type());
        ++it;
      }
      return;
    }
    case meta::Shape::list:
      if (json::array* array = value.if_array(); array && type.element) {
        for (json::value& element : *array) prune(element, type.element());
      }
      return;
    case meta::Shape::map:
      if (json::object* object = value.if_object(); object && type.element) {
        for (auto& member : *object) prune(member.value(), type.element());
      }
      return;
    default:
      return;
  }
}

// The refusal of wrong types and, when strict, of unknown fields.
std::optional<StatusError> judge(Call& call, const std::vector<meta::SchemaIssue>& issues,
                                 BodyUse use) {
  const kube::ResourceInfo& resource = *call.route.resource;
  const std::string prefix =
      fmt::format("{} in version \"{}\" cannot be handled as a {}: ", resource.kind_name,
                  call.route.version, resource.kind_name);
  std::vector<std::string> unknown;
  for (const meta::SchemaIssue& issue : issues) {
    if (issue.kind == meta::SchemaIssue::Kind::wrong_type)
      return bad_request(prefix + issue.message);
    if (unknown.size() < warnings_kept) unknown.push_back(issue.message);
  }
  if (unknown.empty()) return std::nullopt;
  const std::string_view validation = call.query("fieldValidation");
  if (validation == "Ignore") return std::nullopt;
  if (validation != "Strict") {
    call.warnings.insert(call.warnings.end(), unknown.begin(), unknown.end());
    return std::nullopt;
  }
  const std::string message = "strict decoding error: " + join(unknown, ", ");
  if (use == BodyUse::create_or_update) return bad_request(prefix + message);
  StatusError error{422, "Invalid",
                    fmt::format(" \"\" is invalid: patch: Invalid value: \"{}\": {}",
                                resource.kind_name, message)};
  error.causes.push_back({"FieldValueInvalid",
                          fmt::format("Invalid value: \"{}\": {}", resource.kind_name, message),
                          "patch"});
  return error;
}

std::optional<StatusError> check_type_meta(const Call& call, const json::object& object) {
  const kube::ResourceInfo& resource = *call.route.resource;
  const std::string expected = resource.group.empty()
                                   ? call.route.version
                                   : fmt::format("{}/{}", resource.group, call.route.version);
  const auto text = [&](std::string_view key) {
    const json::value* value = object.if_contains(key);
    return value && value->is_string() ? std::string(value->get_string()) : std::string();
  };
  const std::string version = text("apiVersion"), kind = text("kind");
  if (!kind.empty() && kind != resource.kind_name) {
    return bad_request(
        fmt::format("{} in version \"{}\" cannot be handled as a {}: converting ({}) to ({}): "
                    "unknown conversion",
                    kind, version, resource.kind_name, kind, resource.kind_name));
  }
  if (!version.empty() && version != expected) {
    return bad_request(
        fmt::format("the API version in the data ({}) does not match the expected API version ({})",
                    version, expected));
  }
  return std::nullopt;
}

}  // namespace

std::string content_type(const http::Request& request) {
  const std::string_view header = http::find_header(request.headers, "Content-Type");
  return to_lower(trim(header.substr(0, header.find(';'))));
}

Answer<json::value> parse_body(const http::Request& request) {
  const std::string type = content_type(request);
  const bool is_yaml = type == "application/yaml" || type == "application/apply-patch+yaml";
  const bool is_protobuf = type == "application/vnd.kubernetes.protobuf";
  const bool is_json = type.empty() || type == "application/json" || type.ends_with("+json");
  if (!is_yaml && !is_json && !is_protobuf) {
    return refuse(unsupported_media(fmt::format(
        "the body of the request was in an unknown format ({}) - accepted media types include: "
        "application/json, application/yaml, application/vnd.kubernetes.protobuf",
        type)));
  }
  if (trim(request.body).empty())
    return refuse(bad_request("the request body is empty: an object is required"));
  if (is_protobuf) {
    auto value = parse_protobuf(request.body);
    if (!value)
      return refuse(bad_request("error decoding the request body: " + value.error().message));
    return std::move(*value);
  }
  // Apply patches are named YAML and mostly are JSON, whose reader is the exacter and faster one.
  if (type == "application/apply-patch+yaml") {
    if (auto value = meta::parse_json(request.body)) return std::move(*value);
  }
  if (is_yaml) {
    auto documents = meta::parse_yaml(request.body);
    if (!documents)
      return refuse(bad_request("error decoding the request body: " + documents.error().message));
    if (documents->size() != 1)
      return refuse(bad_request("the request body must hold exactly one YAML document"));
    return std::move(documents->front());
  }
  auto value = meta::parse_json(request.body);
  if (!value)
    return refuse(bad_request("error decoding the request body: " + value.error().message));
  return std::move(*value);
}

Answer<json::object> take_object(Call& call, json::value body, BodyUse use) {
  const kube::ResourceInfo& resource = *call.route.resource;
  if (!body.is_object()) return refuse(bad_request("the request body must be an object"));
  if (auto bad = check_type_meta(call, body.get_object())) return refuse(std::move(*bad));
  if (!call.route.is_stored_version())
    body = TRY(to_stored(resource.kind, std::move(body), call.route.version));
  const meta::TypeInfo& schema = kube::schema_of(resource.kind);
  const std::vector<meta::SchemaIssue> issues = meta::check(body, schema);
  if (auto bad = judge(call, issues, use)) return refuse(std::move(*bad));
  prune(body, schema);
  // kind and apiVersion first, as everything that the server writes.
  json::object ordered{{"kind", resource.kind_name}, {"apiVersion", kube::api_version(resource)}};
  ordered["metadata"] = json::object();
  for (auto& [key, value] : body.get_object()) {
    if (key == "kind" || key == "apiVersion") continue;
    ordered[key] = std::move(value);
  }
  if (!ordered["metadata"].is_object()) return refuse(bad_request("metadata must be an object"));
  return ordered;
}

Answer<bool> takes_dry_run(const Call& call) {
  const auto value = call.url.find("dryRun");
  if (!value || value->empty()) return false;
  if (*value == "All") return true;
  return refuse(bad_request(
      fmt::format("dryRun: Unsupported value: \"{}\": supported values: \"All\"", *value)));
}

Answer<DeleteOptions> take_delete_options(const Call& call) {
  DeleteOptions options;
  options.is_dry_run = TRY(takes_dry_run(call));
  if (!trim(call.request.body).empty()) {
    const json::value body = TRY(parse_body(call.request));
    if (!body.is_object())
      return refuse(bad_request("the request body must be a DeleteOptions object"));
    if (const json::value* grace = meta::find_path(body, "gracePeriodSeconds");
        grace && !grace->is_null()) {
      if (!grace->is_int64()) return refuse(bad_request("gracePeriodSeconds must be an integer"));
      options.grace_period_seconds = grace->get_int64();
    }
    options.precondition_uid = meta::string_at(body, "preconditions.uid");
    options.precondition_version = meta::string_at(body, "preconditions.resourceVersion");
    options.propagation = meta::string_at(body, "propagationPolicy");
    if (const json::value* orphan = meta::find_path(body, "orphanDependents");
        orphan && orphan->is_bool()) {
      options.propagation = orphan->get_bool() ? "Orphan" : "Background";
    }
    if (const json::value* dry = meta::find_path(body, "dryRun");
        dry && dry->is_array() && !dry->get_array().empty()) {
      options.is_dry_run = true;
    }
  }
  if (const std::string_view text = call.query("gracePeriodSeconds"); !text.empty()) {
    const auto grace = parse_int(text);
    if (!grace) return refuse(bad_request("gracePeriodSeconds must be an integer"));
    options.grace_period_seconds = *grace;
  }
  if (const std::string_view text = call.query("propagationPolicy"); !text.empty())
    options.propagation = text;
  if (options.grace_period_seconds && *options.grace_period_seconds < 0)
    options.grace_period_seconds = 1;
  static constexpr std::string_view known[] = {"", "Background", "Foreground", "Orphan"};
  if (std::find(std::begin(known), std::end(known), options.propagation) == std::end(known)) {
    return refuse(
        bad_request(fmt::format("propagationPolicy: Unsupported value: \"{}\": supported values: "
                                "\"Foreground\", \"Background\", \"Orphan\"",
                                options.propagation)));
  }
  return options;
}

}  // namespace tau::apiserver
