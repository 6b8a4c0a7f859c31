#include "base/log.h"

namespace tau {
namespace {

bool needs_quotes(std::string_view value) {
  if (value.empty()) return true;
  for (const char c : value) {
    if (c <= ' ' || c == '"' || c == '=' || c == '\\' || c == 0x7f) return true;
  }
  return false;
}

void append_value(std::string& out, std::string_view value) {
  if (!needs_quotes(value)) {
    out += value;
    return;
  }
  constexpr char hex[] = "0123456789abcdef";
  out += '"';
  for (const char c : value) {
    if (c == '"' || c == '\\')
      (out += '\\') += c;
    else if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (static_cast<unsigned char>(c) < ' ' || c == 0x7f)
      ((out += "\\x") += hex[(c >> 4) & 15]) += hex[c & 15];
    else
      out += c;
  }
  out += '"';
}

}  // namespace

std::string to_logfmt(const LogEvent& event) {
  constexpr const char* names[] = {"debug", "info", "warn", "error"};
  std::string line = "level=";
  line += names[static_cast<int>(event.level)];
  line += " msg=";
  append_value(line, event.name);
  for (const auto& [key, value] : event.fields) {
    ((line += ' ') += key) += '=';
    append_value(line, value);
  }
  return line;
}

}  // namespace tau
