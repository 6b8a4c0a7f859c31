// Checks a JSON value against a schema: unknown fields and wrong types, in the API server's words.
// Values that are null count as absent. Required fields are validation's matter
// (kube/validation.h), as in the API server.
#pragma once

#include <boost/json/fwd.hpp>
#include <string>
#include <vector>

#include "meta/type_info.h"

namespace tau::meta {

struct SchemaIssue {
  enum class Kind { unknown, wrong_type };
  Kind kind = Kind::unknown;
  std::string path;     // "spec.template.spec.containers[0].imag"
  std::string message;  // `unknown field "spec.imag"`, `json: cannot unmarshal string into Go
                        // struct field ...`
  std::string nearest;  // for an unknown field: the known one that was probably meant, or ""
  bool operator==(const SchemaIssue&) const = default;
};

// In the order of the value. Nothing below an unknown or wrong value is looked at.
std::vector<SchemaIssue> check(const boost::json::value& value, const TypeInfo& type);

}  // namespace tau::meta
