// The command line: argv to verbs.
#pragma once

#include "cmd/output.h"

namespace tau::cmd {
// Returns the process' exit code.
int app(int argc, char** argv, const Console& console);
}  // namespace tau::cmd
