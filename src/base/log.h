// Log events as values: a name, a level, key=value fields. The sink is injected; `host` stamps and
// writes.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tau {

enum class LogLevel { debug, info, warn, error };

struct LogEvent {
  LogLevel level = LogLevel::info;
  std::string name;  // what happened, as words: "journal compacted"
  std::vector<std::pair<std::string, std::string>> fields;
};

class Log {
 public:
  using Sink = std::function<void(LogEvent)>;
  Log() = default;  // drops everything
  explicit Log(Sink sink) : sink_(std::move(sink)) {}

  using Fields = std::vector<std::pair<std::string, std::string>>;
  void debug(std::string_view name, Fields fields = {}) const {
    write(LogLevel::debug, name, std::move(fields));
  }
  void info(std::string_view name, Fields fields = {}) const {
    write(LogLevel::info, name, std::move(fields));
  }
  void warn(std::string_view name, Fields fields = {}) const {
    write(LogLevel::warn, name, std::move(fields));
  }
  void error(std::string_view name, Fields fields = {}) const {
    write(LogLevel::error, name, std::move(fields));
  }

 private:
  void write(LogLevel level, std::string_view name, Fields fields) const {
    if (sink_) sink_(LogEvent{level, std::string(name), std::move(fields)});
  }
  Sink sink_;
};

// One logfmt line without time: level=warn msg="journal compacted" rows=12
std::string to_logfmt(const LogEvent& event);

}  // namespace tau
