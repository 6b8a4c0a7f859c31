#include "cmd/errors.h"

#include <fmt/format.h>

#include "base/text.h"

namespace tau::cmd {
namespace {

struct Meaning {
  const char* code;
  ExitCode exit;
  const char* fix;
};

Meaning meaning_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::bad_request:
      return {"TG-OBJ-001", ExitCode::usage, ""};
    case ErrorCode::invalid:
      return {"TG-OBJ-002", ExitCode::usage, ""};
    case ErrorCode::not_found:
      return {"TG-OBJ-003", ExitCode::not_found, ""};
    case ErrorCode::already_exists:
      return {"TG-OBJ-004", ExitCode::conflict,
              "choose another name, or delete the old object first"};
    case ErrorCode::conflict:
      return {"TG-OBJ-005", ExitCode::conflict,
              "the object changed meanwhile: run the command again"};
    case ErrorCode::gone:
      return {"TG-OBJ-006", ExitCode::conflict, "run the command again"};
    case ErrorCode::too_large:
      return {"TG-OBJ-007", ExitCode::refused, "make the object smaller"};
    case ErrorCode::unauthorized:
      return {"TG-AUTH-001", ExitCode::forbidden,
              "check the token or certificate in your kubeconfig"};
    case ErrorCode::forbidden:
      return {"TG-AUTH-002", ExitCode::forbidden, "ask an administrator for the right"};
    case ErrorCode::unsupported:
      return {"TG-CONN-004", ExitCode::version_skew, "compare versions: tau version --server"};
    case ErrorCode::too_many:
      return {"TG-CONN-003", ExitCode::refused, "the server is busy: try again in a moment"};
    case ErrorCode::timeout:
      return {"TG-CONN-002", ExitCode::timed_out, "see what the server does: tau status"};
    case ErrorCode::unavailable:
      return {"TG-CONN-001", ExitCode::unreachable, "start the platform: tau up --detach"};
    case ErrorCode::internal:
      break;
  }
  return {"TG-CLI-900", ExitCode::internal, ""};
}

std::string paint(std::string_view text, const char* style, bool has_colour) {
  return has_colour ? fmt::format("\x1b[{}m{}\x1b[0m", style, text) : std::string(text);
}

void add_line(std::string& text, std::string_view label, std::string_view value, bool has_colour) {
  if (value.empty()) return;
  bool is_first = true;
  for (const std::string_view line : split(value, '\n')) {
    const std::string shown = fmt::format("{:<8}", is_first ? label : "");
    text += fmt::format("  {}{}\n", is_first ? paint(shown, "2", has_colour) : shown, line);
    is_first = false;
  }
}

}  // namespace

Failure::Failure(const Error& error) : what(error.message) {
  const Meaning meaning = meaning_of(error.code);
  code = meaning.code;
  exit = meaning.exit;
  fix = meaning.fix;
}

std::unexpected<Failure> failed(Failure failure) {
  return std::unexpected<Failure>(std::move(failure));
}

std::string render(const Failure& failure, bool has_colour) {
  std::string text = fmt::format(
      "{}: {}\n", paint(fmt::format("error[{}]", failure.code), "1;31", has_colour), failure.what);
  if (!failure.where.empty()) text += fmt::format("  --> {}\n", failure.where);
  add_line(text, "cause", failure.cause, has_colour);
  add_line(text, "fix", failure.fix, has_colour);
  add_line(text, "docs", failure.docs, has_colour);
  return text;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates) {
  const std::vector<std::string_view> views(candidates.begin(), candidates.end());
  if (const auto found = nearest(word, views)) return fmt::format("did you mean \"{}\"?", *found);
  // A word cut short is the other common slip.
  for (const std::string_view candidate : views) {
    if (word.size() >= 2 && candidate.starts_with(word))
      return fmt::format("did you mean \"{}\"?", candidate);
  }
  return "";
}

}  // namespace tau::cmd
