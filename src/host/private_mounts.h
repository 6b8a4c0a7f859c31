// A container's own view of this machine's files: a private mount namespace in which folders and
// files appear at other paths. Where a path does not exist, room for it is made inside the
// namespace; the machine itself is never changed. Runs in a process with one thread, before exec.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "host/container_files.h"

namespace tau::host {

// Gives the calling process its own mount namespace (as root, or in an own user namespace).
Result<void> enter_private_mounts();
// Tries that in a child process. Says why not.
Result<void> probe_private_mounts();
// Mounts all; `scratch` is an empty folder of the container's own.
Result<void> bind_all(std::vector<BindMount> mounts, const std::string& scratch);

}  // namespace tau::host
