// From what the kubelet asks to what a shim can do: volumes become folders of this machine, and
// everything that can be refused before a process exists is refused.
#pragma once

#include <string>

#include "host/container_files.h"

namespace tau::host {

// Makes the container's folder and its pod's volumes, and the plan. Blocking.
Result<ContainerPlan> prepare_container(const std::string& root, const kubelet::ContainerSpec& spec,
                                        const std::string& program);
// Everything that a pod has on this machine.
void remove_pod_files(const std::string& root, const std::string& pod_uid);

}  // namespace tau::host
