#include "kube/request.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "http/url.h"
#include "meta/json.h"

namespace tau::kube {
namespace {

const char* method_of(Verb verb) {
  switch (verb) {
    case Verb::get:
    case Verb::list:
    case Verb::watch:
      return "GET";
    case Verb::create:
      return "POST";
    case Verb::update:
      return "PUT";
    case Verb::patch_json:
    case Verb::patch_merge:
    case Verb::patch_strategic:
      return "PATCH";
    case Verb::remove:
      return "DELETE";
  }
  return "GET";
}

const char* content_type_of(Verb verb) {
  switch (verb) {
    case Verb::patch_json:
      return "application/json-patch+json";
    case Verb::patch_merge:
      return "application/merge-patch+json";
    case Verb::patch_strategic:
      return "application/strategic-merge-patch+json";
    default:
      return "application/json";
  }
}

ErrorCode code_of(int status, std::string_view reason) {
  if (reason == "AlreadyExists") return ErrorCode::already_exists;
  switch (status) {
    case 400:
      return ErrorCode::bad_request;
    case 401:
      return ErrorCode::unauthorized;
    case 403:
      return ErrorCode::forbidden;
    case 404:
      return ErrorCode::not_found;
    case 405:
    case 406:
    case 415:
    case 501:
      return ErrorCode::unsupported;
    case 409:
      return ErrorCode::conflict;
    case 410:
      return ErrorCode::gone;
    case 413:
      return ErrorCode::too_large;
    case 422:
      return ErrorCode::invalid;
    case 429:
      return ErrorCode::too_many;
    case 503:
      return ErrorCode::unavailable;
    case 504:
      return ErrorCode::timeout;
    default:
      return ErrorCode::internal;
  }
}

}  // namespace

http::Request to_http(const ApiRequest& request) {
  const ResourceInfo& resource = info(request.kind);
  std::string target = resource.group.empty() ? "/api/v1" : "/apis/" + api_version(resource);
  if (resource.is_namespaced && !request.ns.empty())
    target += "/namespaces/" + http::percent_encode(request.ns);
  target += "/" + std::string(resource.resource);
  if (!request.name.empty()) target += "/" + http::percent_encode(request.name);
  if (!request.subresource.empty()) target += "/" + request.subresource;
  if (!request.query.empty()) target += "?" + request.query;
  http::Request made{.method = method_of(request.verb), .target = std::move(target)};
  made.headers.emplace_back("Accept", "application/json");
  made.headers.emplace_back("User-Agent", "taugrid");  // whose write it was, in audit logs
  if (!request.body.empty()) {
    made.headers.emplace_back("Content-Type", content_type_of(request.verb));
    made.body = request.body;
  }
  return made;
}

Error to_error(int http_status, std::string_view body) {
  if (const auto parsed = meta::parse_json(body); parsed && parsed->is_object()) {
    const std::string_view message = meta::string_at(*parsed, "message");
    if (!message.empty())
      return {code_of(http_status, meta::string_at(*parsed, "reason")), std::string(message)};
  }
  std::string text(body.substr(0, 200));
  return {code_of(http_status, ""),
          fmt::format("the server answered {}{}{}", http_status, text.empty() ? "" : ": ", text)};
}

ApiRequest create_request(Kind kind, std::string ns, std::string json) {
  return {.verb = Verb::create, .kind = kind, .ns = std::move(ns), .body = std::move(json)};
}

ApiRequest merge_patch(Kind kind, std::string ns, std::string name, std::string json,
                       std::string subresource) {
  return {.verb = Verb::patch_merge,
          .kind = kind,
          .ns = std::move(ns),
          .name = std::move(name),
          .subresource = std::move(subresource),
          .body = std::move(json)};
}

ApiRequest delete_request(Kind kind, std::string ns, std::string name,
                          std::string_view propagation) {
  return {.verb = Verb::remove,
          .kind = kind,
          .ns = std::move(ns),
          .name = std::move(name),
          .query = "propagationPolicy=" + std::string(propagation)};
}

}  // namespace tau::kube
