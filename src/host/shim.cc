#include "host/shim.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "host/asio_loop.h"
#include "host/cgroup.h"
#include "host/container_child.h"
#include "host/container_files.h"
#include "host/container_log.h"
#include "host/process_table.h"

namespace tau::host {
namespace {

using Phase = kubelet::ContainerState::Phase;

// A container's end is worth waiting for room on the disk.
constexpr int end_write_tries = 1200;
constexpr int end_write_wait_us = 500'000;
// A process that the kernel does not let go (uninterruptible sleep) must not hold up the end.
constexpr int end_tree_tries = 2000;
constexpr int end_tree_wait_us = 5'000;

class Shim {
 public:
  Shim(std::string folder, ContainerPlan plan)
      : folder_(std::move(folder)),
        plan_(std::move(plan)),
        log_(folder_, plan_.log_bytes, plan_.log_files) {}

  int run() {
    const pid_t self = getpid();
    const auto me = read_process(self);
    record_.shim_pid = self;
    record_.shim_start_ticks = me ? me->start_ticks : 0;
    record_.boot = boot_id();
    record_.state.phase = Phase::starting;
    // From here on the platform knows whom to ask; without this nothing may run.
    if (!save(Sync::no)) return 1;
    unlink((folder_ + "/" + claimed_plan_file).c_str());
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (!watch_signals()) return end(128, 0, "the shim cannot watch signals");
    if (auto made = make_group(); !made) return end(128, 0, made.error().message);
    return start(self);
  }

 private:
  struct Stream {
    int fd = -1;
    int number = 0;
  };

  bool watch_signals() {
    sigset_t watched;
    sigemptyset(&watched);
    for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGCHLD, shim_signal()}) {
      sigaddset(&watched, number);
    }
    signal(SIGPIPE, SIG_IGN);
    sigprocmask(SIG_BLOCK, &watched, nullptr);
    signals_ = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
    return signals_ >= 0;
  }

  Result<void> make_group() {
    if (plan_.cpu_limit_milli <= 0 && plan_.memory_limit_bytes <= 0) return {};
    const std::string name =
        fmt::format("{}-{}-{}", plan_.id.pod_uid, plan_.id.container, plan_.id.restart);
    group_ =
        TRY(Cgroup::make(probe_cgroups(), name, plan_.cpu_limit_milli, plan_.memory_limit_bytes));
    return {};
  }

  int start(pid_t self) {
    int out[2], err[2], report[2];
    if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0 || pipe2(report, O_CLOEXEC) != 0) {
      return end(128, 0, fmt::format("cannot make a pipe: {}", std::strerror(errno)));
    }
    child_ = fork();
    if (child_ < 0) {
      return end(128, 0, fmt::format("cannot start a process: {}", std::strerror(errno)));
    }
    if (child_ == 0) {
      become_container(plan_, folder_, group_, {out[1], err[1], report[1], self});
    }
    for (const int fd : {out[1], err[1], report[1]}) close(fd);
    streams_[0] = {out[0], 0};
    streams_[1] = {err[0], 1};
    StartFailure failure;
    ssize_t told = 0;
    do {
      told = read(report[0], &failure, sizeof failure);
    } while (told < 0 && errno == EINTR);
    close(report[0]);
    record_.state.started = system_now();
    if (told == static_cast<ssize_t>(sizeof failure)) {
      end_tree();
      return end(failure.exit_code, 0, failure.message);
    }
    const auto child = read_process(child_);
    record_.state.phase = Phase::running;
    record_.state.pid = child_;
    record_.start_ticks = child ? child->start_ticks : 0;
    (void)save(Sync::no);
    return follow();
  }

  int follow() {
    while (!is_ended_) {
      pollfd polls[] = {
          {streams_[0].fd, POLLIN, 0}, {streams_[1].fd, POLLIN, 0}, {signals_, POLLIN, 0}};
      if (poll(polls, std::size(polls), -1) < 0 && errno != EINTR) break;
      for (Stream& stream : streams_) drain(stream);
      take_signals();
      reap();
    }
    // As in a container, nothing outlives the first process; then the pipes hold all that was said.
    end_tree();
    for (Stream& stream : streams_) drain(stream);
    log_.flush(system_now());
    if (WIFSIGNALED(status_)) return end(128 + WTERMSIG(status_), WTERMSIG(status_), "");
    return end(WEXITSTATUS(status_), 0, "");
  }

  void drain(Stream& stream) {
    char buffer[32 * 1024];
    // Bounded, so that one loud stream does not keep signals waiting.
    for (int rounds = 0; stream.fd >= 0 && (rounds < 16 || is_ended_); ++rounds) {
      pollfd one{stream.fd, POLLIN, 0};
      if (poll(&one, 1, 0) <= 0) return;
      const ssize_t size = read(stream.fd, buffer, sizeof buffer);
      if (size < 0 && errno == EINTR) continue;
      if (size <= 0) {
        close(stream.fd);
        stream.fd = -1;
        return;
      }
      log_.write(stream.number, {buffer, static_cast<size_t>(size)}, system_now());
    }
  }

  void take_signals() {
    signalfd_siginfo info;
    while (read(signals_, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
      const int number = static_cast<int>(info.ssi_signo);
      if (number == SIGCHLD || number == SIGHUP) continue;
      pass_on(number == shim_signal() ? info.ssi_int : SIGTERM);
    }
  }
  void pass_on(int number) const {
    if (number <= 0 || number >= NSIG) return;
    for (const pid_t pid : descendants_of(getpid())) kill(pid, number);
  }

  void reap() {
    int status = 0;
    for (pid_t pid = waitpid(-1, &status, WNOHANG); pid > 0; pid = waitpid(-1, &status, WNOHANG)) {
      if (pid != child_) continue;
      is_ended_ = true;
      status_ = status;
    }
  }

  // Orphans come to this process (subreaper), so its descendants are all there is, whatever groups
  // and sessions they made.
  void end_tree() {
    for (int tries = 0; tries < end_tree_tries; ++tries) {
      pass_on(SIGKILL);
      reap();
      if (waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD) return;
      // A full pipe does not hold up a process that is being killed; what it wrote is kept.
      for (Stream& stream : streams_) drain(stream);
      usleep(tries < 10 ? 500 : end_tree_wait_us);
    }
  }

  Result<void> save(Sync sync) {
    return replace_file(folder_ + "/" + record_file, encode_record(record_), 0600, sync);
  }

  int end(int exit_code, int signal_number, std::string_view message) {
    record_.state.phase = Phase::exited;
    if (!record_.state.started) record_.state.started = system_now();
    record_.state.ended = system_now();
    record_.state.exit_code = exit_code;
    record_.state.signal = signal_number;
    record_.state.is_oom_killed = exit_code != 0 && group_.had_oom_kill();
    record_.state.message = message;
    record_.state.pid = 0;
    group_.remove();
    for (int tries = 0; tries < end_write_tries && !save(Sync::yes); ++tries) {
      usleep(end_write_wait_us);
      if (access(folder_.c_str(), F_OK) != 0) break;  // nobody wants to know any more
    }
    return 0;
  }

  std::string folder_;
  ContainerPlan plan_;
  LogWriter log_;
  Cgroup group_;
  ContainerRecord record_;
  int signals_ = -1, status_ = 0;
  pid_t child_ = -1;
  bool is_ended_ = false;
  Stream streams_[2];
};

int complain(std::string_view why) {
  std::fprintf(stderr, "tau shim: %.*s\n", static_cast<int>(why.size()), why.data());
  return 1;
}

}  // namespace

int shim_signal() {
  return SIGRTMIN;
}

int shim_main(int argc, char** argv) {
  if (argc != 1) {
    std::fprintf(stderr, "usage: tau shim FOLDER (started by the platform itself)\n");
    return 2;
  }
  // Sockets and files of the starter: a listening socket kept here would outlive it.
  close_range(3, ~0U, 0);
  const std::string folder = argv[0];
  const std::string claimed = folder + "/" + claimed_plan_file;
  if (rename((folder + "/" + plan_file).c_str(), claimed.c_str()) != 0) {
    return complain("the plan cannot be claimed: " + std::string(std::strerror(errno)));
  }
  const auto text = read_whole(claimed);
  auto plan = text ? decode_plan(*text) : Result<ContainerPlan>(std::unexpected(text.error()));
  if (!plan) return complain(plan.error().message);
  // Leave the starter: a session of its own, nobody's child.
  const pid_t pid = fork();
  if (pid != 0) return pid < 0 ? complain("cannot fork") : 0;
  setsid();
  if (chdir("/") != 0) return 1;
  const int null = open("/dev/null", O_RDWR);
  for (const int fd : {0, 1, 2}) dup2(null, fd);
  if (null > 2) close(null);
  return Shim(folder, std::move(*plan)).run();
}

}  // namespace tau::host
