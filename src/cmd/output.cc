#include "cmd/output.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/text.h"

namespace tau::cmd {

namespace json = boost::json;

Result<Format> parse_format(std::string_view word) {
  static constexpr std::pair<std::string_view, Format> names[] = {
      {"table", Format::table}, {"wide", Format::wide}, {"json", Format::json},
      {"jsonl", Format::jsonl}, {"yaml", Format::yaml}, {"name", Format::name}};
  std::vector<std::string_view> words;
  for (const auto& [name, format] : names) {
    if (word == name) return format;
    words.push_back(name);
  }
  const auto near = nearest(word, words);
  return fail(ErrorCode::bad_request,
              fmt::format("unknown output format \"{}\": table, wide, json, jsonl, yaml or name{}",
                          word, near ? fmt::format("; did you mean {}?", *near) : ""));
}

void Console::say(std::string_view line) const {
  if (!is_quiet) err(fmt::format("{}\n", line));
}

std::string paint(std::string_view text, Tone tone, bool has_colour) {
  const char* style = nullptr;
  switch (tone) {
    case Tone::plain:
      break;
    case Tone::good:
      style = "32";
      break;
    case Tone::warning:
      style = "33";
      break;
    case Tone::bad:
      style = "31";
      break;
    case Tone::dim:
      style = "2";
      break;
  }
  return has_colour && style ? fmt::format("\x1b[{}m{}\x1b[0m", style, text) : std::string(text);
}

size_t display_width(std::string_view text) {
  size_t width = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte == 0x1b) {
      while (at < text.size() && text[at] != 'm') ++at;
      continue;
    }
    if ((byte & 0xc0) != 0x80) ++width;
  }
  return width;
}

std::string shorten(std::string_view text, size_t width) {
  if (display_width(text) <= width) return std::string(text);
  const size_t kept = width > 3 ? width - 3 : 0;
  size_t columns = 0, at = 0;
  while (at < text.size()) {
    if ((static_cast<unsigned char>(text[at]) & 0xc0) != 0x80 && columns++ == kept) break;
    ++at;
  }
  return std::string(text.substr(0, at)) + "...";
}

void Table::add(std::vector<Cell> row) {
  row.resize(columns_.size());
  for (Cell& cell : row) {
    if (cell.text.empty()) cell = Cell("-", Tone::dim);
  }
  rows_.push_back(std::move(row));
}

std::string Table::text(bool is_wide, bool has_colour, bool has_header) const {
  std::vector<size_t> shown;
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (is_wide || !columns_[i].is_wide_only) shown.push_back(i);
  }
  std::vector<size_t> widths(columns_.size(), 0);
  for (const size_t i : shown) {
    if (has_header) widths[i] = display_width(columns_[i].title);
    for (const auto& row : rows_) widths[i] = std::max(widths[i], display_width(row[i].text));
  }
  std::string text;
  const auto add_cell = [&](size_t i, std::string_view plain, std::string_view painted) {
    const std::string padding(widths[i] - display_width(plain), ' ');
    const bool is_last = i == shown.back();
    if (columns_[i].is_right) {
      text += padding;
      text += painted;
    } else {
      text += painted;
      if (!is_last) text += padding;
    }
    text += is_last ? "\n" : "  ";
  };
  if (has_header) {
    for (const size_t i : shown)
      add_cell(i, columns_[i].title, paint(columns_[i].title, Tone::dim, has_colour));
  }
  for (const auto& row : rows_) {
    for (const size_t i : shown)
      add_cell(i, row[i].text, paint(row[i].text, row[i].tone, has_colour));
  }
  return text;
}

namespace {

void add_pretty(std::string& text, const json::value& value, int depth) {
  const std::string inner(2 * (depth + 1), ' '), outer(2 * depth, ' ');
  if (const auto* object = value.if_object(); object && !object->empty()) {
    text += "{\n";
    bool is_first = true;
    for (const auto& [key, member] : *object) {
      if (!is_first) text += ",\n";
      is_first = false;
      text += inner + json::serialize(json::value(key)) + ": ";
      add_pretty(text, member, depth + 1);
    }
    text += "\n" + outer + "}";
    return;
  }
  if (const auto* array = value.if_array(); array && !array->empty()) {
    text += "[\n";
    bool is_first = true;
    for (const json::value& element : *array) {
      if (!is_first) text += ",\n";
      is_first = false;
      text += inner;
      add_pretty(text, element, depth + 1);
    }
    text += "\n" + outer + "]";
    return;
  }
  // Boost writes doubles in exponent form ("5E-1"); people expect 0.5.
  if (value.is_double()) {
    text += fmt::format("{}", value.get_double());
    return;
  }
  text += json::serialize(value);
}

// Would a YAML 1.1 or 1.2 reader take this bare text for something else than the same string?
bool needs_quotes(std::string_view text) {
  if (text.empty()) return true;
  static constexpr std::string_view words[] = {"true", "false", "null", "yes", "no",
                                               "on",   "off",   "~",    "y",   "n"};
  const std::string lower = to_lower(text);
  for (const std::string_view word : words) {
    if (lower == word) return true;
  }
  if (std::string_view("-?:,[]{}#&*!|>'\"%@` =<").find(text.front()) != std::string_view::npos)
    return true;
  if (text.back() == ' ' || text.back() == ':') return true;
  if (text.find(": ") != std::string_view::npos || text.find(" #") != std::string_view::npos)
    return true;
  const bool looks_numeric =
      text.find_first_not_of("0123456789+-.eExXoO_:abcdefABCDEF") == std::string_view::npos &&
      text.find_first_of("0123456789.") != std::string_view::npos;
  if (looks_numeric) return true;
  if (text.size() >= 10 && text[4] == '-' && text[7] == '-') return true;  // a date
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x20; });
}

std::string yaml_scalar(const json::value& value) {
  if (const auto* string = value.if_string()) {
    const std::string_view text(string->data(), string->size());
    return needs_quotes(text) ? json::serialize(value) : std::string(text);
  }
  if (const auto* object = value.if_object(); object && object->empty()) return "{}";
  if (const auto* array = value.if_array(); array && array->empty()) return "[]";
  if (value.is_double()) return fmt::format("{}", value.get_double());
  return json::serialize(value);
}

bool is_block(const json::value& value) {
  return (value.is_object() && !value.get_object().empty()) ||
         (value.is_array() && !value.get_array().empty());
}

// Writes `value` with the cursor already indented for its first line.
void add_yaml(std::string& text, const json::value& value, int depth) {
  const std::string indent(2 * depth, ' ');
  bool is_first = true;
  if (const auto* object = value.if_object(); object && !object->empty()) {
    for (const auto& [key, member] : *object) {
      if (!is_first) text += indent;
      is_first = false;
      text += yaml_scalar(json::value(key)) + ":";
      if (!is_block(member)) {
        text += " " + yaml_scalar(member) + "\n";
        continue;
      }
      // A list stands at its key's own indent, as kubectl writes it.
      const int inner = member.is_array() ? depth : depth + 1;
      text += "\n" + std::string(2 * inner, ' ');
      add_yaml(text, member, inner);
    }
    return;
  }
  if (const auto* array = value.if_array(); array && !array->empty()) {
    for (const json::value& element : *array) {
      if (!is_first) text += indent;
      is_first = false;
      text += "- ";
      add_yaml(text, element, depth + 1);
    }
    return;
  }
  text += yaml_scalar(value) + "\n";
}

}  // namespace

std::string to_pretty_json(const json::value& value) {
  std::string text;
  add_pretty(text, value, 0);
  return text + "\n";
}

std::string to_yaml(const json::value& value) {
  std::string text;
  add_yaml(text, value, 0);
  return text;
}

json::value list_object(std::string_view kind, json::array items) {
  return json::object{
      {"apiVersion", view_api_version}, {"kind", kind}, {"items", std::move(items)}};
}

std::string age_text(std::optional<Time> from, Time now) {
  if (!from) return "-";
  return format_age(std::max(now - *from, Duration(0)));
}

}  // namespace tau::cmd
