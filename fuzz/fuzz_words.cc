// Short texts that clients send: quantities, selectors, paths, and kubeconfig files.
#include "client/kubeconfig.h"
#include "fuzz/fuzz.h"
#include "http/url.h"
#include "kube/quantity.h"
#include "kube/selector.h"

namespace {

using namespace tau;

void quantity(std::string_view text) {
  const auto canonical = kube::canonical_quantity(text);
  const auto milli = kube::parse_quantity_milli(text), whole = kube::parse_quantity(text);
  REQUIRE(canonical.has_value() == milli.has_value());
  REQUIRE(milli.has_value() == whole.has_value());
  if (!canonical) return;
  REQUIRE(kube::canonical_quantity(*canonical) == *canonical);
  REQUIRE(kube::parse_quantity_milli(*canonical) == milli);
  REQUIRE(kube::parse_quantity(*canonical) == whole);
  if (*milli >= 0) REQUIRE(kube::parse_quantity_milli(kube::format_milli(*milli)) == milli);
  if (*whole >= 0) REQUIRE(kube::parse_quantity(kube::format_bytes(*whole)) == whole);
}

void selector(std::string_view text) {
  const auto parsed = kube::Selector::parse(text);
  const kube::StringMap none, some{{"app", "x"}, {"tier", "b"}};
  if (parsed) {
    bool all = true;
    for (const auto& requirement : parsed->requirements()) all &= kube::matches(requirement, some);
    REQUIRE(parsed->matches(some) == all);
    REQUIRE(!parsed->is_empty() || (parsed->matches(none) && parsed->matches(some)));
  }
  if (const auto fields = kube::parse_field_selector(text)) {
    for (const auto& field : *fields) REQUIRE(!field.path.empty());
  }
}

void url(std::string_view text) {
  REQUIRE(http::percent_decode(http::percent_encode(text)) == text);
  const auto parsed = http::parse_target(text);
  if (!parsed) return;
  std::string again;
  for (const std::string& segment : parsed->segments) {
    REQUIRE(!segment.empty());
    again += "/" + http::percent_encode(segment);
  }
  if (again.empty()) return;
  const auto twice = http::parse_target(again);
  REQUIRE(twice && twice->segments == parsed->segments);
}

void kubeconfig(std::string_view text) {
  const auto access = client::parse_kubeconfig(text, "");
  if (access) REQUIRE(!access->server.empty());
  if (!access) REQUIRE(!access.error().message.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Input input(data, size);
  switch (input.byte() % 4) {
    case 0:
      quantity(input.rest());
      break;
    case 1:
      selector(input.rest());
      break;
    case 2:
      url(input.rest());
      break;
    default:
      kubeconfig(input.rest());
  }
  return 0;
}
