// The server's OpenAPI documents: v3 per group and version, v2 as one. Schemas come from the field
// tables, paths from the list of kinds. Made when first asked for, then kept as text.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "http/url.h"

namespace tau::apiserver {

class OpenApi {
 public:
  // "/openapi/v3", "/openapi/v3/api/v1", "/openapi/v3/apis/batch/v1", "/openapi/v2"; nullopt for
  // other paths.
  std::optional<std::string_view> find(const http::Url& url);

 private:
  void make();
  std::map<std::string, std::string> texts_;  // by path
};

}  // namespace tau::apiserver
