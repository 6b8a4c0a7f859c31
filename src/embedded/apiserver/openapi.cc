#include "embedded/apiserver/openapi.h"

#include <boost/json.hpp>

#include <fmt/format.h>

#include "base/text.h"
#include "embedded/apiserver/rules.h"
#include "kube/resources.h"
#include "kube/schema.h"
#include "meta/openapi.h"

namespace tau::apiserver {
namespace {

namespace json = boost::json;
using kube::ResourceInfo;

struct GroupVersion {
  std::string group, version;
  std::vector<const ResourceInfo*> resources;
  std::string path() const {
    return group.empty() ? "api/" + version : fmt::format("apis/{}/{}", group, version);
  }
};

std::vector<GroupVersion> all_group_versions() {
  std::vector<GroupVersion> result;
  const auto add = [&](const ResourceInfo& info, std::string_view version) {
    auto found = std::find_if(result.begin(), result.end(), [&](const GroupVersion& g) {
      return g.group == info.group && g.version == version;
    });
    if (found == result.end()) {
      found = result.insert(result.end(),
                            GroupVersion{std::string(info.group), std::string(version), {}});
    }
    found->resources.push_back(&info);
  };
  for (const ResourceInfo& info : kube::all_resources()) {
    add(info, info.version);
    for (const std::string_view other : split(info.other_versions, ',')) {
      if (!other.empty()) add(info, other);
    }
  }
  return result;
}

std::vector<meta::OpenApiKind> kinds_of(const GroupVersion& group) {
  std::vector<meta::OpenApiKind> kinds;
  for (const ResourceInfo* info : group.resources) {
    kinds.push_back(
        {&kube::schema_of(info->kind), group.group, group.version, info->kind_name, true});
  }
  return kinds;
}

json::object gvk_of(const GroupVersion& group, std::string_view kind) {
  return {{"group", group.group}, {"version", group.version}, {"kind", kind}};
}

json::object query_parameter(std::string_view name, std::string_view description, bool is_v3,
                             std::string_view type) {
  json::object parameter{{"name", name}, {"in", "query"}, {"description", description}};
  if (is_v3) {
    parameter["schema"] = json::object{{"type", type}, {"uniqueItems", true}};
  } else {
    parameter["type"] = type;
    parameter["uniqueItems"] = true;
  }
  return parameter;
}

json::array write_parameters(bool is_v3, bool is_patch) {
  json::array parameters{
      query_parameter("dryRun",
                      "All: nothing is kept, and the answer is what would have been kept.", is_v3,
                      "string"),
      query_parameter("fieldManager", "Who makes the change.", is_v3, "string"),
      query_parameter("fieldValidation", "What to do with unknown fields: Ignore, Warn or Strict.",
                      is_v3, "string")};
  if (is_patch)
    parameters.push_back(query_parameter(
        "force", "Takes fields that others own; for apply patches.", is_v3, "boolean"));
  return parameters;
}

json::object reference(const GroupVersion& group, const ResourceInfo& info, bool is_v3,
                       std::string_view suffix) {
  (void)group;
  return {{"$ref", fmt::format("{}{}{}", is_v3 ? "#/components/schemas/" : "#/definitions/",
                               kube::schema_of(info.kind).name, suffix)}};
}

json::object ok_response(json::object schema, bool is_v3) {
  json::object response{{"description", "OK"}};
  if (is_v3) {
    response["content"] =
        json::object{{"application/json", json::object{{"schema", std::move(schema)}}}};
  } else {
    response["schema"] = std::move(schema);
  }
  return {{"200", std::move(response)}};
}

// kubectl picks its patch type from this list: a CRD's kinds have no strategic merge.
std::vector<std::string_view> body_types(const ResourceInfo& info, std::string_view action) {
  if (action != "patch") return {"application/json"};
  std::vector<std::string_view> types{"application/apply-patch+yaml", "application/json-patch+json",
                                      "application/merge-patch+json"};
  if (!is_custom_resource(info)) types.push_back("application/strategic-merge-patch+json");
  return types;
}

json::object operation(const GroupVersion& group, const ResourceInfo& info, std::string_view action,
                       bool is_v3) {
  const bool is_list = action == "list" || action == "deletecollection";
  json::object op{
      {"operationId", fmt::format("{}{}{}", action, info.kind_name, is_list ? "List" : "")},
      {"tags", json::array{group.path()}},
      {"x-kubernetes-action", action},
      {"x-kubernetes-group-version-kind", gvk_of(group, info.kind_name)}};
  op["responses"] =
      ok_response(reference(group, info, is_v3, action == "list" ? "List" : ""), is_v3);
  const bool has_body = action == "post" || action == "put" || action == "patch";
  if (has_body) {
    op["parameters"] = write_parameters(is_v3, action == "patch");
    if (is_v3) {
      json::object content;
      const json::object schema =
          action == "patch" ? json::object{{"type", "object"}} : reference(group, info, true, "");
      for (const std::string_view type : body_types(info, action))
        content[type] = json::object{{"schema", schema}};
      op["requestBody"] = json::object{{"content", std::move(content)}, {"required", true}};
    } else {
      op["parameters"].as_array().push_back(
          json::object{{"name", "body"},
                       {"in", "body"},
                       {"required", true},
                       {"schema", action == "patch" ? json::object{{"type", "object"}}
                                                    : reference(group, info, false, "")}});
    }
  }
  return op;
}

json::object paths_of(const GroupVersion& group, bool is_v3) {
  json::object paths;
  for (const ResourceInfo* info : group.resources) {
    const std::string base = "/" + group.path() +
                             (info->is_namespaced ? "/namespaces/{namespace}/" : "/") +
                             std::string(info->resource);
    json::object collection{{"get", operation(group, *info, "list", is_v3)},
                            {"post", operation(group, *info, "post", is_v3)},
                            {"delete", operation(group, *info, "deletecollection", is_v3)}};
    json::object item{{"get", operation(group, *info, "get", is_v3)},
                      {"put", operation(group, *info, "put", is_v3)},
                      {"patch", operation(group, *info, "patch", is_v3)},
                      {"delete", operation(group, *info, "delete", is_v3)}};
    paths[base] = std::move(collection);
    paths[base + "/{name}"] = std::move(item);
    if (info->is_namespaced) {
      paths[fmt::format("/{}/{}", group.path(), info->resource)] =
          json::object{{"get", operation(group, *info, "list", is_v3)}};
    }
  }
  return paths;
}

json::object document_info() {
  return {{"title", "Kubernetes"}, {"version", "v1.37.0+taugrid"}};
}

}  // namespace

void OpenApi::make() {
  json::object index;
  json::object v2_paths;
  std::vector<meta::OpenApiKind> all_kinds;
  const std::vector<GroupVersion> groups =
      all_group_versions();  // the kinds' names are views of these
  for (const GroupVersion& group : groups) {
    const std::vector<meta::OpenApiKind> kinds = kinds_of(group);
    all_kinds.insert(all_kinds.end(), kinds.begin(), kinds.end());
    json::object document{
        {"openapi", "3.0.0"},
        {"info", document_info()},
        {"paths", paths_of(group, true)},
        {"components", json::object{{"schemas", meta::openapi_v3_schemas(kinds)}}}};
    std::string text = json::serialize(document);
    const std::string path = "/openapi/v3/" + group.path();
    index[group.path()] =
        json::object{{"serverRelativeURL", fmt::format("{}?hash={:016X}", path, fnv1a(text))}};
    texts_[path] = std::move(text);
    for (auto& [key, value] : paths_of(group, false)) v2_paths[key] = value;
  }
  texts_["/openapi/v3"] = json::serialize(json::object{{"paths", std::move(index)}});
  texts_["/openapi/v2"] =
      json::serialize(json::object{{"swagger", "2.0"},
                                   {"info", document_info()},
                                   {"paths", std::move(v2_paths)},
                                   {"definitions", meta::openapi_v2_definitions(all_kinds)}});
}

std::optional<std::string_view> OpenApi::find(const http::Url& url) {
  if (url.segments.size() < 2 || url.segments[0] != "openapi") return std::nullopt;
  if (texts_.empty()) make();
  const auto found = texts_.find("/" + join(url.segments, "/"));
  if (found == texts_.end()) return std::nullopt;
  return found->second;
}

}  // namespace tau::apiserver
