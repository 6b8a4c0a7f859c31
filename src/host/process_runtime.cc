#include "host/process_runtime.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>

#include "base/text.h"
#include "host/cgroup.h"
#include "host/container_control.h"
#include "host/container_plan.h"
#include "host/private_mounts.h"

namespace tau::host {
namespace fs = std::filesystem;
using kubelet::ContainerId;
using kubelet::ContainerState;
using Phase = ContainerState::Phase;

namespace {

constexpr Duration quick_look = milliseconds(20), calm_look = milliseconds(100);
constexpr Duration young = seconds(3);           // a container this new is looked at often
constexpr Duration shim_patience = seconds(20);  // from its claim to its first record
constexpr int looks_per_liveness = 10;
constexpr const char* lost_message = "the process ended without a record of how";

// Starts `program shim FOLDER` and waits for its first process, which leaves once it has the plan.
Result<void> spawn_shim(const std::string& program, const std::string& folder) {
  std::string words[] = {program, "shim", folder};
  char* argv[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
  char* env[] = {nullptr};  // nothing of the platform's own environment goes in
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t pid = 0;
  const int code = posix_spawn(&pid, program.c_str(), &actions, nullptr, argv, env);
  posix_spawn_file_actions_destroy(&actions);
  if (code != 0) {
    return fail(ErrorCode::internal,
                fmt::format("cannot start {}: {}", program, std::strerror(code)));
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return fail(ErrorCode::internal, "the shim could not start; its words are on standard error");
}

// Changes with each replacement of the file; 0 = not there.
uint64_t version_of(const std::string& path) {
  struct stat found{};
  if (stat(path.c_str(), &found) != 0) return 0;
  const uint64_t words[] = {found.st_ino, static_cast<uint64_t>(found.st_mtim.tv_sec),
                            static_cast<uint64_t>(found.st_mtim.tv_nsec)};
  return fnv1a({reinterpret_cast<const char*>(words), sizeof words}) | 1;
}

}  // namespace

RuntimeCapabilities probe_capabilities() {
  const CgroupSupport groups = probe_cgroups();
  const auto mounts = probe_private_mounts();
  return {.limits_by = to_string(groups.version),
          .enforces_memory = groups.enforces_memory(),
          .enforces_cpu = groups.enforces_cpu(),
          .limits_reason = groups.reason,
          .has_private_mounts = mounts.has_value(),
          .mounts_reason = mounts ? "" : mounts.error().message};
}

ProcessRuntime::ProcessRuntime(Loop& loop, std::string root, std::string program, Log log)
    : loop_(loop),
      root_(std::move(root)),
      program_(std::move(program)),
      log_(std::move(log)),
      capabilities_(probe_capabilities()),
      worker_(std::make_shared<Worker>(loop)) {
  const auto& [by, memory, cpu, limits_reason, mounts, mounts_reason] = capabilities_;
  if (!limits_reason.empty()) log_.warn("limits are not enforced", {{"reason", limits_reason}});
  if (!mounts) log_.warn("volumes cannot be mounted", {{"reason", mounts_reason}});
  load();
}

ProcessRuntime::~ProcessRuntime() {
  loop_.cancel(watch_timer_);
  for (auto& [id, one] : containers_) loop_.cancel(one.timer);
}

// ---- what an earlier life of the platform left --------------------------------------------------

void ProcessRuntime::load() {
  if (auto made = make_folders(root_, 0700); !made) {
    log_.error("containers have no folder", {{"error", made.error().message}});
  }
  std::error_code error;
  for (const auto& pod : fs::directory_iterator(root_, error)) {
    if (fs::exists(pod.path() / removed_file, error)) {
      leaving_pods_.insert(pod.path().filename().string());
    }
  }
  for (const ContainerId& id : kept_containers(root_)) {
    load_one(id, leaving_pods_.contains(id.pod_uid));
  }
  for (const std::string& uid : std::set(leaving_pods_)) forget_if_ended({uid, "", 0});
  watch_soon();
}

void ProcessRuntime::load_one(const ContainerId& id, bool is_leaving) {
  const std::string folder = container_folder(root_, id);
  const auto path = [&](const char* file) { return folder + "/" + file; };
  One one{.is_leaving = is_leaving, .asked = loop_.now()};
  one.version = version_of(path(record_file));
  if (one.version == 0) {
    // Never claimed: it has not run, and will not.
    if (rename(path(plan_file).c_str(), path(dropped_plan_file).c_str()) == 0) {
      remove_tree(folder);
      return;
    }
    if (access(path(claimed_plan_file).c_str(), F_OK) != 0) return;  // only its logs are kept
    one.state().phase = Phase::starting;
  } else if (auto record = read_record(folder)) {
    one.record = std::move(*record);
  } else {
    one.state() = {.phase = Phase::exited,
                   .ended = loop_.now(),
                   .exit_code = 128,
                   .message = "its record cannot be read: " + record.error().message};
  }
  const auto planned_end = one.record.planned_end;
  const int planned_exit_code = one.record.planned_exit_code;
  const bool is_timed = planned_end && !one.is_ended();
  if (is_leaving) one.pending_signal = SIGKILL;
  const auto at = containers_.insert_or_assign(id, std::move(one)).first;
  if (is_timed && is_leaving)
    containers_.erase(at);
  else if (is_timed)
    start_timed(id, *planned_end, planned_exit_code);
  else
    look(id, at->second);
}

std::vector<std::pair<ContainerId, ContainerState>> ProcessRuntime::list() {
  std::vector<std::pair<ContainerId, ContainerState>> all;
  for (auto& [id, one] : containers_) {
    if (!one.is_leaving) all.emplace_back(id, one.state());
  }
  return all;
}

// ---- starting -----------------------------------------------------------------------------------

void ProcessRuntime::start(kubelet::ContainerSpec spec) {
  const ContainerId id = spec.id;
  One& one = containers_[id];
  loop_.cancel(one.timer);
  one = {.is_preparing = true, .asked = loop_.now()};
  one.state().phase = Phase::starting;
  if (spec.sim_duration.count() > 0) {
    one.state().started = one.asked;
    one.record.planned_end = one.asked + spec.sim_duration;
    one.record.planned_exit_code = spec.sim_exit_code;
  }
  auto outcome = std::make_shared<Result<void>>();
  worker_->offload(
      [root = root_, program = program_, spec = std::move(spec), record = one.record, outcome] {
        *outcome = [&]() -> Result<void> {
          TRY_VOID(check_path_part("pod's UID", spec.id.pod_uid));
          TRY_VOID(check_path_part("container", spec.id.container));
          const std::string folder = container_folder(root, spec.id);
          TRY_VOID(make_folders(folder, 0700));
          if (record.planned_end) {
            ContainerRecord running = record;
            running.state.phase = Phase::running;
            return replace_file(folder + "/" + record_file, encode_record(running), 0600, Sync::no);
          }
          const ContainerPlan plan = TRY(prepare_container(root, spec, program));
          const std::string path = folder + "/" + plan_file;
          TRY_VOID(replace_file(path, encode_plan(plan), 0600, Sync::no));
          return spawn_shim(program, folder);
        }();
      },
      [this, id, outcome, alive = std::weak_ptr(alive_)] {
        const auto found = alive.expired() ? containers_.end() : containers_.find(id);
        if (alive.expired() || found == containers_.end()) return;
        One& made = found->second;
        made.is_preparing = false;
        if (!*outcome) return refuse(id, outcome->error());
        if (!made.record.planned_end) return watch_soon();
        ContainerState state = made.state();
        state.phase = Phase::running;
        start_timed(id, *made.record.planned_end, made.record.planned_exit_code);
        set_state(id, std::move(state));
        if (made.pending_signal != 0) {
          end_timed(id, loop_.now(), 128 + made.pending_signal, made.pending_signal);
        }
      });
}

void ProcessRuntime::refuse(const ContainerId& id, const Error& why) {
  One& one = containers_.at(id);
  ContainerState state{.phase = Phase::exited,
                       .started = loop_.now(),
                       .ended = loop_.now(),
                       .exit_code = 128,
                       .message = why.message};
  one.record.state = state;
  keep(id, one.record);
  set_state(id, std::move(state));
}

void ProcessRuntime::start_timed(const ContainerId& id, Time end, int exit_code) {
  One& one = containers_.at(id);
  const Duration left = std::max<Duration>(end - loop_.now(), Duration(0));
  one.timer = loop_.after(left, [this, id, end, exit_code] { end_timed(id, end, exit_code, 0); });
}

void ProcessRuntime::end_timed(const ContainerId& id, Time ended, int exit_code, int signal) {
  const auto found = containers_.find(id);
  if (found == containers_.end() || found->second.is_ended()) return;
  One& one = found->second;
  loop_.cancel(one.timer);
  ContainerState state = one.state();
  state.phase = Phase::exited;
  state.ended = ended;
  state.exit_code = exit_code;
  state.signal = signal;
  one.record.state = state;
  keep(id, one.record);
  set_state(id, std::move(state));
}

// Writes the record of a container that has no shim to do so.
void ProcessRuntime::keep(const ContainerId& id, const ContainerRecord& record) {
  if (!check_path_part("pod's UID", id.pod_uid) || !check_path_part("container", id.container))
    return;
  worker_->offload(
      [path = container_folder(root_, id) + "/" + record_file, text = encode_record(record)] {
        (void)replace_file(path, text, 0600, Sync::no);
      },
      [] {});
}

void ProcessRuntime::set_state(const ContainerId& id, ContainerState state) {
  One& one = containers_.at(id);
  one.state() = state;
  if (one.is_leaving) return forget_if_ended(id);
  if (observer_) observer_(id, state);
}

// ---- ending -------------------------------------------------------------------------------------

void ProcessRuntime::signal(const ContainerId& id, int number) {
  const auto found = containers_.find(id);
  if (found == containers_.end() || found->second.is_ended()) return;
  One& one = found->second;
  if (one.record.planned_end && !one.is_preparing) {
    // By the loop, so that the caller is not entered again from here.
    loop_.post([this, id, number, alive = std::weak_ptr(alive_)] {
      if (!alive.expired()) end_timed(id, loop_.now(), 128 + number, number);
    });
    return;
  }
  if (one.is_preparing || one.record.shim_pid == 0) {
    if (one.pending_signal != SIGKILL) one.pending_signal = number;
    return;
  }
  signal_container(one.record, number);  // one that ended meanwhile is seen by the next look
  one.asked = loop_.now();               // its end is near: look often
}

void ProcessRuntime::remove(const ContainerId& id) {
  const auto found = containers_.find(id);
  if (found != containers_.end()) {
    if (!found->second.is_ended()) return;
    containers_.erase(found);
  }
  worker_->offload(
      [folder = container_folder(root_, id)] {
        std::error_code error;
        for (const auto& entry : fs::directory_iterator(folder, error)) {
          const bool is_log = entry.path().filename().string().starts_with("log.");
          if (!is_log) remove_tree(entry.path().string());
        }
      },
      [] {});
}

void ProcessRuntime::remove_pod(const std::string& pod_uid) {
  if (!check_path_part("pod's UID", pod_uid)) return;
  leaving_pods_.insert(pod_uid);
  worker_->offload(
      [folder = pod_folder(root_, pod_uid)] {
        if (access(folder.c_str(), F_OK) != 0) return;
        (void)replace_file(folder + "/" + removed_file, "", 0600, Sync::no);
      },
      [] {});
  for (auto at = containers_.lower_bound({pod_uid, "", 0});
       at != containers_.end() && at->first.pod_uid == pod_uid;) {
    One& one = at->second;
    const bool is_process = !one.is_ended() && (one.is_preparing || !one.record.planned_end);
    if (!is_process) {
      loop_.cancel(one.timer);
      at = containers_.erase(at);
      continue;
    }
    one.is_leaving = true;
    signal(at->first, SIGKILL);
    ++at;
  }
  forget_if_ended({pod_uid, "", 0});
  watch_soon();
}

// When the last process of a removed pod has ended, its files go.
void ProcessRuntime::forget_if_ended(const ContainerId& id) {
  if (const auto found = containers_.find(id);
      found != containers_.end() && found->second.is_ended()) {
    containers_.erase(found);
  }
  const auto left = containers_.lower_bound({id.pod_uid, "", 0});
  if (left != containers_.end() && left->first.pod_uid == id.pod_uid) return;
  if (leaving_pods_.erase(id.pod_uid) == 0) return;
  worker_->offload([root = root_, uid = id.pod_uid] { remove_pod_files(root, uid); }, [] {});
}

// ---- watching -----------------------------------------------------------------------------------

// Shims write, we look: cheap, and nothing is missed that happened while we were away. Without
// living processes there is no timer.
void ProcessRuntime::watch_soon() {
  loop_.cancel(watch_timer_);
  bool has_any = false, has_young = false;
  for (auto& [id, one] : containers_) {
    if (one.is_ended() || one.is_preparing || one.record.planned_end) continue;
    has_any = true;
    has_young |= loop_.now() - one.asked < young;
  }
  if (!has_any) return;
  watch_timer_ = loop_.after(has_young ? quick_look : calm_look, [this] { watch(); });
}

void ProcessRuntime::watch() {
  std::vector<ContainerId> living;
  for (auto& [id, one] : containers_) {
    if (!one.is_ended() && !one.is_preparing && !one.record.planned_end) living.push_back(id);
  }
  for (const ContainerId& id : living) {
    // An observer may have removed it.
    if (const auto found = containers_.find(id); found != containers_.end())
      look(id, found->second);
  }
  watch_soon();
}

void ProcessRuntime::look(const ContainerId& id, One& one) {
  if (one.is_ended()) {
    if (one.is_leaving) forget_if_ended(id);
    return;
  }
  const std::string folder = container_folder(root_, id);
  const Phase before = one.state().phase;
  const auto read_again = [&] {
    const uint64_t version = version_of(folder + "/" + record_file);
    if (version == 0 || version == one.version) return;
    auto record = read_record(folder);
    if (!record) return;
    one.version = version;
    one.record = std::move(*record);
  };
  read_again();
  const bool is_silent = one.record.shim_pid == 0 && loop_.now() - one.asked > shim_patience;
  if (!one.is_ended() && (++one.looks % looks_per_liveness == 1 || is_silent)) {
    const bool is_gone = one.record.shim_pid != 0 && !is_shim_alive(one.record);
    if (is_gone) read_again();  // it may have ended between the two looks
    if ((is_gone || is_silent) && !one.is_ended()) {
      one.state().phase = Phase::exited;
      one.state().ended = loop_.now();
      one.state().exit_code = 137;
      one.state().message = is_gone ? lost_message : "the shim did not begin";
      keep(id, one.record);
    }
  }
  if (one.pending_signal != 0 && one.record.shim_pid != 0 && !one.is_ended()) {
    signal_container(one.record, std::exchange(one.pending_signal, 0));
  }
  if (one.state().phase != before) set_state(id, one.state());
}

}  // namespace tau::host
