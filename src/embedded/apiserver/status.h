// StatusError: a refusal in the API's own words (meta/v1 Status): HTTP code, reason, message,
// details. The texts follow upstream, because people and programs match on them.
#pragma once

#include <boost/json/fwd.hpp>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kube/resources.h"

namespace tau::apiserver {

struct StatusCause {
  std::string reason, message, field;
  bool operator==(const StatusCause&) const = default;
};

struct StatusError {
  int code = 500;
  std::string reason, message;
  std::string name, group, kind,
      uid;  // details; kind is the plural resource, or the Kind of an invalid object
  std::vector<StatusCause> causes;
  int retry_after_seconds = 0;
};

template <class T>
using Answer = std::expected<T, StatusError>;
inline std::unexpected<StatusError> refuse(StatusError error) {
  return std::unexpected(std::move(error));
}

std::string to_json(const StatusError& error);
// A deletion's or binding's success.
std::string success_json(const kube::ResourceInfo* resource, std::string_view name,
                         std::string_view uid);
// "jobs.batch", "pods"
std::string qualified_resource(const kube::ResourceInfo& resource);
// "Job.batch", "Pod"
std::string qualified_kind(const kube::ResourceInfo& resource);

StatusError bad_request(std::string message);
StatusError unauthorized();
StatusError forbidden(const kube::ResourceInfo& resource, std::string_view name, std::string why);
StatusError not_found(const kube::ResourceInfo& resource, std::string_view name);
StatusError path_not_found();
StatusError method_not_allowed(std::string message);
StatusError already_exists(const kube::ResourceInfo& resource, std::string_view name);
StatusError conflict(const kube::ResourceInfo& resource, std::string_view name,
                     std::string_view why);
StatusError modified(const kube::ResourceInfo& resource, std::string_view name);
StatusError invalid(const kube::ResourceInfo& resource, std::string_view name,
                    std::vector<StatusCause> causes);
StatusError expired(std::string message);
StatusError future_version(int64_t wanted, int64_t current);
StatusError too_large(std::string message);
StatusError unsupported_media(std::string message);
StatusError not_acceptable(std::string message);
StatusError not_implemented(std::string message);
StatusError from_error(const Error& error);  // of the journal or another part of ours

}  // namespace tau::apiserver
