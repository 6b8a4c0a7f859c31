// Help as a page of a manual: examples first, then usage, what it does, flags, exit codes.
#include <fmt/format.h>

#include "base/text.h"
#include "cmd/grammar.h"

namespace tau::cmd {

const VerbSpec* VerbSpec::find(std::string_view verb) const {
  for (const VerbSpec& one : verbs) {
    if (one.name == verb) return &one;
  }
  return nullptr;
}

namespace {

std::string flag_text(const FlagSpec& flag) {
  std::string text = flag.names[0].starts_with("--") ? "    " : "";
  text += join(flag.names, ", ");
  return flag.value.empty() ? text : text + " " + flag.value;
}

void add_flags(std::string& out, std::string_view title, const VerbSpec& verb, bool is_common) {
  std::string lines;
  for (const FlagSpec& flag : verb.flags) {
    if (flag.is_common != is_common) continue;
    const std::string text = flag_text(flag);
    const std::string gap =
        text.size() > 28 ? "\n" + std::string(32, ' ') : std::string(30 - text.size(), ' ');
    lines += fmt::format("  {}{}{}\n", text, gap, flag.what);
  }
  if (!lines.empty()) out += fmt::format("\n{}\n{}", title, lines);
}

void add_part(std::string& out, std::string_view title, std::string_view text) {
  if (text.empty()) return;
  out += fmt::format("\n{}\n", title);
  for (const std::string_view line : split(text, '\n'))
    out += line.empty() ? "\n" : fmt::format("  {}\n", line);
}

std::string usage_text(const VerbSpec& verb, const std::string& path) {
  std::string text = "tau" + (path.empty() ? "" : " " + path);
  if (!verb.verbs.empty()) return text + " VERB [OPTIONS]";
  if (!verb.flags.empty()) text += " [OPTIONS]";
  for (const ArgumentSpec& argument : verb.arguments) {
    const std::string word = argument.value + (argument.is_many ? "..." : "");
    text += argument.value == "COMMAND" ? " [-- COMMAND...]"
            : argument.is_required      ? " " + word
                                        : " [" + word + "]";
  }
  return text;
}

void add_verbs(std::string& out, const VerbSpec& verb, const std::string& path) {
  if (verb.verbs.empty()) return;
  out += "\nVerbs\n";
  for (const VerbSpec& one : verb.verbs) {
    const std::string own = path.empty() ? one.name : path + " " + one.name;
    if (one.verbs.empty()) {
      out += fmt::format("  {:<18}{}\n", own, one.summary);
      continue;
    }
    for (const VerbSpec& inner : one.verbs)
      out += fmt::format("  {:<18}{}\n", own + " " + inner.name, inner.summary);
  }
}

}  // namespace

std::string help_text(const VerbSpec& root, std::span<const std::string> path) {
  const VerbSpec* verb = &root;
  for (const std::string& word : path) {
    const VerbSpec* next = verb->find(word);
    if (next == nullptr) break;
    verb = next;
  }
  const std::string own = join(path, " ");
  const VerbText& text = text_of(own);
  std::string out = fmt::format("tau{} - {}\n", own.empty() ? "" : " " + own, verb->summary);
  add_part(out, "Examples", text.examples);
  add_part(out, "Usage", usage_text(*verb, own));
  add_part(out, "Description", text.description);
  add_verbs(out, *verb, own);
  std::string arguments;
  for (const ArgumentSpec& argument : verb->arguments)
    arguments += fmt::format("\n{:<30}{}", argument.value, argument.what);
  if (!arguments.empty()) add_part(out, "Arguments", arguments.substr(1));
  add_flags(out, "Options", *verb, false);
  add_flags(out, "Common options", *verb, true);
  add_part(out, "Exit codes", text.exits);
  add_part(out, "See also", text.see_also);
  return out;
}

}  // namespace tau::cmd
