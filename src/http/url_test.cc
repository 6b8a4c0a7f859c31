#include "http/url.h"

#include <gtest/gtest.h>

namespace tau::http {
namespace {

std::string show(std::string_view target) {
  const auto url = parse_target(target);
  if (!url) return "error: " + url.error().message;
  std::string out;
  for (const auto& segment : url->segments) out += "/" + segment;
  for (const auto& [key, value] : url->query) out += " " + key + "=" + value;
  return out;
}

TEST(Url, SplitsAndDecodes) {
  const std::pair<const char*, const char*> cases[] = {
      {"/", ""},
      {"/api/v1//pods/", "/api/v1/pods"},
      {"/a%2Fb/c?x=1&labelSelector=a%3Db%2Cc+d&flag", "/a/b/c x=1 labelSelector=a=b,c d flag="},
      {"/a#frag", "/a"},
      {"a", "error: the request target must begin with '/'"},
      {"", "error: the request target must begin with '/'"},
      {"/a/../b", "error: the request path may not have '.' or '..' segments"},
      {"/a/%2e%2E/b", "error: the request path may not have '.' or '..' segments"},
      {"/a%zz", "error: the request target has a '%' that starts no escape"},
      {"/a?b=%4", "error: the request target has a '%' that starts no escape"},
      {"/a%00b", "error: the request path may not have NUL bytes"},
      {"/%C3%A9", "/\u00e9"},
      {"/%FF", "error: the request path is not UTF-8"},
      {"/a?fieldManager=%C3", "error: the request query is not UTF-8"},
      {"/a?\xff", "error: the request query is not UTF-8"},
  };
  for (const auto& [given, want] : cases) EXPECT_EQ(show(given), want) << given;
}

TEST(Url, EncodedTextComesBack) {
  std::string all;
  for (int c = 0; c < 256; ++c) all.push_back(static_cast<char>(c));
  EXPECT_EQ(percent_decode(percent_encode(all)), all);
  EXPECT_EQ(percent_encode("a=b,c d/é"), "a%3Db%2Cc%20d%2F%C3%A9");
}

}  // namespace
}  // namespace tau::http
