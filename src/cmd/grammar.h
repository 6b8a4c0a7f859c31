// Grammar: the verbs and flags as plain data, taken from the parser once. Help and completion read
// it, so that neither needs the parser's headers.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tau::cmd {

struct FlagSpec {
  std::vector<std::string> names;  // "-o", "--output"
  std::string value;               // what follows: "FORMAT"; "" = nothing
  std::string what;
  bool is_common = false;  // every verb has it
};
struct ArgumentSpec {
  std::string value;  // "RUN"
  std::string what;
  bool is_required = false, is_many = false;
};
struct VerbSpec {
  std::string name;  // "list", and "" for tau itself
  std::string summary;
  std::vector<FlagSpec> flags;
  std::vector<ArgumentSpec> arguments;
  std::vector<VerbSpec> verbs;
  const VerbSpec* find(std::string_view verb) const;
};

// What a person reads of one verb beside its flags.
struct VerbText {
  std::string_view path;  // "queue list"
  std::string_view summary, examples, description, exits, see_also;
};
std::span<const VerbText> verb_texts();
const VerbText& text_of(std::string_view path);

// `tau VERB --help`: examples first.
std::string help_text(const VerbSpec& root, std::span<const std::string> path);

struct Candidate {
  std::string word, what;
  bool operator==(const Candidate&) const = default;
};
// Names of live objects of a kind ("RUN", "QUEUE", "NODE", ...); asked for only where one fits.
using LiveNames = std::function<std::vector<Candidate>(std::string_view kind)>;
// What may stand in place of the last of `words` (those after `tau`; the last may be cut short).
// A single candidate "<files>" asks the shell for file names.
std::vector<Candidate> complete(const VerbSpec& root, std::span<const std::string> words,
                                const LiveNames& live);
// The script that makes a shell ask `tau __complete`; "" for a shell that is not known.
std::string completion_script(std::string_view shell);

}  // namespace tau::cmd
