// ApiRequest: one call to a Kubernetes API server as a value, and its HTTP form. Reconcilers and
// the decision writer return these; `client` sends them.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "http/message.h"
#include "kube/resources.h"

namespace tau::kube {

enum class Verb {
  get,
  list,
  watch,
  create,
  update,
  patch_json,
  patch_merge,
  patch_strategic,
  remove
};

struct ApiRequest {
  Verb verb = Verb::get;
  Kind kind = Kind::pod;
  std::string ns;           // "" for cluster scope, or for a list over all namespaces
  std::string name;         // "" for list, watch, create
  std::string subresource;  // "status", "binding", "eviction", "log"
  std::string body;         // JSON
  std::string query;        // already encoded, without '?': "propagationPolicy=Background"
  bool operator==(const ApiRequest&) const = default;
};

http::Request to_http(const ApiRequest& request);
// The error of a non-2xx answer, from its Status body where there is one.
Error to_error(int http_status, std::string_view body);

// Short forms for what writers need most.
ApiRequest create_request(Kind kind, std::string ns, std::string json);
ApiRequest merge_patch(Kind kind, std::string ns, std::string name, std::string json,
                       std::string subresource = "");
ApiRequest delete_request(Kind kind, std::string ns, std::string name,
                          std::string_view propagation = "Background");

}  // namespace tau::kube
