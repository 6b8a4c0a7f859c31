#include "host/container_control.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "base/text.h"
#include "host/process_table.h"
#include "host/shim.h"

namespace tau::host {
namespace fs = std::filesystem;
using kubelet::ContainerId;

Result<ContainerRecord> read_record(const std::string& folder) {
  return decode_record(TRY(read_whole(folder + "/" + record_file)));
}

bool is_shim_alive(const ContainerRecord& record) {
  static const std::string boot = boot_id();
  return record.boot == boot &&
         is_alive(static_cast<pid_t>(record.shim_pid), record.shim_start_ticks);
}

bool signal_container(const ContainerRecord& record, int number) {
  const auto shim = static_cast<pid_t>(record.shim_pid);
  const int held = static_cast<int>(syscall(SYS_pidfd_open, shim, 0));
  if (held < 0) return false;
  // Asked while the descriptor holds it: it cannot become another process in between.
  const bool is_it = is_shim_alive(record);
  if (is_it) {
    siginfo_t info{};
    info.si_signo = shim_signal();
    info.si_code = SI_QUEUE;
    info.si_value.sival_int = number;
    syscall(SYS_pidfd_send_signal, held, shim_signal(), &info, 0);
  }
  close(held);
  return is_it;
}

std::vector<ContainerId> kept_containers(const std::string& root) {
  std::vector<ContainerId> kept;
  std::error_code error;
  for (const auto& pod : fs::directory_iterator(root, error)) {
    const std::string uid = pod.path().filename().string();
    for (const auto& container : fs::directory_iterator(pod.path() / "containers", error)) {
      for (const auto& start : fs::directory_iterator(container.path(), error)) {
        const auto restart = parse_int(start.path().filename().string());
        if (!restart) continue;
        kept.push_back({uid, container.path().filename().string(), static_cast<int>(*restart)});
      }
    }
  }
  std::ranges::sort(kept);
  return kept;
}

std::vector<LivingContainer> living_containers(const std::string& root) {
  std::vector<LivingContainer> living;
  for (const ContainerId& id : kept_containers(root)) {
    auto record = read_record(container_folder(root, id));
    if (record && is_shim_alive(*record)) living.push_back({id, std::move(*record)});
  }
  return living;
}

}  // namespace tau::host
