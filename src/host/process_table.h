// Processes as /proc shows them: identity that survives pid reuse, and whole trees.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tau::host {

struct ProcessStat {
  pid_t pid = 0, parent = 0;
  char state = '?';
  int64_t start_ticks = 0;  // since boot: with the pid, names one process for ever
};
// nullopt = no such process.
std::optional<ProcessStat> read_process(pid_t pid);
// 0 = no such process, or one that has ended.
int64_t process_start_ticks(int64_t pid);
// Alive, and the one that began then; a zombie is not alive.
bool is_alive(pid_t pid, int64_t start_ticks);
// All living descendants of `root`, without it. Zombies are left out.
std::vector<pid_t> descendants_of(pid_t root);
// Differs after each boot of the machine; "" where the kernel does not say.
std::string boot_id();

}  // namespace tau::host
