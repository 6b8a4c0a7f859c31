// Builders for field tables. A table reads like the API page it describes:
//   table<Job>("io.k8s.api.batch.v1.Job", "A task that runs to its end.", {
//       field<&Job::spec>("spec", "What is wanted."), schema_only("x", "...", string_type) })
// Member types say the JSON shape; options add what a type cannot say.
#pragma once

#include <boost/json.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "meta/type_info.h"

namespace tau::meta {

const TypeInfo& string_type();
const TypeInfo& integer_type();  // 64 bits
const TypeInfo& int32_type();
const TypeInfo& number_type();
const TypeInfo& boolean_type();
const TypeInfo& quantity_type();
const TypeInfo& int_or_string_type();
const TypeInfo& time_type();
const TypeInfo& micro_time_type();
const TypeInfo& bytes_type();
const TypeInfo& any_type();

// A list or map of another type; one TypeInfo per element function.
template <TypeFunction element>
const TypeInfo& list_of() {
  static const TypeInfo type{.shape = Shape::list, .element = element};
  return type;
}
template <TypeFunction element>
const TypeInfo& map_of() {
  static const TypeInfo type{.shape = Shape::map, .element = element};
  return type;
}

// ---- one value

template <class T>
struct Codec {  // a struct with a table
  static constexpr TypeFunction type = &type_of<T>;
  static Result<void> decode(T& to, const boost::json::value& from) {
    return decode_into(&to, type_of<T>(), from);
  }
  static bool encode(const T& from, boost::json::value& to) {
    to = encode_from(&from, type_of<T>());
    return !to.as_object().empty();
  }
};

Error wrong_type(std::string_view wanted, const boost::json::value& got);

template <>
struct Codec<std::string> {
  static constexpr TypeFunction type = &string_type;
  static Result<void> decode(std::string& to, const boost::json::value& from);
  static bool encode(const std::string& from, boost::json::value& to);
};
template <>
struct Codec<int64_t> {
  static constexpr TypeFunction type = &integer_type;
  static Result<void> decode(int64_t& to, const boost::json::value& from);
  static bool encode(int64_t from, boost::json::value& to);
};
template <>
struct Codec<bool> {
  static constexpr TypeFunction type = &boolean_type;
  static Result<void> decode(bool& to, const boost::json::value& from);
  static bool encode(bool from, boost::json::value& to);
};
template <>
struct Codec<Time> {
  static constexpr TypeFunction type = &time_type;
  static Result<void> decode(Time& to, const boost::json::value& from);
  static bool encode(const Time& from, boost::json::value& to);
};

template <class T>
struct Codec<std::optional<T>> {
  static constexpr TypeFunction type = Codec<T>::type;
  static Result<void> decode(std::optional<T>& to, const boost::json::value& from) {
    return Codec<T>::decode(to.emplace(), from);
  }
  static bool encode(const std::optional<T>& from, boost::json::value& to) {
    if (from) Codec<T>::encode(*from, to);
    return from.has_value();
  }
};

Error at_index(Error error, size_t index);
Error at_key(Error error, std::string_view key);

template <class T>
struct Codec<std::vector<T>> {
  static constexpr TypeFunction type = &list_of<Codec<T>::type>;
  static Result<void> decode(std::vector<T>& to, const boost::json::value& from) {
    const boost::json::array* array = from.if_array();
    if (array == nullptr) return std::unexpected(wrong_type("array", from));
    to.clear();
    to.reserve(array->size());
    for (size_t i = 0; i < array->size(); ++i) {
      T element{};
      if (auto done = Codec<T>::decode(element, (*array)[i]); !done) {
        return std::unexpected(at_index(std::move(done.error()), i));
      }
      to.push_back(std::move(element));
    }
    return {};
  }
  static bool encode(const std::vector<T>& from, boost::json::value& to) {
    boost::json::array array;
    array.reserve(from.size());
    for (const T& element : from) {
      boost::json::value value;
      Codec<T>::encode(element, value);
      array.push_back(std::move(value));
    }
    to = std::move(array);
    return !from.empty();
  }
};

template <class T>
struct Codec<std::map<std::string, T>> {
  static constexpr TypeFunction type = &map_of<Codec<T>::type>;
  static Result<void> decode(std::map<std::string, T>& to, const boost::json::value& from) {
    const boost::json::object* object = from.if_object();
    if (object == nullptr) return std::unexpected(wrong_type("object", from));
    to.clear();
    for (const auto& [key, value] : *object) {
      if (auto done = Codec<T>::decode(to[std::string(key)], value); !done) {
        return std::unexpected(at_key(std::move(done.error()), key));
      }
    }
    return {};
  }
  static bool encode(const std::map<std::string, T>& from, boost::json::value& to) {
    boost::json::object object;
    for (const auto& [key, value] : from) {
      boost::json::value member;
      Codec<T>::encode(value, member);
      object[key] = std::move(member);
    }
    to = std::move(object);
    return !from.empty();
  }
};

// ---- one field

struct FieldOptions {
  bool is_required = false;
  bool is_always = false;  // written even when empty, 0 or false
  bool is_immutable = false;
  std::string_view merge_key;
  bool merges_primitives = false;
  bool retains_keys = false;
  std::string_view enum_values, default_json;
  TypeRef type =
      nullptr;  // replaces the type that the member implies: quantity_type, micro_time_type
};

namespace detail {
template <class>
struct MemberOf;
template <class C, class M>
struct MemberOf<M C::*> {
  using Class = C;
  using Member = M;
};
Field make_field(std::string_view name, std::string_view description, TypeRef type,
                 const FieldOptions& options);
// For Time members of micro precision.
bool encode_micros(const std::optional<Time>& from, boost::json::value& to);
}  // namespace detail

template <auto member>
Field field(std::string_view name, std::string_view description, FieldOptions options = {}) {
  using Class = typename detail::MemberOf<decltype(member)>::Class;
  using Member = typename detail::MemberOf<decltype(member)>::Member;
  Field made = detail::make_field(name, description,
                                  options.type ? options.type : Codec<Member>::type, options);
  made.decode = [](void* object, const boost::json::value& from) {
    return Codec<Member>::decode(static_cast<Class*>(object)->*member, from);
  };
  made.encode = [is_always = options.is_always](const void* object, boost::json::value& to) {
    return Codec<Member>::encode(static_cast<const Class*>(object)->*member, to) || is_always;
  };
  if constexpr (std::is_same_v<Member, std::optional<Time>>) {
    if (options.type == TypeRef(&micro_time_type)) {
      made.encode = [](const void* object, boost::json::value& to) {
        return detail::encode_micros(static_cast<const Class*>(object)->*member, to);
      };
    }
  }
  return made;
}

// Known, described and checked, but held in no member.
Field schema_only(std::string_view name, std::string_view description, TypeRef type,
                  FieldOptions options = {});

// Several members of one struct that stand in a nested JSON object ("spec": {...}) share a table of
// the same struct: nested<Namespace, &namespace_spec>("spec", "...").
template <class T, TypeFunction inner>
Field nested(std::string_view name, std::string_view description, FieldOptions options = {}) {
  Field made = detail::make_field(name, description, inner, options);
  made.decode = [](void* object, const boost::json::value& from) {
    return decode_into(object, inner(), from);
  };
  made.encode = [is_always = options.is_always](const void* object, boost::json::value& to) {
    to = encode_from(object, inner());
    return !to.as_object().empty() || is_always;
  };
  return made;
}

// A field whose JSON form needs its own code.
template <class T>
Field custom(std::string_view name, std::string_view description, TypeRef type,
             Result<void> (*decode)(T&, const boost::json::value&),
             bool (*encode)(const T&, boost::json::value&), FieldOptions options = {}) {
  Field made = detail::make_field(name, description, type, options);
  made.decode = [decode](void* object, const boost::json::value& from) {
    return decode(*static_cast<T*>(object), from);
  };
  made.encode = [encode](const void* object, boost::json::value& to) {
    return encode(*static_cast<const T*>(object), to);
  };
  return made;
}

TypeInfo table(std::string_view name, std::string_view description, std::vector<Field> fields);

}  // namespace tau::meta
