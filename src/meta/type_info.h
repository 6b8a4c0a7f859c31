// Field tables: one per struct, the single source for JSON decode and encode, OpenAPI schema,
// validation, strategic merge keys and `explain`. A field may have no member (schema only): it is
// then known, checked and passed through by the server, but not held in the struct.
#pragma once

#include <boost/json/fwd.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tau::meta {

struct TypeInfo;
// Types refer to each other by function, so that tables may be recursive and in any order; types
// that are read from a schema text (schema_text.h) refer to each other by pointer.
using TypeFunction = const TypeInfo& (*)();
class TypeRef {
 public:
  constexpr TypeRef(std::nullptr_t = nullptr) {}
  constexpr TypeRef(TypeFunction function) : function_(function) {}
  constexpr TypeRef(const TypeInfo* info) : info_(info) {}
  const TypeInfo& operator()() const { return function_ != nullptr ? function_() : *info_; }
  constexpr explicit operator bool() const { return function_ != nullptr || info_ != nullptr; }
  constexpr bool operator==(const TypeRef&) const = default;

 private:
  TypeFunction function_ = nullptr;
  const TypeInfo* info_ = nullptr;
};

enum class Shape : uint8_t {
  object,  // has fields
  list,    // of `element`
  map,     // string -> `element`
  string,
  integer,
  number,
  boolean,
  quantity,  // string or number, resource.Quantity
  int_or_string,
  time,
  micro_time,
  bytes,  // base64 string
  any,    // anything at all (managedFields, raw extension)
};

struct Field {
  std::string_view name;         // JSON name
  std::string_view description;  // one or two sentences, our own words
  TypeRef type;
  bool is_required = false;
  bool is_immutable = false;
  std::string_view
      merge_key;  // strategic merge: patchMergeKey; "" = replace (atomic) unless merge_primitive
  bool merges_primitives = false;
  bool retains_keys = false;
  std::string_view enum_values;   // comma separated, "" = free
  std::string_view default_json;  // "" = none
  // Access to the member; null when the struct does not hold the field.
  std::function<Result<void>(void* object, const boost::json::value& from)> decode;
  // False = absent: leave the key out.
  std::function<bool(const void* object, boost::json::value& to)> encode;
};

struct TypeInfo {
  std::string_view name;  // "io.k8s.api.core.v1.Pod"; "" for anonymous lists and scalars
  std::string_view description;
  Shape shape = Shape::object;
  std::vector<Field> fields;  // of an object
  TypeRef element = nullptr;  // of a list or map
  bool is_int32 = false;      // an integer of 32 bits
  bool keeps_unknown_fields = false;
  const Field* find(std::string_view name) const;
};

// The table of a C++ type; each type that has one specialises this.
template <class T>
const TypeInfo& type_of();

// JSON to struct. Unknown keys are ignored; wrong types are errors that name the path
// ("spec.containers[0].name").
Result<void> decode_into(void* object, const TypeInfo& type, const boost::json::value& from);
boost::json::value encode_from(const void* object, const TypeInfo& type);

template <class T>
Result<T> decode(const boost::json::value& from) {
  T object;
  if (auto done = decode_into(&object, type_of<T>(), from); !done)
    return std::unexpected(done.error());
  return object;
}
// The value type is a parameter only so that this header needs no more than a forward declaration.
template <class T, class Value = boost::json::value>
Value encode(const T& object) {
  return encode_from(&object, type_of<T>());
}

}  // namespace tau::meta
