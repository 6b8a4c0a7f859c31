#include "embedded/apiserver/route.h"

#include "base/text.h"

namespace tau::apiserver {
namespace {

bool is_json_range(std::string_view type) {
  return type == "application/json" || type == "*/*" || type == "application/*";
}

}  // namespace

bool serves_version(const kube::ResourceInfo& resource, std::string_view version) {
  if (resource.version == version) return true;
  for (const std::string_view other : split(resource.other_versions, ',')) {
    if (!other.empty() && other == version) return true;
  }
  return false;
}

std::optional<Route> parse_route(const http::Url& url) {
  const std::vector<std::string>& s = url.segments;
  size_t at;
  std::string group;
  Route route;
  if (s.size() >= 3 && s[0] == "api") {
    route.version = s[1];
    at = 2;
  } else if (s.size() >= 4 && s[0] == "apis" && !s[1].empty()) {
    group = s[1];
    route.version = s[2];
    at = 3;
  } else {
    return std::nullopt;
  }
  bool has_namespace = false;
  // /namespaces/{ns}/{resource}, but /namespaces/{name}[/status|/finalize] is the namespace itself.
  if (s[at] == "namespaces" && s.size() >= at + 3) {
    const bool is_namespace_itself =
        group.empty() && s.size() == at + 3 && (s[at + 2] == "status" || s[at + 2] == "finalize");
    if (!is_namespace_itself) {
      has_namespace = true;
      route.ns = s[at + 1];
      at += 2;
    }
  }
  route.resource = kube::find_resource(group, s[at]);
  if (route.resource == nullptr || !serves_version(*route.resource, route.version))
    return std::nullopt;
  if (s.size() > at + 3) return std::nullopt;
  if (s.size() > at + 1) route.name = s[at + 1];
  if (s.size() > at + 2) route.subresource = s[at + 2];
  if (has_namespace != route.resource->is_namespaced) {
    // A namespaced resource may be listed over all namespaces, and nothing more.
    if (has_namespace || !route.name.empty()) return std::nullopt;
  }
  if (!route.subresource.empty()) {
    const auto known = split(route.resource->subresources, ',');
    if (std::find(known.begin(), known.end(), route.subresource) == known.end())
      return std::nullopt;
  }
  return route;
}

std::vector<MediaRange> parse_accept(std::string_view accept) {
  std::vector<MediaRange> ranges;
  for (const std::string_view part : split(accept, ',')) {
    const auto pieces = split(part, ';');
    MediaRange range{.type = to_lower(trim(pieces[0]))};
    for (const std::string_view piece : std::span(pieces).subspan(1)) {
      const size_t equals = piece.find('=');
      if (equals == std::string_view::npos) continue;
      const std::string_view key = trim(piece.substr(0, equals)),
                             value = trim(piece.substr(equals + 1));
      if (key == "as") range.as = value;
      if (key == "v") range.version = value;
      if (key == "g") range.group = value;
    }
    if (!range.type.empty()) ranges.push_back(std::move(range));
    if (ranges.size() >= 32) break;
  }
  return ranges;
}

Answer<Format> choose_format(const http::Request& request, const http::Url& url,
                             std::string_view version) {
  Format format;
  format.version = version;
  if (const auto include = url.find("includeObject")) {
    if (*include == "None") format.include_object = IncludeObject::none;
    if (*include == "Object") format.include_object = IncludeObject::object;
  }
  const std::vector<MediaRange> ranges = parse_accept(http::find_header(request.headers, "Accept"));
  if (ranges.empty()) return format;
  for (const MediaRange& range : ranges) {
    if (!is_json_range(range.type)) continue;
    if (range.as.empty()) return format;
    if (range.group != "meta.k8s.io" || (range.version != "v1" && range.version != "v1beta1"))
      continue;
    format.table_version = range.version;
    if (range.as == "Table") {
      format.shown = Shown::table;
      return format;
    }
    if (range.as == "PartialObjectMetadata" || range.as == "PartialObjectMetadataList") {
      format.shown = Shown::metadata;
      return format;
    }
  }
  return refuse(not_acceptable("only the following media types are accepted: application/json"));
}

}  // namespace tau::apiserver
