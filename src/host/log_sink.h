// Where log events go: one line each, with the time, to standard error or to a file.
#pragma once

#include <string>

#include "base/log.h"
#include "base/result.h"

namespace tau::host {

struct LogOptions {
  std::string path;  // "" = standard error; a file is appended to
  enum class Format { logfmt, json } format = Format::logfmt;
  LogLevel level = LogLevel::info;  // what is less grave is dropped
};
// May be used from any thread. Fails if the file cannot be opened.
Result<Log> make_log(const LogOptions& options);
// "debug", "info", "warn" or "error".
Result<LogLevel> parse_log_level(std::string_view text);

}  // namespace tau::host
