#include "cmd/session.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <cstdlib>

#include "client/kubeconfig.h"
#include "cmd/local_views.h"
#include "host/files.h"
#include "host/http_transport.h"
#include "meta/json.h"

namespace tau::cmd {
namespace json = boost::json;

std::string state_folder(const GlobalOptions& options) {
  return options.state.empty() ? host::home_folder() + "/.tau" : options.state;
}

namespace {

std::string kubeconfig_path(const GlobalOptions& options) {
  if (!options.kubeconfig.empty()) return options.kubeconfig;
  if (!options.state.empty()) return options.state + "/kubeconfig";
  if (const char* named = std::getenv("KUBECONFIG"); named != nullptr && *named != '\0')
    return std::string(named).substr(0, std::string(named).find(':'));
  const std::string own = host::home_folder() + "/.tau/kubeconfig";
  return host::file_exists(own) ? own : host::home_folder() + "/.kube/config";
}

Result<void> read_if_named(std::string& text, const std::string& path) {
  if (text.empty() && !path.empty()) text = TRY(host::read_file(path));
  return {};
}

Failure unreachable(const std::string& server, const Error& error) {
  return Failure("TG-NET-001", ExitCode::unreachable, fmt::format("no answer from {}", server))
      .because(error.message)
      .fixed_by("start the platform: tau up --detach; or look what is wrong: tau doctor");
}

Failure refused(const Error& error) {
  switch (error.code) {
    case ErrorCode::not_found:
      return Failure("TG-API-404", ExitCode::not_found, error.message);
    case ErrorCode::unauthorized:
    case ErrorCode::forbidden:
      return Failure("TG-API-403", ExitCode::forbidden, error.message);
    case ErrorCode::conflict:
    case ErrorCode::already_exists:
      return Failure("TG-API-409", ExitCode::conflict, error.message);
    case ErrorCode::invalid:
    case ErrorCode::bad_request:
      return Failure("TG-API-422", ExitCode::usage, error.message);
    default:
      return Failure("TG-API-500", ExitCode::internal, error.message);
  }
}

}  // namespace

Session::~Session() = default;

Try<std::unique_ptr<Session>> Session::open(const GlobalOptions& options) {
  const std::string path = kubeconfig_path(options);
  const auto text = host::read_file(path);
  if (!text) {
    return failed(
        Failure("TG-CFG-001", ExitCode::unreachable, "no kubeconfig to speak to a cluster with")
            .at(path)
            .because(text.error().message)
            .fixed_by("start a platform: tau up --detach; or name one: --kubeconfig FILE"));
  }
  auto access = client::parse_kubeconfig(*text, options.context);
  if (!access)
    return failed(Failure("TG-CFG-002", ExitCode::usage, access.error().message).at(path));
  for (const auto& [to, from] :
       {std::pair(&access->ca_pem, &access->ca_file),
        std::pair(&access->token, &access->token_file),
        std::pair(&access->client_certificate_pem, &access->client_certificate_file),
        std::pair(&access->client_key_pem, &access->client_key_file)}) {
    if (auto done = read_if_named(*to, *from); !done)
      return failed(Failure("TG-CFG-003", ExitCode::usage, done.error().message).at(path));
  }
  auto endpoint = host::parse_server_url(access->server);
  if (!endpoint)
    return failed(Failure("TG-CFG-004", ExitCode::usage, endpoint.error().message).at(path));
  endpoint->ca_pem = access->ca_pem;
  endpoint->token = access->token;
  endpoint->client_certificate_pem = access->client_certificate_pem;
  endpoint->client_key_pem = access->client_key_pem;
  endpoint->skips_verification = access->skips_verification;
  std::unique_ptr<Session> session(new Session());
  session->server_ = access->server;
  session->note_ = options.note;
  session->ns_ = options.ns.empty() ? access->ns : options.ns;
  auto transport = host::HttpTransport::make(session->loop_, std::move(*endpoint));
  if (!transport)
    return failed(Failure("TG-CFG-005", ExitCode::usage, transport.error().message).at(path));
  session->transport_ = std::move(*transport);
  return session;
}

Try<http::Response> Session::raw(http::Request request, Duration timeout) {
  std::optional<Result<http::Response>> answer;
  http::send_whole(*transport_, std::move(request), timeout,
                   [&](Result<http::Response> r) { answer = std::move(r); });
  loop_.run_until([&] { return answer.has_value(); }, timeout + seconds(5));
  if (!answer) return failed(unreachable(server_, {ErrorCode::timeout, "timed out"}));
  if (!*answer) return failed(unreachable(server_, answer->error()));
  return std::move(**answer);
}

Try<json::value> Session::call(const kube::ApiRequest& request) {
  auto response = raw(kube::to_http(request));
  if (!response) return std::unexpected(response.error());
  if (response->status / 100 != 2)
    return failed(refused(kube::to_error(response->status, response->body)));
  auto parsed = meta::parse_json(response->body);
  if (!parsed)
    return failed(Failure("TG-API-001", ExitCode::internal,
                          "the server's answer cannot be read: " + parsed.error().message));
  return std::move(*parsed);
}

Try<json::value> Session::get_from_server(const std::string& target) {
  auto response = raw({.target = target, .headers = {{"Accept", "application/json"}}});
  if (!response) return std::unexpected(response.error());
  if (response->status / 100 != 2)
    return failed(refused(kube::to_error(response->status, response->body)));
  auto parsed = meta::parse_json(response->body);
  if (!parsed)
    return failed(Failure("TG-API-001", ExitCode::internal,
                          "the server's answer cannot be read: " + parsed.error().message));
  return std::move(*parsed);
}

// Asked only when a view was refused: a run may be missing, or the whole API.
bool Session::serves_views() {
  if (!serves_views_) {
    serves_views_ = get_from_server("/apis/view.taugrid.io/v1alpha1").has_value();
    if (!*serves_views_ && note_)
      note_(
          "note: this cluster does not serve view.taugrid.io; shown is what Jobs, Workloads and "
          "pods say");
  }
  return *serves_views_;
}

Try<json::value> Session::get(const std::string& target) {
  const bool is_view = target.starts_with("/apis/view.taugrid.io/");
  if (!is_view || serves_views_.value_or(true)) {
    auto answer = get_from_server(target);
    if (answer || !is_view) return answer;
    const ExitCode exit = answer.error().exit;
    if ((exit != ExitCode::not_found && exit != ExitCode::forbidden) || serves_views())
      return answer;
  }
  return local_view(
      target, [this](const std::string& t) { return get_from_server(t); }, loop_.now());
}

Try<int> Session::stream(http::Request request,
                         const std::function<void(std::string_view)>& on_body,
                         const std::function<bool()>& stop) {
  int status = 0;
  std::string error_body;
  std::optional<Result<void>> end;
  http::ResponseCallbacks callbacks;
  callbacks.on_head = [&](const http::ResponseHead& head) { status = head.status; };
  callbacks.on_body = [&](std::string_view bytes) {
    if (status / 100 == 2)
      on_body(bytes);
    else
      error_body += bytes;
  };
  callbacks.on_end = [&](Result<void> outcome) { end = std::move(outcome); };
  const http::CallId call = transport_->send(std::move(request), Duration(0), std::move(callbacks));
  while (!end && !stop()) loop_.run_until([&] { return end.has_value(); }, milliseconds(200));
  if (!end) {
    transport_->cancel(call);
    return status;
  }
  if (!*end && status == 0) return failed(unreachable(server_, end->error()));
  if (status / 100 != 2) return failed(refused(kube::to_error(status, error_body)));
  return status;
}

}  // namespace tau::cmd
