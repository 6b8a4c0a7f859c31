#include "meta/yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <boost/json.hpp>
#include <cmath>
#include <limits>
#include <sstream>

#include "base/limits.h"
#include "base/text.h"
#include "meta/json.h"
#include "meta/yaml_scalar.h"

namespace tau::meta {
namespace json = boost::json;

namespace {

// Aliases can blow a small text up to any size; this is far more than any manifest holds.
constexpr size_t most_values = 500'000;

std::unexpected<Error> fail_at(const YAML::Mark& mark, std::string_view message) {
  if (mark.is_null()) return fail(ErrorCode::bad_request, fmt::format("invalid YAML: {}", message));
  return fail(ErrorCode::bad_request,
              fmt::format("invalid YAML: line {}: {}", mark.line + 1, message));
}

// yaml-cpp takes some bytes that YAML forbids for the end of its input and then reads without end,
// so text is checked before it gets there.
Result<void> check_characters(std::string_view text) {
  int line = 1;
  for (size_t at = 0; at < text.size();) {
    const auto c = static_cast<unsigned char>(text[at]);
    const size_t bytes = utf8_bytes(text.substr(at));
    const bool is_control = (c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7f;
    if (bytes == 0 || is_control) {
      return fail(
          ErrorCode::bad_request,
          fmt::format("invalid YAML: line {}: {}", line,
                      is_control ? "control characters are not allowed" : "the text is not UTF-8"));
    }
    if (c == '\n') ++line;
    at += bytes;
  }
  return {};
}

// Hears a stream's documents begin. Where text cannot begin a document, yaml-cpp begins an empty
// one there again and again; a document that begins where the one before it did gives that away.
class ProgressCheck final : public YAML::EventHandler {
 public:
  bool is_stuck() const { return is_stuck_; }
  YAML::Mark mark() const { return mark_; }
  void OnDocumentStart(const YAML::Mark& mark) override {
    is_stuck_ = has_begun_ && mark.pos == mark_.pos;
    has_begun_ = true;
    mark_ = mark;
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}

 private:
  YAML::Mark mark_;
  bool has_begun_ = false, is_stuck_ = false;
};

Result<void> check_progress(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  ProgressCheck check;
  while (parser.HandleNextDocument(check)) {
    if (check.is_stuck()) return fail_at(check.mark(), "text that begins no document");
  }
  return {};
}

// yaml-cpp reads the escapes \N and \_ as one byte each, which is no UTF-8. A byte that continues
// no character can only have come from there.
std::string text_of(const YAML::Node& scalar) {
  std::string text = scalar.Scalar();
  for (size_t at = 0; at < text.size(); at += utf8_bytes(std::string_view(text).substr(at))) {
    if (utf8_bytes(std::string_view(text).substr(at)) == 0) text.insert(at, 1, '\xc2');
  }
  return text;
}

class Reader {
 public:
  Result<json::value> read(const YAML::Node& node, int depth = 0) {
    if (depth > limits::json_depth) {
      return fail_at(node.Mark(), fmt::format("nested deeper than {} levels", limits::json_depth));
    }
    if (++values_ > most_values) return fail_at(node.Mark(), "too many values");
    switch (node.Type()) {
      case YAML::NodeType::Undefined:
      case YAML::NodeType::Null:
        return json::value(nullptr);
      case YAML::NodeType::Scalar:
        return read_scalar(node);
      case YAML::NodeType::Sequence:
        return read_sequence(node, depth);
      case YAML::NodeType::Map:
        return read_map(node, depth);
    }
    return json::value(nullptr);
  }

 private:
  size_t values_ = 0;

  static Result<json::value> read_scalar(const YAML::Node& node) {
    const std::string text = text_of(node);
    const std::string& tag = node.Tag();
    if (tag == "!" || tag == "tag:yaml.org,2002:str") return json::value(json::string(text));
    json::value value = plain_scalar(text);
    if (tag == "tag:yaml.org,2002:binary") return json::value(json::string(text));
    if (const double* real = value.if_double(); real != nullptr && !std::isfinite(*real)) {
      return fail_at(node.Mark(), fmt::format("{} has no form in JSON", text));
    }
    return value;
  }

  Result<json::value> read_sequence(const YAML::Node& node, int depth) {
    json::array to;
    for (const YAML::Node& element : node) to.push_back(TRY(read(element, depth + 1)));
    return to;
  }

  Result<json::value> read_map(const YAML::Node& node, int depth) {
    json::object to;
    std::vector<YAML::Node> merged;
    for (const auto& entry : node) {
      if (!entry.first.IsScalar() && !entry.first.IsNull())
        return fail_at(entry.first.Mark(), "a key must be text");
      const std::string key = entry.first.IsNull() ? "null" : text_of(entry.first);
      if (key == "<<" && entry.first.Tag() != "!") {
        merged.push_back(entry.second);
        continue;
      }
      if (to.contains(key))
        return fail_at(entry.first.Mark(), fmt::format("key \"{}\" already set in map", key));
      to[key] = TRY(read(entry.second, depth + 1));
    }
    for (const YAML::Node& source : merged) TRY_VOID(merge(to, source, depth));
    return to;
  }

  // "<<": what the map does not say itself comes from the named maps, the first one first.
  Result<void> merge(json::object& to, const YAML::Node& source, int depth) {
    if (depth > limits::json_depth) return fail_at(source.Mark(), "merge keys nested too deep");
    if (source.IsSequence()) {
      for (const YAML::Node& one : source) TRY_VOID(merge(to, one, depth + 1));
      return {};
    }
    if (!source.IsMap())
      return fail_at(source.Mark(), "map merge requires map or sequence of maps as the value");
    const json::value values = TRY(read(source, depth + 1));
    for (const auto& [key, value] : values.get_object()) {
      if (!to.contains(key)) to[key] = value;
    }
    return {};
  }
};

// ---- writing

bool is_safe_plain(std::string_view text) {
  if (text.empty() || text.front() == ' ' || text.back() == ' ' || text.back() == ':') return false;
  if (std::strchr("-?:,[]{}#&*!|>'\"%@`=<", text.front()) != nullptr) {
    const bool is_word =
        text.front() == '-' && text.size() > 1 && std::isalnum(static_cast<unsigned char>(text[1]));
    if (!is_word) return false;
  }
  if (text.find(": ") != text.npos || text.find(" #") != text.npos) return false;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return false;
  }
  // Dates would be taken for timestamps by some readers.
  const bool is_date = text.size() >= 10 && std::isdigit(static_cast<unsigned char>(text[0])) &&
                       text[4] == '-' && text[7] == '-';
  return !is_date && plain_scalar(text).is_string();
}

bool is_literal_block(std::string_view text) {
  if (text.find('\n') == text.npos || text.front() == ' ' || text.front() == '\n') return false;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7f) return false;
  }
  return text.find(" \n") == text.npos;
}

class YamlWriter {
 public:
  std::string out;

  // At a place where a block may begin on a new line, `indent` spaces in.
  void block(const json::value& value, size_t indent) {
    if (const json::object* object = value.if_object(); object != nullptr && !object->empty()) {
      members(*object, indent);
    } else if (const json::array* array = value.if_array(); array != nullptr && !array->empty()) {
      elements(*array, indent);
    } else {
      out.append(indent, ' ');
      scalar(value, indent);
    }
  }

 private:
  void members(const json::object& object, size_t indent, bool is_first_indented = true) {
    for (const auto& [key, value] : object) {
      if (is_first_indented) out.append(indent, ' ');
      is_first_indented = true;
      text(std::string_view(key.data(), key.size()), indent, false);
      out += ':';
      if (is_open(value)) {
        out += '\n';
        block(value, value.is_array() ? indent : indent + 2);
      } else {
        out += ' ';
        scalar(value, indent + 2);
      }
    }
  }

  void elements(const json::array& array, size_t indent) {
    for (const json::value& value : array) {
      out.append(indent, ' ');
      out += "- ";
      if (const json::object* object = value.if_object(); object != nullptr && !object->empty()) {
        members(*object, indent + 2, false);
      } else if (is_open(value)) {
        out.back() = '\n';
        block(value, indent + 2);
      } else {
        scalar(value, indent + 2);
      }
    }
  }

  static bool is_open(const json::value& value) {
    if (const json::object* object = value.if_object()) return !object->empty();
    if (const json::array* array = value.if_array()) return !array->empty();
    return false;
  }

  void scalar(const json::value& value, size_t indent) {
    if (const json::string* string = value.if_string()) {
      text({string->data(), string->size()}, indent, true);
    } else if (value.is_object()) {
      out += "{}";
    } else if (value.is_array()) {
      out += "[]";
    } else {
      out += json::serialize(value);
    }
    if (out.back() != '\n') out += '\n';
  }

  void text(std::string_view text, size_t indent, bool may_be_block) {
    if (is_safe_plain(text)) {
      out += text;
    } else if (may_be_block && !text.empty() && is_literal_block(text)) {
      literal(text, indent);
    } else if (text.find_first_of("'\n\r\t\\") == text.npos && is_printable(text)) {
      out += fmt::format("\"{}\"", escape_quotes(text));
    } else {
      out += json::serialize(json::string(text));  // JSON's escapes are YAML's
    }
  }

  static bool is_printable(std::string_view text) {
    for (const char c : text) {
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return false;
    }
    return true;
  }
  static std::string escape_quotes(std::string_view text) {
    std::string to;
    for (const char c : text) {
      if (c == '"') to += '\\';
      to += c;
    }
    return to;
  }

  void literal(std::string_view text, size_t indent) {
    indent = std::max<size_t>(indent, 2);  // a whole document too: at the border it would end
    size_t ends = 0;
    while (ends < text.size() && text[text.size() - 1 - ends] == '\n') ++ends;
    out += ends == 0 ? "|-" : ends == 1 ? "|" : "|+";
    out += '\n';
    std::string_view rest = ends == 0 ? text : text.substr(0, text.size() - 1);
    while (true) {
      const size_t end = rest.find('\n');
      const std::string_view line = rest.substr(0, end);
      if (!line.empty()) {
        out.append(indent, ' ');
        out += line;
      }
      out += '\n';
      if (end == rest.npos) break;
      rest.remove_prefix(end + 1);
    }
  }
};

}  // namespace

Result<std::vector<json::value>> parse_yaml(std::string_view text) {
  TRY_VOID(check_characters(text));
  std::vector<json::value> documents;
  try {
    const std::string owned(text);
    TRY_VOID(check_progress(owned));
    Reader reader;
    for (const YAML::Node& node : YAML::LoadAll(owned)) {
      json::value value = TRY(reader.read(node));
      if (!value.is_null()) documents.push_back(std::move(value));
    }
  } catch (const YAML::DeepRecursion& error) {
    return fail_at(error.mark, "nested too deep");  // its own words are "bad file"
  } catch (const YAML::Exception& error) {
    return fail_at(error.mark, error.msg);
  } catch (const std::exception& error) {
    return fail(ErrorCode::bad_request, fmt::format("invalid YAML: {}", error.what()));
  }
  return documents;
}

std::string to_yaml(const json::value& value) {
  YamlWriter writer;
  writer.block(value, 0);
  return std::move(writer.out);
}

}  // namespace tau::meta
