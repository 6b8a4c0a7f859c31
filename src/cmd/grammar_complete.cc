// Completion: the shells hand over the words so far, the grammar says what may come next.
#include <fmt/format.h>

#include "base/text.h"
#include "cmd/grammar.h"

namespace tau::cmd {
namespace {

const FlagSpec* find_flag(const VerbSpec& verb, std::string_view name) {
  for (const FlagSpec& flag : verb.flags) {
    if (std::ranges::find(flag.names, name) != flag.names.end()) return &flag;
  }
  return nullptr;
}

std::vector<Candidate> values_of(std::string_view kind, const LiveNames& live) {
  const auto words = [](std::initializer_list<const char*> all) {
    std::vector<Candidate> made;
    for (const char* word : all) made.push_back({word, ""});
    return made;
  };
  if (kind == "FORMAT") return words({"table", "wide", "json", "jsonl", "yaml", "name"});
  if (kind == "SHELL") return words({"bash", "zsh", "fish"});
  if (kind == "LEVEL") return words({"debug", "info", "warn", "error"});
  if (kind == "DURABILITY") return words({"full", "normal"});
  if (kind == "FILE" || kind == "DIR" || kind == "COMMAND" || kind == "SPEC")
    return {{"<files>", ""}};
  return live(kind);
}

void keep_matching(std::vector<Candidate>& found, std::string_view start) {
  std::erase_if(
      found, [&](const Candidate& c) { return c.word != "<files>" && !c.word.starts_with(start); });
}

}  // namespace

std::vector<Candidate> complete(const VerbSpec& root, std::span<const std::string> words,
                                const LiveNames& live) {
  const std::string last = words.empty() ? "" : words.back();
  const VerbSpec* verb = &root;
  const FlagSpec* open = nullptr;  // a flag whose value comes next
  size_t arguments = 0;
  std::vector<Candidate> found;
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--") return {{"<files>", ""}};
    if (std::exchange(open, nullptr) != nullptr) continue;
    if (word.starts_with('-')) {
      const FlagSpec* flag = find_flag(*verb, word);
      if (flag != nullptr && !flag->value.empty()) open = flag;
    } else if (const VerbSpec* next = verb->find(word); next != nullptr) {
      verb = next;
    } else {
      ++arguments;
    }
  }
  const size_t equals = last.starts_with("--") ? last.find('=') : std::string::npos;
  if (equals != std::string::npos) {
    const FlagSpec* flag = find_flag(*verb, last.substr(0, equals));
    if (flag == nullptr) return {};
    for (const Candidate& value : values_of(flag->value, live)) {
      if (value.word != "<files>")
        found.push_back({last.substr(0, equals + 1) + value.word, value.what});
    }
  } else if (open != nullptr) {
    found = values_of(open->value, live);
  } else if (last.starts_with('-')) {
    for (const bool is_common : {false, true}) {
      for (const FlagSpec& flag : verb->flags) {
        if (flag.is_common != is_common) continue;
        const auto name = std::ranges::find_if(
            flag.names, [&](const std::string& n) { return n.starts_with("--"); });
        if (name != flag.names.end()) found.push_back({*name, flag.what});
      }
    }
    found.push_back({"--help", "help with examples"});
  } else if (!verb->verbs.empty()) {
    for (const VerbSpec& one : verb->verbs) found.push_back({one.name, one.summary});
  } else if (arguments < verb->arguments.size() ||
             (!verb->arguments.empty() && verb->arguments.back().is_many)) {
    found = values_of(verb->arguments[std::min(arguments, verb->arguments.size() - 1)].value, live);
  }
  keep_matching(found, last);
  return found;
}

std::string completion_script(std::string_view shell) {
  if (shell == "bash") {
    return R"(# tau completion for bash: source <(tau completion bash)
_tau() {
  local IFS=$'\n' line
  COMPREPLY=()
  for line in $(tau __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null); do
    if [ "$line" = "<files>" ]; then
      COMPREPLY=($(compgen -f -- "${COMP_WORDS[COMP_CWORD]}"))
      compopt -o filenames 2>/dev/null
      return
    fi
    COMPREPLY+=("${line%%$'\t'*}")
  done
}
complete -F _tau tau
)";
  }
  if (shell == "zsh") {
    return R"(#compdef tau
# tau completion for zsh: source <(tau completion zsh)
_tau() {
  local line
  local -a found
  for line in "${(@f)$(tau __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    if [[ $line == "<files>" ]]; then _files; return; fi
    [[ -n $line ]] && found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
  done
  _describe tau found
}
compdef _tau tau
)";
  }
  if (shell == "fish") {
    return R"(# tau completion for fish: tau completion fish | source
function __tau_complete
  set -l words (commandline -opc)[2..-1] (commandline -ct)
  for line in (tau __complete $words 2>/dev/null)
    if test "$line" = "<files>"
      __fish_complete_path (commandline -ct)
    else
      echo $line
    end
  end
end
complete -c tau -f -a '(__tau_complete)'
)";
  }
  return "";
}

}  // namespace tau::cmd
