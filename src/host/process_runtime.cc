#include "host/process_runtime.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>

#include <csignal>
#include <cstring>
#include <filesystem>

#include "base/text.h"
#include "host/container_files.h"
#include "host/files.h"
#include "host/log_reader.h"

namespace tau::host {
namespace fs = std::filesystem;
using kubelet::ContainerId;
using kubelet::ContainerState;
using Phase = ContainerState::Phase;

namespace {

constexpr Duration watch_period = milliseconds(100);

// Starts `program shim folder` and waits for its first process, which leaves at once.
Result<void> spawn_shim(const std::string& program, const std::string& folder) {
  std::string words[] = {program, "shim", folder};
  char* argv[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
  char path[] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  char* env[] = {path, nullptr};  // nothing of the platform's own environment goes in
  pid_t pid = 0;
  const int code = posix_spawn(&pid, program.c_str(), nullptr, nullptr, argv, env);
  if (code != 0) return fail(ErrorCode::internal, fmt::format("cannot start {}: {}", program, std::strerror(code)));
  int status = 0;
  waitpid(pid, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return fail(ErrorCode::internal, "the shim could not start");
  return {};
}

}  // namespace

ProcessRuntime::ProcessRuntime(Loop& loop, std::string root, std::string program, Log log)
    : loop_(loop), root_(std::move(root)), program_(std::move(program)), log_(std::move(log)) {
  load();
  watch_timer_ = loop_.after(watch_period, [this] { watch(); });
}

ProcessRuntime::~ProcessRuntime() {
  loop_.cancel(watch_timer_);
  for (auto& [id, one] : containers_) loop_.cancel(one.timer);
}

// What an earlier life of the platform left: running, ended meanwhile, or lost.
void ProcessRuntime::load() {
  std::error_code error;
  for (const auto& pod : fs::directory_iterator(root_, error)) {
    for (const auto& entry : fs::directory_iterator(pod.path(), error)) {
      const std::string name = entry.path().filename().string();
      const size_t dot = name.rfind('.');
      const auto restart = dot == std::string::npos ? Result<int64_t>(fail(ErrorCode::invalid, "")) : parse_int(name.substr(dot + 1));
      if (!restart) continue;
      const ContainerId id{pod.path().filename().string(), name.substr(0, dot), static_cast<int>(*restart)};
      const auto spec = read_spec(entry.path().string());
      auto record = read_record(entry.path().string());
      One one{.asked = loop_.now()};
      if (!spec || !record) {
        one.state = {.phase = Phase::exited, .ended = loop_.now(), .exit_code = 128, .message = "the container's files cannot be read"};
      } else {
        one.state = record->state;
        one.shim_pid = record->shim_pid;
        one.is_timed = spec->sim_duration.count() > 0;
        if (!one.is_timed && one.state.phase != Phase::exited && !is_shim_alive(*record)) {
          one.state = {.phase = Phase::exited, .started = record->state.started, .ended = loop_.now(), .exit_code = 137, .message = "the process ended without a record of how"};
        }
      }
      containers_[id] = one;
      if (one.is_timed && one.state.phase == Phase::running) start_timed(id, one.state.started.value_or(loop_.now()), spec->sim_duration, spec->sim_exit_code);
    }
  }
}

std::vector<std::pair<ContainerId, ContainerState>> ProcessRuntime::list() {
  std::vector<std::pair<ContainerId, ContainerState>> all;
  for (const auto& [id, one] : containers_) all.emplace_back(id, one.state);
  return all;
}

void ProcessRuntime::tell(const ContainerId& id, ContainerState state) {
  const auto found = containers_.find(id);
  if (found == containers_.end()) return;
  found->second.state = state;
  if (observer_) observer_(id, state);
}

// Shims write, we look: cheap, and nothing is missed that happened while we were away.
void ProcessRuntime::watch() {
  std::vector<std::pair<ContainerId, ContainerState>> changed;
  for (auto& [id, one] : containers_) {
    if (one.is_timed || one.state.phase == Phase::exited) continue;
    const auto record = read_record(container_folder(root_, id));
    if (!record) continue;
    one.shim_pid = record->shim_pid;
    ContainerState state = record->state;
    const bool is_lost = state.phase != Phase::exited && record->shim_pid > 0 && !is_shim_alive(*record);
    const bool never_came = record->shim_pid == 0 && loop_.now() - one.asked > seconds(30);
    if (is_lost || never_came) {
      const auto again = read_record(container_folder(root_, id));  // it may have ended between the two looks
      if (again && again->state.phase == Phase::exited) state = again->state;
      else state = {.phase = Phase::exited, .started = state.started, .ended = loop_.now(), .exit_code = 137, .message = "the process ended without a record of how"};
    }
    if (state.phase != one.state.phase) changed.emplace_back(id, state);
  }
  for (auto& [id, state] : changed) tell(id, std::move(state));
  watch_timer_ = loop_.after(watch_period, [this] { watch(); });
}

void ProcessRuntime::start_timed(const ContainerId& id, Time started, Duration length, int exit_code) {
  const Duration left = std::max<Duration>(started + length - loop_.now(), Duration(0));
  containers_[id].timer = loop_.after(left, [this, id, exit_code] {
    ContainerState state = containers_[id].state;
    state.phase = Phase::exited;
    state.ended = loop_.now();
    state.exit_code = exit_code;
    (void)write_record(container_folder(root_, id), {state, 0, 0});
    tell(id, state);
  });
}

void ProcessRuntime::start(kubelet::ContainerSpec spec) {
  const ContainerId id = spec.id;
  const std::string folder = container_folder(root_, id);
  One& one = containers_[id];
  one = {.state = {.phase = Phase::starting}, .is_timed = spec.sim_duration.count() > 0, .asked = loop_.now()};
  const auto refuse = [this, id](const std::string& message) {
    const ContainerState state{.phase = Phase::exited, .started = loop_.now(), .ended = loop_.now(), .exit_code = 128, .message = message};
    (void)write_record(container_folder(root_, id), {state, 0, 0});
    loop_.post([this, id, state, alive = std::weak_ptr(alive_)] {
      if (!alive.expired()) tell(id, state);
    });
  };
  if (auto made = make_folder(folder); !made) return refuse(made.error().message);
  if (auto written = write_file(folder + "/spec.json", spec_text(spec)); !written) return refuse(written.error().message);
  if (one.is_timed) {
    const ContainerState state{.phase = Phase::running, .started = loop_.now()};
    (void)write_record(folder, {state, 0, 0});
    start_timed(id, loop_.now(), spec.sim_duration, spec.sim_exit_code);
    loop_.post([this, id, state, alive = std::weak_ptr(alive_)] {
      if (!alive.expired()) tell(id, state);
    });
    return;
  }
  (void)write_record(folder, {one.state, 0, 0});
  auto outcome = std::make_shared<Result<void>>();
  loop_.offload([program = program_, folder, outcome] { *outcome = spawn_shim(program, folder); },
                [outcome, refuse, alive = std::weak_ptr(alive_)] {
                  if (!alive.expired() && !*outcome) refuse(outcome->error().message);
                });
}

bool ProcessRuntime::is_ended(const ContainerId& id) const {
  const auto found = containers_.find(id);
  return found == containers_.end() || found->second.state.phase == Phase::exited;
}

void ProcessRuntime::signal(const ContainerId& id, int number) {
  if (is_ended(id)) return;
  One& one = containers_[id];
  if (one.is_timed) {
    loop_.cancel(one.timer);
    ContainerState state = one.state;
    state.phase = Phase::exited;
    state.ended = loop_.now();
    state.exit_code = 128 + number;
    state.signal = number;
    (void)write_record(container_folder(root_, id), {state, 0, 0});
    loop_.post([this, id, state, alive = std::weak_ptr(alive_)] {
      if (!alive.expired()) tell(id, state);
    });
    return;
  }
  const auto record = read_record(container_folder(root_, id));
  if (record && is_shim_alive(*record)) {
    kill(static_cast<pid_t>(record->shim_pid), number == SIGKILL ? SIGUSR1 : SIGTERM);
    return;
  }
  if (record && record->shim_pid != 0) return;  // it is ending; watch() will see it
  // Not there yet: the signal follows when it is.
  loop_.after(watch_period, [this, id, number, alive = std::weak_ptr(alive_)] {
    if (!alive.expired()) signal(id, number);
  });
}

void ProcessRuntime::remove(const ContainerId& id) {
  std::error_code ignored;
  fs::remove_all(container_folder(root_, id), ignored);
  containers_.erase(id);
}

void ProcessRuntime::remove_pod(const std::string& pod_uid) {
  bool is_running = false;
  for (auto at = containers_.lower_bound({pod_uid, "", 0}); at != containers_.end() && at->first.pod_uid == pod_uid;) {
    is_running |= at->second.state.phase != Phase::exited;
    loop_.cancel(at->second.timer);
    if (at->second.state.phase != Phase::exited) signal(at->first, SIGKILL);
    at = containers_.erase(at);
  }
  const auto erase = [path = root_ + "/" + pod_uid] {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  };
  // A process that is just being killed still writes its end.
  if (is_running) loop_.after(seconds(2), erase);
  else loop_.offload(erase, [] {});
}

std::move_only_function<void()> ProcessRuntime::read_log(const ContainerId& id, kubelet::LogQuery query, std::function<void(std::string_view)> on_data,
                                                        std::move_only_function<void(Result<void>)> on_end) {
  return start_log_reader(loop_, container_folder(root_, id) + "/log", query, [this, id, alive = std::weak_ptr(alive_)] { return alive.expired() || is_ended(id); }, std::move(on_data), std::move(on_end));
}

}  // namespace tau::host
