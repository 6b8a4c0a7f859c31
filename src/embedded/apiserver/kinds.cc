#include "embedded/apiserver/kinds.h"

#include <boost/json.hpp>

#include "base/check.h"
#include "embedded/apiserver/rules.h"
#include "kube/conversion.h"
#include "kube/validation.h"

namespace tau::apiserver {

namespace json = boost::json;

namespace {

std::vector<StatusCause> to_causes(kube::FieldErrors errors) {
  std::vector<StatusCause> causes;
  for (kube::FieldError& error : errors) {
    causes.push_back(
        {kube::to_string(error.type), std::move(error.message), std::move(error.field)});
  }
  return causes;
}

}  // namespace

Answer<json::value> to_stored(kube::Kind kind, json::value object, std::string_view from_version) {
  json::object* fields = object.if_object();
  if (fields == nullptr) return object;
  if (auto done = kube::convert(kind, *fields, from_version, kube::info(kind).version); !done) {
    return refuse(bad_request(done.error().message));
  }
  return object;
}

json::object to_version(kube::Kind kind, json::object object, std::string_view version) {
  // From the stored form into one that is served: what cannot be said there is left out, so it does
  // not fail.
  CHECK(kube::convert(kind, object, kube::info(kind).version, version).has_value());
  return object;
}

void prepare_new(kube::Kind kind, json::object& object) {
  const std::string uid(text_in(object, "metadata.uid"));
  kube::prepare_create(kind, object, uid);
}

void set_defaults(kube::Kind kind, json::object& object) {
  kube::apply_defaults(kind, object);
}

std::vector<StatusCause> check_new(kube::Kind kind, const json::object& object) {
  return to_causes(kube::validate_create(kind, object));
}

std::vector<StatusCause> check_change(kube::Kind kind, const json::object& current,
                                      const json::object& next, std::string_view subresource) {
  return to_causes(kube::validate_update(kind, next, current, subresource));
}

}  // namespace tau::apiserver
