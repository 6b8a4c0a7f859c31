// How the scenario files read JSON: missing or odd members are empty, never fatal.
#pragma once

#include <boost/json.hpp>
#include <span>
#include <string>
#include <string_view>

namespace tau::sim {

inline std::string text_of(const boost::json::value& from) {
  return from.is_string() ? std::string(from.as_string()) : boost::json::serialize(from);
}
inline std::string text_at(const boost::json::object& from, std::string_view key,
                           std::string_view otherwise = "") {
  const boost::json::value* found = from.if_contains(key);
  return found == nullptr || found->is_null() ? std::string(otherwise) : text_of(*found);
}
inline std::span<const boost::json::value> items(const boost::json::value* from) {
  return from != nullptr && from->is_array()
             ? std::span(from->as_array().data(), from->as_array().size())
             : std::span<const boost::json::value>();
}
inline std::span<const boost::json::value> items(const boost::json::object& from,
                                                 std::string_view key) {
  return items(from.if_contains(key));
}
// The objects of a list; what is not one is left out (check() has named it).
template <class Visit>
void for_each_object(std::span<const boost::json::value> from, Visit visit) {
  for (const boost::json::value& item : from) {
    if (item.is_object()) visit(item.as_object());
  }
}

}  // namespace tau::sim
