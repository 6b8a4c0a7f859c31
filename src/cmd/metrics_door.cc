#include "cmd/metrics_door.h"

namespace tau::cmd {

void MetricsDoor::handle(const http::Peer& peer, http::Request request,
                         std::unique_ptr<http::ResponseSink> sink) {
  const std::string path = request.target.substr(0, request.target.find('?'));
  const bool is_get = request.method == "GET" || request.method == "HEAD";
  if (path == "/metrics" && is_get) {
    const bool is_allowed =
        options_.token.empty() || peer.is_in_process ||
        http::find_header(request.headers, "Authorization") == "Bearer " + options_.token;
    if (!is_allowed)
      return http::respond(*sink, 401, "text/plain",
                           "unauthorized: the bearer token of the kubeconfig is needed\n");
    return http::respond(*sink, 200, "text/plain; version=0.0.4; charset=utf-8",
                         request.method == "HEAD" ? "" : options_.metrics());
  }
  if (options_.behind != nullptr)
    return options_.behind->handle(peer, std::move(request), std::move(sink));
  if (path == "/healthz" || path == "/livez") return http::respond(*sink, 200, "text/plain", "ok");
  if (path == "/readyz")
    return options_.is_ready()
               ? http::respond(*sink, 200, "text/plain", "ok")
               : http::respond(*sink, 503, "text/plain", "not ready: not everything is listed yet");
  http::respond(*sink, 404, "text/plain", "/metrics, /healthz and /readyz are here\n");
}

}  // namespace tau::cmd
