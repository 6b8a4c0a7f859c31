// The containers of a state folder as seen from outside their shims: by the runtime, and by
// `tau down`, for which no runtime need be there.
#pragma once

#include <string>
#include <vector>

#include "host/container_files.h"

namespace tau::host {

Result<ContainerRecord> read_record(const std::string& folder);
bool is_shim_alive(const ContainerRecord& record);
// To all processes of the container. False = its shim has ended.
bool signal_container(const ContainerRecord& record, int number);

// Every start that is kept below `root`, living or not, in order.
std::vector<kubelet::ContainerId> kept_containers(const std::string& root);
struct LivingContainer {
  kubelet::ContainerId id;
  ContainerRecord record;
};
std::vector<LivingContainer> living_containers(const std::string& root);

}  // namespace tau::host
