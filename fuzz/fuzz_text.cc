// JSON and YAML texts: what can be read can be written, and reads back as the same value.
#include <boost/json.hpp>
#include <cmath>

#include "fuzz/fuzz.h"
#include "meta/json.h"
#include "meta/yaml.h"

namespace {

// Numbers of many digits are read to within their last binary places.
bool is_same(const boost::json::value& a, const boost::json::value& b) {
  if (a.is_double() && b.is_double())
    return std::abs(a.get_double() - b.get_double()) <= std::abs(a.get_double()) * 1e-12;
  if (a.is_array() && b.is_array())
    return std::ranges::equal(a.get_array(), b.get_array(), is_same);
  if (!a.is_object() || !b.is_object()) return a == b;
  return std::ranges::equal(a.get_object(), b.get_object(), [](const auto& x, const auto& y) {
    return x.key() == y.key() && is_same(x.value(), y.value());
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tau;
  fuzz::Input input(data, size);
  const bool is_yaml = input.byte() % 2 == 1;
  if (!is_yaml) {
    const auto value = meta::parse_json(input.rest());
    if (!value) {
      REQUIRE(!value.error().message.empty());
      return 0;
    }
    const std::string text = meta::to_text(*value);
    const auto again = meta::parse_json(text);
    REQUIRE(again);
    REQUIRE(is_same(*again, *value));
    const auto pretty = meta::parse_json(meta::to_pretty_text(*value));
    REQUIRE(pretty && is_same(*pretty, *value));
  }
  const auto documents = meta::parse_yaml(input.rest());
  if (!documents) {
    REQUIRE(!documents.error().message.empty());
    return 0;
  }
  for (const boost::json::value& value : *documents) {
    const auto again = meta::parse_yaml(meta::to_yaml(value));
    REQUIRE(again);
    if (value.is_null()) continue;  // an empty document is none
    REQUIRE(again->size() == 1);
    REQUIRE(is_same(again->front(), value));
  }
  return 0;
}
