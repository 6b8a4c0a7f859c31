// Objects, paths and short looks at answers for the server's tests.
#pragma once

#include <fmt/format.h>

#include <boost/json.hpp>
#include <string>
#include <vector>

#include "embedded/apiserver/test_server.h"
#include "meta/json.h"

namespace tau::apiserver {

namespace json = boost::json;

inline constexpr const char* configmaps = "/api/v1/namespaces/default/configmaps";
inline constexpr const char* pods = "/api/v1/namespaces/default/pods";
inline constexpr const char* jobs = "/apis/batch/v1/namespaces/default/jobs";
inline const http::Headers merge_type{{"Content-Type", "application/merge-patch+json"}};
inline const http::Headers strategic_type{
    {"Content-Type", "application/strategic-merge-patch+json"}};
inline const http::Headers json_patch_type{{"Content-Type", "application/json-patch+json"}};
inline const http::Headers table_type{
    {"Accept", "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"}};

inline std::string at(const json::value& value, std::string_view path) {
  const json::value* found = meta::find_path(value, path);
  if (found == nullptr)
    return value.is_object() && value.as_object().contains("unexpected_status")
               ? json::serialize(value)
               : "<absent>";
  return found->is_string() ? std::string(found->as_string()) : json::serialize(*found);
}

inline std::string config_map(std::string_view name, std::string_view value = "1",
                              std::string_view labels = "{}") {
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{}","labels":{}}},"data":{{"k":"{}"}}}})",
      name, labels, value);
}

inline std::string pod(std::string_view name, std::string_view more = "") {
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{}"}},"spec":{{{}"containers":[{{"name":"main","image":"busybox"}}]}}}})",
      name, more);
}

inline std::string job(std::string_view name, std::string_view metadata = "") {
  return fmt::format(
      R"({{"apiVersion":"batch/v1","kind":"Job","metadata":{{{}"name":"{}"}},"spec":{{"template":{{"spec":{{"restartPolicy":"Never","containers":[{{"name":"main","image":"busybox"}}]}}}}}}}})",
      metadata, name);
}

inline std::vector<std::string> names(const json::value& list) {
  std::vector<std::string> result;
  if (!list.is_object() || !list.as_object().contains("items")) return {json::serialize(list)};
  for (const json::value& item : list.at("items").as_array())
    result.push_back(at(item, "metadata.name"));
  return result;
}

using Names = std::vector<std::string>;

}  // namespace tau::apiserver
