// What a shim and the runtime share on disk, per started container, in <root>/<pod uid>/<container>.<restart>/:
//   spec.json    what to run; written by the runtime before the shim starts; 0600, it may hold secrets
//   state.json   how it is; written by the shim by atomic rename, the one truth about its end
//   log          "<time> <stdout|stderr> F <line>"; rotated to log.1, log.2, ...
#pragma once

#include <string>

#include "embedded/kubelet/container_runtime.h"

namespace tau::host {

struct ContainerRecord {
  kubelet::ContainerState state;
  int64_t shim_pid = 0;
  int64_t shim_start_ticks = 0;  // from /proc/<pid>/stat, against reuse of the pid
};

std::string container_folder(const std::string& root, const kubelet::ContainerId& id);
std::string spec_text(const kubelet::ContainerSpec& spec);
Result<kubelet::ContainerSpec> read_spec(const std::string& folder);
Result<void> write_record(const std::string& folder, const ContainerRecord& record);
Result<ContainerRecord> read_record(const std::string& folder);
// 0 if there is no such process.
int64_t process_start_ticks(int64_t pid);
bool is_shim_alive(const ContainerRecord& record);

}  // namespace tau::host
