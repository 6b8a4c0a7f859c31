#include "meta/schema_check.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/text.h"
#include "base/time.h"
#include "meta/schema_text.h"

namespace tau::meta {
namespace json = boost::json;

namespace {

std::string_view json_kind(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null:
      return "null";
    case json::kind::bool_:
      return "bool";
    case json::kind::string:
      return "string";
    case json::kind::array:
      return "array";
    case json::kind::object:
      return "object";
    default:
      return "number";
  }
}

std::string_view package_of(std::string_view name) {
  name = name.substr(0, name.rfind('.'));
  return name.substr(name.rfind('.') + 1);
}

// The name that the API server's decoder would print; clients and people know these messages.
std::string go_type(const TypeInfo& type) {
  switch (type.shape) {
    case Shape::object:
      return fmt::format("{}.{}", package_of(type.name), short_name(type.name));
    case Shape::list:
      return "[]" + go_type(type.element());
    case Shape::map:
      return "map[string]" + go_type(type.element());
    case Shape::integer:
      return type.is_int32 ? "int32" : "int64";
    case Shape::number:
      return "float64";
    case Shape::boolean:
      return "bool";
    case Shape::quantity:
      return "resource.Quantity";
    case Shape::int_or_string:
      return "intstr.IntOrString";
    case Shape::time:
      return "v1.Time";
    case Shape::micro_time:
      return "v1.MicroTime";
    case Shape::bytes:
      return "[]uint8";
    default:
      return "string";
  }
}

bool looks_like_quantity(std::string_view text) {
  size_t at = 0;
  if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
  const size_t digits = at;
  while (at < text.size() &&
         (std::isdigit(static_cast<unsigned char>(text[at])) || text[at] == '.'))
    ++at;
  if (at == digits) return false;
  while (at < text.size() && std::strchr("eEinumkKMGTP", text[at]) != nullptr) ++at;
  if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
  while (at < text.size() && std::isdigit(static_cast<unsigned char>(text[at]))) ++at;
  return at == text.size();
}

class Checker {
 public:
  std::vector<SchemaIssue> issues;

  void check(const json::value& value, const TypeInfo& type) {
    if (value.is_null()) return;
    switch (type.shape) {
      case Shape::object:
        return check_object(value, type);
      case Shape::list:
        return check_list(value, type);
      case Shape::map:
        return check_map(value, type);
      default:
        return check_scalar(value, type);
    }
  }

 private:
  std::string path_;
  std::string go_path_;  // without indices and map keys
  const TypeInfo* struct_ = nullptr;

  void wrong(const json::value& value, const TypeInfo& type, std::string_view detail = {}) {
    const std::string where =
        struct_ == nullptr || go_path_.empty()
            ? "Go value"
            : fmt::format("Go struct field {}.{}", short_name(struct_->name), go_path_);
    issues.push_back(
        {SchemaIssue::Kind::wrong_type, path_,
         fmt::format("json: cannot unmarshal {}{} into {} of type {}", json_kind(value),
                     detail.empty() ? "" : fmt::format(" {}", detail), where, go_type(type)),
         ""});
  }
  void malformed(std::string message) {
    issues.push_back({SchemaIssue::Kind::wrong_type, path_, std::move(message), ""});
  }

  void check_object(const json::value& value, const TypeInfo& type) {
    const json::object* object = value.if_object();
    if (object == nullptr) return wrong(value, type);
    const TypeInfo* outer = std::exchange(struct_, &type);
    for (const auto& [name, member] : *object) {
      const std::string_view key(name.data(), name.size());
      const size_t length = path_.size(), go_length = go_path_.size();
      path_ += path_.empty() ? std::string(key) : fmt::format(".{}", key);
      if (const Field* field = type.find(key)) {
        go_path_ += go_path_.empty() ? std::string(key) : fmt::format(".{}", key);
        check(member, field->type());
      } else if (!type.keeps_unknown_fields) {
        unknown(key, type);
      }
      path_.resize(length);
      go_path_.resize(go_length);
    }
    struct_ = outer;
  }

  void unknown(std::string_view key, const TypeInfo& type) {
    std::vector<std::string_view> names;
    for (const Field& field : type.fields) names.push_back(field.name);
    issues.push_back({SchemaIssue::Kind::unknown, path_, fmt::format("unknown field \"{}\"", path_),
                      std::string(nearest(key, names).value_or(""))});
  }

  void check_list(const json::value& value, const TypeInfo& type) {
    const json::array* array = value.if_array();
    if (array == nullptr) return wrong(value, type);
    for (size_t i = 0; i < array->size(); ++i) {
      const size_t length = path_.size();
      path_ += fmt::format("[{}]", i);
      check((*array)[i], type.element());
      path_.resize(length);
    }
  }

  void check_map(const json::value& value, const TypeInfo& type) {
    const json::object* object = value.if_object();
    if (object == nullptr) return wrong(value, type);
    for (const auto& [name, member] : *object) {
      const size_t length = path_.size();
      path_ += fmt::format(".{}", std::string_view(name.data(), name.size()));
      check(member, type.element());
      path_.resize(length);
    }
  }

  void check_scalar(const json::value& value, const TypeInfo& type) {
    switch (type.shape) {
      case Shape::string:
        if (!value.is_string()) wrong(value, type);
        break;
      case Shape::boolean:
        if (!value.is_bool()) wrong(value, type);
        break;
      case Shape::number:
        if (!value.is_number()) wrong(value, type);
        break;
      case Shape::integer:
        check_integer(value, type);
        break;
      case Shape::int_or_string:
        if (!value.is_string() && !value.is_int64()) wrong(value, int32());
        break;
      case Shape::quantity:
        check_quantity(value);
        break;
      case Shape::time:
      case Shape::micro_time:
        check_time(value, type);
        break;
      case Shape::bytes:
        check_bytes(value, type);
        break;
      default:
        break;
    }
  }

  static const TypeInfo& int32() {
    static const TypeInfo type{.shape = Shape::integer, .is_int32 = true};
    return type;
  }

  void check_integer(const json::value& value, const TypeInfo& type) {
    if (!value.is_number()) return wrong(value, type);
    const int64_t* whole = value.if_int64();
    if (whole == nullptr || (type.is_int32 && (*whole > INT32_MAX || *whole < INT32_MIN))) {
      const double* real = value.if_double();
      wrong(value, type, real != nullptr ? fmt::format("{}", *real) : json::serialize(value));
    }
  }

  void check_quantity(const json::value& value) {
    if (value.is_number()) return;
    const json::string* text = value.if_string();
    if (text == nullptr || !looks_like_quantity({text->data(), text->size()})) {
      malformed(
          "quantities must match the regular expression "
          "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
    }
  }

  void check_time(const json::value& value, const TypeInfo& type) {
    const json::string* text = value.if_string();
    if (text == nullptr) return wrong(value, type);
    if (parse_rfc3339({text->data(), text->size()})) return;
    const char* layout = type.shape == Shape::time ? "2006-01-02T15:04:05Z07:00"
                                                   : "2006-01-02T15:04:05.000000Z07:00";
    malformed(fmt::format("parsing time \"{0}\" as \"{1}\": cannot parse \"{0}\" as \"2006\"",
                          std::string_view(text->data(), text->size()), layout));
  }

  void check_bytes(const json::value& value, const TypeInfo& type) {
    const json::string* text = value.if_string();
    if (text == nullptr) return wrong(value, type);
    if (!base64_decode({text->data(), text->size()})) malformed("illegal base64 data");
  }
};

}  // namespace

std::vector<SchemaIssue> check(const json::value& value, const TypeInfo& type) {
  Checker checker;
  checker.check(value, type);
  return std::move(checker.issues);
}

}  // namespace tau::meta
