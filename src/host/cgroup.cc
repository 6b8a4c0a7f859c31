#include "host/cgroup.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "base/text.h"
#include "host/container_files.h"

namespace tau::host {
namespace {

using Version = CgroupSupport::Version;

Result<void> write_to(const std::string& path, std::string_view text) {
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  const bool is_done =
      fd >= 0 && write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int number = errno;
  if (fd >= 0) close(fd);
  if (is_done) return {};
  return fail(ErrorCode::unavailable,
              fmt::format("cannot write {} to {}: {}", text, path, std::strerror(number)));
}

bool make_one(const std::string& path) {
  return mkdir(path.c_str(), 0755) == 0 || errno == EEXIST;
}

// Where a hierarchy is mounted: by file system type, and for version 1 by controller.
std::optional<std::string> find_mount(std::string_view type, std::string_view controller) {
  const auto text = read_whole("/proc/self/mountinfo");
  if (!text) return std::nullopt;
  for (const std::string_view line : split(*text, '\n')) {
    const size_t dash = line.find(" - ");
    if (dash == std::string_view::npos) continue;
    const auto before = split(line.substr(0, dash), ' ');
    const auto after = split(line.substr(dash + 3), ' ');
    if (before.size() < 5 || after.size() < 3 || after[0] != type) continue;
    const auto options = split(after[2], ',');
    if (controller.empty() || std::ranges::find(options, controller) != options.end()) {
      return std::string(before[4]);
    }
  }
  return std::nullopt;
}

// This process's own group: "" for the root of the hierarchy. `controller` "" is version 2.
std::string own_group(std::string_view controller) {
  const auto text = read_whole("/proc/self/cgroup");
  if (!text) return "";
  for (const std::string_view line : split(*text, '\n')) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view names = line.substr(first + 1, second - first - 1);
    const std::string_view path = line.substr(second + 1);
    const auto listed = split(names, ',');
    const bool is_it =
        controller.empty() ? names.empty() : std::ranges::find(listed, controller) != listed.end();
    if (is_it) return path == "/" ? "" : std::string(path);
  }
  return "";
}

// A folder in which groups with `wanted` (a control file) can be made, or "".
std::string try_base(const std::string& parent, const char* wanted) {
  const std::string base = parent + "/taugrid";
  if (!make_one(base)) return "";
  (void)write_to(base + "/cgroup.subtree_control", "+memory +cpu");  // version 2 only
  const std::string probe = fmt::format("{}/probe-{}", base, getpid());
  if (!make_one(probe)) return "";
  const bool is_good = access(fmt::format("{}/{}", probe, wanted).c_str(), W_OK) == 0 &&
                       access((probe + "/cgroup.procs").c_str(), W_OK) == 0;
  rmdir(probe.c_str());
  return is_good ? base : "";
}

std::string try_v1(const char* controller, const char* wanted) {
  const auto mount = find_mount("cgroup", controller);
  if (!mount) return "";
  // In a container the hierarchy may be mounted at this process's own group.
  for (const std::string& parent : {*mount + own_group(controller), *mount}) {
    if (const std::string base = try_base(parent, wanted); !base.empty()) return base;
  }
  return "";
}

}  // namespace

const char* to_string(Version version) {
  switch (version) {
    case Version::v1:
      return "cgroup v1";
    case Version::v2:
      return "cgroup v2";
    case Version::none:
      return "none";
  }
  return "none";
}

CgroupSupport probe_cgroups() {
  CgroupSupport support;
  if (const auto mount = find_mount("cgroup2", "")) {
    (void)write_to(*mount + "/cgroup.subtree_control", "+memory +cpu");
    for (const std::string& parent : {*mount, *mount + own_group("")}) {
      const std::string base = try_base(parent, "memory.max");
      if (base.empty()) continue;
      support.version = Version::v2;
      support.memory_base = base;
      support.cpu_base = try_base(parent, "cpu.max");
      break;
    }
  }
  if (support.version == Version::none) {
    support.memory_base = try_v1("memory", "memory.limit_in_bytes");
    support.cpu_base = try_v1("cpu", "cpu.cfs_quota_us");
    if (support.enforces_memory() || support.enforces_cpu()) support.version = Version::v1;
  }
  if (support.version == Version::none) {
    support.reason = "no cgroup hierarchy with CPU and memory control can be written to";
  } else if (!support.enforces_memory()) {
    support.reason = "the memory controller cannot be used";
  } else if (!support.enforces_cpu()) {
    support.reason = "the CPU controller cannot be used";
  }
  return support;
}

Result<Cgroup> Cgroup::make(const CgroupSupport& support, const std::string& name,
                            int64_t cpu_limit_milli, int64_t memory_limit_bytes) {
  Cgroup made;
  made.version_ = support.version;
  const bool is_v2 = support.version == Version::v2;
  const auto make_in = [&](const std::string& base, std::string& path) -> Result<void> {
    path = base + "/" + name;
    if (make_one(path)) return {};
    return fail(ErrorCode::unavailable,
                fmt::format("cannot make the control group {}: {}", path, std::strerror(errno)));
  };
  if (memory_limit_bytes > 0 && support.enforces_memory()) {
    TRY_VOID(make_in(support.memory_base, made.memory_path_));
    const std::string limit = std::to_string(memory_limit_bytes);
    const std::string& path = made.memory_path_;
    TRY_VOID(write_to(path + (is_v2 ? "/memory.max" : "/memory.limit_in_bytes"), limit));
    // Without swap the limit means what it says. Kernels without swap accounting lack the file.
    if (is_v2) {
      (void)write_to(path + "/memory.swap.max", "0");
      (void)write_to(path + "/memory.oom.group", "1");
    } else {
      (void)write_to(path + "/memory.memsw.limit_in_bytes", limit);
    }
  }
  if (cpu_limit_milli > 0 && support.enforces_cpu()) {
    TRY_VOID(make_in(support.cpu_base, made.cpu_path_));
    constexpr int64_t period_us = 100'000, least_quota_us = 1'000;
    const int64_t quota_us = std::max(least_quota_us, cpu_limit_milli * period_us / 1000);
    if (is_v2) {
      TRY_VOID(write_to(made.cpu_path_ + "/cpu.max", fmt::format("{} {}", quota_us, period_us)));
    } else {
      TRY_VOID(write_to(made.cpu_path_ + "/cpu.cfs_period_us", std::to_string(period_us)));
      TRY_VOID(write_to(made.cpu_path_ + "/cpu.cfs_quota_us", std::to_string(quota_us)));
    }
  }
  return made;
}

Result<void> Cgroup::enter() const {
  if (!memory_path_.empty()) TRY_VOID(write_to(memory_path_ + "/cgroup.procs", "0"));
  if (!cpu_path_.empty() && cpu_path_ != memory_path_) {
    TRY_VOID(write_to(cpu_path_ + "/cgroup.procs", "0"));
  }
  return {};
}

bool Cgroup::had_oom_kill() const {
  if (memory_path_.empty()) return false;
  const bool is_v2 = version_ == Version::v2;
  const auto text = read_whole(memory_path_ + (is_v2 ? "/memory.events" : "/memory.oom_control"));
  if (!text) return false;
  for (const std::string_view line : split(*text, '\n')) {
    const auto words = split(line, ' ');
    if (words.size() == 2 && words[0] == "oom_kill") return words[1] != "0";
  }
  return false;
}

void Cgroup::remove() const {
  if (!memory_path_.empty()) rmdir(memory_path_.c_str());
  if (!cpu_path_.empty() && cpu_path_ != memory_path_) rmdir(cpu_path_.c_str());
}

}  // namespace tau::host
