#include "kube/quantity.h"

#include <fmt/format.h>

#include <array>
#include <limits>

namespace tau::kube {
namespace {

using Wide = __int128;
constexpr Wide widest = static_cast<Wide>(std::numeric_limits<int64_t>::max());

enum class Form { decimal, binary, exponent };

// All amounts are held in billionths, rounded away from zero; what exceeds an int64 of whole units
// counts as that, as in resource.Quantity.
constexpr Wide billion = 1'000'000'000;
struct Parsed {
  bool is_negative = false;
  Wide billionths = 0;  // magnitude
  Form form = Form::decimal;
};

struct Suffix {
  std::string_view text;
  int exponent10, exponent2;
  Form form;
};
constexpr std::array<Suffix, 16> suffixes{{{"Ki", 0, 10, Form::binary},
                                           {"Mi", 0, 20, Form::binary},
                                           {"Gi", 0, 30, Form::binary},
                                           {"Ti", 0, 40, Form::binary},
                                           {"Pi", 0, 50, Form::binary},
                                           {"Ei", 0, 60, Form::binary},
                                           {"n", -9, 0, Form::decimal},
                                           {"u", -6, 0, Form::decimal},
                                           {"m", -3, 0, Form::decimal},
                                           {"", 0, 0, Form::decimal},
                                           {"k", 3, 0, Form::decimal},
                                           {"M", 6, 0, Form::decimal},
                                           {"G", 9, 0, Form::decimal},
                                           {"T", 12, 0, Form::decimal},
                                           {"P", 15, 0, Form::decimal},
                                           {"E", 18, 0, Form::decimal}}};

std::unexpected<Error> bad(std::string_view text) {
  return fail(ErrorCode::bad_request,
              fmt::format("\"{}\" is not a quantity such as 250m, 8 or 1Gi", text));
}

// digits * 10^exponent10 * 2^exponent2, in billionths.
Wide in_billionths(Wide digits, int exponent10, int exponent2) {
  constexpr Wide room = (Wide{1} << 126) / 10;
  Wide value = digits;
  bool is_inexact = false;
  const auto shorten = [&] {
    is_inexact |= value % 10 != 0;
    value /= 10;
    ++exponent10;
  };
  exponent10 += 9;
  for (; exponent2 > 0; --exponent2) {
    while (value > room) shorten();
    value *= 2;
  }
  while (exponent10 < 0 && value > 0) shorten();
  for (; exponent10 > 0 && value <= widest * billion; --exponent10) value *= 10;
  return std::min(value + (is_inexact ? 1 : 0), widest * billion);
}

// "e3", "E-2"; nullopt if it is none.
std::optional<int> parse_exponent(std::string_view text) {
  text.remove_prefix(1);
  const bool is_minus = text.front() == '-';
  if (is_minus || text.front() == '+') text.remove_prefix(1);
  if (text.empty() || text.size() > 3) return std::nullopt;
  int exponent = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    exponent = exponent * 10 + (c - '0');
  }
  return is_minus ? -exponent : exponent;
}

Result<Parsed> parse(std::string_view text) {
  Parsed parsed;
  std::string_view rest = text;
  if (!rest.empty() && (rest.front() == '-' || rest.front() == '+')) {
    parsed.is_negative = rest.front() == '-';
    rest.remove_prefix(1);
  }
  Wide digits = 0;
  int count = 0, exponent10 = 0;
  bool has_point = false;
  for (; !rest.empty(); rest.remove_prefix(1)) {
    const char c = rest.front();
    if (c == '.' && !has_point) {
      has_point = true;
    } else if (c >= '0' && c <= '9') {
      if (++count > 30) return bad(text);
      digits = digits * 10 + (c - '0');
      exponent10 -= has_point ? 1 : 0;
    } else {
      break;
    }
  }
  if (count == 0) return bad(text);
  if (rest.size() >= 2 && (rest.front() == 'e' || rest.front() == 'E') && rest[1] != 'i') {
    const auto exponent = parse_exponent(rest);
    if (!exponent) return bad(text);
    parsed.billionths = in_billionths(digits, exponent10 + *exponent, 0);
    parsed.form = Form::exponent;
    return parsed;
  }
  for (const Suffix& suffix : suffixes) {
    if (rest != suffix.text) continue;
    parsed.billionths = in_billionths(digits, exponent10 + suffix.exponent10, suffix.exponent2);
    parsed.form = suffix.form;
    return parsed;
  }
  return bad(text);
}

// In units of `size` billionths, rounded away from zero.
int64_t in_units(const Parsed& parsed, Wide size) {
  const Wide value = std::min((parsed.billionths + size - 1) / size, widest);
  return static_cast<int64_t>(parsed.is_negative ? -value : value);
}

std::string digits_of(Wide value) {
  constexpr Wide part = billion * billion;
  const auto high = static_cast<int64_t>(value / part), low = static_cast<int64_t>(value % part);
  return high == 0 ? fmt::format("{}", low) : fmt::format("{}{:018}", high, low);
}

}  // namespace

Result<int64_t> parse_quantity_milli(std::string_view text) {
  return in_units(TRY(parse(text)), 1'000'000);
}

Result<int64_t> parse_quantity(std::string_view text) {
  return in_units(TRY(parse(text)), billion);
}

Result<std::string> canonical_quantity(std::string_view text) {
  const Parsed parsed = TRY(parse(text));
  if (parsed.billionths == 0) return std::string("0");
  const std::string sign = parsed.is_negative ? "-" : "";
  if (parsed.form == Form::binary && parsed.billionths >= 1024 * billion &&
      parsed.billionths % billion == 0)
    return sign + format_bytes(static_cast<int64_t>(parsed.billionths / billion));
  // The largest thousandfold that keeps the number whole.
  Wide value = parsed.billionths;
  int exponent = -9;
  for (; value % 1000 == 0 && exponent < 18; exponent += 3) value /= 1000;
  const std::string digits = sign + digits_of(value);
  if (parsed.form == Form::exponent)
    return exponent == 0 ? digits : fmt::format("{}e{}", digits, exponent);
  constexpr std::array<std::string_view, 10> names{"n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
  return digits + std::string(names[static_cast<size_t>((exponent + 9) / 3)]);
}

std::string format_milli(int64_t milli) {
  return milli % 1000 == 0 ? fmt::format("{}", milli / 1000) : fmt::format("{}m", milli);
}

std::string format_bytes(int64_t bytes) {
  constexpr std::array<std::string_view, 7> names{"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  size_t power = 0;
  while (bytes != 0 && bytes % 1024 == 0 && power + 1 < names.size()) {
    bytes /= 1024;
    ++power;
  }
  return fmt::format("{}{}", bytes, names[power]);
}

}  // namespace tau::kube
