// JSON text to Boost.JSON values and back, with the product's limits and errors that say where.
#pragma once

#include <boost/json/fwd.hpp>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tau::meta {

// Refuses what nests deeper than limits::json_depth, duplicate-free or not; names line and column.
Result<boost::json::value> parse_json(std::string_view text);
std::string to_text(const boost::json::value& value);
std::string to_text(const boost::json::object& object);
// Indented by two, keys in the order held; for people.
std::string to_pretty_text(const boost::json::value& value);

// The member at a dotted path ("metadata.name"), or null. Keys with dots cannot be reached this
// way.
const boost::json::value* find_path(const boost::json::value& value, std::string_view path);
// The string at a dotted path, or "".
std::string_view string_at(const boost::json::value& value, std::string_view path);

}  // namespace tau::meta
