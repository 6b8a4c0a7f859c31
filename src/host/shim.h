// The shim: one small process per container (`tau shim FOLDER`). It outlives the platform, holds no pipe to it,
// writes the log and the container's end itself, and ends the whole process tree.
#pragma once

#include "embedded/kubelet/container_runtime.h"

namespace tau::host {

// SIGTERM is passed on to the container's processes; SIGUSR1 kills them all. Returns when the container has ended.
int shim_main(int argc, char** argv);
// In the container's own process, before exec: mounts, simulated tools. An error is the container's start failure.
Result<void> enter_mounts(const kubelet::ContainerSpec& spec, const std::string& folder, std::vector<std::pair<std::string, std::string>>& env);
// `tau nvidia-smi ...`: shows the simulated GPUs that TAU_SIM_GPUS names.
int nvidia_smi_main(int argc, char** argv);

}  // namespace tau::host
