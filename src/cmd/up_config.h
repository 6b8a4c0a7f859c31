// The configuration of `tau up`: a YAML file, and the flags, which win.
#pragma once

#include <string>
#include <string_view>

#include "cmd/verbs.h"

namespace tau::cmd {

// What is empty in `flags` comes from the text of a configuration file, and else is the default.
// Unknown keys are refused, with the nearest known one. `file` is for messages.
Try<UpOptions> merged_config(UpOptions flags, std::string_view text, const std::string& file);
// The same as YAML, whole.
std::string config_text(const UpOptions& options);

}  // namespace tau::cmd
