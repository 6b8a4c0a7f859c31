// Admission: what the embedded server adds to or demands of new objects beyond their own rules: the
// namespace exists, pods get service account, priority and the usual tolerations, queued Jobs wait
// suspended.
#pragma once

#include <boost/json/fwd.hpp>

#include "embedded/apiserver/service.h"
#include "embedded/apiserver/status.h"

namespace tau::apiserver {

std::optional<StatusError> check_namespace(const Service& service,
                                           const kube::ResourceInfo& resource,
                                           const std::string& ns, std::string_view name);
// Before defaulting and validation of a new object.
std::optional<StatusError> admit_new(const Service& service, kube::Kind kind,
                                     boost::json::object& object);

// Fields of a new object that are kept and that nobody here carries out, for the client to hear of.
std::vector<std::string> ignored_fields(kube::Kind kind, const boost::json::object& object);

}  // namespace tau::apiserver
