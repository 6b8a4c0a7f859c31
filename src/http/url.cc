#include "http/url.h"

#include "base/text.h"

namespace tau::http {
namespace {

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool is_unreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.' || c == '~';
}

std::string decode(std::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '%' && i + 2 < text.size() && hex_value(text[i + 1]) >= 0 &&
        hex_value(text[i + 2]) >= 0) {
      out.push_back(static_cast<char>(hex_value(text[i + 1]) * 16 + hex_value(text[i + 2])));
      i += 2;
    } else {
      out.push_back(c == '+' && plus_is_space ? ' ' : c);
    }
  }
  return out;
}

// Every '%' must start an escape: half-read escapes are how two readers of one path come to differ.
bool has_bad_escape(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') continue;
    if (i + 2 >= text.size() || hex_value(text[i + 1]) < 0 || hex_value(text[i + 2]) < 0)
      return true;
  }
  return false;
}

}  // namespace

std::optional<std::string_view> Url::find(std::string_view key) const {
  for (const auto& [name, value] : query) {
    if (name == key) return value;
  }
  return std::nullopt;
}

Result<Url> parse_target(std::string_view target) {
  if (target.empty() || target[0] != '/') {
    return fail(ErrorCode::bad_request, "the request target must begin with '/'");
  }
  if (const size_t fragment = target.find('#'); fragment != std::string_view::npos) {
    target = target.substr(0, fragment);
  }
  const size_t question = target.find('?');
  const std::string_view path = target.substr(0, question);
  if (has_bad_escape(target)) {
    return fail(ErrorCode::bad_request, "the request target has a '%' that starts no escape");
  }
  Url url;
  for (const std::string_view segment : split(path, '/')) {
    if (segment.empty()) continue;
    std::string decoded = decode(segment, false);
    if (decoded == "." || decoded == "..") {
      return fail(ErrorCode::bad_request, "the request path may not have '.' or '..' segments");
    }
    if (decoded.find('\0') != std::string::npos) {
      return fail(ErrorCode::bad_request, "the request path may not have NUL bytes");
    }
    if (!is_utf8(decoded)) return fail(ErrorCode::bad_request, "the request path is not UTF-8");
    url.segments.push_back(std::move(decoded));
  }
  if (question == std::string_view::npos) return url;
  for (const std::string_view pair : split(target.substr(question + 1), '&')) {
    if (pair.empty()) continue;
    const size_t equals = pair.find('=');
    url.query.emplace_back(
        decode(pair.substr(0, equals), true),
        equals == std::string_view::npos ? "" : decode(pair.substr(equals + 1), true));
    // A value may be stored (a field manager), and JSON could not be read again with it.
    if (!is_utf8(url.query.back().first) || !is_utf8(url.query.back().second))
      return fail(ErrorCode::bad_request, "the request query is not UTF-8");
  }
  return url;
}

std::string percent_encode(std::string_view text) {
  static constexpr char digits[] = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (is_unreserved(c)) {
      out.push_back(c);
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out.push_back('%');
      out.push_back(digits[byte >> 4]);
      out.push_back(digits[byte & 15]);
    }
  }
  return out;
}

std::string percent_decode(std::string_view text) {
  return decode(text, false);
}

}  // namespace tau::http
