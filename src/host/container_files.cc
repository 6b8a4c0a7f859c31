#include "host/container_files.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/text.h"
#include "host/files.h"
#include "meta/json.h"

namespace tau::host {
namespace json = boost::json;
using kubelet::ContainerSpec;
using kubelet::ContainerState;

std::string container_folder(const std::string& root, const kubelet::ContainerId& id) {
  return fmt::format("{}/{}/{}.{}", root, id.pod_uid, id.container, id.restart);
}

std::string spec_text(const ContainerSpec& spec) {
  json::object made{{"podUid", spec.id.pod_uid}, {"container", spec.id.container}, {"restart", spec.id.restart}, {"namespace", spec.ns}, {"pod", spec.pod_name},
                    {"node", spec.node_name}, {"workingDir", spec.working_dir}, {"simDurationUs", spec.sim_duration.count()}, {"simExitCode", spec.sim_exit_code}};
  json::array argv, env, volumes, mounts, gpus;
  for (const std::string& word : spec.argv) argv.push_back(json::value(word));
  for (const auto& [name, value] : spec.env) env.push_back(json::array{name, value});
  for (const kubelet::Volume& volume : spec.volumes) {
    json::array files;
    for (const kubelet::VolumeFile& file : volume.files) files.push_back(json::object{{"path", file.path}, {"content", file.content}, {"mode", file.mode}});
    volumes.push_back(json::object{{"name", volume.name}, {"kind", static_cast<int>(volume.kind)}, {"hostPath", volume.host_path}, {"files", std::move(files)}});
  }
  for (const kubelet::Mount& mount : spec.mounts) mounts.push_back(json::object{{"volume", mount.volume}, {"path", mount.path}, {"subPath", mount.sub_path}, {"readOnly", mount.is_read_only}});
  for (const kubelet::GpuModel& gpu : spec.gpus) gpus.push_back(json::object{{"uuid", gpu.uuid}, {"product", gpu.product}, {"memory", gpu.memory_bytes}});
  made["argv"] = std::move(argv);
  made["env"] = std::move(env);
  made["volumes"] = std::move(volumes);
  made["mounts"] = std::move(mounts);
  made["gpus"] = std::move(gpus);
  return json::serialize(made);
}

namespace {
int64_t number_at(const json::value& from, std::string_view path) {
  const json::value* found = meta::find_path(from, path);
  return found != nullptr && found->is_int64() ? found->get_int64() : 0;
}
std::string text_at(const json::value& from, std::string_view path) { return std::string(meta::string_at(from, path)); }
const json::array& array_at(const json::value& from, std::string_view path) {
  static const json::array empty;
  const json::value* found = meta::find_path(from, path);
  return found != nullptr && found->is_array() ? found->get_array() : empty;
}
}  // namespace

Result<ContainerSpec> read_spec(const std::string& folder) {
  const json::value from = TRY(meta::parse_json(TRY(read_file(folder + "/spec.json"))));
  ContainerSpec spec{.id = {text_at(from, "podUid"), text_at(from, "container"), static_cast<int>(number_at(from, "restart"))}, .ns = text_at(from, "namespace"), .pod_name = text_at(from, "pod"), .node_name = text_at(from, "node")};
  spec.working_dir = text_at(from, "workingDir");
  spec.sim_duration = Duration(number_at(from, "simDurationUs"));
  spec.sim_exit_code = static_cast<int>(number_at(from, "simExitCode"));
  for (const json::value& word : array_at(from, "argv")) spec.argv.emplace_back(word.as_string());
  for (const json::value& pair : array_at(from, "env")) spec.env.emplace_back(pair.as_array().at(0).as_string(), pair.as_array().at(1).as_string());
  for (const json::value& item : array_at(from, "volumes")) {
    kubelet::Volume volume{.name = text_at(item, "name"), .kind = static_cast<kubelet::Volume::Kind>(number_at(item, "kind")), .host_path = text_at(item, "hostPath")};
    for (const json::value& file : array_at(item, "files")) volume.files.push_back({text_at(file, "path"), text_at(file, "content"), static_cast<int>(number_at(file, "mode"))});
    spec.volumes.push_back(std::move(volume));
  }
  for (const json::value& item : array_at(from, "mounts")) {
    const json::value* read_only = meta::find_path(item, "readOnly");
    spec.mounts.push_back({text_at(item, "volume"), text_at(item, "path"), text_at(item, "subPath"), read_only != nullptr && read_only->is_bool() && read_only->get_bool()});
  }
  for (const json::value& gpu : array_at(from, "gpus")) spec.gpus.push_back({text_at(gpu, "uuid"), text_at(gpu, "product"), number_at(gpu, "memory")});
  return spec;
}

Result<void> write_record(const std::string& folder, const ContainerRecord& record) {
  const ContainerState& state = record.state;
  json::object made{{"phase", static_cast<int>(state.phase)}, {"exitCode", state.exit_code}, {"signal", state.signal}, {"oomKilled", state.is_oom_killed}, {"message", state.message},
                    {"pid", state.pid}, {"shimPid", record.shim_pid}, {"shimStart", record.shim_start_ticks}};
  if (state.started) made["started"] = state.started->time_since_epoch().count();
  if (state.ended) made["ended"] = state.ended->time_since_epoch().count();
  return write_file(folder + "/state.json", json::serialize(made));
}

Result<ContainerRecord> read_record(const std::string& folder) {
  const json::value from = TRY(meta::parse_json(TRY(read_file(folder + "/state.json"))));
  ContainerRecord record;
  record.state.phase = static_cast<ContainerState::Phase>(number_at(from, "phase"));
  record.state.exit_code = static_cast<int>(number_at(from, "exitCode"));
  record.state.signal = static_cast<int>(number_at(from, "signal"));
  record.state.message = text_at(from, "message");
  record.state.pid = number_at(from, "pid");
  record.shim_pid = number_at(from, "shimPid");
  record.shim_start_ticks = number_at(from, "shimStart");
  if (meta::find_path(from, "started") != nullptr) record.state.started = Time(Duration(number_at(from, "started")));
  if (meta::find_path(from, "ended") != nullptr) record.state.ended = Time(Duration(number_at(from, "ended")));
  return record;
}

int64_t process_start_ticks(int64_t pid) {
  const auto stat = read_file(fmt::format("/proc/{}/stat", pid));
  if (!stat) return 0;
  // The name in parentheses may hold anything; fields count from behind it. Start time is field 22.
  const size_t close = stat->rfind(')');
  if (close == std::string::npos || close + 2 >= stat->size()) return 0;
  const auto fields = split(std::string_view(*stat).substr(close + 2), ' ');
  if (fields.size() < 20 || fields[0] == "Z") return 0;
  return parse_int(fields[19]).value_or(0);
}

bool is_shim_alive(const ContainerRecord& record) {
  return record.shim_pid > 0 && record.shim_start_ticks != 0 && process_start_ticks(record.shim_pid) == record.shim_start_ticks;
}

}  // namespace tau::host
