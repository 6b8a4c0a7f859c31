// Verbs for builders of clusters and of TauGrid itself.
#pragma once

#include <string>
#include <vector>

#include "cmd/errors.h"
#include "cmd/output.h"
#include "cmd/session.h"

namespace tau::cmd {

struct ToolOptions {
  std::string seeds = "1";
  bool prints_log = false;
  int runs = 5;
  std::vector<std::string> files;
  std::string only;
  bool prints_json = false;  // --json, the short form of -o json
};
Outcome bench_apiserver(const GlobalOptions& global, const ToolOptions& options,
                        const Console& console);
Outcome bench_engine(const GlobalOptions& global, const ToolOptions& options,
                     const Console& console);
Outcome scenario(const ToolOptions& options, const Console& console);
Outcome simulate(const ToolOptions& options, const Console& console);

}  // namespace tau::cmd
