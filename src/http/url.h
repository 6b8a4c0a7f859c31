// Request targets: path segments and query, percent-decoded.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace tau::http {

struct Url {
  std::vector<std::string>
      segments;  // "/api/v1/pods" -> {"api","v1","pods"}; empty segments are dropped
  std::vector<std::pair<std::string, std::string>> query;

  // The first value of a key.
  std::optional<std::string_view> find(std::string_view key) const;
};

// What it gives is UTF-8.
Result<Url> parse_target(std::string_view target);
std::string percent_encode(std::string_view text);  // for one segment or query value
std::string percent_decode(std::string_view text);

}  // namespace tau::http
