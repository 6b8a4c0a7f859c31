#include "embedded/apiserver/kinds.h"

#include <boost/json.hpp>

#include <fmt/format.h>

#include "embedded/apiserver/rules.h"

namespace tau::apiserver {

namespace json = boost::json;

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
  if (has_status_subresource(kube::info(kind))) object.erase("status");
}

void set_defaults(kube::Kind, json::object&) {}
std::vector<StatusCause> check_new(kube::Kind, const json::object&) { return {}; }
std::vector<StatusCause> check_change(kube::Kind, const json::object&, const json::object&, std::string_view) { return {}; }

}  // namespace tau::apiserver
