// The admission policy that opts namespaces of a cluster in: deploy/policy.yaml, kept in the
// program.
#pragma once

#include <string>

#include "cmd/errors.h"
#include "cmd/output.h"
#include "cmd/session.h"

namespace tau::cmd {

extern const char* const policy_text;  // YAML, for the scheduler name "taugrid"

// Creates or renews the policy by server-side apply; needs the right to do so.
Outcome install_policy(const GlobalOptions& options, const std::string& scheduler_name,
                       const Console& console);

}  // namespace tau::cmd
