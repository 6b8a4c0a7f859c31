// `tau up`: the whole platform in one process; `down` and `status` beside it.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <csignal>
#include <filesystem>
#include <thread>

#include "base/text.h"
#include "client/kubeconfig.h"
#include "cmd/metrics_door.h"
#include "cmd/up_config.h"
#include "cmd/verbs.h"
#include "embedded/apiserver/server.h"
#include "host/certificates.h"
#include "host/container_control.h"
#include "host/files.h"
#include "host/http_server.h"
#include "host/http_transport.h"
#include "host/local_node.h"
#include "host/log_sink.h"
#include "host/process_runtime.h"
#include "host/process_table.h"
#include "host/sqlite_history.h"
#include "host/sqlite_journal.h"
#include "http/direct_transport.h"
#include "meta/json.h"
#include "plane/embedded_cluster.h"
#include "plane/plane.h"

namespace tau::cmd {
namespace fs = std::filesystem;

namespace {

Failure state_failure(const Error& error, const std::string& folder) {
  return Failure("TG-UP-001", ExitCode::internal, error.message)
      .at(folder)
      .fixed_by("check the folder's rights and free space, or use another: tau up --state DIR");
}

std::string program_path() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).string();
}

Result<std::string> keep_or_make(const std::string& path,
                                 const std::function<std::string()>& make) {
  if (host::file_exists(path)) return host::read_file(path);
  const std::string text = make();
  TRY_VOID(host::write_file(path, text));
  return text;
}

Result<host::Certificates> certificates(const std::string& folder) {
  host::Certificates c;
  const std::string pki = folder + "/pki";
  TRY_VOID(host::make_folder(pki));
  const Time now = host::system_now();
  if (!host::file_exists(pki + "/ca.key")) {
    c = TRY(host::make_certificates(now));
    TRY_VOID(host::write_file(pki + "/ca.crt", c.ca_pem));
  } else {
    c.ca_pem = TRY(host::read_file(pki + "/ca.crt"));
    c.ca_key_pem = TRY(host::read_file(pki + "/ca.key"));
    c.server_pem = host::read_file(pki + "/server.crt").value_or("");
    c.server_key_pem = host::read_file(pki + "/server.key").value_or("");
    if (!c.server_pem.empty() && !c.server_key_pem.empty() && !host::ends_soon(c.server_pem, now))
      return c;
    TRY_VOID(host::renew_server_certificate(c, now));
  }
  TRY_VOID(host::write_file(pki + "/server.crt", c.server_pem));
  TRY_VOID(host::write_file(pki + "/server.key", c.server_key_pem));
  TRY_VOID(host::write_file(pki + "/ca.key",
                            c.ca_key_pem));  // last: its presence says that all is there
  return c;
}

// The nodes asked for now are remembered, so that a restart without --nodes has the same fleet.
Try<std::vector<kubelet::NodeModel>> nodes_of(const std::string& folder, const std::string& wanted,
                                              bool remembers) {
  std::string text = wanted;
  if (!wanted.empty() && host::file_exists(wanted)) {
    const auto file = host::read_file(wanted);
    if (!file) return failed(state_failure(file.error(), wanted));
    text = *file;
  }
  if (wanted.empty()) text = host::read_file(folder + "/nodes").value_or("");
  auto simulated = kubelet::parse_nodes(text);
  if (!simulated)
    return failed(Failure("TG-UP-002", ExitCode::usage, simulated.error().message)
                      .at(wanted.empty()              ? folder + "/nodes"
                          : host::file_exists(wanted) ? wanted
                                                      : "--nodes")
                      .fixed_by("for example: tau up --nodes 2x8xH100"));
  if (auto kept = remembers ? host::write_file(folder + "/nodes", text) : Result<void>{}; !kept)
    return failed(state_failure(kept.error(), folder));
  std::vector<kubelet::NodeModel> nodes{host::local_node()};
  for (kubelet::NodeModel& node : *simulated) {
    node.info = nodes[0].info;
    nodes.push_back(std::move(node));
  }
  return nodes;
}

struct RunningUp {
  int64_t pid = 0, start_ticks = 0;
};
std::optional<RunningUp> find_running(const std::string& folder) {
  const auto text = host::read_file(folder + "/pid");
  if (!text) return std::nullopt;
  const auto parts = split(trim(*text), ' ');
  if (parts.size() != 2) return std::nullopt;
  RunningUp running{parse_int(parts[0]).value_or(0), parse_int(parts[1]).value_or(0)};
  if (running.pid == 0 || host::process_start_ticks(running.pid) != running.start_ticks)
    return std::nullopt;
  return running;
}

void print_next_steps(const Console& console, const std::string& folder,
                      const std::string& server) {
  const bool is_usual = folder == host::home_folder() + "/.tau";
  const std::string flag = is_usual ? "" : " --state " + folder;
  console.say(fmt::format("TauGrid is ready at {}", server));
  console.say(fmt::format("  kubectl   export KUBECONFIG={}/kubeconfig", folder));
  console.say(fmt::format("  run       tau{} run --gpus 1 -- nvidia-smi", flag));
  console.say(fmt::format("  look      tau{} ps", flag));
  console.say(fmt::format("  stop      tau{} down", flag));
}

// Starts the same program again in a session of its own and waits until it is ready, or has ended.
Outcome start_detached(const GlobalOptions& options, const UpOptions& up, const Console& console) {
  const std::string folder = state_folder(options);
  const std::string log = folder + "/tau.log";
  std::vector<std::string> words{
      program_path(), "--state",     folder,       "up",     "--durability",
      up.durability,  "--log-level", up.log_level, "--port", std::to_string(up.port)};
  if (!up.nodes.empty()) {
    words.emplace_back("--nodes");
    words.push_back(host::file_exists(up.nodes) ? fs::absolute(up.nodes).string() : up.nodes);
  }
  unlink((folder + "/ready").c_str());
  std::error_code no_log;
  const uintmax_t size = fs::file_size(log, no_log);
  const size_t log_bytes = no_log ? 0 : size;
  const pid_t pid = fork();
  if (pid < 0) return failed(Failure("TG-UP-003", ExitCode::internal, "cannot start a process"));
  if (pid == 0) {
    setsid();
    const int null = open("/dev/null", O_RDONLY),
              out = open(log.c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600);
    dup2(null, 0);
    dup2(out, 1);
    dup2(out, 2);
    (void)!chdir("/");
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    execv(argv[0], argv.data());
    _exit(127);
  }
  for (int i = 0; i < 3000; ++i) {
    if (const auto server = host::read_file(folder + "/ready")) {
      print_next_steps(console, folder, std::string(trim(*server)));
      return ExitCode::ok;
    }
    int status = 0;
    if (waitpid(pid, &status, WNOHANG) == pid) {
      // Its own last words, not those of earlier starts.
      const std::string text = host::read_file(log).value_or("").substr(log_bytes);
      const size_t words = text.rfind("error["), end = text.size() > 600 ? text.size() - 600 : 0;
      return failed(
          Failure("TG-UP-004", ExitCode::internal, "the platform ended while it started")
              .at(log)
              .because(std::string(trim(text.substr(words == std::string::npos ? end : words)))));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return failed(
      Failure("TG-UP-005", ExitCode::timed_out, "the platform is not ready after 30 s").at(log));
}

// Everything that is alive between start and stop, in the order of its making.
struct Platform {
  host::AsioLoop loop;
  Log log;
  Metrics metrics;  // of the server; the plane has its own
  std::unique_ptr<host::SqliteJournal> journal;
  std::unique_ptr<host::SqliteHistory> history;
  std::unique_ptr<apiserver::Server> server;
  std::unique_ptr<http::DirectTransport> transport;
  std::unique_ptr<host::ProcessRuntime> runtime;
  std::unique_ptr<plane::EmbeddedCluster> cluster;
  std::unique_ptr<plane::Plane> plane;
  std::unique_ptr<MetricsDoor> door;
  std::unique_ptr<host::HttpServer> listener;
};

Result<uint16_t> listen(host::HttpServer& listener, const std::string& folder, int wanted) {
  if (wanted > 0) return listener.listen("127.0.0.1", static_cast<uint16_t>(wanted));
  // The port used before keeps kubeconfigs and watches of clients valid.
  if (const auto before = parse_int(trim(host::read_file(folder + "/port").value_or("")));
      before && *before > 0) {
    if (auto port = listener.listen("127.0.0.1", static_cast<uint16_t>(*before))) return port;
  }
  return listener.listen("127.0.0.1", 0);
}

Outcome serve(const std::string& folder, const UpOptions& up, std::vector<kubelet::NodeModel> nodes,
              const Console& console, bool prints_steps) {
  auto c = certificates(folder);
  if (!c) return failed(state_failure(c.error(), folder));
  auto token = keep_or_make(folder + "/token", [] { return host::random_token(32); });
  if (!token) return failed(state_failure(token.error(), folder));
  Platform p;
  const auto level = host::parse_log_level(up.log_level);
  if (!level)
    return failed(Failure("TG-UP-010", ExitCode::usage, level.error().message).at("--log-level"));
  auto log = host::make_log({.level = *level});
  if (!log) return failed(state_failure(log.error(), folder));
  p.log = std::move(*log);
  auto journal = host::SqliteJournal::open(
      p.loop, folder + "/state.db",
      up.durability == "normal" ? host::Durability::normal : host::Durability::full);
  if (!journal) return failed(state_failure(journal.error(), folder));
  p.journal = std::move(*journal);
  auto history = host::SqliteHistory::open(folder + "/history.db");
  if (!history) return failed(state_failure(history.error(), folder));
  p.history = std::move(*history);
  if (auto made = host::make_folder(folder + "/pods"); !made)
    return failed(state_failure(made.error(), folder));
  p.server = std::make_unique<apiserver::Server>(
      p.loop, *p.journal, Rng(host::random_seed()), p.log,
      apiserver::Options{.admin_token = *token, .metrics = &p.metrics});
  if (auto started = p.server->start(); !started)
    return failed(state_failure(started.error(), folder));
  p.transport = std::make_unique<http::DirectTransport>(p.loop, *p.server);
  p.runtime =
      std::make_unique<host::ProcessRuntime>(p.loop, folder + "/pods", program_path(), p.log);
  p.cluster = std::make_unique<plane::EmbeddedCluster>(
      p.loop, *p.transport, *p.runtime, std::move(nodes), p.log,
      plane::EmbeddedClusterOptions{.seed = host::random_seed()});
  p.plane = std::make_unique<plane::Plane>(
      p.loop, *p.transport, *p.history, p.log,
      plane::PlaneOptions{.is_embedded = true, .seed = host::random_seed()});
  p.server->set_pod_logs(&p.cluster->pod_logs());
  p.server->set_views(&p.plane->views());
  p.door = std::make_unique<MetricsDoor>(
      MetricsDoor::Options{.metrics = [&p] { return p.metrics.text() + p.plane->metrics().text(); },
                           .token = *token,
                           .behind = p.server.get()});
  p.listener = std::make_unique<host::HttpServer>(
      p.loop, *p.door, host::ServerTls{c->server_pem, c->server_key_pem});
  const auto port = listen(*p.listener, folder, up.port);
  if (!port)
    return failed(Failure("TG-UP-006", ExitCode::internal, port.error().message)
                      .fixed_by("let the kernel choose: tau up --port 0, or free the port"));
  const std::string address = fmt::format("https://127.0.0.1:{}", *port);
  for (const auto& [name, text] :
       {std::pair<std::string, std::string>{"/port", std::to_string(*port)},
        {"/kubeconfig", client::kubeconfig_text(address, c->ca_pem, *token)},
        {"/pid", fmt::format("{} {}", getpid(), host::process_start_ticks(getpid()))}}) {
    if (auto written = host::write_file(folder + name, text); !written)
      return failed(state_failure(written.error(), folder));
  }
  p.cluster->start();
  p.plane->when_ready([&p] { p.cluster->start_ttl(); });
  p.plane->start();
  p.loop.on_signals({SIGINT, SIGTERM}, [&p](int) {
    p.log.info("stopping", {{"pods", "left running"}});
    p.loop.stop();
  });
  // Ready once the server answers: its first writes are durable.
  auto check = std::make_shared<std::function<void()>>();
  *check = [&p, check = check.get(), folder, address, &console, prints_steps] {
    if (!p.server->is_ready()) {
      p.loop.after(milliseconds(2), *check);
      return;
    }
    (void)host::write_file(folder + "/ready", address);
    p.log.info("ready", {{"address", address}});
    if (prints_steps) print_next_steps(console, folder, address);
  };
  p.loop.post(*check);
  p.loop.run();
  unlink((folder + "/ready").c_str());
  unlink((folder + "/pid").c_str());
  p.listener->close();
  p.plane.reset();
  p.cluster.reset();
  p.server->stop();
  return ExitCode::ok;
}

}  // namespace

Outcome up(const GlobalOptions& options, const UpOptions& flags, const Console& console) {
  std::string text;
  if (!flags.config.empty()) {
    auto read = host::read_file(flags.config);
    if (!read)
      return failed(Failure("TG-CFG-011", ExitCode::usage, read.error().message).at(flags.config));
    text = std::move(*read);
  }
  auto merged = merged_config(flags, text, flags.config);
  if (!merged) return std::unexpected(merged.error());
  const UpOptions& up = *merged;
  if (const auto level = host::parse_log_level(up.log_level); !level)
    return failed(Failure("TG-UP-010", ExitCode::usage, level.error().message).at("--log-level"));
  if (up.prints_config) console.out(config_text(up));
  const std::string folder = fs::absolute(state_folder(options)).string();
  if (up.checks_config || up.prints_config) {
    if (auto nodes = nodes_of(folder, up.nodes, false); !nodes)
      return std::unexpected(nodes.error());
    if (up.checks_config) console.say("The configuration is fine.");
    return ExitCode::ok;
  }
  if (auto made = host::make_folder(folder); !made)
    return failed(state_failure(made.error(), folder));
  if (const auto running = find_running(folder)) {
    return failed(
        Failure("TG-UP-008", ExitCode::conflict,
                fmt::format("a platform already runs on this state (pid {})", running->pid))
            .at(folder)
            .fixed_by("use it, stop it with: tau down, or choose another: tau up --state DIR"));
  }
  auto nodes = nodes_of(folder, up.nodes, true);
  if (!nodes) return std::unexpected(nodes.error());
  if (up.is_detached) {
    GlobalOptions absolute = options;
    absolute.state = folder;
    return start_detached(absolute, up, console);
  }
  auto lock = host::FileLock::take(folder + "/lock");
  if (!lock)
    return failed(Failure("TG-UP-008", ExitCode::conflict, "a platform already runs on this state")
                      .at(folder)
                      .because(lock.error().message));
  return serve(folder, up, std::move(*nodes), console, true);
}

Outcome down(const GlobalOptions& options, bool ends_pods, const Console& console) {
  const std::string folder = state_folder(options);
  const auto running = find_running(folder);
  if (!running) {
    console.say(fmt::format("No platform runs on {}.", folder));
  } else {
    kill(static_cast<pid_t>(running->pid), SIGTERM);
    for (int i = 0; i < 3000 && host::process_start_ticks(running->pid) == running->start_ticks;
         ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (host::process_start_ticks(running->pid) == running->start_ticks)
      return failed(Failure("TG-UP-009", ExitCode::timed_out,
                            fmt::format("the platform (pid {}) does not end", running->pid)));
    console.say(
        fmt::format("Stopped. State is kept in {}; start again with: tau up --detach", folder));
  }
  // Only now: while it ran, the platform would have started them again.
  const auto living = host::living_containers(folder + "/pods");
  const size_t pods = living.size();
  for (const auto& container : living) {
    if (ends_pods) host::signal_container(container.record, SIGKILL);
  }
  if (pods > 0 && ends_pods)
    console.say(fmt::format("Ended {} running container{}.", pods, pods == 1 ? "" : "s"));
  else if (pods > 0)
    console.say(
        fmt::format("{} container{} left running, to be found again at the next start; to end "
                    "them: tau down --pods",
                    pods, pods == 1 ? " is" : "s are"));
  return ExitCode::ok;
}

}  // namespace tau::cmd
