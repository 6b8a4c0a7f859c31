// Cgroup: holds one container's processes to its CPU and memory limits. Version 2 where the
// machine has it with the controllers, else version 1, else none; what is not enforced is said.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace tau::host {

// How this machine can hold containers, tried out once.
struct CgroupSupport {
  enum class Version { none, v1, v2 } version = Version::none;
  std::string memory_base, cpu_base;  // folders in which groups are made; "" = cannot
  std::string reason;                 // why something cannot be enforced; "" = all can
  bool enforces_memory() const { return !memory_base.empty(); }
  bool enforces_cpu() const { return !cpu_base.empty(); }
};
CgroupSupport probe_cgroups();
const char* to_string(CgroupSupport::Version version);

class Cgroup {
 public:
  // Makes the group. Limits of 0 are none; with no limit that can be enforced nothing is made.
  static Result<Cgroup> make(const CgroupSupport& support, const std::string& name,
                             int64_t cpu_limit_milli, int64_t memory_limit_bytes);
  // Moves the calling process in.
  Result<void> enter() const;
  // The kernel has ended a process of the group because its memory limit was met.
  bool had_oom_kill() const;
  // Of an empty group.
  void remove() const;

 private:
  CgroupSupport::Version version_ = CgroupSupport::Version::none;
  std::string memory_path_, cpu_path_;  // the same one in version 2
};

}  // namespace tau::host
