// `tau controller`: the same plane over any API server, leader-elected by a Lease.
#include <fmt/format.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <csignal>

#include "cmd/metrics_door.h"
#include "cmd/policy.h"
#include "cmd/verbs.h"
#include "host/certificates.h"
#include "host/files.h"
#include "host/http_server.h"
#include "host/log_sink.h"
#include "host/sqlite_history.h"
#include "plane/plane.h"

namespace tau::cmd {
namespace {

// Serves /metrics, /healthz and /readyz until it is destroyed.
Try<std::unique_ptr<host::HttpServer>> serve_metrics(host::AsioLoop& loop, MetricsDoor& door,
                                                     int port, const Console& console) {
  const auto certificates = host::make_certificates(host::system_now());
  if (!certificates) return failed(Failure(certificates.error()));
  auto listener = std::make_unique<host::HttpServer>(
      loop, door, host::ServerTls{certificates->server_pem, certificates->server_key_pem});
  const auto bound = listener->listen("127.0.0.1", static_cast<uint16_t>(port));
  if (!bound)
    return failed(
        Failure("TG-CTL-004", ExitCode::internal, bound.error().message).at("--metrics-port"));
  console.say(fmt::format("Metrics at https://127.0.0.1:{}/metrics", *bound));
  return listener;
}

// How it ended, as the plane says it.
struct End {
  bool is_stopping = false;
  std::optional<std::string> deposed_because;
  bool is_over() const { return is_stopping || deposed_because; }
};

plane::PlaneOptions plane_options(const ControllerOptions& controller, const Console& console,
                                  End& end) {
  return {.is_embedded = false,
          .scheduler_name = controller.scheduler_name,
          .seed = host::random_seed(),
          .lease_identity = fmt::format("tau-{}-{}", getpid(), host::random_token(4)),
          .on_waiting =
              [&console](const std::string& holder) {
                console.say(fmt::format("{} leads; waiting for its lease.", holder));
              },
          .on_deposed = [&end](std::string why) { end.deposed_because = std::move(why); }};
}

}  // namespace

Outcome controller(const GlobalOptions& options, const ControllerOptions& controller,
                   const Console& console) {
  if (controller.installs_policy)
    return install_policy(options, controller.scheduler_name, console);
  auto opened = Session::open(options);
  if (!opened) return std::unexpected(opened.error());
  Session& session = **opened;
  // A server that cannot be reached, or rights that are missing, are said now, not retried.
  const kube::ApiRequest first{
      .verb = kube::Verb::list, .kind = kube::Kind::workload, .query = "limit=1"};
  if (auto answer = session.call(first); !answer) return std::unexpected(answer.error());
  const std::string folder = state_folder(options) + "/controller";
  if (auto made = host::make_folder(folder); !made)
    return failed(Failure("TG-CTL-001", ExitCode::internal, made.error().message).at(folder));
  auto history = host::SqliteHistory::open(folder + "/history.db");
  if (!history)
    return failed(Failure("TG-CTL-002", ExitCode::internal, history.error().message).at(folder));
  const Log log = host::make_log({}).value_or(Log());
  End end;
  bool is_ready = false;
  plane::Plane plane(session.loop(), session.transport(), **history, log,
                     plane_options(controller, console, end));
  plane.when_ready([&] {
    is_ready = true;
    end.is_stopping |= controller.ends_when_ready;
    console.say("Ready: scheduling as " + controller.scheduler_name);
  });
  MetricsDoor door(
      {.metrics = [&] { return plane.metrics().text(); }, .is_ready = [&] { return is_ready; }});
  std::unique_ptr<host::HttpServer> listener;
  if (controller.metrics_port >= 0) {
    auto served = serve_metrics(session.loop(), door, controller.metrics_port, console);
    if (!served) return std::unexpected(served.error());
    listener = std::move(*served);
  }
  session.loop().on_signals({SIGINT, SIGTERM}, [&](int) { end.is_stopping = true; });
  plane.start();
  while (!end.is_over()) session.loop().run_until([&] { return end.is_over(); }, hours(1));
  if (end.deposed_because)
    return failed(Failure("TG-CTL-003", ExitCode::conflict, "this controller leads no more")
                      .because(*end.deposed_because));
  // The lease is given back, so that the next one need not wait; a server that is gone is no
  // matter.
  bool is_released = false;
  plane.stop([&] { is_released = true; });
  session.loop().run_until([&] { return is_released; }, seconds(3));
  return ExitCode::ok;
}

}  // namespace tau::cmd
