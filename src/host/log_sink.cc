#include "host/log_sink.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <cerrno>
#include <cstring>
#include <memory>

#include "base/text.h"
#include "base/time.h"
#include "host/asio_loop.h"

namespace tau::host {
namespace {

constexpr std::string_view level_names[] = {"debug", "info", "warn", "error"};

std::string json_line(const LogEvent& event, Time now) {
  boost::json::object line{{"time", format_rfc3339_micros(now)},
                           {"level", level_names[static_cast<size_t>(event.level)]},
                           {"msg", event.name}};
  for (const auto& [key, value] : event.fields) line[key] = value;
  return boost::json::serialize(line);
}

struct Output {
  int fd = STDERR_FILENO;
  ~Output() {
    if (fd != STDERR_FILENO) close(fd);
  }
};

}  // namespace

Result<LogLevel> parse_log_level(std::string_view text) {
  const auto found = std::ranges::find(level_names, text);
  if (found != std::end(level_names)) return static_cast<LogLevel>(found - std::begin(level_names));
  return fail(ErrorCode::invalid,
              fmt::format("\"{}\" is not a log level: use debug, info, warn or error", text));
}

Result<Log> make_log(const LogOptions& options) {
  auto output = std::make_shared<Output>();
  if (!options.path.empty()) {
    output->fd = open(options.path.c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
    if (output->fd < 0) {
      output->fd = STDERR_FILENO;
      return fail(ErrorCode::unavailable,
                  fmt::format("cannot write the log {}: {}", options.path, std::strerror(errno)));
    }
  }
  return Log([output, format = options.format, least = options.level](const LogEvent& event) {
    if (event.level < least) return;
    const Time now = system_now();
    std::string line =
        format == LogOptions::Format::json
            ? json_line(event, now)
            : fmt::format("time={} {}", format_rfc3339_micros(now), to_logfmt(event));
    line += '\n';
    // One write per line, so that lines of several threads do not mix. A log that cannot be
    // written stops nobody.
    (void)!write(output->fd, line.data(), line.size());
  });
}

}  // namespace tau::host
