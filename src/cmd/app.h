// app: the command line, from its words to an exit code.
#pragma once

#include <string>
#include <vector>

#include "cmd/output.h"

namespace tau::cmd {

// `words` are those after the program's own name.
int app(std::vector<std::string> words, Console console);

}  // namespace tau::cmd
