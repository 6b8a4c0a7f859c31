#include "host/container_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/text.h"
#include "meta/json.h"

namespace tau::host {
namespace json = boost::json;
using kubelet::ContainerState;

namespace {

std::unexpected<Error> failed(std::string_view doing, const std::string& path, int number) {
  const ErrorCode code = number == ENOENT   ? ErrorCode::not_found
                         : number == EACCES ? ErrorCode::forbidden
                                            : ErrorCode::unavailable;
  return fail(code, fmt::format("cannot {} {}: {}", doing, path, std::strerror(number)));
}

std::string text_at(const json::object& from, std::string_view key) {
  const json::value* value = from.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
}
int64_t number_at(const json::object& from, std::string_view key) {
  const json::value* value = from.if_contains(key);
  if (value == nullptr) return 0;
  if (const int64_t* number = value->if_int64()) return *number;
  if (const uint64_t* number = value->if_uint64()) return static_cast<int64_t>(*number);
  return 0;
}
bool flag_at(const json::object& from, std::string_view key) {
  const json::value* value = from.if_contains(key);
  return value != nullptr && value->is_bool() && value->get_bool();
}
const json::array& array_at(const json::object& from, std::string_view key) {
  static const json::array none;
  const json::value* value = from.if_contains(key);
  return value != nullptr && value->is_array() ? value->get_array() : none;
}
const json::object& object_of(const json::value& value) {
  static const json::object none;
  return value.is_object() ? value.get_object() : none;
}
std::string text_of(const json::value& value) {
  return value.is_string() ? std::string(value.get_string()) : "";
}

std::optional<Time> time_at(const json::object& from, std::string_view key) {
  if (!from.contains(key)) return std::nullopt;
  return Time(microseconds(number_at(from, key)));
}
void put_time(json::object& to, const char* key, const std::optional<Time>& time) {
  if (time) to[key] = time->time_since_epoch() / microseconds(1);
}

constexpr std::pair<ContainerState::Phase, const char*> phase_names[] = {
    {ContainerState::Phase::unknown, "unknown"},
    {ContainerState::Phase::starting, "starting"},
    {ContainerState::Phase::running, "running"},
    {ContainerState::Phase::exited, "exited"},
};

}  // namespace

std::string encode_plan(const ContainerPlan& plan) {
  json::object out{
      {"pod_uid", plan.id.pod_uid},
      {"container", plan.id.container},
      {"restart", plan.id.restart},
      {"pod_name", plan.pod_name},
      {"working_dir", plan.working_dir},
      {"cpu_limit_milli", plan.cpu_limit_milli},
      {"memory_limit_bytes", plan.memory_limit_bytes},
      {"program", plan.program},
      {"log_bytes", plan.log_bytes},
      {"log_files", plan.log_files},
  };
  json::array& argv = out["argv"].emplace_array();
  for (const std::string& word : plan.argv) argv.emplace_back(word);
  json::array& env = out["env"].emplace_array();
  for (const auto& [name, value] : plan.env) env.push_back(json::array{name, value});
  json::array& mounts = out["mounts"].emplace_array();
  for (const BindMount& mount : plan.mounts) {
    mounts.push_back(json::object{
        {"source", mount.source}, {"target", mount.target}, {"is_read_only", mount.is_read_only}});
  }
  json::array& gpus = out["gpus"].emplace_array();
  for (const kubelet::GpuModel& gpu : plan.gpus) {
    gpus.push_back(json::object{
        {"uuid", gpu.uuid}, {"product", gpu.product}, {"memory_bytes", gpu.memory_bytes}});
  }
  return json::serialize(out);
}

Result<ContainerPlan> decode_plan(std::string_view text) {
  const json::value parsed = TRY(meta::parse_json(text));
  const json::object& from = object_of(parsed);
  ContainerPlan plan;
  plan.id = {text_at(from, "pod_uid"), text_at(from, "container"),
             static_cast<int>(number_at(from, "restart"))};
  for (const json::value& word : array_at(from, "argv")) plan.argv.push_back(text_of(word));
  for (const json::value& pair : array_at(from, "env")) {
    if (!pair.is_array() || pair.get_array().size() != 2) continue;
    plan.env.emplace_back(text_of(pair.get_array()[0]), text_of(pair.get_array()[1]));
  }
  plan.pod_name = text_at(from, "pod_name");
  plan.working_dir = text_at(from, "working_dir");
  for (const json::value& value : array_at(from, "mounts")) {
    const json::object& mount = object_of(value);
    plan.mounts.push_back(
        {text_at(mount, "source"), text_at(mount, "target"), flag_at(mount, "is_read_only")});
  }
  plan.cpu_limit_milli = number_at(from, "cpu_limit_milli");
  plan.memory_limit_bytes = number_at(from, "memory_limit_bytes");
  for (const json::value& value : array_at(from, "gpus")) {
    const json::object& gpu = object_of(value);
    plan.gpus.push_back(
        {text_at(gpu, "uuid"), text_at(gpu, "product"), number_at(gpu, "memory_bytes")});
  }
  plan.program = text_at(from, "program");
  plan.log_bytes = number_at(from, "log_bytes");
  plan.log_files = number_at(from, "log_files");
  if (plan.argv.empty()) return fail(ErrorCode::invalid, "the container has no command");
  return plan;
}

std::string encode_record(const ContainerRecord& record) {
  const ContainerState& state = record.state;
  const auto name = std::ranges::find(phase_names, state.phase,
                                      &std::pair<ContainerState::Phase, const char*>::first);
  json::object out{
      {"phase", name->second},
      {"exit_code", state.exit_code},
      {"signal", state.signal},
      {"is_oom_killed", state.is_oom_killed},
      {"message", state.message},
      {"pid", state.pid},
      {"start_ticks", record.start_ticks},
      {"shim_pid", record.shim_pid},
      {"shim_start_ticks", record.shim_start_ticks},
      {"boot", record.boot},
  };
  put_time(out, "started_us", state.started);
  put_time(out, "ended_us", state.ended);
  if (record.planned_end) {
    put_time(out, "planned_end_us", record.planned_end);
    out["planned_exit_code"] = record.planned_exit_code;
  }
  return json::serialize(out);
}

Result<ContainerRecord> decode_record(std::string_view text) {
  const json::value parsed = TRY(meta::parse_json(text));
  const json::object& from = object_of(parsed);
  ContainerRecord record;
  const std::string phase = text_at(from, "phase");
  const auto name =
      std::ranges::find_if(phase_names, [&](const auto& known) { return phase == known.second; });
  if (name == std::end(phase_names)) {
    return fail(ErrorCode::invalid, fmt::format("unknown phase \"{}\"", phase));
  }
  record.state = {
      .phase = name->first,
      .started = time_at(from, "started_us"),
      .ended = time_at(from, "ended_us"),
      .exit_code = static_cast<int>(number_at(from, "exit_code")),
      .signal = static_cast<int>(number_at(from, "signal")),
      .is_oom_killed = flag_at(from, "is_oom_killed"),
      .message = text_at(from, "message"),
      .pid = number_at(from, "pid"),
  };
  record.start_ticks = number_at(from, "start_ticks");
  record.shim_pid = number_at(from, "shim_pid");
  record.shim_start_ticks = number_at(from, "shim_start_ticks");
  record.boot = text_at(from, "boot");
  record.planned_end = time_at(from, "planned_end_us");
  record.planned_exit_code = static_cast<int>(number_at(from, "planned_exit_code"));
  return record;
}

Result<void> check_path_part(std::string_view what, std::string_view part) {
  const bool is_safe = !part.empty() && part.size() <= 253 && part != "." && part != ".." &&
                       part.find('/') == std::string_view::npos &&
                       part.find('\0') == std::string_view::npos;
  if (is_safe) return {};
  return fail(ErrorCode::invalid, fmt::format("the {} \"{}\" cannot name a folder", what, part));
}

std::string pod_folder(const std::string& root, const std::string& pod_uid) {
  return root + "/" + pod_uid;
}
std::string container_folder(const std::string& root, const kubelet::ContainerId& id) {
  return fmt::format("{}/{}/containers/{}/{}", root, id.pod_uid, id.container, id.restart);
}
std::string volume_folder(const std::string& root, const std::string& pod_uid,
                          const kubelet::Volume& volume) {
  if (volume.kind == kubelet::Volume::Kind::host_path) return volume.host_path;
  if (volume.is_memory) return fmt::format("/dev/shm/taugrid-{}-{}", pod_uid, volume.name);
  return fmt::format("{}/{}/volumes/{}", root, pod_uid, volume.name);
}

Result<void> replace_file(const std::string& path, std::string_view text, int mode, Sync sync) {
  const std::string temporary = fmt::format("{}.{}.tmp", path, getpid());
  const int fd = open(temporary.c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, mode);
  if (fd < 0) return failed("write", path, errno);
  int number = 0;
  while (!text.empty() && number == 0) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written > 0) text.remove_prefix(static_cast<size_t>(written));
    if (written < 0 && errno != EINTR) number = errno;
  }
  // The mode is what was asked for, whatever the umask.
  if (number == 0 && fchmod(fd, static_cast<mode_t>(mode)) != 0) number = errno;
  if (number == 0 && sync == Sync::yes && fsync(fd) != 0) number = errno;
  close(fd);
  if (number == 0 && rename(temporary.c_str(), path.c_str()) != 0) number = errno;
  if (number == 0) return {};
  unlink(temporary.c_str());
  return failed("write", path, number);
}

Result<std::string> read_whole(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return failed("read", path, errno);
  std::string text;
  char buffer[16 * 1024];
  while (true) {
    const ssize_t size = read(fd, buffer, sizeof buffer);
    if (size < 0 && errno == EINTR) continue;
    const int number = errno;
    if (size <= 0) {
      close(fd);
      if (size < 0) return failed("read", path, number);
      return text;
    }
    text.append(buffer, static_cast<size_t>(size));
  }
}

Result<void> make_folders(const std::string& path, int mode) {
  std::error_code error;
  const bool is_new = std::filesystem::create_directories(path, error);
  if (error) return failed("make folder", path, error.value());
  if (is_new && chmod(path.c_str(), static_cast<mode_t>(mode)) != 0) {
    return failed("make folder", path, errno);
  }
  return {};
}

void remove_tree(const std::string& path) {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

}  // namespace tau::host
