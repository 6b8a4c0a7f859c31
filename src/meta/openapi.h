// OpenAPI documents' schema part, made from the field tables: what kubectl reads for `explain`, for
// validation and for its strategic patches. Paths are the server's own matter.
#pragma once

#include <boost/json/fwd.hpp>
#include <span>
#include <string_view>

#include "meta/type_info.h"

namespace tau::meta {

struct OpenApiKind {
  const TypeInfo* type = nullptr;
  std::string_view group, version, kind;
  bool has_list = true;  // adds "<name>List" as well
};

// Schemas by name, of the kinds and of all types that they refer to; for
// "#/components/schemas/<name>".
boost::json::object openapi_v3_schemas(std::span<const OpenApiKind> kinds);
// The same for OpenAPI v2: for "#/definitions/<name>".
boost::json::object openapi_v2_definitions(std::span<const OpenApiKind> kinds);

}  // namespace tau::meta
