// The verbs. Each takes its options and a console, and returns an exit code or a failure to print.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cmd/errors.h"
#include "cmd/output.h"
#include "cmd/session.h"

namespace tau::cmd {

struct UpOptions {
  bool is_detached = false;
  std::string nodes, durability, log_level;  // "" = not said
  int port = 0;                              // 0 = the one used before, else the kernel's choice
  std::string config;
  bool checks_config = false, prints_config = false;
};
struct RunOptions {
  int gpus = 0, nodes = 1;
  std::string queue, name, manifest, cpu, memory, priority;
  std::vector<std::string> env, command;
  bool waits = false;
};
struct PsOptions {
  bool is_all = false, is_watch = false, has_history = false;
  std::string queue, phase;
};
struct LogsOptions {
  std::string name;
  bool follow = false, timestamps = false;
  std::optional<int64_t> tail;
  std::string since;
};
struct ControllerOptions {
  std::string scheduler_name = "taugrid";
  int metrics_port = -1;  // -1 = not served, 0 = the kernel's choice
  bool ends_when_ready = false;
  bool installs_policy = false;  // and nothing else
};

Outcome up(const GlobalOptions& options, const UpOptions& up, const Console& console);
Outcome down(const GlobalOptions& options, bool ends_pods, const Console& console);
Outcome status(const GlobalOptions& options, const Console& console);
Outcome controller(const GlobalOptions& options, const ControllerOptions& controller,
                   const Console& console);
Outcome run(const GlobalOptions& options, const RunOptions& run, const Console& console);
Outcome ps(const GlobalOptions& options, const PsOptions& ps, const Console& console);
Outcome show(const GlobalOptions& options, const std::string& name, const Console& console);
Outcome why(const GlobalOptions& options, const std::string& name, const Console& console);
Outcome logs(const GlobalOptions& options, const LogsOptions& logs, const Console& console);
Outcome cancel(const GlobalOptions& options, const std::string& name, bool is_sure,
               const Console& console);
Outcome queue_list(const GlobalOptions& options, const Console& console);
Outcome node_list(const GlobalOptions& options, const Console& console);
Outcome apply(const GlobalOptions& options, const std::vector<std::string>& files,
              const Console& console);
Outcome doctor(const GlobalOptions& options, const Console& console);
Outcome version(const GlobalOptions& options, bool is_short, bool asks_server,
                const Console& console);
Outcome completion(const std::string& shell, const Console& console);

constexpr const char* version_text = "0.1.0";

}  // namespace tau::cmd
