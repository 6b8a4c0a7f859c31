// Request targets: what was read is written and reads back the same, and a path that names a
// resource is the one that a client would ask for by that name.
#include "embedded/apiserver/route.h"
#include "fuzz/fuzz.h"
#include "http/url.h"
#include "kube/request.h"

namespace {

using namespace tau;

std::string written(const http::Url& url) {
  std::string text;
  for (const std::string& segment : url.segments) text += "/" + http::percent_encode(segment);
  if (text.empty()) text = "/";
  char mark = '?';
  for (const auto& [key, value] : url.query) {
    text += mark + http::percent_encode(key) + "=" + http::percent_encode(value);
    mark = '&';
  }
  return text;
}

void route(const apiserver::Route& route) {
  REQUIRE(route.resource != nullptr);
  REQUIRE(!route.name.empty() || route.subresource.empty());
  if (!route.is_stored_version()) return;
  const auto url = http::parse_target(kube::to_http({.kind = route.resource->kind,
                                                     .ns = route.ns,
                                                     .name = route.name,
                                                     .subresource = route.subresource})
                                          .target);
  REQUIRE(url);
  const auto again = apiserver::parse_route(*url);
  REQUIRE(again && again->resource == route.resource && again->ns == route.ns);
  REQUIRE(again->name == route.name && again->subresource == route.subresource);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  REQUIRE(http::percent_decode(http::percent_encode(text)) == text);
  apiserver::parse_accept(text);
  const auto url = http::parse_target(text);
  if (!url) return 0;
  const auto again = http::parse_target(written(*url));
  REQUIRE(again && again->segments == url->segments && again->query == url->query);
  for (const auto& [key, value] : url->query) REQUIRE(url->find(key).has_value());
  if (const auto found = apiserver::parse_route(*url)) route(*found);
  return 0;
}
