#include "kube/field_errors.h"

#include <fmt/format.h>

#include "base/check.h"
#include "kube/json_access.h"
#include "kube/quantity.h"

namespace tau::kube {
namespace json = boost::json;

const char* to_string(FieldErrorType type) {
  switch (type) {
    case FieldErrorType::required:
      return "FieldValueRequired";
    case FieldErrorType::invalid:
      return "FieldValueInvalid";
    case FieldErrorType::not_supported:
      return "FieldValueNotSupported";
    case FieldErrorType::duplicate:
      return "FieldValueDuplicate";
    case FieldErrorType::forbidden:
      return "FieldValueForbidden";
    case FieldErrorType::not_found:
      return "FieldValueNotFound";
    case FieldErrorType::too_long:
      return "FieldValueTooLong";
  }
  CHECK(false);
}

std::string to_text(const FieldErrors& errors) {
  std::string text;
  for (const FieldError& error : errors) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", error.field, error.message);
  }
  return errors.size() > 1 ? fmt::format("[{}]", text) : text;
}

void ErrorList::required(std::string field, std::string_view detail) {
  errors_.push_back(
      {std::move(field), FieldErrorType::required,
       detail.empty() ? "Required value" : fmt::format("Required value: {}", detail)});
}
void ErrorList::invalid(std::string field, std::string_view value, std::string_view detail) {
  invalid_value(std::move(field), json::value(json::string(value)), detail);
}
void ErrorList::invalid_value(std::string field, const json::value& value,
                              std::string_view detail) {
  errors_.push_back({std::move(field), FieldErrorType::invalid,
                     fmt::format("Invalid value: {}: {}", json::serialize(value), detail)});
}
void ErrorList::not_supported(std::string field, std::string_view value,
                              std::initializer_list<std::string_view> supported) {
  std::string list;
  for (const std::string_view one : supported)
    list += fmt::format("{}\"{}\"", list.empty() ? "" : ", ", one);
  errors_.push_back({std::move(field), FieldErrorType::not_supported,
                     fmt::format("Unsupported value: \"{}\": supported values: {}", value, list)});
}
void ErrorList::duplicate(std::string field, std::string_view value) {
  errors_.push_back(
      {std::move(field), FieldErrorType::duplicate, fmt::format("Duplicate value: \"{}\"", value)});
}
void ErrorList::forbidden(std::string field, std::string_view detail) {
  errors_.push_back(
      {std::move(field), FieldErrorType::forbidden, fmt::format("Forbidden: {}", detail)});
}
void ErrorList::not_found(std::string field, std::string_view value) {
  errors_.push_back(
      {std::move(field), FieldErrorType::not_found, fmt::format("Not found: \"{}\"", value)});
}
void ErrorList::too_long(std::string field, size_t bytes) {
  errors_.push_back({std::move(field), FieldErrorType::too_long,
                     fmt::format("Too long: may not be more than {} bytes", bytes)});
}
void ErrorList::one_of(std::string field, std::string_view value,
                       std::initializer_list<std::string_view> supported) {
  if (value.empty() || std::find(supported.begin(), supported.end(), value) != supported.end())
    return;
  not_supported(std::move(field), value, supported);
}
void ErrorList::not_negative(std::string field, const json::object& object, std::string_view key) {
  const auto value = integer_at(object, key);
  if (value && *value < 0)
    invalid_value(fmt::format("{}.{}", field, key), *value, "must be greater than or equal to 0");
}

// ---- syntax

namespace {

bool is_lower(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}
bool is_alphanumeric(char c) {
  return is_lower(c) || (c >= 'A' && c <= 'Z');
}

bool is_dns_label(std::string_view text) {
  if (text.empty() || !is_lower(text.front()) || !is_lower(text.back())) return false;
  return std::all_of(text.begin(), text.end(), [](char c) { return is_lower(c) || c == '-'; });
}

bool is_word(std::string_view text) {
  if (text.empty() || !is_alphanumeric(text.front()) || !is_alphanumeric(text.back())) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

std::string too_many_bytes(size_t most) {
  return fmt::format("must be no more than {} bytes", most);
}

}  // namespace

std::optional<std::string> wrong_subdomain(std::string_view text) {
  if (text.size() > 253) return too_many_bytes(253);
  std::string_view rest = text;
  bool is_right = true;
  while (is_right) {
    const size_t dot = rest.find('.');
    is_right = is_dns_label(rest.substr(0, dot));
    if (dot == rest.npos) break;
    rest.remove_prefix(dot + 1);
  }
  if (is_right) return std::nullopt;
  return "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' "
         "or '.', and must "
         "start and end with an alphanumeric character (e.g. 'example.com', regex used for "
         "validation is "
         "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
}

std::optional<std::string> wrong_label(std::string_view text) {
  if (text.size() > 63) return too_many_bytes(63);
  if (is_dns_label(text)) return std::nullopt;
  return "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
         "and must start and "
         "end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for "
         "validation is "
         "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
}

std::optional<std::string> wrong_label_value(std::string_view text) {
  if (text.size() > 63) return too_many_bytes(63);
  if (text.empty() || is_word(text)) return std::nullopt;
  return "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
         "'.', and must "
         "start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or "
         "'12345', regex used for "
         "validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
}

std::optional<std::string> wrong_qualified_name(std::string_view text) {
  const size_t slash = text.find('/');
  std::string_view name = text;
  constexpr std::string_view rule =
      "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
      "alphanumeric character "
      "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
      "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
  if (std::count(text.begin(), text.end(), '/') > 1) {
    return fmt::format(
        "a valid label key {} with an optional DNS subdomain prefix and '/' (e.g. "
        "'example.com/MyName')",
        rule);
  }
  if (slash != text.npos) {
    const std::string_view prefix = text.substr(0, slash);
    name = text.substr(slash + 1);
    if (prefix.empty()) return "prefix part must be non-empty";
    if (auto wrong = wrong_subdomain(prefix)) return "prefix part " + *wrong;
  }
  if (name.empty()) return "name part must be non-empty";
  if (name.size() > 63) return "name part " + too_many_bytes(63);
  if (is_word(name)) return std::nullopt;
  return fmt::format("name part {}", rule);
}

// ---- shared parts

void check_labels(ErrorList& errors, const json::object& labels, const std::string& path) {
  for (const auto& [key, value] : labels) {
    errors.check(path, key, wrong_qualified_name(key));
    errors.check(path, as_view(&value), wrong_label_value(as_view(&value)));
  }
}

void check_annotations(ErrorList& errors, const json::object& annotations,
                       const std::string& path) {
  constexpr size_t most_bytes = 256 * 1024;
  size_t bytes = 0;
  for (const auto& [key, value] : annotations) {
    std::string lower(key);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    errors.check(path, key, wrong_qualified_name(lower));
    bytes += key.size() + as_view(&value).size();
  }
  if (bytes > most_bytes) errors.too_long(path, most_bytes);
}

void check_label_selector(ErrorList& errors, const json::object& selector,
                          const std::string& path) {
  check_labels(errors, object_at(selector, "matchLabels"), path + ".matchLabels");
  const json::array& expressions = array_at(selector, "matchExpressions");
  for (size_t i = 0; i < expressions.size(); ++i) {
    const json::object& expression = as_object(expressions[i]);
    const std::string at = fmt::format("{}.matchExpressions[{}]", path, i);
    const std::string_view operator_ = text_at(expression, "operator");
    const bool has_values = !array_at(expression, "values").empty();
    if (operator_ == "In" || operator_ == "NotIn") {
      if (!has_values)
        errors.required(at + ".values", "must be specified when `operator` is 'In' or 'NotIn'");
    } else if (operator_ == "Exists" || operator_ == "DoesNotExist") {
      if (has_values)
        errors.forbidden(at + ".values",
                         "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    } else {
      errors.invalid(at + ".operator", operator_, "not a valid selector operator");
    }
    errors.check(at + ".key", text_at(expression, "key"),
                 wrong_qualified_name(text_at(expression, "key")));
  }
}

void check_quantity(ErrorList& errors, const json::value& value, const std::string& path) {
  const std::string text =
      value.is_string() ? std::string(as_view(&value)) : json::serialize(value);
  const auto amount = parse_quantity_milli(text);
  if (!amount) {
    errors.invalid(path, text, "must be a quantity");
  } else if (*amount < 0) {
    errors.invalid(path, text, "must be greater than or equal to 0");
  }
}

void check_tolerations(ErrorList& errors, const json::array& tolerations, const std::string& path) {
  for (size_t i = 0; i < tolerations.size(); ++i) {
    const json::object& toleration = as_object(tolerations[i]);
    const std::string at = fmt::format("{}[{}]", path, i);
    const std::string_view key = text_at(toleration, "key"),
                           operator_ = text_at(toleration, "operator");
    const std::string_view effect = text_at(toleration, "effect"),
                           value = text_at(toleration, "value");
    if (!key.empty()) errors.check(at + ".key", key, wrong_qualified_name(key));
    if (key.empty() && operator_ != "Exists") {
      errors.invalid(at + ".operator", operator_,
                     "operator must be Exists when `key` is empty, which means \"match all values "
                     "and all keys\"");
    }
    if (has(toleration, "tolerationSeconds") && effect != "NoExecute") {
      errors.invalid(at + ".effect", effect,
                     "effect must be 'NoExecute' when `tolerationSeconds` is set");
    }
    if (operator_ == "Exists" && !value.empty()) {
      errors.invalid(at + ".operator", value, "value must be empty when `operator` is 'Exists'");
    } else if (operator_.empty() || operator_ == "Equal") {
      errors.check(at + ".operator", value, wrong_label_value(value));
    } else if (operator_ != "Exists" && operator_ != "Lt" && operator_ != "Gt") {
      errors.not_supported(at + ".operator", operator_, {"Equal", "Exists"});
    }
    errors.one_of(at + ".effect", effect, {"NoSchedule", "PreferNoSchedule", "NoExecute"});
  }
}

void check_taints(ErrorList& errors, const json::array& taints, const std::string& path) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (size_t i = 0; i < taints.size(); ++i) {
    const json::object& taint = as_object(taints[i]);
    const std::string at = fmt::format("{}[{}]", path, i);
    const std::string_view key = text_at(taint, "key"), effect = text_at(taint, "effect");
    errors.check(at + ".key", key, wrong_qualified_name(key));
    errors.check(at + ".value", text_at(taint, "value"),
                 wrong_label_value(text_at(taint, "value")));
    if (effect.empty()) {
      errors.required(at + ".effect");
    } else {
      errors.one_of(at + ".effect", effect, {"NoSchedule", "PreferNoSchedule", "NoExecute"});
    }
    if (!seen.emplace(key, effect).second) errors.duplicate(at, fmt::format("{}:{}", key, effect));
  }
}

void check_immutable(ErrorList& errors, const json::object& now, const json::object& old,
                     std::string_view key, const std::string& path) {
  const json::value* a = now.if_contains(key);
  const json::value* b = old.if_contains(key);
  const json::value null;
  if ((a == nullptr ? null : *a) == (b == nullptr ? null : *b)) return;
  errors.invalid_value(fmt::format("{}{}{}", path, path.empty() ? "" : ".", key),
                       a == nullptr ? null : *a, "field is immutable");
}

}  // namespace tau::kube
