// Server-side apply: an object is merged into the live one, each applier owns the fields that it
// gave, and a field that its owner no longer gives goes, unless another owns it too. Owned fields
// are kept in metadata.managedFields in the API's own form (FieldsV1). Only appliers own fields
// here: plain updates own none, so they neither cause conflicts nor take fields away.
#pragma once

#include <boost/json/fwd.hpp>

#include "embedded/apiserver/call.h"

namespace tau::apiserver {

struct ApplyOptions {
  std::string manager, api_version, time;
  bool is_forced = false;
};

// `applied` is of the stored version, without defaults. Returns `live` with it merged in,
// managedFields brought up to date; 409 with one cause per field that another applier owns with
// another value.
Answer<boost::json::object> apply_object(const kube::ResourceInfo& resource,
                                         const boost::json::object& live,
                                         const boost::json::object& applied,
                                         const ApplyOptions& options);
// The fields that an object gives, in FieldsV1 form: {"f:spec":{"f:suspend":{}}}.
boost::json::object fields_of(const kube::ResourceInfo& resource,
                              const boost::json::object& applied);

}  // namespace tau::apiserver
