// What this machine is, read once: for the local node and for `tau doctor`.
#pragma once

#include <cstdint>
#include <string>

namespace tau::host {

struct SystemInfo {
  std::string host_name;
  // What this process may use: the CPU affinity and quota, the memory limit of its control groups.
  int64_t cpu_milli = 0;
  int64_t memory_bytes = 0;
  // "" = unknown.
  std::string machine_id, boot_id, kernel_version, os_image, architecture;
};
SystemInfo system_info();

}  // namespace tau::host
