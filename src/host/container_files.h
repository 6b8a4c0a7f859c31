// The files by which the runtime and the shims of its containers speak, in
// <root>/<pod uid>/containers/<container>/<restart>/:
//   plan.json   what to run; whoever renames it first decides: the shim to plan.claimed (it runs),
//               a later life of the platform to plan.dropped (it never will)
//   state.json  how it is; replaced by rename, after the claim by the shim alone
//   log.<n>     see container_log.h
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "base/result.h"
#include "embedded/kubelet/container_runtime.h"

namespace tau::host {

// A file or folder of this machine that the container sees at another path.
struct BindMount {
  std::string source, target;
  bool is_read_only = false;
};

// What a shim needs to know. Environment and volumes may hold secrets: the shim deletes the file
// once it has read it.
struct ContainerPlan {
  kubelet::ContainerId id;
  std::vector<std::string> argv;
  std::vector<std::pair<std::string, std::string>> env;
  std::string pod_name, working_dir;
  std::vector<BindMount> mounts;
  int64_t cpu_limit_milli = 0, memory_limit_bytes = 0;  // 0 = none
  std::vector<kubelet::GpuModel> gpus;
  std::string program;  // `tau` itself, for the simulated nvidia-smi
  int64_t log_bytes = limits::container_log_bytes;
  int64_t log_files = limits::container_log_files;
};

// What is known of a start, as its folder tells it.
struct ContainerRecord {
  kubelet::ContainerState state;
  int64_t shim_pid = 0;
  int64_t shim_start_ticks = 0, start_ticks = 0;
  std::string boot;
  // Timed containers have no process: they end at this time.
  std::optional<Time> planned_end;
  int planned_exit_code = 0;
};

std::string encode_plan(const ContainerPlan& plan);
Result<ContainerPlan> decode_plan(std::string_view text);
std::string encode_record(const ContainerRecord& record);
Result<ContainerRecord> decode_record(std::string_view text);

// Names become folders: what could leave the state folder is refused.
Result<void> check_path_part(std::string_view what, std::string_view part);

std::string pod_folder(const std::string& root, const std::string& pod_uid);
std::string container_folder(const std::string& root, const kubelet::ContainerId& id);
std::string volume_folder(const std::string& root, const std::string& pod_uid,
                          const kubelet::Volume& volume);

inline constexpr const char* plan_file = "plan.json";
inline constexpr const char* claimed_plan_file = "plan.claimed";
inline constexpr const char* record_file = "state.json";
inline constexpr const char* removed_file = "removed";
inline constexpr const char* dropped_plan_file = "plan.dropped";

enum class Sync : bool { no, yes };
// Readers see the old text or the new one. With Sync::yes it is on the disk when this returns.
Result<void> replace_file(const std::string& path, std::string_view text, int mode, Sync sync);
Result<std::string> read_whole(const std::string& path);
Result<void> make_folders(const std::string& path, int mode);
void remove_tree(const std::string& path);

}  // namespace tau::host
