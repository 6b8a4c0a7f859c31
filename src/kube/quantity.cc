#include "kube/quantity.h"

#include <fmt/format.h>

#include <array>
#include <limits>

namespace tau::kube {
namespace {

using Wide = __int128;
constexpr Wide widest = static_cast<Wide>(std::numeric_limits<int64_t>::max());

enum class Form { decimal, binary, exponent };

// value = digits * 10^exponent10 * 2^exponent2
struct Parsed {
  bool is_negative = false;
  Wide digits = 0;
  int exponent10 = 0, exponent2 = 0;
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

Result<Parsed> parse(std::string_view text) {
  Parsed parsed;
  std::string_view rest = text;
  if (!rest.empty() && (rest.front() == '-' || rest.front() == '+')) {
    parsed.is_negative = rest.front() == '-';
    rest.remove_prefix(1);
  }
  size_t digits = 0;
  bool has_point = false;
  while (!rest.empty() &&
         ((rest.front() >= '0' && rest.front() <= '9') || (rest.front() == '.' && !has_point))) {
    if (rest.front() == '.') {
      has_point = true;
    } else {
      if (++digits > 30) return bad(text);
      parsed.digits = parsed.digits * 10 + (rest.front() - '0');
      if (has_point) --parsed.exponent10;
    }
    rest.remove_prefix(1);
  }
  if (digits == 0) return bad(text);
  if (rest.size() >= 2 && (rest.front() == 'e' || rest.front() == 'E') && rest[1] != 'i') {
    std::string_view number = rest.substr(1);
    const bool is_minus = number.front() == '-';
    if (is_minus || number.front() == '+') number.remove_prefix(1);
    int exponent = 0;
    if (number.empty() || number.size() > 3) return bad(text);
    for (const char c : number) {
      if (c < '0' || c > '9') return bad(text);
      exponent = exponent * 10 + (c - '0');
    }
    parsed.exponent10 += is_minus ? -exponent : exponent;
    parsed.form = Form::exponent;
    return parsed;
  }
  for (const Suffix& suffix : suffixes) {
    if (rest != suffix.text) continue;
    parsed.exponent10 += suffix.exponent10;
    parsed.exponent2 = suffix.exponent2;
    parsed.form = suffix.form;
    return parsed;
  }
  return bad(text);
}

// Rounds away from zero and saturates, as resource.Quantity's ScaledValue does.
int64_t scaled(Parsed parsed, int scale10) {
  parsed.exponent10 += scale10;
  Wide value = parsed.digits;
  for (int i = 0; i < parsed.exponent2; ++i) {
    value *= 2;
    if (value > widest * 1'000'000'000'000) break;
  }
  for (; parsed.exponent10 > 0 && value <= widest; --parsed.exponent10) value *= 10;
  bool is_inexact = false;
  for (; parsed.exponent10 < 0 && value > 0; ++parsed.exponent10) {
    is_inexact |= value % 10 != 0;
    value /= 10;
  }
  if (is_inexact) ++value;
  if (value > widest) value = widest;
  return static_cast<int64_t>(parsed.is_negative ? -value : value);
}

}  // namespace

Result<int64_t> parse_quantity_milli(std::string_view text) {
  return scaled(TRY(parse(text)), 3);
}

Result<int64_t> parse_quantity(std::string_view text) {
  return scaled(TRY(parse(text)), 0);
}

Result<std::string> canonical_quantity(std::string_view text) {
  const Parsed parsed = TRY(parse(text));
  if (parsed.digits == 0) return std::string("0");
  const std::string sign = parsed.is_negative ? "-" : "";
  Parsed magnitude = parsed;
  magnitude.is_negative = false;
  if (parsed.form == Form::binary) {
    const int64_t milli = scaled(magnitude, 3);
    if (milli % 1000 == 0) {
      const int64_t value = scaled(magnitude, 0);
      constexpr std::array<std::string_view, 7> names{"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
      size_t power = 0;
      int64_t left = value;
      while (left % 1024 == 0 && power + 1 < names.size()) {
        left /= 1024;
        ++power;
      }
      return fmt::format("{}{}{}", sign, left, names[power]);
    }
  }
  // Decimal: the largest suffix that keeps the number whole.
  Wide value = magnitude.digits;
  int exponent = magnitude.exponent10;
  for (int i = 0; i < magnitude.exponent2; ++i) value *= 2;
  while (value % 10 == 0) {
    value /= 10;
    ++exponent;
  }
  while (exponent % 3 != 0 || (exponent < -9) || (exponent > 18)) {
    if (exponent < -9) {
      const bool is_inexact = value % 10 != 0;
      value = value / 10 + (is_inexact ? 1 : 0);
      ++exponent;
      continue;
    }
    value *= 10;
    --exponent;
    if (value > widest * 1000) return bad(text);
  }
  if (parsed.form == Form::exponent) {
    return exponent == 0 ? fmt::format("{}{}", sign, static_cast<int64_t>(value))
                         : fmt::format("{}{}e{}", sign, static_cast<int64_t>(value), exponent);
  }
  constexpr std::array<std::string_view, 10> names{"n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
  return fmt::format("{}{}{}", sign, static_cast<int64_t>(value),
                     names[static_cast<size_t>((exponent + 9) / 3)]);
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
