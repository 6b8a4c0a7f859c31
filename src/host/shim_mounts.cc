// The container's own view of the files: volumes bound at their paths, the simulated nvidia-smi in place. All in a
// private mount namespace: the host's files are never changed.
#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "host/files.h"
#include "host/shim.h"

namespace tau::host {
namespace fs = std::filesystem;

namespace {

constexpr const char* tool_path = "/usr/bin/nvidia-smi";
constexpr std::string_view simulated_prefix = "GPU-51300000-";

std::unexpected<Error> failed(const std::string& doing) { return fail(ErrorCode::unavailable, fmt::format("{}: {}", doing, std::strerror(errno))); }

// The folder that stands for a volume on the host.
Result<std::string> volume_folder(const kubelet::Volume& volume, const std::string& folder) {
  if (volume.kind == kubelet::Volume::Kind::host_path) {
    if (!file_exists(volume.host_path)) return fail(ErrorCode::not_found, fmt::format("hostPath {} does not exist", volume.host_path));
    return volume.host_path;
  }
  const std::string path = fs::path(folder).parent_path().string() + "/volumes/" + volume.name;
  TRY_VOID(make_folder(path, volume.kind == kubelet::Volume::Kind::empty_dir ? 0777 : 0755));
  for (const kubelet::VolumeFile& file : volume.files) {
    const fs::path relative = fs::path(file.path).lexically_normal();
    if (relative.is_absolute() || relative.string().starts_with("..")) return fail(ErrorCode::invalid, fmt::format("volume {}: path {} leaves the volume", volume.name, file.path));
    const std::string at = path + "/" + relative.string();
    TRY_VOID(make_folder(fs::path(at).parent_path().string(), 0755));
    TRY_VOID(write_file(at, file.content, file.mode));
  }
  return path;
}

// Makes `path` exist inside this namespace alone: an overlay over its deepest existing folder takes the new ones.
Result<void> make_visible(const std::string& path, bool is_folder, const std::string& scratch) {
  if (file_exists(path)) return {};
  fs::path ancestor = fs::path(path).parent_path();
  while (!file_exists(ancestor.string())) ancestor = ancestor.parent_path();
  if (ancestor == "/") {
    return fail(ErrorCode::unsupported, fmt::format("mountPath {} cannot be made without changing the host; use a path below an existing folder, such as /mnt{}", path, path));
  }
  const std::string upper = scratch + "/upper", work = scratch + "/work";
  TRY_VOID(make_folder(upper, 0755));
  TRY_VOID(make_folder(work, 0755));
  const std::string options = fmt::format("lowerdir={},upperdir={},workdir={}", ancestor.string(), upper, work);
  if (mount("overlay", ancestor.c_str(), "overlay", 0, options.c_str()) != 0) return failed(fmt::format("mountPath {} cannot be made", path));
  std::error_code error;
  fs::create_directories(is_folder ? fs::path(path) : fs::path(path).parent_path(), error);
  if (!is_folder && !error) {
    const int fd = open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0755);
    if (fd >= 0) close(fd);
  }
  return {};
}

Result<void> bind_at(const std::string& from, const std::string& to, bool is_read_only, const std::string& scratch) {
  TRY_VOID(make_visible(to, fs::is_directory(from), scratch));
  if (mount(from.c_str(), to.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0) return failed(fmt::format("mounting at {}", to));
  if (is_read_only && mount(nullptr, to.c_str(), nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY, nullptr) != 0) return failed(fmt::format("making {} read-only", to));
  return {};
}

bool has_simulated(const kubelet::ContainerSpec& spec) {
  return std::ranges::any_of(spec.gpus, [](const auto& gpu) { return gpu.uuid.starts_with(simulated_prefix); });
}

}  // namespace

Result<void> enter_mounts(const kubelet::ContainerSpec& spec, const std::string& folder, std::vector<std::pair<std::string, std::string>>& env) {
  const bool is_simulated = has_simulated(spec);
  if (!is_simulated && spec.mounts.empty()) return {};
  const bool is_private = unshare(CLONE_NEWNS) == 0 && mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
  if (!is_private && !spec.mounts.empty()) return failed("volumes need the right to make a mount namespace");
  int number = 0;
  for (const kubelet::Mount& mount_wanted : spec.mounts) {
    const auto volume = std::ranges::find(spec.volumes, mount_wanted.volume, &kubelet::Volume::name);
    if (volume == spec.volumes.end()) return fail(ErrorCode::invalid, fmt::format("volume {} is not declared", mount_wanted.volume));
    std::string from = TRY(volume_folder(*volume, folder));
    if (!mount_wanted.sub_path.empty()) {
      from += "/" + mount_wanted.sub_path;
      if (!file_exists(from)) TRY_VOID(make_folder(from, 0777));
    }
    TRY_VOID(bind_at(from, mount_wanted.path, mount_wanted.is_read_only, fmt::format("{}/mount{}", folder, number++)));
  }
  if (!is_simulated) return {};
  std::string gpus;
  for (const kubelet::GpuModel& gpu : spec.gpus) gpus += fmt::format("{}{}|{}|{}", gpus.empty() ? "" : ";", gpu.uuid, gpu.product, gpu.memory_bytes);
  env.emplace_back("TAU_SIM_GPUS", gpus);
  std::error_code error;
  const std::string self = fs::read_symlink("/proc/self/exe", error).string();
  const std::string tools = folder + "/bin";
  TRY_VOID(make_folder(tools, 0755));
  TRY_VOID(write_file(tools + "/nvidia-smi", fmt::format("#!/bin/sh\nexec '{}' nvidia-smi \"$@\"\n", self), 0755));
  chmod((tools + "/nvidia-smi").c_str(), 0755);
  // Bound in place, it is found also by a login shell that resets PATH.
  if (is_private && bind_at(tools + "/nvidia-smi", tool_path, false, folder + "/tool")) return {};
  // Without that right: first on PATH, and a private home whose profile puts it back after a reset.
  for (auto& [name, value] : env) {
    if (name == "PATH") value = tools + ":" + value;
    if (name == "HOME") value = tools;
  }
  return write_file(tools + "/.bash_profile", fmt::format("export PATH='{}':$PATH\n", tools), 0644);
}

}  // namespace tau::host
