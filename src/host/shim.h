// The shim: one small process per container (`tau shim FOLDER`). It outlives the platform, holds no
// file of it open, writes the log and the container's end itself, and ends the whole process tree.
#pragma once

namespace tau::host {

// `argv[0]` is the container's folder (container_files.h). The first process returns once the plan
// is claimed; one of its own goes on. The real-time signal `shim_signal` with a number as its value
// is passed on to all processes of the container.
int shim_main(int argc, char** argv);
int shim_signal();

// `tau nvidia-smi ...`: shows the simulated GPUs that TAU_SIM_GPUS names.
int nvidia_smi_main(int argc, char** argv);

}  // namespace tau::host
