#include "host/container_plan.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/text.h"

namespace tau::host {
namespace {

using kubelet::Volume;

// "a/b" below a volume; what could leave it is refused.
Result<void> check_relative(const std::string& volume, const std::string& path) {
  const auto parts = split(path, '/');
  const bool is_inside = !path.empty() && !path.starts_with('/') &&
                         std::ranges::find(parts, std::string_view("..")) == parts.end() &&
                         path.find('\0') == std::string::npos;
  if (is_inside) return {};
  return fail(ErrorCode::invalid,
              fmt::format("volume \"{}\": the path \"{}\" leaves the volume", volume, path));
}

Result<std::string> make_volume(const std::string& root, const std::string& pod_uid,
                                const Volume& volume) {
  const std::string path = volume_folder(root, pod_uid, volume);
  if (volume.kind == Volume::Kind::host_path) {
    if (access(path.c_str(), F_OK) == 0) return path;
    return fail(ErrorCode::not_found,
                fmt::format("volume \"{}\": hostPath {} does not exist", volume.name, path));
  }
  TRY_VOID(check_path_part("volume", volume.name));
  TRY_VOID(make_folders(path, volume.kind == Volume::Kind::empty_dir ? 0777 : 0755));
  for (const kubelet::VolumeFile& file : volume.files) {
    TRY_VOID(check_relative(volume.name, file.path));
    const std::string at = path + "/" + file.path;
    TRY_VOID(make_folders(std::filesystem::path(at).parent_path().string(), 0755));
    TRY_VOID(replace_file(at, file.content, file.mode, Sync::no));
  }
  return path;
}

Result<BindMount> make_mount(const std::string& volume_path, const kubelet::Mount& mount) {
  BindMount bind{volume_path, mount.path, mount.is_read_only};
  while (bind.target.size() > 1 && bind.target.ends_with('/')) bind.target.pop_back();
  const auto parts = split(bind.target, '/');
  const bool is_path = bind.target.starts_with('/') && bind.target.size() > 1 &&
                       std::ranges::find(parts, std::string_view("..")) == parts.end();
  if (!is_path) {
    return fail(ErrorCode::invalid,
                fmt::format("mountPath \"{}\" must be an absolute path below /", mount.path));
  }
  if (mount.sub_path.empty()) return bind;
  TRY_VOID(check_relative(mount.volume, mount.sub_path));
  bind.source += "/" + mount.sub_path;
  if (access(bind.source.c_str(), F_OK) != 0) TRY_VOID(make_folders(bind.source, 0777));
  return bind;
}

}  // namespace

Result<ContainerPlan> prepare_container(const std::string& root, const kubelet::ContainerSpec& spec,
                                        const std::string& program) {
  TRY_VOID(check_path_part("pod's UID", spec.id.pod_uid));
  TRY_VOID(check_path_part("container", spec.id.container));
  if (spec.argv.empty()) {
    return fail(ErrorCode::invalid, "images have no files here: the container needs a command");
  }
  ContainerPlan plan{.id = spec.id,
                     .argv = spec.argv,
                     .env = spec.env,
                     .pod_name = spec.pod_name,
                     .working_dir = spec.working_dir,
                     .cpu_limit_milli = spec.cpu_limit_milli,
                     .memory_limit_bytes = spec.memory_limit_bytes,
                     .gpus = spec.gpus,
                     .program = program};
  std::map<std::string, std::string> paths;
  for (const Volume& volume : spec.volumes) {
    paths[volume.name] = TRY(make_volume(root, spec.id.pod_uid, volume));
  }
  for (const kubelet::Mount& mount : spec.mounts) {
    const auto found = paths.find(mount.volume);
    if (found == paths.end()) {
      return fail(ErrorCode::invalid, fmt::format("volume \"{}\" is not declared", mount.volume));
    }
    plan.mounts.push_back(TRY(make_mount(found->second, mount)));
  }
  return plan;
}

void remove_pod_files(const std::string& root, const std::string& pod_uid) {
  if (!check_path_part("pod's UID", pod_uid)) return;
  std::error_code error;
  const std::string prefix = fmt::format("taugrid-{}-", pod_uid);
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm", error)) {
    if (entry.path().filename().string().starts_with(prefix)) remove_tree(entry.path().string());
  }
  remove_tree(pod_folder(root, pod_uid));
}

}  // namespace tau::host
