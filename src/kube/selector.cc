#include "kube/selector.h"

#include <fmt/format.h>

#include "base/text.h"

namespace tau::kube {
namespace {

std::unexpected<Error> bad(std::string_view text, std::string_view why) {
  return fail(ErrorCode::bad_request,
              fmt::format("unable to parse requirement: {} in selector \"{}\"", why, text));
}

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.' || c == '/';
}

// A cursor over the selector's text.
struct Reader {
  std::string_view rest;
  void skip_blanks() {
    while (!rest.empty() && (rest.front() == ' ' || rest.front() == '\t')) rest.remove_prefix(1);
  }
  bool take(std::string_view token) {
    skip_blanks();
    if (!rest.starts_with(token)) return false;
    rest.remove_prefix(token.size());
    return true;
  }
  std::string word() {
    skip_blanks();
    size_t length = 0;
    while (length < rest.size() && is_word_character(rest[length])) ++length;
    std::string found(rest.substr(0, length));
    rest.remove_prefix(length);
    return found;
  }
};

// "in (a, b)" after the word "in".
Result<std::vector<std::string>> read_values(Reader& reader, std::string_view text) {
  if (!reader.take("(")) return bad(text, "expected '('");
  std::vector<std::string> values;
  do {
    values.push_back(reader.word());
  } while (reader.take(","));
  if (!reader.take(")")) return bad(text, "expected ',' or ')'");
  return values;
}

Result<LabelRequirement> read_requirement(Reader& reader, std::string_view text) {
  if (reader.take("!")) {
    LabelRequirement absent{.key = reader.word(), .operator_ = "DoesNotExist"};
    if (absent.key.empty()) return bad(text, "expected a label key after '!'");
    return absent;
  }
  LabelRequirement requirement{.key = reader.word()};
  if (requirement.key.empty()) return bad(text, "expected a label key");
  reader.skip_blanks();
  if (reader.take("!=")) {
    requirement.operator_ = "NotIn";
    requirement.values = {reader.word()};
  } else if (reader.take("==") || reader.take("=")) {
    requirement.operator_ = "In";
    requirement.values = {reader.word()};
  } else if (reader.take(">")) {
    requirement.operator_ = "Gt";
    requirement.values = {reader.word()};
  } else if (reader.take("<")) {
    requirement.operator_ = "Lt";
    requirement.values = {reader.word()};
  } else if (reader.rest.empty() || reader.rest.front() == ',') {
    requirement.operator_ = "Exists";
  } else {
    const std::string word = reader.word();
    if (word != "in" && word != "notin")
      return bad(text, fmt::format("found '{}', expected an operator", word));
    requirement.operator_ = word == "in" ? "In" : "NotIn";
    requirement.values = TRY(read_values(reader, text));
  }
  return requirement;
}

}  // namespace

Result<Selector> Selector::parse(std::string_view text) {
  Selector selector;
  Reader reader{text};
  reader.skip_blanks();
  if (reader.rest.empty()) return selector;
  do {
    selector.requirements_.push_back(TRY(read_requirement(reader, text)));
  } while (reader.take(","));
  reader.skip_blanks();
  if (!reader.rest.empty())
    return bad(text, fmt::format("found '{}', expected ',' or the end", reader.rest));
  return selector;
}

Result<Selector> Selector::from(const LabelSelector& selector) {
  Selector made;
  for (const auto& [key, value] : selector.match_labels) {
    made.requirements_.push_back({.key = key, .operator_ = "In", .values = {value}});
  }
  for (const LabelRequirement& requirement : selector.match_expressions) {
    const bool is_known = requirement.operator_ == "In" || requirement.operator_ == "NotIn" ||
                          requirement.operator_ == "Exists" ||
                          requirement.operator_ == "DoesNotExist";
    if (!is_known) {
      return fail(ErrorCode::invalid, fmt::format("\"{}\" is not a valid label selector operator",
                                                  requirement.operator_));
    }
    made.requirements_.push_back(requirement);
  }
  return made;
}

bool matches(const LabelRequirement& requirement, const StringMap& labels) {
  const auto found = labels.find(requirement.key);
  const bool has = found != labels.end();
  const std::string& op = requirement.operator_;
  if (op == "Exists") return has;
  if (op == "DoesNotExist") return !has;
  const bool is_listed =
      has && std::ranges::find(requirement.values, found->second) != requirement.values.end();
  if (op == "In") return is_listed;
  if (op == "NotIn") return !is_listed;
  if (!has || requirement.values.size() != 1) return false;
  const auto number = parse_int(found->second), bound = parse_int(requirement.values[0]);
  if (!number || !bound) return false;
  return op == "Gt" ? *number > *bound : op == "Lt" && *number < *bound;
}

bool Selector::matches(const StringMap& labels) const {
  return std::ranges::all_of(requirements_,
                             [&](const auto& r) { return kube::matches(r, labels); });
}

Result<std::vector<FieldRequirement>> parse_field_selector(std::string_view text) {
  std::vector<FieldRequirement> requirements;
  if (trim(text).empty()) return requirements;
  for (const std::string_view part : split(text, ',')) {
    const size_t equals = part.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      return fail(ErrorCode::bad_request, fmt::format("invalid field selector \"{}\": \"{}\" has "
                                                      "no operator; use path=value or path!=value",
                                                      text, part));
    }
    FieldRequirement requirement;
    requirement.is_equal = part[equals - 1] != '!';
    requirement.path = trim(part.substr(0, requirement.is_equal ? equals : equals - 1));
    if (requirement.path.empty()) {
      return fail(ErrorCode::bad_request,
                  fmt::format("invalid field selector \"{}\": \"{}\" names no field", text, part));
    }
    std::string_view value = part.substr(equals + 1);
    if (value.starts_with('=')) value.remove_prefix(1);
    requirement.value = trim(value);
    requirements.push_back(std::move(requirement));
  }
  return requirements;
}

}  // namespace tau::kube
