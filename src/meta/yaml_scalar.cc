#include "meta/yaml_scalar.h"

#include <boost/json.hpp>
#include <charconv>
#include <limits>

namespace tau::meta {
namespace json = boost::json;

namespace {

template <size_t n>
bool is_one_of(std::string_view text, const std::array<std::string_view, n>& words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

constexpr std::array<std::string_view, 5> nulls{"", "~", "null", "Null", "NULL"};
constexpr std::array<std::string_view, 11> trues{"y",    "Y",    "yes", "Yes", "YES", "true",
                                                 "True", "TRUE", "on",  "On",  "ON"};
constexpr std::array<std::string_view, 11> falses{"n",     "N",     "no",  "No",  "NO", "false",
                                                  "False", "FALSE", "off", "Off", "OFF"};
constexpr std::array<std::string_view, 3> nans{".nan", ".NaN", ".NAN"};
constexpr std::array<std::string_view, 3> infinities{".inf", ".Inf", ".INF"};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// The whole text as an integer in the base, or nothing.
std::optional<json::value> integer(std::string_view digits, int base, bool is_negative) {
  uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size())
    return std::nullopt;
  if (is_negative) {
    if (value > uint64_t{1} << 63) return std::nullopt;
    return json::value(static_cast<int64_t>(~value + 1));
  }
  if (value <= static_cast<uint64_t>(INT64_MAX)) return json::value(static_cast<int64_t>(value));
  return json::value(value);
}

std::optional<json::value> integer(std::string_view text) {
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty() || !is_digit(text.front())) return std::nullopt;
  if (text.starts_with("0x") || text.starts_with("0X"))
    return integer(text.substr(2), 16, is_negative);
  if (text.starts_with("0b")) return integer(text.substr(2), 2, is_negative);
  if (text.starts_with("0o")) return integer(text.substr(2), 8, is_negative);
  if (text.size() > 1 && text.front() == '0') return integer(text.substr(1), 8, is_negative);
  return integer(text, 10, is_negative);
}

// [-+]? ( digits [. digits?] | . digits ) ([eE][-+]?digits)?
bool looks_like_float(std::string_view text) {
  size_t at = 0;
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
  size_t digits = 0;
  for (; at < text.size() && is_digit(text[at]); ++at) ++digits;
  if (at < text.size() && text[at] == '.') {
    for (++at; at < text.size() && is_digit(text[at]); ++at) ++digits;
  }
  if (digits == 0) return false;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
    if (at == text.size()) return false;
    for (; at < text.size() && is_digit(text[at]); ++at) {
    }
  }
  return at == text.size();
}

json::value number(std::string_view text) {
  std::string plain(text);
  std::erase(plain, '_');
  if (auto whole = integer(plain)) return *whole;
  if (!looks_like_float(plain)) return json::string(text);
  double value = 0;
  const char* begin = plain.data() + (plain.front() == '+' ? 1 : 0);
  const auto [end, error] = std::from_chars(begin, plain.data() + plain.size(), value);
  if (error != std::errc() || end != plain.data() + plain.size()) return json::string(text);
  return value;
}

}  // namespace

json::value plain_scalar(std::string_view text) {
  if (is_one_of(text, nulls)) return nullptr;
  if (is_one_of(text, trues)) return true;
  if (is_one_of(text, falses)) return false;
  if (is_one_of(text, nans)) return std::numeric_limits<double>::quiet_NaN();
  const std::string_view unsigned_text =
      text.starts_with('-') || text.starts_with('+') ? text.substr(1) : text;
  if (is_one_of(unsigned_text, infinities)) {
    return text.starts_with('-') ? -std::numeric_limits<double>::infinity()
                                 : std::numeric_limits<double>::infinity();
  }
  const char first = text.front();
  if (is_digit(first) || first == '-' || first == '+' || first == '.') return number(text);
  return json::string(text);
}

}  // namespace tau::meta
