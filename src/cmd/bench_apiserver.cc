#include "cmd/bench_apiserver.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <chrono>
#include <filesystem>
#include <memory>

#include "embedded/apiserver/memory_journal.h"
#include "embedded/apiserver/server.h"
#include "host/certificates.h"
#include "host/files.h"
#include "host/http_server.h"
#include "host/http_transport.h"
#include "host/sqlite_journal.h"
#include "http/direct_transport.h"

namespace tau::cmd {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::string_view pods = "/api/v1/namespaces/default/pods";
constexpr Duration patience = seconds(120);

enum class Door { in_process, tls_normal, tls_full };

struct Work {
  std::string name;
  Door door = Door::in_process;
  int64_t requests = 0;
  int clients = 1, watchers = 0;
  int64_t objects = 0;  // there before the clock starts
  http::Request (*request)(int64_t index) = nullptr;
};

std::string pod_name(int64_t index) {
  return fmt::format("bench-{}", index);
}

http::Request create_pod(int64_t index) {
  const boost::json::value pod{
      {"apiVersion", "v1"},
      {"kind", "Pod"},
      {"metadata", {{"name", pod_name(index)}, {"labels", {{"app", "bench"}}}}},
      {"spec",
       {{"restartPolicy", "Never"},
        {"containers", boost::json::array{{{"name", "main"},
                                           {"image", "bench"},
                                           {"command", {"/bin/true"}},
                                           {"resources",
                                            {{"requests", {{"cpu", "250m"}, {"memory", "256Mi"}}},
                                             {"limits", {{"nvidia.com/gpu", "1"}}}}}}}}}}};
  return {.method = "POST",
          .target = std::string(pods),
          .headers = {{"content-type", "application/json"}},
          .body = boost::json::serialize(pod)};
}

constexpr int64_t standing_pods = 1000;
http::Request get_pod(int64_t index) {
  return {.target = fmt::format("{}/{}", pods, pod_name(index % standing_pods))};
}
http::Request ask_ready(int64_t) {
  return {.target = "/readyz"};
}
http::Request list_pods(int64_t) {
  return {.target = fmt::format("{}?limit=500", pods)};
}

// A server on state of its own, and the way to it.
class Bench {
 public:
  static Result<std::unique_ptr<Bench>> start(Door door) {
    auto bench = std::unique_ptr<Bench>(new Bench);
    if (door == Door::in_process) {
      bench->journal_ = std::make_unique<apiserver::MemoryJournal>(bench->loop);
    } else {
      bench->folder_ =
          (fs::temp_directory_path() / ("tau-bench-" + host::random_token(8))).string();
      TRY_VOID(host::make_folder(bench->folder_));
      bench->journal_ = TRY(host::SqliteJournal::open(
          bench->loop, bench->folder_ + "/state.db",
          door == Door::tls_full ? host::Durability::full : host::Durability::normal));
    }
    const std::string token = host::random_token(32);
    bench->server_ = std::make_unique<apiserver::Server>(
        bench->loop, *bench->journal_, Rng(1), Log(), apiserver::Options{.admin_token = token});
    TRY_VOID(bench->server_->start());
    if (door == Door::in_process) {
      bench->transport = std::make_unique<http::DirectTransport>(bench->loop, *bench->server_);
    } else {
      TRY_VOID(bench->serve(token));
    }
    if (!bench->loop.run_until([&] { return bench->server_->is_ready(); }, patience))
      return fail(ErrorCode::timeout, "the server does not get ready");
    return bench;
  }
  ~Bench() {
    transport.reset();
    if (listener_) listener_->close();
    server_->stop();
    listener_.reset();
    server_.reset();
    journal_.reset();
    std::error_code ignored;
    if (!folder_.empty()) fs::remove_all(folder_, ignored);
  }

  host::AsioLoop loop;
  std::unique_ptr<http::Transport> transport;

 private:
  Bench() = default;
  Result<void> serve(const std::string& token) {
    const host::Certificates c = TRY(host::make_certificates(host::system_now()));
    listener_ = std::make_unique<host::HttpServer>(loop, *server_,
                                                   host::ServerTls{c.server_pem, c.server_key_pem});
    const uint16_t port = TRY(listener_->listen("127.0.0.1", 0));
    transport = TRY(host::HttpTransport::make(
        loop, {.host = "127.0.0.1", .port = port, .ca_pem = c.ca_pem, .token = token}));
    return {};
  }

  std::string folder_;
  std::unique_ptr<apiserver::Journal> journal_;
  std::unique_ptr<apiserver::Server> server_;
  std::unique_ptr<host::HttpServer> listener_;
};

// Callers that each send their next request when the last one is answered.
class Callers {
 public:
  Callers(Bench& bench, int64_t requests, http::Request (*request)(int64_t))
      : bench_(bench), wanted_(requests), request_(request) {
    latencies_us.reserve(static_cast<size_t>(requests));
  }
  Result<void> run(int clients) {
    for (int i = 0; i < clients; ++i) next();
    if (!bench_.loop.run_until([this] { return is_over(); }, patience))
      return fail(ErrorCode::timeout, fmt::format("{} of {} answers came", answered_, wanted_));
    return failure_ ? Result<void>(std::unexpected(*failure_)) : Result<void>();
  }

  std::vector<double> latencies_us;

 private:
  bool is_over() const { return failure_ || answered_ == wanted_; }
  void next() {
    if (sent_ == wanted_ || failure_) return;
    const auto start = Clock::now();
    http::send_whole(*bench_.transport, request_(sent_++), patience,
                     [this, start](Result<http::Response> response) {
                       latencies_us.push_back(
                           std::chrono::duration<double, std::micro>(Clock::now() - start).count());
                       ++answered_;
                       if (!response) {
                         failure_ = response.error();
                       } else if (response->status >= 300) {
                         failure_ = Error{ErrorCode::internal,
                                          fmt::format("answer {}: {}", response->status,
                                                      response->body.substr(0, 300))};
                       }
                       next();
                     });
  }

  Bench& bench_;
  int64_t wanted_, sent_ = 0, answered_ = 0;
  http::Request (*request_)(int64_t);
  std::optional<Error> failure_;
};

// Open watches; each change is one line.
class Watchers {
 public:
  Watchers(Bench& bench, int count) : bench_(bench), lines_(static_cast<size_t>(count)) {
    for (int64_t& lines : lines_) {
      calls_.push_back(bench.transport->send(
          {.target = fmt::format("{}?watch=true", pods)}, Duration(0),
          {.on_head = [this](const http::ResponseHead&) { ++open_; },
           .on_body =
               [&lines](std::string_view bytes) { lines += std::ranges::count(bytes, '\n'); },
           .on_end = [](Result<void>) {}}));
    }
  }
  ~Watchers() {
    for (const http::CallId call : calls_) bench_.transport->cancel(call);
  }
  Result<void> wait_open() {
    if (!bench_.loop.run_until([this] { return open_ == lines_.size(); }, patience))
      return fail(ErrorCode::timeout, fmt::format("{} of {} watches open", open_, lines_.size()));
    return {};
  }
  Result<void> wait_lines(int64_t wanted) {
    const auto all = [&] {
      return std::ranges::all_of(lines_, [&](int64_t lines) { return lines >= wanted; });
    };
    if (!bench_.loop.run_until(all, patience))
      return fail(ErrorCode::timeout, fmt::format("a watcher did not see all {} changes", wanted));
    return {};
  }

 private:
  Bench& bench_;
  std::vector<int64_t> lines_;
  std::vector<http::CallId> calls_;
  size_t open_ = 0;
};

double percentile(std::vector<double>& sorted, double share) {
  if (sorted.empty()) return 0;
  return sorted[static_cast<size_t>(share * static_cast<double>(sorted.size() - 1))];
}

Result<ServerBenchRow> run_once(const Work& work) {
  const auto bench = TRY(Bench::start(work.door));
  if (work.objects > 0) TRY_VOID(Callers(*bench, work.objects, create_pod).run(16));
  Watchers watchers(*bench, work.watchers);
  TRY_VOID(watchers.wait_open());
  // Each caller's connection is there before the clock starts.
  TRY_VOID(Callers(*bench, work.clients, ask_ready).run(work.clients));
  Callers callers(*bench, work.requests, work.request);
  const auto start = Clock::now();
  TRY_VOID(callers.run(work.clients));
  if (work.watchers > 0) TRY_VOID(watchers.wait_lines(work.requests));
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  std::ranges::sort(callers.latencies_us);
  return ServerBenchRow{.work = work.name,
                        .requests = work.requests,
                        .clients = work.clients,
                        .watchers = work.watchers,
                        .seconds = seconds,
                        .p50_us = percentile(callers.latencies_us, 0.50),
                        .p99_us = percentile(callers.latencies_us, 0.99)};
}

}  // namespace

Result<std::vector<ServerBenchRow>> measure_apiserver(int runs) {
  const Work works[] = {
      {"get, in process", Door::in_process, 50'000, 1, 0, standing_pods, get_pod},
      {"list of 500, in process", Door::in_process, 50, 1, 0, standing_pods, list_pods},
      {"create, in process", Door::in_process, 10'000, 16, 20, 0, create_pod},
      {"get, TLS", Door::tls_normal, 10'000, 16, 0, standing_pods, get_pod},
      {"list of 500, TLS", Door::tls_normal, 50, 4, 0, standing_pods, list_pods},
      {"create, TLS, survives kill -9", Door::tls_normal, 5'000, 100, 20, 0, create_pod},
      {"create, TLS, survives power loss", Door::tls_full, 5'000, 100, 20, 0, create_pod},
  };
  std::vector<ServerBenchRow> rows;
  for (const Work& work : works) {
    std::vector<ServerBenchRow> measured;
    for (int run = 0; run < runs; ++run) {
      auto row = run_once(work);
      if (!row) return std::unexpected(with_context(row.error(), work.name));
      measured.push_back(std::move(*row));
    }
    std::ranges::sort(measured, {}, &ServerBenchRow::seconds);
    rows.push_back(measured[measured.size() / 2]);
  }
  return rows;
}

}  // namespace tau::cmd
