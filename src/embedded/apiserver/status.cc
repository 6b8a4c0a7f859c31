#include "embedded/apiserver/status.h"

#include <boost/json.hpp>

#include <fmt/format.h>

#include "base/text.h"

namespace tau::apiserver {
namespace {

namespace json = boost::json;

json::object details_of(const StatusError& error) {
  json::object details;
  if (!error.name.empty()) details["name"] = to_utf8(error.name);
  if (!error.group.empty()) details["group"] = error.group;
  if (!error.kind.empty()) details["kind"] = error.kind;
  if (!error.uid.empty()) details["uid"] = error.uid;
  if (!error.causes.empty()) {
    json::array causes;
    for (const StatusCause& cause : error.causes) {
      json::object item{{"reason", cause.reason}, {"message", to_utf8(cause.message)}};
      if (!cause.field.empty()) item["field"] = to_utf8(cause.field);
      causes.push_back(std::move(item));
    }
    details["causes"] = std::move(causes);
  }
  if (error.retry_after_seconds > 0) details["retryAfterSeconds"] = error.retry_after_seconds;
  return details;
}

StatusError about(int code, std::string_view reason, const kube::ResourceInfo& resource,
                  std::string_view name, std::string message) {
  StatusError error{.code = code, .reason = std::string(reason), .message = std::move(message)};
  error.name = name;
  error.group = resource.group;
  error.kind = resource.resource;
  return error;
}

}  // namespace

// What a client sent may be quoted in it, so not all of it is UTF-8.
std::string to_json(const StatusError& error) {
  json::object status{{"kind", "Status"},
                      {"apiVersion", "v1"},
                      {"metadata", json::object()},
                      {"status", "Failure"},
                      {"message", to_utf8(error.message)},
                      {"reason", error.reason}};
  if (json::object details = details_of(error); !details.empty())
    status["details"] = std::move(details);
  status["code"] = error.code;
  return json::serialize(status);
}

std::string success_json(const kube::ResourceInfo* resource, std::string_view name,
                         std::string_view uid) {
  json::object status{{"kind", "Status"},
                      {"apiVersion", "v1"},
                      {"metadata", json::object()},
                      {"status", "Success"}};
  if (resource == nullptr) {
    status["code"] = 201;
  } else {
    json::object details{{"name", name}};
    if (!resource->group.empty()) details["group"] = resource->group;
    details["kind"] = resource->resource;
    details["uid"] = uid;
    status["details"] = std::move(details);
  }
  return json::serialize(status);
}

std::string qualified_resource(const kube::ResourceInfo& resource) {
  return resource.group.empty() ? std::string(resource.resource)
                                : fmt::format("{}.{}", resource.resource, resource.group);
}

std::string qualified_kind(const kube::ResourceInfo& resource) {
  return resource.group.empty() ? std::string(resource.kind_name)
                                : fmt::format("{}.{}", resource.kind_name, resource.group);
}

StatusError bad_request(std::string message) {
  return {400, "BadRequest", std::move(message)};
}
StatusError unauthorized() {
  return {401, "Unauthorized", "Unauthorized"};
}
StatusError path_not_found() {
  return {404, "NotFound", "the server could not find the requested resource"};
}
StatusError method_not_allowed(std::string message) {
  return {405, "MethodNotAllowed", std::move(message)};
}
StatusError not_acceptable(std::string message) {
  return {406, "NotAcceptable", std::move(message)};
}
StatusError expired(std::string message) {
  return {410, "Expired", std::move(message)};
}
StatusError too_large(std::string message) {
  return {413, "RequestEntityTooLarge", std::move(message)};
}
StatusError unsupported_media(std::string message) {
  return {415, "UnsupportedMediaType", std::move(message)};
}
StatusError not_implemented(std::string message) {
  return {501, "NotImplemented", std::move(message)};
}

StatusError forbidden(const kube::ResourceInfo& resource, std::string_view name, std::string why) {
  return about(403, "Forbidden", resource, name,
               fmt::format("{} \"{}\" is forbidden: {}", qualified_resource(resource), name, why));
}

StatusError not_found(const kube::ResourceInfo& resource, std::string_view name) {
  return about(404, "NotFound", resource, name,
               fmt::format("{} \"{}\" not found", qualified_resource(resource), name));
}

StatusError already_exists(const kube::ResourceInfo& resource, std::string_view name) {
  return about(409, "AlreadyExists", resource, name,
               fmt::format("{} \"{}\" already exists", qualified_resource(resource), name));
}

StatusError conflict(const kube::ResourceInfo& resource, std::string_view name,
                     std::string_view why) {
  return about(409, "Conflict", resource, name,
               fmt::format("Operation cannot be fulfilled on {} \"{}\": {}",
                           qualified_resource(resource), name, why));
}

StatusError modified(const kube::ResourceInfo& resource, std::string_view name) {
  return conflict(resource, name,
                  "the object has been modified; please apply your changes to the latest version "
                  "and try again");
}

StatusError invalid(const kube::ResourceInfo& resource, std::string_view name,
                    std::vector<StatusCause> causes) {
  std::vector<std::string> texts;
  for (const StatusCause& cause : causes) {
    texts.push_back(cause.field.empty() ? cause.message
                                        : fmt::format("{}: {}", cause.field, cause.message));
  }
  const std::string all = join(texts, ", ");
  StatusError error = about(422, "Invalid", resource, name,
                            fmt::format("{} \"{}\" is invalid: {}", qualified_kind(resource), name,
                                        texts.size() > 1 ? "[" + all + "]" : all));
  error.kind = resource.kind_name;
  error.causes = std::move(causes);
  return error;
}

StatusError future_version(int64_t wanted, int64_t current) {
  StatusError error{504, "Timeout",
                    fmt::format("Too large resource version: {}, current: {}", wanted, current)};
  error.causes.push_back({"ResourceVersionTooLarge", "Too large resource version", ""});
  error.retry_after_seconds = 1;
  return error;
}

StatusError from_error(const Error& error) {
  switch (error.code) {
    case ErrorCode::bad_request:
      return bad_request(error.message);
    case ErrorCode::too_large:
      return too_large(error.message);
    case ErrorCode::unavailable:
      return {503, "ServiceUnavailable", error.message};
    case ErrorCode::unsupported:
      return not_implemented(error.message);
    case ErrorCode::timeout:
      return {504, "Timeout", error.message};
    case ErrorCode::too_many:
      return {429, "TooManyRequests", error.message};
    default:
      return {500, "InternalError", "Internal error occurred: " + error.message};
  }
}

}  // namespace tau::apiserver
