// Quantities, against plain arithmetic on whole numbers of any size: rounding up, saturation, and a
// canonical text that is a fixed point and means the same.
#include <boost/multiprecision/cpp_int.hpp>

#include "base/text.h"
#include "fuzz/fuzz.h"
#include "kube/quantity.h"

namespace {

using namespace tau;
using Big = boost::multiprecision::cpp_int;

// The value times 10^`scale10`, rounded away from zero; the text is known to be a quantity.
Big exact(std::string_view text, int scale10) {
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.remove_prefix(1);
  Big value = 0;
  bool has_point = false;
  for (; !text.empty() && (text[0] == '.' || (text[0] >= '0' && text[0] <= '9'));
       text.remove_prefix(1)) {
    if (text[0] == '.') {
      has_point = true;
    } else {
      value = value * 10 + (text[0] - '0');
      if (has_point) --scale10;
    }
  }
  if (text.size() == 2 && text[1] == 'i') {
    value <<= 10 * (std::string_view("KMGTPE").find(text[0]) + 1);
  } else if (text.size() == 1) {
    scale10 += 3 * static_cast<int>(std::string_view("num kMGTPE").find(text[0])) - 9;
  } else if (!text.empty()) {
    scale10 += static_cast<int>(parse_int(text.substr(1)).value());
  }
  for (; scale10 > 0; --scale10) value *= 10;
  Big divisor = 1;
  for (; scale10 < 0; ++scale10) divisor *= 10;
  value = (value + divisor - 1) / divisor;
  return is_negative ? Big(-value) : value;
}

int64_t saturated(const Big& value) {
  const Big most = INT64_MAX;
  return static_cast<int64_t>(value > most ? most : value < -most ? Big(-most) : value);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto whole = kube::parse_quantity(text), milli = kube::parse_quantity_milli(text);
  const auto canonical = kube::canonical_quantity(text);
  REQUIRE(whole.has_value() == milli.has_value() && whole.has_value() == canonical.has_value());
  if (!whole) return 0;
  REQUIRE(*whole == saturated(exact(text, 0)));
  REQUIRE(*milli == saturated(exact(text, 3)));
  REQUIRE(kube::canonical_quantity(*canonical) == *canonical);
  REQUIRE(kube::parse_quantity(*canonical) == whole);
  REQUIRE(kube::parse_quantity_milli(*canonical) == milli);
  REQUIRE(kube::parse_quantity_milli(kube::format_milli(*milli)) == milli);
  REQUIRE(kube::parse_quantity(kube::format_bytes(*whole)) == whole);
  return 0;
}
