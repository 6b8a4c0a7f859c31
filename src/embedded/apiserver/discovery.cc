#include "embedded/apiserver/discovery.h"

#include <boost/json.hpp>

#include <fmt/format.h>

#include "base/text.h"
#include "embedded/apiserver/route.h"
#include "kube/resources.h"

namespace tau::apiserver {
namespace {

namespace json = boost::json;

struct Subresource {
  std::string name, group, version, kind;
  std::vector<std::string> verbs;
};
struct Resource {
  std::string name, singular, kind;
  std::vector<std::string> short_names, categories, verbs;
  bool is_namespaced = false;
  std::vector<Subresource> subresources;
};
struct Version {
  std::string name;
  std::vector<Resource> resources;
};
struct Group {
  std::string name;
  std::vector<Version> versions;  // the preferred one first
};

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> result;
  for (const std::string_view word : split(text, ',')) {
    if (!word.empty()) result.emplace_back(word);
  }
  return result;
}

Subresource describe_subresource(const kube::ResourceInfo& info, std::string name) {
  if (name == "binding") return {name, "", "v1", "Binding", {"create"}};
  if (name == "eviction") return {name, "policy", "v1", "Eviction", {"create"}};
  if (name == "log")
    return {name, std::string(info.group), "", std::string(info.kind_name), {"get"}};
  if (name == "finalize")
    return {name, std::string(info.group), "", std::string(info.kind_name), {"update"}};
  return {
      name, std::string(info.group), "", std::string(info.kind_name), {"get", "patch", "update"}};
}

Resource describe(const kube::ResourceInfo& info) {
  Resource resource{.name = std::string(info.resource),
                    .singular = std::string(info.singular),
                    .kind = std::string(info.kind_name)};
  resource.short_names = words(info.short_names);
  resource.categories = words(info.categories);
  resource.verbs = {"create", "delete", "deletecollection", "get",
                    "list",   "patch",  "update",           "watch"};
  if (info.kind == kube::Kind::namespace_) std::erase(resource.verbs, "deletecollection");
  resource.is_namespaced = info.is_namespaced;
  for (std::string& name : words(info.subresources)) {
    if (name != "token") resource.subresources.push_back(describe_subresource(info, name));
  }
  return resource;
}

std::vector<Group> all_groups() {
  std::vector<Group> groups;
  for (const kube::ResourceInfo& info : kube::all_resources()) {
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const Group& g) { return g.name == info.group; });
    if (group == groups.end())
      group = groups.insert(groups.end(), Group{std::string(info.group), {}});
    std::vector<std::string> versions = words(info.other_versions);
    versions.insert(versions.begin(), std::string(info.version));
    for (const std::string& name : versions) {
      auto version = std::find_if(group->versions.begin(), group->versions.end(),
                                  [&](const Version& v) { return v.name == name; });
      if (version == group->versions.end())
        version = group->versions.insert(group->versions.end(), Version{name, {}});
      version->resources.push_back(describe(info));
    }
  }
  groups.push_back(
      {"authentication.k8s.io",
       {{"v1",
         {{"selfsubjectreviews", "selfsubjectreview", "SelfSubjectReview", {}, {}, {"create"}}}}}});
  groups.push_back({"authorization.k8s.io",
                    {{"v1",
                      {{"selfsubjectaccessreviews",
                        "selfsubjectaccessreview",
                        "SelfSubjectAccessReview",
                        {},
                        {},
                        {"create"}}}}}});
  // Its "queues" are not listed: kubectl would take the word for them, and not as LocalQueues'
  // short name.
  groups.push_back({"view.taugrid.io",
                    {{"v1alpha1",
                      {{"nodes", "node", "NodeView", {}, {}, {"list"}},
                       {"runs", "run", "RunView", {}, {}, {"get", "list"}, true}}}}});
  return groups;
}

json::array to_array(const std::vector<std::string>& texts) {
  return json::array(texts.begin(), texts.end());
}

json::object response_kind(std::string_view group, std::string_view version,
                           std::string_view kind) {
  return {{"group", group}, {"version", version}, {"kind", kind}};
}

json::object aggregated_resource(const Group& group, const Version& version,
                                 const Resource& resource) {
  json::object out{{"resource", resource.name},
                   {"responseKind", response_kind(group.name, version.name, resource.kind)},
                   {"scope", resource.is_namespaced ? "Namespaced" : "Cluster"},
                   {"singularResource", resource.singular},
                   {"verbs", to_array(resource.verbs)}};
  if (!resource.short_names.empty()) out["shortNames"] = to_array(resource.short_names);
  if (!resource.categories.empty()) out["categories"] = to_array(resource.categories);
  json::array subresources;
  for (const Subresource& sub : resource.subresources) {
    subresources.push_back(json::object{
        {"subresource", sub.name},
        {"responseKind",
         response_kind(sub.group, sub.version.empty() ? version.name : sub.version, sub.kind)},
        {"verbs", to_array(sub.verbs)}});
  }
  if (!subresources.empty()) out["subresources"] = std::move(subresources);
  return out;
}

std::string aggregated_text(const std::vector<Group>& groups, bool is_core) {
  json::array items;
  for (const Group& group : groups) {
    if (group.name.empty() != is_core) continue;
    json::array versions;
    for (const Version& version : group.versions) {
      json::array resources;
      for (const Resource& resource : version.resources)
        resources.push_back(aggregated_resource(group, version, resource));
      versions.push_back(json::object{{"version", version.name},
                                      {"resources", std::move(resources)},
                                      {"freshness", "Current"}});
    }
    json::object metadata;
    if (!is_core) metadata["name"] = group.name;
    items.push_back(
        json::object{{"metadata", std::move(metadata)}, {"versions", std::move(versions)}});
  }
  return json::serialize(json::object{{"kind", "APIGroupDiscoveryList"},
                                      {"apiVersion", "apidiscovery.k8s.io/v2"},
                                      {"metadata", json::object()},
                                      {"items", std::move(items)}});
}

std::string group_version(const Group& group, const Version& version) {
  return group.name.empty() ? version.name : group.name + "/" + version.name;
}

json::object plain_group(const Group& group) {
  json::array versions;
  for (const Version& version : group.versions) {
    versions.push_back(
        json::object{{"groupVersion", group_version(group, version)}, {"version", version.name}});
  }
  json::object out{{"name", group.name}, {"versions", versions}};
  out["preferredVersion"] = versions.front();
  return out;
}

std::string resource_list_text(const Group& group, const Version& version) {
  json::array resources;
  for (const Resource& resource : version.resources) {
    json::object item{{"name", resource.name},
                      {"singularName", resource.singular},
                      {"namespaced", resource.is_namespaced},
                      {"kind", resource.kind},
                      {"verbs", to_array(resource.verbs)}};
    if (!resource.short_names.empty()) item["shortNames"] = to_array(resource.short_names);
    if (!resource.categories.empty()) item["categories"] = to_array(resource.categories);
    resources.push_back(std::move(item));
    for (const Subresource& sub : resource.subresources) {
      json::object below{{"name", resource.name + "/" + sub.name},
                         {"singularName", ""},
                         {"namespaced", resource.is_namespaced},
                         {"kind", sub.kind},
                         {"verbs", to_array(sub.verbs)}};
      if (!sub.version.empty()) {
        below["group"] = sub.group;
        below["version"] = sub.version;
      }
      resources.push_back(std::move(below));
    }
  }
  return json::serialize(json::object{{"kind", "APIResourceList"},
                                      {"apiVersion", "v1"},
                                      {"groupVersion", group_version(group, version)},
                                      {"resources", std::move(resources)}});
}

bool wants_aggregated(const http::Headers& headers) {
  for (const MediaRange& range : parse_accept(http::find_header(headers, "Accept"))) {
    if (range.as == "APIGroupDiscoveryList" && range.version == "v2" &&
        range.type == "application/json")
      return true;
    if (range.as.empty() && range.type == "application/json") return false;
  }
  return false;
}

}  // namespace

Discovery::Discovery() {
  const std::vector<Group> groups = all_groups();
  aggregated_["/api"] = aggregated_text(groups, true);
  aggregated_["/apis"] = aggregated_text(groups, false);
  plain_["/api"] = json::serialize(json::object{
      {"kind", "APIVersions"},
      {"versions", json::array{"v1"}},
      {"serverAddressByClientCIDRs",
       json::array{json::object{{"clientCIDR", "0.0.0.0/0"}, {"serverAddress", ""}}}}});
  json::array listed;
  for (const Group& group : groups) {
    for (const Version& version : group.versions) {
      const std::string path =
          (group.name.empty() ? "/api/" : "/apis/") + group_version(group, version);
      plain_[path] = resource_list_text(group, version);
    }
    if (group.name.empty()) continue;
    json::object plain = plain_group(group);
    listed.push_back(plain);
    json::object single{{"kind", "APIGroup"}, {"apiVersion", "v1"}};
    for (auto& [key, value] : plain) single[key] = value;
    plain_["/apis/" + group.name] = json::serialize(single);
  }
  plain_["/apis"] = json::serialize(
      json::object{{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", std::move(listed)}});
  plain_["/version"] = json::serialize(json::object{{"major", "1"},
                                                    {"minor", "37"},
                                                    {"gitVersion", "v1.37.0+taugrid"},
                                                    {"gitCommit", ""},
                                                    {"gitTreeState", "clean"},
                                                    {"buildDate", "1970-01-01T00:00:00Z"},
                                                    {"goVersion", ""},
                                                    {"compiler", ""},
                                                    {"platform", "linux/amd64"}});
}

std::optional<Discovery::Found> Discovery::find(const http::Url& url,
                                                const http::Headers& headers) const {
  if (url.segments.empty() || url.segments.size() > 3) return std::nullopt;
  const std::string path = "/" + join(url.segments, "/");
  if (const auto found = aggregated_.find(path);
      found != aggregated_.end() && wants_aggregated(headers)) {
    return Found{found->second,
                 "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"};
  }
  const auto found = plain_.find(path);
  if (found == plain_.end()) return std::nullopt;
  return Found{found->second, "application/json"};
}

}  // namespace tau::apiserver
