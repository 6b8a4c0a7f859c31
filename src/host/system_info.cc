#include "host/system_info.h"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "host/files.h"

namespace tau::host {
namespace {

std::string line_of(const std::string& path) {
  return std::string(trim(read_file(path).value_or("")));
}

int64_t usable_cpus() {
  cpu_set_t usable;
  CPU_ZERO(&usable);
  if (sched_getaffinity(0, sizeof usable, &usable) == 0) return CPU_COUNT(&usable);
  return std::max<int64_t>(1, sysconf(_SC_NPROCESSORS_ONLN));
}

// This process's own group in a hierarchy ("" names version 2), or nothing.
std::string own_group(std::string_view controller) {
  const std::string text = read_file("/proc/self/cgroup").value_or("");
  for (const std::string_view line : split(text, '\n')) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view names = line.substr(first + 1, second - first - 1);
    const auto listed = split(names, ',');
    const bool is_it =
        controller.empty() ? names.empty() : std::ranges::find(listed, controller) != listed.end();
    if (is_it) return std::string(line.substr(second + 1));
  }
  return "";
}

// The smallest number that the file holds in the group or in one above it; `limit` if none does.
int64_t smallest_above(const std::string& mount, std::string group, const char* file,
                       int64_t limit) {
  while (true) {
    const std::string text = line_of(mount + group + "/" + file);
    if (const auto number = parse_int(text); number && *number > 0)
      limit = std::min(limit, *number);
    if (group.empty() || group == "/") return limit;
    group.erase(group.rfind('/'));
  }
}

int64_t usable_memory() {
  int64_t bytes = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  bytes = smallest_above("/sys/fs/cgroup", own_group(""), "memory.max", bytes);
  return smallest_above("/sys/fs/cgroup/memory", own_group("memory"), "memory.limit_in_bytes",
                        bytes);
}

int64_t usable_cpu_milli() {
  int64_t milli = usable_cpus() * 1000;
  const auto narrow = [&](std::string_view quota, std::string_view period) {
    const auto used = parse_int(quota), of = parse_int(period);
    if (used && of && *used > 0 && *of > 0)
      milli = std::min(milli, std::max<int64_t>(1, *used * 1000 / *of));
  };
  const std::string v2 = line_of("/sys/fs/cgroup" + own_group("") + "/cpu.max");
  if (const auto words = split(v2, ' '); words.size() == 2) narrow(words[0], words[1]);
  const std::string v1 = "/sys/fs/cgroup/cpu" + own_group("cpu");
  narrow(line_of(v1 + "/cpu.cfs_quota_us"), line_of(v1 + "/cpu.cfs_period_us"));
  return milli;
}

std::string os_name() {
  const std::string text = read_file("/etc/os-release").value_or("");
  for (std::string_view line : split(text, '\n')) {
    constexpr std::string_view key = "PRETTY_NAME=";
    if (!line.starts_with(key)) continue;
    line.remove_prefix(key.size());
    if (line.size() >= 2 && line.front() == '"') line = line.substr(1, line.size() - 2);
    return std::string(line);
  }
  return "";
}

// Kubernetes' words for architectures.
std::string architecture_of(std::string_view machine) {
  if (machine == "x86_64") return "amd64";
  if (machine == "aarch64") return "arm64";
  return std::string(machine);
}

}  // namespace

SystemInfo system_info() {
  SystemInfo info;
  utsname names{};
  if (uname(&names) == 0) {
    info.host_name = to_lower(names.nodename);
    info.kernel_version = names.release;
    info.architecture = architecture_of(names.machine);
  }
  if (info.host_name.empty()) info.host_name = "localhost";
  info.cpu_milli = usable_cpu_milli();
  info.memory_bytes = usable_memory();
  info.machine_id = line_of("/etc/machine-id");
  info.boot_id = line_of("/proc/sys/kernel/random/boot_id");
  info.os_image = os_name();
  return info;
}

}  // namespace tau::host
