// What an unquoted YAML scalar means: null, a truth value, a number or text (YAML 1.1 as kubectl
// reads it).
#pragma once

#include <boost/json/fwd.hpp>
#include <string_view>

namespace tau::meta {
boost::json::value plain_scalar(std::string_view text);
}  // namespace tau::meta
