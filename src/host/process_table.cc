#include "host/process_table.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/text.h"

namespace tau::host {
namespace {

std::string read_small(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return "";
  char buffer[1024];
  const ssize_t size = read(fd, buffer, sizeof buffer);
  close(fd);
  return size <= 0 ? "" : std::string(buffer, static_cast<size_t>(size));
}

}  // namespace

std::optional<ProcessStat> read_process(pid_t pid) {
  const std::string text = read_small(fmt::format("/proc/{}/stat", pid));
  // The name is in parentheses and may hold any byte; the fields follow the last one.
  const size_t close_at = text.rfind(')');
  if (close_at == std::string::npos || close_at + 2 >= text.size()) return std::nullopt;
  const auto fields = split(std::string_view(text).substr(close_at + 2), ' ');
  constexpr size_t state_field = 0, parent_field = 1, start_field = 19;
  if (fields.size() <= start_field || fields[state_field].empty()) return std::nullopt;
  const auto parent = parse_int(fields[parent_field]);
  const auto start = parse_int(fields[start_field]);
  if (!parent || !start) return std::nullopt;
  return ProcessStat{pid, static_cast<pid_t>(*parent), fields[state_field][0], *start};
}

int64_t process_start_ticks(int64_t pid) {
  const auto found = pid > 0 ? read_process(static_cast<pid_t>(pid)) : std::nullopt;
  const bool has_ended = !found || found->state == 'Z' || found->state == 'X';
  return has_ended ? 0 : found->start_ticks;
}

bool is_alive(pid_t pid, int64_t start_ticks) {
  return start_ticks != 0 && process_start_ticks(pid) == start_ticks;
}

std::vector<pid_t> descendants_of(pid_t root) {
  std::multimap<pid_t, ProcessStat> by_parent;
  DIR* folder = opendir("/proc");
  if (folder == nullptr) return {};
  while (const dirent* entry = readdir(folder)) {
    const auto pid = parse_int(entry->d_name);
    if (!pid) continue;
    if (const auto found = read_process(static_cast<pid_t>(*pid))) {
      by_parent.emplace(found->parent, *found);
    }
  }
  closedir(folder);
  std::vector<pid_t> tree;
  std::vector<pid_t> to_visit{root};
  while (!to_visit.empty()) {
    const pid_t parent = to_visit.back();
    to_visit.pop_back();
    const auto [first, last] = by_parent.equal_range(parent);
    for (auto at = first; at != last; ++at) {
      to_visit.push_back(at->second.pid);
      if (at->second.state != 'Z') tree.push_back(at->second.pid);
    }
  }
  return tree;
}

std::string boot_id() {
  return std::string(trim(read_small("/proc/sys/kernel/random/boot_id")));
}

}  // namespace tau::host
