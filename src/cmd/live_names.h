// live_names: names of what exists on the server, for completion. Quick or nothing: a shell waits.
#pragma once

#include <span>
#include <string>

#include "cmd/grammar.h"

namespace tau::cmd {

// Takes --kubeconfig, --context, --state and -n from the words, as the verb would.
LiveNames live_names(std::span<const std::string> words);

}  // namespace tau::cmd
