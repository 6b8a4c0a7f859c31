// The last steps of a container's own process before its command takes over: control group, mounts,
// environment, simulated devices, working directory.
#pragma once

#include <string>

#include "host/cgroup.h"
#include "host/container_files.h"

namespace tau::host {

// Told over a pipe that exec closes: what could not be done.
struct StartFailure {
  int exit_code = 128;
  char message[512] = {};
};

struct ChildFiles {
  int out = -1, err = -1, report = -1;
  int shim = 0;  // the parent's pid
};
// Never returns. Exit codes as container engines give them: 127 no such command, 126 not
// executable, 128 anything else.
[[noreturn]] void become_container(const ContainerPlan& plan, const std::string& folder,
                                   const Cgroup& group, ChildFiles files);

// What the container sees of GPUs, with its environment: name and value, later ones win.
std::vector<std::pair<std::string, std::string>> container_environment(const ContainerPlan& plan);
bool has_simulated_gpus(const ContainerPlan& plan);

}  // namespace tau::host
