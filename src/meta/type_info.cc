#include "meta/type_info.h"

#include <fmt/format.h>

#include <cmath>

#include "meta/fields.h"

namespace tau::meta {
namespace json = boost::json;

const Field* TypeInfo::find(std::string_view name) const {
  for (const Field& field : fields) {
    if (field.name == name) return &field;
  }
  return nullptr;
}

Result<void> decode_into(void* object, const TypeInfo& type, const json::value& from) {
  const json::object* members = from.if_object();
  if (members == nullptr) return std::unexpected(wrong_type("object", from));
  // Tables are short and mostly in the order of the JSON; a remembered position makes the search
  // linear.
  size_t next = 0;
  for (const auto& [key, value] : *members) {
    const Field* found = nullptr;
    for (size_t i = 0; i < type.fields.size() && found == nullptr; ++i) {
      const size_t at = (next + i) % type.fields.size();
      if (type.fields[at].name == std::string_view(key)) {
        found = &type.fields[at];
        next = at + 1;
      }
    }
    if (found == nullptr || !found->decode || value.is_null()) continue;
    if (auto done = found->decode(object, value); !done) {
      return std::unexpected(at_key(std::move(done.error()), key));
    }
  }
  return {};
}

json::value encode_from(const void* object, const TypeInfo& type) {
  json::object to;
  for (const Field& field : type.fields) {
    if (!field.encode) continue;
    json::value value;
    if (field.encode(object, value)) to[field.name] = std::move(value);
  }
  return to;
}

// ---- errors: the path is built from the inside out

Error wrong_type(std::string_view wanted, const json::value& got) {
  const char* is = "null";
  if (got.is_string()) is = "string";
  if (got.is_bool()) is = "boolean";
  if (got.is_number()) is = "number";
  if (got.is_object()) is = "object";
  if (got.is_array()) is = "array";
  return {ErrorCode::bad_request, fmt::format(": expected {}, got {}", wanted, is)};
}

Error at_key(Error error, std::string_view key) {
  const bool starts_path = error.message.starts_with(':') || error.message.starts_with('[');
  error.message.insert(0, starts_path ? std::string(key) : std::string(key) + ".");
  return error;
}

Error at_index(Error error, size_t index) {
  const bool starts_path = error.message.starts_with(':') || error.message.starts_with('[');
  error.message.insert(0, fmt::format("[{}]{}", index, starts_path ? "" : "."));
  return error;
}

// ---- scalars

namespace {
const TypeInfo& scalar(Shape shape) {
  static const std::vector<TypeInfo> scalars = [] {
    std::vector<TypeInfo> all;
    for (int i = 0; i <= static_cast<int>(Shape::any); ++i)
      all.push_back({.shape = static_cast<Shape>(i)});
    return all;
  }();
  return scalars[static_cast<size_t>(shape)];
}
}  // namespace

const TypeInfo& string_type() {
  return scalar(Shape::string);
}
const TypeInfo& integer_type() {
  return scalar(Shape::integer);
}
const TypeInfo& int32_type() {
  static const TypeInfo type{.shape = Shape::integer, .is_int32 = true};
  return type;
}
const TypeInfo& number_type() {
  return scalar(Shape::number);
}
const TypeInfo& boolean_type() {
  return scalar(Shape::boolean);
}
const TypeInfo& quantity_type() {
  return scalar(Shape::quantity);
}
const TypeInfo& int_or_string_type() {
  return scalar(Shape::int_or_string);
}
const TypeInfo& time_type() {
  return scalar(Shape::time);
}
const TypeInfo& micro_time_type() {
  return scalar(Shape::micro_time);
}
const TypeInfo& bytes_type() {
  return scalar(Shape::bytes);
}
const TypeInfo& any_type() {
  return scalar(Shape::any);
}

Result<void> Codec<std::string>::decode(std::string& to, const json::value& from) {
  if (const json::string* text = from.if_string()) {
    to.assign(text->data(), text->size());
    return {};
  }
  // A quantity may be written as a number: `cpu: 1`.
  if (from.is_number()) {
    const double* real = from.if_double();
    to = real != nullptr ? fmt::format("{}", *real) : json::serialize(from);
    return {};
  }
  return std::unexpected(wrong_type("string", from));
}
bool Codec<std::string>::encode(const std::string& from, json::value& to) {
  to = from;
  return !from.empty();
}

Result<void> Codec<int64_t>::decode(int64_t& to, const json::value& from) {
  if (const int64_t* whole = from.if_int64()) {
    to = *whole;
    return {};
  }
  if (const double* real = from.if_double();
      real != nullptr && std::trunc(*real) == *real && std::abs(*real) < 9e15) {
    to = static_cast<int64_t>(*real);
    return {};
  }
  return std::unexpected(wrong_type("integer", from));
}
bool Codec<int64_t>::encode(int64_t from, json::value& to) {
  to = from;
  return from != 0;
}

Result<void> Codec<bool>::decode(bool& to, const json::value& from) {
  const bool* truth = from.if_bool();
  if (truth == nullptr) return std::unexpected(wrong_type("boolean", from));
  to = *truth;
  return {};
}
bool Codec<bool>::encode(bool from, json::value& to) {
  to = from;
  return from;
}

Result<void> Codec<Time>::decode(Time& to, const json::value& from) {
  const json::string* text = from.if_string();
  if (text == nullptr) return std::unexpected(wrong_type("time", from));
  auto time = parse_rfc3339({text->data(), text->size()});
  if (!time) return fail(ErrorCode::bad_request, ": " + time.error().message);
  to = *time;
  return {};
}
bool Codec<Time>::encode(const Time& from, json::value& to) {
  to = format_rfc3339(from);
  return true;
}

// ---- tables

namespace detail {
Field make_field(std::string_view name, std::string_view description, TypeRef type,
                 const FieldOptions& options) {
  Field field;
  field.name = name;
  field.description = description;
  field.type = type;
  field.is_required = options.is_required;
  field.is_immutable = options.is_immutable;
  field.merge_key = options.merge_key;
  field.merges_primitives = options.merges_primitives;
  field.retains_keys = options.retains_keys;
  field.enum_values = options.enum_values;
  field.default_json = options.default_json;
  return field;
}
bool encode_micros(const std::optional<Time>& from, json::value& to) {
  if (from) to = format_rfc3339_micros(*from);
  return from.has_value();
}
}  // namespace detail

Field schema_only(std::string_view name, std::string_view description, TypeRef type,
                  FieldOptions options) {
  return detail::make_field(name, description, type, options);
}

TypeInfo table(std::string_view name, std::string_view description, std::vector<Field> fields) {
  return {.name = name,
          .description = description,
          .shape = Shape::object,
          .fields = std::move(fields)};
}

}  // namespace tau::meta
