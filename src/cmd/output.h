// What verbs print: tables for people, JSON and YAML for programs. Data goes to standard output,
// talk to standard error. Colour only on a terminal and without NO_COLOR.
#pragma once

#include <boost/json/fwd.hpp>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace tau::cmd {

enum class Format { table, wide, json, jsonl, yaml, name };
Result<Format> parse_format(std::string_view word);

// Where a verb speaks. Tests give it strings; main gives it the process' streams.
struct Console {
  std::function<void(std::string_view)> out, err;
  bool has_colour = false;  // of standard output
  bool err_has_colour = false;
  bool out_is_terminal = false;
  // Asks a yes or no question; null where there is no terminal to ask on.
  std::function<bool(std::string_view question)> ask;
  bool is_quiet = false;  // drops hints, never data or errors
  // A hint or progress line for people, on standard error.
  void say(std::string_view line) const;
};

enum class Tone { plain, good, warning, bad, dim };
std::string paint(std::string_view text, Tone tone, bool has_colour);

struct Cell {
  std::string text;  // "" is shown as "-"
  Tone tone = Tone::plain;
  Cell(std::string text = "", Tone tone = Tone::plain)
      : text(std::move(text)), tone(tone) {}  // NOLINT
  Cell(const char* text) : text(text) {}      // NOLINT
};

// Columns padded to their widest cell, two spaces apart; the last one is not padded.
class Table {
 public:
  struct Column {
    std::string title;
    bool is_wide_only = false;
    bool is_right = false;  // numbers
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void add(std::vector<Cell> row);
  bool is_empty() const { return rows_.empty(); }
  std::string text(bool is_wide, bool has_colour, bool has_header = true) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

// Columns of a terminal that `text` takes: UTF-8 code points, without colour codes.
size_t display_width(std::string_view text);
// At most `width` columns, with "..." at the end of what was cut.
std::string shorten(std::string_view text, size_t width);

// JSON with two spaces of indent and a final newline; keys in the value's own order.
std::string to_pretty_json(const boost::json::value& value);
// Block-style YAML; strings are quoted where YAML would read something else.
std::string to_yaml(const boost::json::value& value);
// The machine form of many things: {"apiVersion", "kind", "items"}.
boost::json::value list_object(std::string_view kind, boost::json::array items);

constexpr std::string_view view_api_version = "view.taugrid.io/v1alpha1";

// "3h12m" since `from`; "-" when unknown.
std::string age_text(std::optional<Time> from, Time now);

}  // namespace tau::cmd
