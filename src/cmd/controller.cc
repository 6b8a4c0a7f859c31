// `tau controller`: the same plane over any API server, leader-elected by a Lease.
#include <fmt/format.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <csignal>

#include "cmd/metrics_door.h"
#include "cmd/verbs.h"
#include "host/certificates.h"
#include "host/files.h"
#include "host/http_server.h"
#include "host/log_sink.h"
#include "host/sqlite_history.h"
#include "meta/json.h"
#include "plane/plane.h"

namespace tau::cmd {
namespace json = boost::json;

namespace {

constexpr Duration lease_length = seconds(15), renew_period = seconds(5);

// Takes or renews the Lease. True while it is ours.
Try<bool> hold_lease(Session& session, const std::string& identity) {
  const kube::ApiRequest read{.verb = kube::Verb::get,
                              .kind = kube::Kind::lease,
                              .ns = "kube-system",
                              .name = "taugrid-controller"};
  const Time now = host::system_now();
  const json::object spec{{"holderIdentity", identity},
                          {"leaseDurationSeconds", 15},
                          {"renewTime", format_rfc3339_micros(now)}};
  auto lease = session.call(read);
  if (!lease) {
    if (lease.error().exit != ExitCode::not_found) return std::unexpected(lease.error());
    const json::object made{{"apiVersion", "coordination.k8s.io/v1"},
                            {"kind", "Lease"},
                            {"metadata", json::object{{"name", "taugrid-controller"}}},
                            {"spec", spec}};
    auto done =
        session.call(kube::create_request(kube::Kind::lease, "kube-system", json::serialize(made)));
    return done.has_value();
  }
  const auto renewed = parse_rfc3339(meta::string_at(*lease, "spec.renewTime"));
  const bool is_ours = meta::string_at(*lease, "spec.holderIdentity") == identity;
  const bool is_held = !meta::string_at(*lease, "spec.holderIdentity").empty();
  if (!is_ours && is_held && renewed && now < *renewed + lease_length) return false;
  const json::object patch{
      {"metadata", json::object{{"resourceVersion", std::string(meta::string_at(
                                                        *lease, "metadata.resourceVersion"))}}},
      {"spec", spec}};
  return session
      .call(kube::merge_patch(kube::Kind::lease, "kube-system", "taugrid-controller",
                              json::serialize(patch)))
      .has_value();
}

// Lets the next one lead at once. Best effort: else the lease runs out.
void give_lease_back(Session& session, const std::string& identity) {
  auto lease = session.call({.verb = kube::Verb::get,
                             .kind = kube::Kind::lease,
                             .ns = "kube-system",
                             .name = "taugrid-controller"});
  if (!lease || meta::string_at(*lease, "spec.holderIdentity") != identity) return;
  const json::object patch{
      {"metadata", json::object{{"resourceVersion", std::string(meta::string_at(
                                                        *lease, "metadata.resourceVersion"))}}},
      {"spec", json::object{{"holderIdentity", ""}}}};
  (void)session.call(kube::merge_patch(kube::Kind::lease, "kube-system", "taugrid-controller",
                                       json::serialize(patch)));
}

}  // namespace

Outcome controller(const GlobalOptions& options, const ControllerOptions& controller,
                   const Console& console) {
  auto opened = Session::open(options);
  if (!opened) return std::unexpected(opened.error());
  Session& session = **opened;
  const std::string identity = fmt::format("tau-{}-{}", getpid(), host::random_token(4));
  bool says_waiting = true;
  while (true) {
    auto is_ours = hold_lease(session, identity);
    if (!is_ours) return std::unexpected(is_ours.error());
    if (*is_ours) break;
    if (std::exchange(says_waiting, false))
      console.say("Another controller leads; waiting for its lease.");
    session.loop().run_until([] { return false; }, renew_period);
  }
  const std::string folder = state_folder(options) + "/controller";
  if (auto made = host::make_folder(folder); !made)
    return failed(Failure("TG-CTL-001", ExitCode::internal, made.error().message).at(folder));
  auto history = host::SqliteHistory::open(folder + "/history.db");
  if (!history)
    return failed(Failure("TG-CTL-002", ExitCode::internal, history.error().message).at(folder));
  const Log log = host::make_log({}).value_or(Log());
  plane::Plane plane(session.loop(), session.transport(), **history, log,
                     plane::PlaneOptions{.is_embedded = false,
                                         .scheduler_name = controller.scheduler_name,
                                         .seed = host::random_seed()});
  bool is_stopping = false, is_ready = false;
  plane.when_ready([&] {
    is_ready = true;
    is_stopping |= controller.ends_when_ready;
    console.say("Ready: scheduling as " + controller.scheduler_name);
  });
  MetricsDoor door(
      {.metrics = [&] { return plane.metrics().text(); }, .is_ready = [&] { return is_ready; }});
  std::unique_ptr<host::HttpServer> listener;
  if (controller.metrics_port >= 0) {
    const auto certificates = host::make_certificates(host::system_now());
    if (!certificates) return failed(Failure(certificates.error()));
    listener = std::make_unique<host::HttpServer>(
        session.loop(), door,
        host::ServerTls{certificates->server_pem, certificates->server_key_pem});
    const auto port = listener->listen("127.0.0.1", static_cast<uint16_t>(controller.metrics_port));
    if (!port)
      return failed(
          Failure("TG-CTL-004", ExitCode::internal, port.error().message).at("--metrics-port"));
    console.say(fmt::format("Metrics at https://127.0.0.1:{}/metrics", *port));
  }
  plane.start();
  Time renewed = session.loop().now();
  session.loop().on_signals({SIGINT, SIGTERM}, [&](int) { is_stopping = true; });
  while (true) {
    session.loop().run_until([&] { return is_stopping; }, renew_period);
    if (is_stopping) break;
    auto is_ours = hold_lease(session, identity);
    const Time now = session.loop().now();
    if (is_ours && *is_ours) renewed = now;
    // Deposed, or cut off for as long as the lease lasts: another may lead now, so nothing more is
    // written.
    const bool is_deposed = is_ours && !*is_ours;
    if (!is_deposed && now - renewed < lease_length) continue;
    plane.stop();
    if (is_deposed)
      return failed(
          Failure("TG-CTL-003", ExitCode::conflict, "the lease was taken by another controller"));
    return failed(
        Failure("TG-CTL-005", ExitCode::unreachable, "the lease could not be renewed in time")
            .because(is_ours ? "" : is_ours.error().what));
  }
  plane.stop();
  give_lease_back(session, identity);
  return ExitCode::ok;
}

}  // namespace tau::cmd
