// Verbs for builders of clusters and of TauGrid itself.
#pragma once

#include <string>

#include "cmd/errors.h"
#include "cmd/output.h"

namespace tau::cmd {

struct ToolOptions {
  std::string seeds = "1";
  bool prints_log = false;
};
Outcome simulate(const ToolOptions& options, const Console& console);

}  // namespace tau::cmd
