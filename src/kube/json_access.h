// Reading and filling JSON objects of known shape. Wrong types read as absent: the schema check has
// spoken of them.
#pragma once

#include <boost/json.hpp>
#include <optional>
#include <string_view>

namespace tau::kube {

inline std::string_view as_view(const boost::json::value* value) {
  if (value == nullptr || !value->is_string()) return {};
  return {value->get_string().data(), value->get_string().size()};
}
inline std::string_view text_at(const boost::json::object& object, std::string_view key) {
  return as_view(object.if_contains(key));
}
inline std::optional<int64_t> integer_at(const boost::json::object& object, std::string_view key) {
  const boost::json::value* found = object.if_contains(key);
  if (found == nullptr || !found->is_int64()) return std::nullopt;
  return found->get_int64();
}
inline bool is_true_at(const boost::json::object& object, std::string_view key) {
  const boost::json::value* found = object.if_contains(key);
  return found != nullptr && found->is_bool() && found->get_bool();
}
// Empty ones when absent, so that callers need no tests.
inline const boost::json::object& object_at(const boost::json::object& object,
                                            std::string_view key) {
  static const boost::json::object empty;
  const boost::json::value* found = object.if_contains(key);
  return found == nullptr || !found->is_object() ? empty : found->get_object();
}
inline const boost::json::array& array_at(const boost::json::object& object, std::string_view key) {
  static const boost::json::array empty;
  const boost::json::value* found = object.if_contains(key);
  return found == nullptr || !found->is_array() ? empty : found->get_array();
}
inline const boost::json::object& as_object(const boost::json::value& value) {
  static const boost::json::object empty;
  return value.is_object() ? value.get_object() : empty;
}
// Null counts as absent.
inline bool has(const boost::json::object& object, std::string_view key) {
  const boost::json::value* found = object.if_contains(key);
  return found != nullptr && !found->is_null();
}

inline void set_default(boost::json::object& object, std::string_view key,
                        boost::json::value value) {
  if (!has(object, key)) object[key] = std::move(value);
}
// As set_default, where the empty string counts as absent too.
inline void set_default_text(boost::json::object& object, std::string_view key,
                             std::string_view value) {
  if (text_at(object, key).empty()) object[key] = value;
}
// The member object, made if absent.
inline boost::json::object& make_object(boost::json::object& object, std::string_view key) {
  boost::json::value& value = object[key];
  if (!value.is_object()) value.emplace_object();
  return value.get_object();
}
inline boost::json::object* if_object_at(boost::json::object& object, std::string_view key) {
  boost::json::value* found = object.if_contains(key);
  return found == nullptr ? nullptr : found->if_object();
}
template <class Function>
void for_each_object(boost::json::object& object, std::string_view key, Function function) {
  boost::json::value* found = object.if_contains(key);
  if (found == nullptr || !found->is_array()) return;
  for (boost::json::value& element : found->get_array()) {
    if (boost::json::object* member = element.if_object()) function(*member);
  }
}

}  // namespace tau::kube
