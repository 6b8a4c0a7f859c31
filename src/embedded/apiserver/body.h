// Bodies of writes: JSON or YAML text to an object of the stored version whose fields are all
// known, or the refusal that the API gives.
#pragma once

#include <boost/json/fwd.hpp>
#include <optional>

#include "embedded/apiserver/call.h"

namespace tau::apiserver {

// The media type without parameters, in lower case.
std::string content_type(const http::Request& request);
// JSON (also where no type is given) or YAML; anything else is 415.
Answer<boost::json::value> parse_body(const http::Request& request);

// What kind of body it was, for the words of the refusal.
enum class BodyUse { create_or_update, patch };
// Checks apiVersion and kind against the route, converts to the stored version, and treats unknown
// fields as fieldValidation says (Strict: refused; Warn, the default: dropped with a warning;
// Ignore: dropped).
Answer<boost::json::object> take_object(Call& call, boost::json::value body, BodyUse use);

struct DeleteOptions {
  std::optional<int64_t> grace_period_seconds;
  std::string precondition_uid, precondition_version;
  std::string propagation;  // "", Background, Foreground, Orphan
  bool is_dry_run = false;
};
// From the body, if any, and the query, which wins.
Answer<DeleteOptions> take_delete_options(const Call& call);
Answer<bool> takes_dry_run(const Call& call);

}  // namespace tau::apiserver
