#include "embedded/apiserver/call.h"

#include <fmt/format.h>

#include "base/check.h"

namespace tau::apiserver {
namespace {

constexpr size_t warnings_shown = 20;

// A Warning header's quoted text (RFC 7234): quotes and backslashes escaped, cut to a length that
// clients take.
std::string warning_header(std::string_view text) {
  std::string out = "299 - \"";
  for (const char c : text.substr(0, 1000)) {
    if (c == '"' || c == '\\') out.push_back('\\');
    out.push_back(static_cast<unsigned char>(c) < 0x20 ? ' ' : c);
  }
  return out + "\"";
}

}  // namespace

void Call::answer(int status, std::string_view json) {
  CHECK(sink != nullptr);
  http::Headers headers;
  headers.emplace_back("Cache-Control", "no-cache, private");
  for (size_t i = 0; i < std::min(warnings.size(), warnings_shown); ++i) {
    headers.emplace_back("Warning", warning_header(warnings[i]));
  }
  http::respond(*sink, status, "application/json", json, std::move(headers));
  sink.reset();
}

void Call::answer(const StatusError& error) {
  CHECK(sink != nullptr);
  http::Headers headers;
  if (error.code == 401) headers.emplace_back("WWW-Authenticate", "Bearer");
  if (error.retry_after_seconds > 0) {
    headers.emplace_back("Retry-After", std::to_string(error.retry_after_seconds));
  }
  http::respond(*sink, error.code, "application/json", to_json(error), std::move(headers));
  sink.reset();
}

bool is_true(std::string_view text) {
  return text == "true" || text == "1" || text == "True" || text == "t";
}

}  // namespace tau::apiserver
