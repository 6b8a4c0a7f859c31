#include "base/text.h"

#include <algorithm>
#include <charconv>

namespace tau {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view blank = " \t\r\n";
  const size_t first = text.find_first_not_of(blank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  std::string out;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) out += separator;
    out += parts[i];
  }
  return out;
}

std::string to_lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

Result<int64_t> parse_int(std::string_view text) {
  int64_t value = 0;
  const char* first = text.data();
  const char* last = first + text.size();
  if (text.starts_with('+') && !text.starts_with("+-")) ++first;
  const auto [end, error] = std::from_chars(first, last, value);
  if (error != std::errc() || end != last || first == last) {
    return fail(ErrorCode::bad_request, "\"" + std::string(text) + "\" is not a whole number");
  }
  return value;
}

namespace {
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1] ? 1 : 0)});
      diagonal = above;
    }
  }
  return row[b.size()];
}
}  // namespace

std::optional<std::string_view> nearest(std::string_view word,
                                        std::span<const std::string_view> candidates) {
  std::optional<std::string_view> best;
  size_t best_distance = std::min<size_t>(3, std::max<size_t>(1, word.size() / 3)) + 1;
  for (const std::string_view candidate : candidates) {
    const size_t distance = edit_distance(to_lower(word), to_lower(candidate));
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string base64_encode(std::string_view bytes) {
  constexpr char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    const size_t have = std::min<size_t>(3, bytes.size() - i);
    for (size_t j = 0; j < 3; ++j) {
      group = group << 8 | (j < have ? static_cast<unsigned char>(bytes[i + j]) : 0u);
    }
    for (size_t j = 0; j < 4; ++j) {
      out += j <= have ? alphabet[(group >> (18 - 6 * j)) & 63] : '=';
    }
  }
  return out;
}

Result<std::string> base64_decode(std::string_view text) {
  const auto bad = [] { return fail(ErrorCode::bad_request, "illegal base64 data"); };
  std::string out;
  uint32_t group = 0;
  int have = 0;
  size_t padding = 0;
  size_t symbols = 0;
  for (const char c : text) {
    if (c == '\n' || c == '\r') continue;
    ++symbols;
    if (c == '=') {
      ++padding;
      continue;
    }
    int value = -1;
    if (c >= 'A' && c <= 'Z')
      value = c - 'A';
    else if (c >= 'a' && c <= 'z')
      value = c - 'a' + 26;
    else if (c >= '0' && c <= '9')
      value = c - '0' + 52;
    else if (c == '+')
      value = 62;
    else if (c == '/')
      value = 63;
    if (value < 0 || padding > 0) return bad();
    group = group << 6 | static_cast<uint32_t>(value);
    if (++have == 4) {
      out += static_cast<char>(group >> 16);
      out += static_cast<char>(group >> 8);
      out += static_cast<char>(group);
      group = 0;
      have = 0;
    }
  }
  if (symbols % 4 != 0 || padding > 2 || (have != 0 && have + padding != 4) ||
      (have == 0 && padding != 0)) {
    return bad();
  }
  if (have == 3) {
    out += static_cast<char>(group >> 10);
    out += static_cast<char>(group >> 2);
  } else if (have == 2) {
    out += static_cast<char>(group >> 4);
  }
  return out;
}

std::string hex_encode(std::string_view bytes) {
  constexpr char digits[] = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    out += digits[(c >> 4) & 15];
    out += digits[c & 15];
  }
  return out;
}

uint64_t fnv1a(std::string_view bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

size_t utf8_bytes(std::string_view text) {
  const auto byte = [&](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto follows = [&](size_t i) { return (byte(i) & 0xc0) == 0x80; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first < 0xe0) return follows(1) ? 2 : 0;
  if (first >= 0xe0 && first < 0xf0) {
    const bool is_overlong = first == 0xe0 && byte(1) < 0xa0;
    const bool is_surrogate = first == 0xed && byte(1) >= 0xa0;
    return follows(1) && follows(2) && !is_overlong && !is_surrogate ? 3 : 0;
  }
  if (first >= 0xf0 && first < 0xf5) {
    const bool is_out_of_range =
        (first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) >= 0x90);
    return follows(1) && follows(2) && follows(3) && !is_out_of_range ? 4 : 0;
  }
  return 0;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t bytes = utf8_bytes(text);
    if (bytes == 0) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

std::string to_utf8(std::string_view text) {
  std::string valid;
  while (!text.empty()) {
    const size_t bytes = utf8_bytes(text);
    valid += bytes == 0 ? "\ufffd" : text.substr(0, bytes);
    text.remove_prefix(std::max<size_t>(bytes, 1));
  }
  return valid;
}

}  // namespace tau
