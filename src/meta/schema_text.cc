#include "meta/schema_text.h"

#include <fmt/format.h>

#include "base/check.h"
#include "base/text.h"
#include "meta/fields.h"

namespace tau::meta {
namespace {

[[noreturn]] void bad_line(std::string_view line, std::string_view why) {
  check_failed(fmt::format("schema text: {}: '{}'", why, line).c_str(), __FILE__, __LINE__);
}

// The part before " | " and the description after it.
std::pair<std::string_view, std::string_view> cut_description(std::string_view line) {
  const size_t bar = line.find(" | ");
  if (bar == std::string_view::npos) return {trim(line), {}};
  return {trim(line.substr(0, bar)), trim(line.substr(bar + 3))};
}

bool is_header(std::string_view line) {
  return line.starts_with("type ") || line.starts_with("package ");
}

TypeRef scalar_named(std::string_view word) {
  static const std::map<std::string_view, TypeRef> scalars{{"string", &string_type},
                                                           {"int32", &int32_type},
                                                           {"int64", &integer_type},
                                                           {"number", &number_type},
                                                           {"boolean", &boolean_type},
                                                           {"quantity", &quantity_type},
                                                           {"int_or_string", &int_or_string_type},
                                                           {"time", &time_type},
                                                           {"micro_time", &micro_time_type},
                                                           {"bytes", &bytes_type},
                                                           {"any", &any_type}};
  const auto found = scalars.find(word);
  return found == scalars.end() ? TypeRef{} : found->second;
}

}  // namespace

std::string_view short_name(std::string_view type_name) {
  return type_name.substr(type_name.rfind('.') + 1);  // npos + 1 == 0
}

SchemaText::SchemaText(std::span<const std::string_view> texts, std::span<const Known> known) {
  for (const Known& type : known) known_[type.short_name] = type.type;
  for (const std::string_view text : texts) declare(text);
  for (const std::string_view text : texts) fill(text);
}

void SchemaText::declare(std::string_view text) {
  std::string_view package;
  for (const std::string_view line : split(text, '\n')) {
    if (line.starts_with("package ")) package = trim(line.substr(8));
    if (!line.starts_with("type ")) continue;
    const auto [name, description] = cut_description(line.substr(5));
    if (by_name_.contains(name)) bad_line(line, "declared twice");
    names_.push_back(fmt::format("{}.{}", package, name));
    types_.push_back({.name = names_.back(), .description = description, .shape = Shape::object});
    by_name_[name] = &types_.back();
  }
}

void SchemaText::fill(std::string_view text) {
  TypeInfo* type = nullptr;
  for (const std::string_view line : split(text, '\n')) {
    if (trim(line).empty() || line.starts_with("package ")) continue;
    if (trim(line).starts_with("| ") && type != nullptr && !type->fields.empty()) {
      type->fields.back().description = trim(trim(line).substr(2));
    } else if (line.starts_with("type ")) {
      type = by_name_.at(cut_description(line.substr(5)).first);
    } else {
      if (type == nullptr || is_header(line)) bad_line(line, "a field outside a type");
      type->fields.push_back(parse_field(line));
    }
  }
}

Field SchemaText::parse_field(std::string_view line) {
  const auto [head, description] = cut_description(line);
  Field field{.description = description};
  int position = 0;
  for (const std::string_view word : split(head, ' ')) {
    if (word.empty()) continue;
    if (position == 0) {
      field.is_required = word.ends_with('*');
      field.name = field.is_required ? word.substr(0, word.size() - 1) : word;
    } else if (position == 1) {
      field.type = parse_type(word);
    } else if (word.starts_with("merge=")) {
      field.merge_key = word.substr(6);
    } else if (word == "merge") {
      field.merges_primitives = true;
    } else if (word == "retain") {
      field.retains_keys = true;
    } else if (word.starts_with("enum=")) {
      field.enum_values = word.substr(5);
    } else if (word.starts_with("default=")) {
      field.default_json = word.substr(8);
    } else {
      bad_line(line, "unknown word");
    }
    ++position;
  }
  if (position < 2) bad_line(line, "a field needs a name and a type");
  return field;
}

TypeRef SchemaText::parse_type(std::string_view word) {
  const bool is_list = word.starts_with("[]");
  if (is_list || word.starts_with("map:")) {
    const TypeRef element = parse_type(word.substr(is_list ? 2 : 4));
    lists_.push_back({.shape = is_list ? Shape::list : Shape::map, .element = element});
    return &lists_.back();
  }
  if (const TypeRef scalar = scalar_named(word)) return scalar;
  if (const auto found = known_.find(word); found != known_.end()) return found->second;
  const auto found = by_name_.find(word);
  if (found == by_name_.end()) bad_line(word, "no such type");
  return found->second;
}

const TypeInfo* SchemaText::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

TypeInfo SchemaText::complete(TypeInfo table) const {
  const TypeInfo* text = find(short_name(table.name));
  if (text == nullptr || text->name != table.name) return table;
  if (table.description.empty()) table.description = text->description;
  for (const Field& said : text->fields) {
    Field* held = nullptr;
    for (Field& field : table.fields) {
      if (field.name == said.name) held = &field;
    }
    if (held == nullptr) {
      table.fields.push_back(said);
      continue;
    }
    held->is_required |= said.is_required;
    held->merges_primitives |= said.merges_primitives;
    held->retains_keys |= said.retains_keys;
    if (held->merge_key.empty()) held->merge_key = said.merge_key;
    if (held->description.empty()) held->description = said.description;
    if (held->enum_values.empty()) held->enum_values = said.enum_values;
    if (held->default_json.empty()) held->default_json = said.default_json;
    // A member says less of a type than the text: an int64_t may be an int32 of the API.
    held->type = said.type;
  }
  return table;
}

}  // namespace tau::meta
