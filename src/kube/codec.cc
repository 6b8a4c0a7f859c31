#include "kube/codec.h"

#include <boost/json.hpp>

#include "kube/schema.h"

namespace tau::kube {
namespace json = boost::json;

json::object encode_object(Kind kind, const void* object) {
  const ResourceInfo& resource = info(kind);
  json::object made{{"apiVersion", api_version(resource)}, {"kind", resource.kind_name}};
  const json::value encoded = meta::encode_from(object, schema_of(kind));
  for (const auto& [key, value] : encoded.as_object()) made[key] = value;
  return made;
}

std::string object_text(Kind kind, const void* object) {
  return json::serialize(encode_object(kind, object));
}

}  // namespace tau::kube
