// Route: what a request's path names, and Format: what its Accept header wants the answer to look
// like.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "embedded/apiserver/status.h"
#include "http/message.h"
#include "http/url.h"
#include "kube/resources.h"

namespace tau::apiserver {

// /api/v1/namespaces/{ns}/{resource}/{name}/{subresource} and its shorter forms.
struct Route {
  const kube::ResourceInfo* resource = nullptr;
  std::string version;  // the one asked for; may be one of other_versions
  std::string ns, name, subresource;

  bool is_stored_version() const { return version == resource->version; }
};
// nullopt: no such resource; the caller answers 404.
std::optional<Route> parse_route(const http::Url& url);
bool serves_version(const kube::ResourceInfo& resource, std::string_view version);

enum class Shown { object, table, metadata };
enum class IncludeObject { none, metadata, object };  // in table rows

struct Format {
  Shown shown = Shown::object;
  IncludeObject include_object = IncludeObject::metadata;
  std::string version;               // of the objects' group
  std::string table_version = "v1";  // of meta.k8s.io
  auto operator<=>(const Format&) const = default;
};

// One media range of an Accept header: "application/json;as=Table;v=v1;g=meta.k8s.io".
struct MediaRange {
  std::string type, as, version, group;
};
std::vector<MediaRange> parse_accept(std::string_view accept);
// The first range that can be served; application/json alone where there is no header. Protobuf is
// passed over.
Answer<Format> choose_format(const http::Request& request, const http::Url& url,
                             std::string_view version);

}  // namespace tau::apiserver
