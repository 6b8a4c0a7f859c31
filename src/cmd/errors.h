// Failure: an error as the person at the terminal reads it, and the exit code that scripts read.
// Rendered as
//   error[TG-AREA-NNN]: what
//     --> where
//     cause   why
//     fix     a command or an edit
//     docs    where to read on
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tau::cmd {

// The exit codes of every verb. Stable: scripts depend on them.
enum class ExitCode : int {
  ok = 0,
  internal = 1,
  usage = 2,
  not_found = 3,
  forbidden = 4,         // unauthenticated or not allowed
  conflict = 5,          // or a precondition that does not hold
  timed_out = 6,         // a wait ended before what was waited for
  refused = 7,           // by policy or quota
  run_failed = 8,        // the user's code
  run_failed_infra = 9,  // the platform or the machine
  partial = 10,          // some of many failed
  unreachable = 11,
  version_skew = 12,
  interrupted = 130,
};

struct Failure {
  std::string code;  // "TG-CLI-001"
  std::string what;
  std::string where, cause, fix, docs;  // each may be empty: its line is then left out
  ExitCode exit = ExitCode::internal;

  Failure() = default;
  Failure(std::string code, ExitCode exit, std::string what)
      : code(std::move(code)), what(std::move(what)), exit(exit) {}
  // What an edge reported. Implicit, so that TRY carries it on.
  Failure(const Error& error);  // NOLINT(google-explicit-constructor)

  Failure&& at(std::string text) && {
    where = std::move(text);
    return std::move(*this);
  }
  Failure&& because(std::string text) && {
    cause = std::move(text);
    return std::move(*this);
  }
  Failure&& fixed_by(std::string text) && {
    fix = std::move(text);
    return std::move(*this);
  }
  Failure&& read_on(std::string text) && {
    docs = std::move(text);
    return std::move(*this);
  }
};

// What a verb returns: its exit code, or a failure to print.
using Outcome = std::expected<ExitCode, Failure>;
// A value, or a failure to print.
template <class T>
using Try = std::expected<T, Failure>;

std::unexpected<Failure> failed(Failure failure);

// The text of a failure, lines ending in '\n'. With `has_colour`, "error" is red and the labels
// dim.
std::string render(const Failure& failure, bool has_colour);

// `did you mean "ps"?`, or "" if no candidate is near.
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

}  // namespace tau::cmd
