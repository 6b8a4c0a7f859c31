// What the server does to an object before it stores it: fills defaults, prepares a new one, and
// checks values against the API's rules, in the API server's own words. Shape (unknown fields,
// wrong types) is schema_check's.
#pragma once

#include <boost/json/fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "kube/resources.h"

namespace tau::kube {

enum class FieldErrorType {
  required,
  invalid,
  not_supported,
  duplicate,
  forbidden,
  not_found,
  too_long
};
// The cause's reason in a Status: "FieldValueRequired", ...
const char* to_string(FieldErrorType type);

struct FieldError {
  std::string field;  // "spec.template.spec.restartPolicy"
  FieldErrorType type = FieldErrorType::invalid;
  std::string message;  // the whole text after the field: `Invalid value: "x": must be ...`
  bool operator==(const FieldError&) const = default;
};
using FieldErrors = std::vector<FieldError>;
// "spec.x: Required value"; several: "[a: ..., b: ...]". What follows `Job.batch "x" is invalid: `.
std::string to_text(const FieldErrors& errors);

// Fills in what the API defaults, on create and update alike. Idempotent.
void apply_defaults(Kind kind, boost::json::object& object);
// On create, after defaults: what the server generates (a Job's selector and labels, a pod's
// status, ...) and the status that a client may not set. `metadata` other than labels and
// generation is the server's matter.
void prepare_create(Kind kind, boost::json::object& object, std::string_view uid);

FieldErrors validate_create(Kind kind, const boost::json::object& object);
// `subresource` is "" for the object itself, or "status", ...
FieldErrors validate_update(Kind kind, const boost::json::object& now,
                            const boost::json::object& old, std::string_view subresource);

}  // namespace tau::kube
