#include "host/shim.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>

#include "base/limits.h"
#include "base/text.h"
#include "host/asio_loop.h"
#include "host/container_files.h"
#include "host/files.h"

namespace tau::host {
namespace {

// Lines of one stream into the log, each with its time.
class LogFile {
 public:
  explicit LogFile(std::string path) : path_(std::move(path)) { open_file(); }
  ~LogFile() { close(fd_); }
  void add(const char* stream, std::string& pending, std::string_view bytes) {
    pending += bytes;
    size_t start = 0;
    for (size_t end; (end = pending.find('\n', start)) != std::string::npos; start = end + 1) line(stream, std::string_view(pending).substr(start, end - start), "F");
    pending.erase(0, start);
    if (pending.size() > 16 * 1024) flush(stream, pending, "P");
  }
  void flush(const char* stream, std::string& pending, const char* tag = "F") {
    if (!pending.empty()) line(stream, pending, tag);
    pending.clear();
  }

 private:
  void open_file() {
    fd_ = open(path_.c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
    struct stat info {};
    size_ = fd_ >= 0 && fstat(fd_, &info) == 0 ? info.st_size : 0;
  }
  void line(const char* stream, std::string_view text, const char* tag) {
    const std::string whole = fmt::format("{} {} {} {}\n", format_rfc3339_micros(system_now()), stream, tag, text);
    if (size_ + static_cast<int64_t>(whole.size()) > limits::container_log_bytes) rotate();
    for (size_t done = 0; done < whole.size();) {
      const ssize_t n = write(fd_, whole.data() + done, whole.size() - done);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return;  // a full disk costs log lines, never the container
      done += static_cast<size_t>(n);
    }
    size_ += static_cast<int64_t>(whole.size());
  }
  void rotate() {
    close(fd_);
    for (int i = limits::container_log_files - 1; i > 1; --i) rename(fmt::format("{}.{}", path_, i - 1).c_str(), fmt::format("{}.{}", path_, i).c_str());
    rename(path_.c_str(), (path_ + ".1").c_str());
    open_file();
  }
  std::string path_;
  int fd_ = -1;
  int64_t size_ = 0;
};

// What the child could not do before exec, told over a pipe that exec closes.
struct StartFailure {
  int exit_code = 128;
  char message[400] = {};
};

[[noreturn]] void give_up(int report, int exit_code, const std::string& message) {
  StartFailure failure{.exit_code = exit_code};
  std::strncpy(failure.message, message.c_str(), sizeof failure.message - 1);
  (void)!write(report, &failure, sizeof failure);
  _exit(exit_code);
}

[[noreturn]] void run_child(const kubelet::ContainerSpec& spec, const std::string& folder, int out, int err, int report) {
  setpgid(0, 0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int null = open("/dev/null", O_RDONLY);
  dup2(null, 0);
  dup2(out, 1);
  dup2(err, 2);
  std::vector<std::pair<std::string, std::string>> env{{"PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}, {"HOSTNAME", spec.pod_name}, {"HOME", "/root"}};
  std::string visible;
  for (const kubelet::GpuModel& gpu : spec.gpus) visible += (visible.empty() ? "" : ",") + gpu.uuid;
  env.emplace_back("CUDA_VISIBLE_DEVICES", visible);
  env.emplace_back("NVIDIA_VISIBLE_DEVICES", visible.empty() ? "void" : visible);
  for (const auto& [name, value] : spec.env) {
    std::erase_if(env, [&](const auto& held) { return held.first == name; });
    env.emplace_back(name, value);
  }
  if (auto done = enter_mounts(spec, folder, env); !done) give_up(report, 128, done.error().message);
  const std::string& where = spec.working_dir.empty() ? std::string("/") : spec.working_dir;
  if (chdir(where.c_str()) != 0) give_up(report, 128, fmt::format("chdir to workingDir \"{}\": {}", where, std::strerror(errno)));
  std::vector<std::string> pairs;
  for (const auto& [name, value] : env) pairs.push_back(name + "=" + value);
  std::vector<char*> argv, envp;
  for (const std::string& word : spec.argv) argv.push_back(const_cast<char*>(word.c_str()));
  for (const std::string& pair : pairs) envp.push_back(const_cast<char*>(pair.c_str()));
  argv.push_back(nullptr);
  envp.push_back(nullptr);
  const auto path = std::ranges::find(env, "PATH", &std::pair<std::string, std::string>::first);
  if (path != env.end()) setenv("PATH", path->second.c_str(), 1);
  execvpe(argv[0], argv.data(), envp.data());
  if (errno == ENOENT) give_up(report, 127, fmt::format("exec: \"{}\": executable file not found in $PATH", spec.argv[0]));
  give_up(report, errno == EACCES ? 126 : 128, fmt::format("exec: \"{}\": {}", spec.argv[0], std::strerror(errno)));
}

// Everything that descends from this process: what the container started in groups of its own comes to the
// subreaper, so its children are all there is.
void kill_children(int signal) {
  const auto children = read_file(fmt::format("/proc/{0}/task/{0}/children", getpid()));
  if (!children) return;
  for (const std::string_view word : split(trim(*children), ' ')) {
    if (const auto pid = parse_int(word); pid && *pid > 1) {
      kill(static_cast<pid_t>(*pid), signal);
      kill(static_cast<pid_t>(-*pid), signal);
    }
  }
}

class Shim {
 public:
  Shim(std::string folder, kubelet::ContainerSpec spec) : folder_(std::move(folder)), spec_(std::move(spec)), log_(folder_ + "/log") {}

  int run() {
    record_.shim_pid = getpid();
    record_.shim_start_ticks = process_start_ticks(getpid());
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    sigset_t watched;
    sigemptyset(&watched);
    for (const int signal : {SIGTERM, SIGUSR1, SIGCHLD, SIGINT, SIGHUP}) sigaddset(&watched, signal);
    sigprocmask(SIG_BLOCK, &watched, nullptr);
    signals_ = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
    int out[2], err[2], report[2];
    if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0 || pipe2(report, O_CLOEXEC) != 0) return 1;
    child_ = fork();
    if (child_ < 0) return 1;
    if (child_ == 0) run_child(spec_, folder_, out[1], err[1], report[1]);
    for (const int fd : {out[1], err[1], report[1]}) close(fd);
    StartFailure failure;
    const ssize_t told = read(report[0], &failure, sizeof failure);
    close(report[0]);
    record_.state.started = system_now();
    if (told == static_cast<ssize_t>(sizeof failure)) {
      waitpid(child_, nullptr, 0);
      return finish(failure.exit_code, 0, failure.message);
    }
    record_.state.phase = kubelet::ContainerState::Phase::running;
    record_.state.pid = child_;
    (void)write_record(folder_, record_);
    streams_[0] = {out[0], "stdout", {}};
    streams_[1] = {err[0], "stderr", {}};
    return follow();
  }

 private:
  struct Stream {
    int fd = -1;
    const char* name = "";
    std::string pending;
  };

  int follow() {
    while (!is_ended_) {
      pollfd polls[3] = {{streams_[0].fd, POLLIN, 0}, {streams_[1].fd, POLLIN, 0}, {signals_, POLLIN, 0}};
      if (poll(polls, 3, -1) < 0 && errno != EINTR) break;
      for (Stream& stream : streams_) drain(stream);
      take_signals();
    }
    // The main process has ended: what it left behind goes too, then what is still in the pipes is read.
    kill_children(SIGKILL);
    while (waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    for (Stream& stream : streams_) {
      drain(stream);
      log_.flush(stream.name, stream.pending);
    }
    const bool is_signal = WIFSIGNALED(status_);
    return finish(is_signal ? 128 + WTERMSIG(status_) : WEXITSTATUS(status_), is_signal ? WTERMSIG(status_) : 0, "");
  }

  void drain(Stream& stream) {
    char buffer[16 * 1024];
    while (stream.fd >= 0) {
      pollfd one{stream.fd, POLLIN, 0};
      if (poll(&one, 1, 0) <= 0) return;
      const ssize_t size = read(stream.fd, buffer, sizeof buffer);
      if (size < 0 && errno == EINTR) continue;
      if (size <= 0) {
        close(stream.fd);
        stream.fd = -1;
        return;
      }
      log_.add(stream.name, stream.pending, {buffer, static_cast<size_t>(size)});
    }
  }

  void take_signals() {
    signalfd_siginfo info;
    while (read(signals_, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
      if (info.ssi_signo == SIGTERM || info.ssi_signo == SIGINT) kill(-child_, SIGTERM);
      if (info.ssi_signo == SIGUSR1) {
        kill(-child_, SIGKILL);
        kill_children(SIGKILL);
      }
    }
    for (int status = 0; const pid_t pid = waitpid(-1, &status, WNOHANG);) {
      if (pid < 0) break;
      if (pid != child_) continue;
      is_ended_ = true;
      status_ = status;
    }
  }

  int finish(int exit_code, int signal, std::string message) {
    record_.state.phase = kubelet::ContainerState::Phase::exited;
    record_.state.ended = system_now();
    record_.state.exit_code = exit_code;
    record_.state.signal = signal;
    record_.state.message = std::move(message);
    record_.state.pid = 0;
    // A full disk must not lose the end: try for a while.
    for (int tries = 0; tries < 600 && !write_record(folder_, record_); ++tries) usleep(500'000);
    return 0;
  }

  std::string folder_;
  kubelet::ContainerSpec spec_;
  LogFile log_;
  ContainerRecord record_;
  int signals_ = -1, status_ = 0;
  pid_t child_ = -1;
  bool is_ended_ = false;
  Stream streams_[2];
};

}  // namespace

int shim_main(int argc, char** argv) {
  if (argc != 1) {
    std::fprintf(stderr, "usage: tau shim FOLDER (started by the platform itself)\n");
    return 2;
  }
  const std::string folder = argv[0];
  auto spec = read_spec(folder);
  if (!spec || spec->argv.empty()) {
    std::fprintf(stderr, "tau shim: %s\n", spec ? "nothing to run" : spec.error().message.c_str());
    return 1;
  }
  // Leave the starter: a session of its own, nobody's child.
  const pid_t pid = fork();
  if (pid != 0) return pid < 0 ? 1 : 0;
  setsid();
  const int null = open("/dev/null", O_RDWR);
  for (const int fd : {0, 1, 2}) dup2(null, fd);
  return Shim(folder, std::move(*spec)).run();
}

}  // namespace tau::host
