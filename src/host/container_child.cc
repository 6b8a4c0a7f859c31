#include "host/container_child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/text.h"
#include "host/private_mounts.h"

namespace tau::host {
namespace {

constexpr const char* tool_path = "/usr/bin/nvidia-smi";
constexpr const char* default_path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
using Environment = std::vector<std::pair<std::string, std::string>>;

[[noreturn]] void give_up(int report, int exit_code, std::string_view message) {
  StartFailure failure{.exit_code = exit_code};
  const size_t size = std::min(message.size(), sizeof failure.message - 1);
  std::memcpy(failure.message, message.data(), size);
  (void)!write(report, &failure, sizeof failure);
  _exit(exit_code);
}

void set(Environment& env, std::string_view name, std::string value) {
  std::erase_if(env, [&](const auto& held) { return held.first == name; });
  env.emplace_back(name, std::move(value));
}
std::string value_of(const Environment& env, std::string_view name) {
  const auto found = std::ranges::find(env, name, &Environment::value_type::first);
  return found == env.end() ? "" : found->second;
}

std::string home_of_user() {
  const passwd* user = getpwuid(getuid());
  return user == nullptr || user->pw_dir == nullptr ? "/" : user->pw_dir;
}

std::string in_quotes(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'')
      quoted += "'\\''";
    else
      quoted += c;
  }
  return quoted + "'";
}

std::string gpu_list(const ContainerPlan& plan) {
  std::string list;
  for (const kubelet::GpuModel& gpu : plan.gpus) {
    list +=
        fmt::format("{}{}|{}|{}", list.empty() ? "" : ";", gpu.uuid, gpu.product, gpu.memory_bytes);
  }
  return list;
}

// The tool carries its list itself, so that it is right also where the environment was cleared.
Result<std::string> write_tool(const ContainerPlan& plan, const std::string& folder) {
  const std::string tools = folder + "/bin";
  TRY_VOID(make_folders(tools, 0755));
  const std::string text = fmt::format("#!/bin/sh\nTAU_SIM_GPUS={} exec {} nvidia-smi \"$@\"\n",
                                       in_quotes(gpu_list(plan)), in_quotes(plan.program));
  TRY_VOID(replace_file(tools + "/nvidia-smi", text, 0755, Sync::no));
  return tools;
}

// Volumes and the simulated tool at their places. Without the right to have private mounts volumes
// cannot be had, and the tool is put first on PATH, also for login shells, which reset it.
Result<void> set_up_files(const ContainerPlan& plan, const std::string& folder, Environment& env) {
  std::vector<BindMount> mounts = plan.mounts;
  const bool is_simulated = has_simulated_gpus(plan);
  // A pod without GPUs must not see the machine's own ones through the tool.
  const bool needs_tool = is_simulated || (plan.gpus.empty() && access(tool_path, F_OK) == 0);
  if (mounts.empty() && !needs_tool) return {};
  const std::string tools = needs_tool ? TRY(write_tool(plan, folder)) : "";
  if (needs_tool) mounts.push_back({tools + "/nvidia-smi", tool_path, true});
  Result<void> done = enter_private_mounts();
  const bool is_private = done.has_value();
  if (is_private) {
    const std::string scratch = folder + "/root";
    TRY_VOID(make_folders(scratch, 0755));
    done = bind_all(mounts, scratch);
  }
  if (done) return {};
  if (!plan.mounts.empty()) {
    return is_private ? done
                      : std::unexpected(with_context(done.error(), "volumes cannot be mounted"));
  }
  set(env, "PATH", tools + ":" + value_of(env, "PATH"));
  set(env, "HOME", tools);
  return replace_file(tools + "/.bash_profile",
                      fmt::format("export PATH={}:\"$PATH\"\n", in_quotes(tools)), 0644, Sync::no);
}

// Finds the command as execvp does, but tells what was wrong.
Result<std::string> find_command(const std::string& word, const std::string& path) {
  if (word.find('/') != std::string::npos) {
    if (access(word.c_str(), F_OK) == 0) return word;
    return fail(ErrorCode::not_found,
                fmt::format("exec: \"{}\": stat {}: {}", word, word, std::strerror(errno)));
  }
  bool is_denied = false;
  for (const std::string_view part : split(path, ':')) {
    const std::string candidate = fmt::format("{}/{}", part.empty() ? "." : part, word);
    struct stat found{};
    if (stat(candidate.c_str(), &found) != 0 || S_ISDIR(found.st_mode)) continue;
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
    is_denied = true;
  }
  if (is_denied) {
    return fail(ErrorCode::forbidden, fmt::format("exec: \"{}\": permission denied", word));
  }
  return fail(ErrorCode::not_found,
              fmt::format("exec: \"{}\": executable file not found in $PATH", word));
}

[[noreturn]] void run_command(const ContainerPlan& plan, const Environment& env, int report) {
  const auto command = find_command(plan.argv[0], value_of(env, "PATH"));
  if (!command) {
    const bool is_missing = command.error().code == ErrorCode::not_found;
    give_up(report, is_missing ? 127 : 126, command.error().message);
  }
  std::vector<std::string> pairs;
  for (const auto& [name, value] : env) pairs.push_back(name + "=" + value);
  std::vector<char*> argv, envp;
  for (const std::string& word : plan.argv) argv.push_back(const_cast<char*>(word.c_str()));
  for (std::string& pair : pairs) envp.push_back(pair.data());
  argv.push_back(nullptr);
  envp.push_back(nullptr);
  execve(command->c_str(), argv.data(), envp.data());
  if (errno == ENOEXEC) {  // a script without its first line
    std::string shell = "/bin/sh", script = *command;
    argv[0] = script.data();
    argv.insert(argv.begin(), shell.data());
    execve(shell.c_str(), argv.data(), envp.data());
  }
  const int number = errno;
  give_up(report,
          number == EACCES   ? 126
          : number == ENOENT ? 127
                             : 128,
          fmt::format("exec: \"{}\": {}", plan.argv[0], to_lower(std::strerror(number))));
}

// Nothing that the platform or the shim has set for itself goes to the container.
void reset_process(pid_t parent) {
  setsid();
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // without its shim nobody would know how it ended
  if (getppid() != parent) _exit(137);
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  umask(022);
}

}  // namespace

bool has_simulated_gpus(const ContainerPlan& plan) {
  return std::ranges::any_of(plan.gpus, [](const kubelet::GpuModel& gpu) {
    return gpu.uuid.starts_with("GPU-51300000-");
  });
}

Environment container_environment(const ContainerPlan& plan) {
  Environment env{{"PATH", default_path}, {"HOME", home_of_user()}, {"HOSTNAME", plan.pod_name}};
  for (const auto& [name, value] : plan.env) set(env, name, value);
  std::string visible;
  for (const kubelet::GpuModel& gpu : plan.gpus) visible += (visible.empty() ? "" : ",") + gpu.uuid;
  // The assignment stands above what the pod says: a number there would mean another pod's device.
  set(env, "CUDA_VISIBLE_DEVICES", visible);
  set(env, "NVIDIA_VISIBLE_DEVICES", visible.empty() ? "void" : visible);
  if (has_simulated_gpus(plan)) set(env, "TAU_SIM_GPUS", gpu_list(plan));
  return env;
}

void become_container(const ContainerPlan& plan, const std::string& folder, const Cgroup& group,
                      ChildFiles files) {
  reset_process(files.shim);
  const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  dup2(null, STDIN_FILENO);
  dup2(files.out, STDOUT_FILENO);
  dup2(files.err, STDERR_FILENO);
  if (auto done = group.enter(); !done) give_up(files.report, 128, done.error().message);
  Environment env = container_environment(plan);
  if (auto done = set_up_files(plan, folder, env); !done) {
    give_up(files.report, 128, done.error().message);
  }
  const std::string& where = plan.working_dir.empty() ? std::string("/") : plan.working_dir;
  if (chdir(where.c_str()) != 0) {
    give_up(files.report, 128,
            fmt::format("cannot enter workingDir \"{}\": {} (images have no files here: it must "
                        "exist on this machine, or be a mountPath)",
                        where, to_lower(std::strerror(errno))));
  }
  run_command(plan, env, files.report);
}

}  // namespace tau::host
