// Result<T>: how expected failures at edges travel. Bugs use CHECK; scheduling outcomes are values.
#pragma once

#include <expected>
#include <string>
#include <utility>

namespace tau {

// Codes match Kubernetes' Status reasons, so that an error keeps its meaning from server to exit
// code.
enum class ErrorCode {
  bad_request,     // 400 BadRequest: malformed input
  invalid,         // 422 Invalid: well formed, but against a rule
  unauthorized,    // 401
  forbidden,       // 403
  not_found,       // 404
  already_exists,  // 409 AlreadyExists
  conflict,        // 409 Conflict: resourceVersion or precondition
  gone,            // 410 Expired: resourceVersion too old
  too_large,       // 413
  unsupported,     // 405/415/406/501: understood, not supported
  too_many,        // 429
  timeout,         // 504, or a deadline of ours
  unavailable,     // 503, connection refused or reset
  internal,        // 500
};

struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;
  bool operator==(const Error&) const = default;
};

template <class T>
using Result = std::expected<T, Error>;

// Shorthand for returning a failure: return fail(ErrorCode::not_found, "no such node");
inline std::unexpected<Error> fail(ErrorCode code, std::string message) {
  return std::unexpected<Error>(Error{code, std::move(message)});
}

// Adds what was being done, once, where the noun is known: "reading nodes.yaml: line 3: ...".
inline Error with_context(Error error, std::string_view context) {
  error.message.insert(0, std::string(context) + ": ");
  return error;
}

// The Kubernetes reason word of a code ("NotFound").
const char* to_string(ErrorCode code);

}  // namespace tau

// Yields the value of a Result, or returns its error from the enclosing function.
// Variadic so that template arguments with commas need no extra parentheses.
#define TRY(...)                                                              \
  ({                                                                          \
    auto try_result_ = (__VA_ARGS__);                                         \
    if (!try_result_) return std::unexpected(std::move(try_result_.error())); \
    std::move(*try_result_);                                                  \
  })
// The same for Result<void>, whose value cannot be moved out.
#define TRY_VOID(...)                                                         \
  do {                                                                        \
    auto try_result_ = (__VA_ARGS__);                                         \
    if (!try_result_) return std::unexpected(std::move(try_result_.error())); \
  } while (false)
