#include "embedded/apiserver/kinds.h"

#include <boost/json.hpp>

#include <fmt/format.h>

#include "embedded/apiserver/rules.h"
#include "kube/validation.h"

namespace tau::apiserver {

namespace json = boost::json;

namespace {

std::vector<StatusCause> to_causes(kube::FieldErrors errors) {
  std::vector<StatusCause> causes;
  for (kube::FieldError& error : errors) {
    causes.push_back({kube::to_string(error.type), std::move(error.message), std::move(error.field)});
  }
  return causes;
}

}  // namespace

std::vector<TableColumn> columns_of(kube::Kind) {
  return {{"Name", "string", "name", "The name of the object, unique among its kind in its namespace.", 0},
          {"Age", "string", "", "The time since the object was created.", 0}};
}

json::array cells_of(kube::Kind, const json::object& object, Time now) {
  const json::object& metadata = object.at("metadata").as_object();
  const auto created = parse_rfc3339(text_in(metadata, "creationTimestamp"));
  return {text_in(metadata, "name"), created ? format_age(now - *created) : "<unknown>"};
}

Answer<json::value> to_stored(kube::Kind kind, json::value object, std::string_view) {
  if (object.is_object()) object.get_object()["apiVersion"] = kube::api_version(kube::info(kind));
  return object;
}

json::object to_version(kube::Kind kind, json::object object, std::string_view version) {
  object["apiVersion"] = fmt::format("{}/{}", kube::info(kind).group, version);
  return object;
}

void prepare_new(kube::Kind kind, json::object& object) {
  const std::string uid(text_in(object, "metadata.uid"));
  kube::prepare_create(kind, object, uid);
}

void set_defaults(kube::Kind kind, json::object& object) { kube::apply_defaults(kind, object); }

std::vector<StatusCause> check_new(kube::Kind kind, const json::object& object) {
  return to_causes(kube::validate_create(kind, object));
}

std::vector<StatusCause> check_change(kube::Kind kind, const json::object& current, const json::object& next,
                                      std::string_view subresource) {
  return to_causes(kube::validate_update(kind, next, current, subresource));
}

}  // namespace tau::apiserver
