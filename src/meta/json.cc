#include "meta/json.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <cmath>

#include "base/limits.h"

namespace tau::meta {
namespace json = boost::json;

namespace {

// Parsing again by growing prefixes would be slow; the parser itself tells how far it came.
std::string place_of(std::string_view text, size_t offset) {
  size_t line = 1, column = 1;
  for (size_t i = 0; i < std::min(offset, text.size()); ++i) {
    if (text[i] == '\n') {
      ++line;
      column = 1;
    } else {
      ++column;
    }
  }
  return fmt::format("line {}, column {}", line, column);
}

void pretty(std::string& out, const json::value& value, int indent) {
  const std::string pad(static_cast<size_t>(indent) * 2, ' ');
  if (const json::object* object = value.if_object(); object != nullptr && !object->empty()) {
    out += "{\n";
    bool is_first = true;
    for (const auto& [key, member] : *object) {
      if (!is_first) out += ",\n";
      is_first = false;
      out += pad + "  " + json::serialize(json::string(key)) + ": ";
      pretty(out, member, indent + 1);
    }
    out += "\n" + pad + "}";
  } else if (const json::array* array = value.if_array(); array != nullptr && !array->empty()) {
    out += "[\n";
    for (size_t i = 0; i < array->size(); ++i) {
      if (i > 0) out += ",\n";
      out += pad + "  ";
      pretty(out, (*array)[i], indent + 1);
    }
    out += "\n" + pad + "]";
  } else {
    out += json::serialize(value);
  }
}

// A number too great for a double is read as infinite, and would be written as no JSON.
bool has_infinity(const json::value& value) {
  if (const double* number = value.if_double()) return !std::isfinite(*number);
  if (const json::array* array = value.if_array()) return std::ranges::any_of(*array, has_infinity);
  const json::object* object = value.if_object();
  return object != nullptr && std::ranges::any_of(*object, [](const auto& member) {
           return has_infinity(member.value());
         });
}

}  // namespace

Result<json::value> parse_json(std::string_view text) {
  json::parse_options options;
  options.max_depth = limits::json_depth;
  json::stream_parser parser({}, options);
  boost::system::error_code error;
  const size_t consumed = parser.write_some(text.data(), text.size(), error);
  if (!error && consumed == text.size()) parser.finish(error);
  if (error || consumed != text.size()) {
    const std::string what = error ? error.message() : "extra data after the value";
    return fail(ErrorCode::bad_request,
                fmt::format("invalid JSON at {}: {}", place_of(text, consumed), what));
  }
  json::value value = parser.release();
  if (has_infinity(value))
    return fail(ErrorCode::bad_request, "invalid JSON: a number is out of range");
  return value;
}

std::string to_text(const json::value& value) {
  return json::serialize(value);
}
std::string to_text(const json::object& object) {
  return json::serialize(object);
}

std::string to_pretty_text(const json::value& value) {
  std::string out;
  pretty(out, value, 0);
  return out;
}

const json::value* find_path(const json::value& value, std::string_view path) {
  const json::value* at = &value;
  while (!path.empty()) {
    const size_t dot = path.find('.');
    const std::string_view key = path.substr(0, dot);
    path.remove_prefix(dot == std::string_view::npos ? path.size() : dot + 1);
    const json::object* object = at->if_object();
    if (object == nullptr) return nullptr;
    at = object->if_contains(key);
    if (at == nullptr) return nullptr;
  }
  return at;
}

std::string_view string_at(const json::value& value, std::string_view path) {
  const json::value* found = find_path(value, path);
  if (found == nullptr || !found->is_string()) return {};
  const json::string& text = found->get_string();
  return {text.data(), text.size()};
}

}  // namespace tau::meta
