#include "embedded/apiserver/server.h"

#include <boost/json.hpp>

#include <fmt/format.h>

#include "base/text.h"
#include "embedded/apiserver/call.h"
#include "embedded/apiserver/discovery.h"
#include "embedded/apiserver/expiry.h"
#include "embedded/apiserver/openapi.h"
#include "embedded/apiserver/reads.h"
#include "embedded/apiserver/rules.h"
#include "embedded/apiserver/service.h"
#include "embedded/apiserver/writes.h"

namespace tau::apiserver {
namespace {

namespace json = boost::json;
using kube::Kind;

constexpr size_t calls_waiting_at_start = 1024;

// Compares every byte, so that the time taken tells nothing of where they differ.
bool is_same_secret(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned char difference = 0;
  for (size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned char>(a[i] ^ b[i]);
  return difference == 0;
}

struct First {
  Kind kind;
  kube::ObjectKey key;
  json::object object;
};

json::object new_object(Kind kind, std::string_view name, std::string_view ns) {
  const kube::ResourceInfo& resource = kube::info(kind);
  json::object metadata{{"name", name}};
  if (!ns.empty()) metadata["namespace"] = ns;
  return {{"kind", resource.kind_name},
          {"apiVersion", kube::api_version(resource)},
          {"metadata", std::move(metadata)}};
}

json::object priority_class(std::string_view name, int64_t value, std::string_view description) {
  json::object object = new_object(Kind::priority_class, name, "");
  object["value"] = value;
  object["description"] = description;
  object["preemptionPolicy"] = "PreemptLowerPriority";
  return object;
}

// What every cluster has, as far as it is missing.
std::vector<First> missing_basics(Service& service) {
  std::vector<First> result;
  const auto add = [&](Kind kind, kube::ObjectKey key, json::object object) {
    if (service.store.find(kind, key)) return;
    stamp_new(kube::info(kind), object, service.loop.now(), service.rng);
    result.push_back({kind, std::move(key), std::move(object)});
  };
  for (const std::string_view name : {"default", "kube-node-lease", "kube-public", "kube-system"}) {
    json::object object = new_object(Kind::namespace_, name, "");
    object["metadata"].as_object()["labels"] = json::object{{"kubernetes.io/metadata.name", name}};
    object["spec"] = json::object{{"finalizers", json::array{"kubernetes"}}};
    object["status"] = json::object{{"phase", "Active"}};
    const bool is_new = !service.store.find(Kind::namespace_, {"", std::string(name)});
    add(Kind::namespace_, {"", std::string(name)}, std::move(object));
    if (is_new) {
      add(Kind::service_account, {std::string(name), "default"},
          new_object(Kind::service_account, "default", name));
    }
  }
  add(Kind::priority_class, {"", "system-cluster-critical"},
      priority_class("system-cluster-critical", 2'000'000'000,
                     "For what the cluster needs, on whichever node."));
  add(Kind::priority_class, {"", "system-node-critical"},
      priority_class("system-node-critical", 2'000'001'000,
                     "For what a node needs; above everything else."));
  return result;
}

void answer_self_review(Call& call) {
  Answer<json::value> body = parse_body(call.request);
  if (!body) return call.answer(body.error());
  if (!body->is_object()) return call.answer(bad_request("the request body must be an object"));
  json::object object = std::move(body->get_object());
  if (call.url.segments.back() == "selfsubjectreviews") {
    object["status"] = json::object{
        {"userInfo",
         json::object{{"username", "admin"},
                      {"groups", json::array{"system:masters", "system:authenticated"}}}}};
  } else {
    object["status"] = json::object{
        {"allowed", true}, {"reason", "the one token of this server is the administrator's"}};
  }
  call.answer(201, json::serialize(object));
}

// Paths that are understood, but not served.
std::optional<StatusError> not_served(const http::Url& url) {
  const std::vector<std::string>& s = url.segments;
  if (s.size() == 7 && s[4] == "serviceaccounts" && s[6] == "token") {
    return not_implemented(
        "tokens of service accounts are not supported: the administrator's token is the only one");
  }
  if (s.size() >= 7 && s[4] == "pods") {
    for (const std::string_view name :
         {"exec", "attach", "portforward", "proxy", "ephemeralcontainers", "resize"}) {
      if (s[6] == name)
        return not_implemented(fmt::format("pods/{} is not supported by this server", name));
    }
  }
  return std::nullopt;
}

}  // namespace

struct Server::Impl {
  Service service;
  Discovery discovery;
  OpenApi openapi;
  EventExpiry expiry;
  bool is_ready = false;
  bool is_stopped = false;
  std::vector<CallPointer> waiting;  // for the start to be durable

  Impl(Loop& loop, Journal& journal, Rng rng, Log log, Options options)
      : service(loop, journal, rng, std::move(log), std::move(options)), expiry(service) {}

  void make_basics();
  void set_ready();
  bool answer_health(Call& call);
  bool is_authorized(const Call& call) const;
  void dispatch(CallPointer call);
  void dispatch_resource(CallPointer call);
  void dispatch_collection(CallPointer call);
  void dispatch_item(CallPointer call);
  void dispatch_subresource(CallPointer call);
  void forward_log(Call& call);
  void count(const Call& call);
};

Server::Server(Loop& loop, Journal& journal, Rng rng, Log log, Options options)
    : impl_(std::make_unique<Impl>(loop, journal, rng, std::move(log), std::move(options))) {}
Server::~Server() = default;

Result<void> Server::start() {
  Impl& impl = *impl_;
  TRY_VOID(impl.service.store.start());
  impl.service.store.set_listener([&impl](const StoreEvent& event) {
    impl.service.watches.on_event(event);
    impl.expiry.on_event(event);
  });
  impl.make_basics();
  return {};
}

void Server::Impl::make_basics() {
  std::vector<First> missing = missing_basics(service);
  if (missing.empty()) return set_ready();
  std::vector<StoreWrite> writes;
  for (First& first : missing) writes.push_back({first.kind, first.key, &first.object, false});
  service.store.commit(writes, [this](Result<std::vector<ObjectPointer>> states) {
    if (!states) {
      service.log.error("the first objects could not be kept", {{"error", states.error().message}});
      service.loop.after(seconds(1), [this, is_alive = service.store.is_alive()] {
        if (*is_alive) make_basics();
      });
      return;
    }
    set_ready();
  });
}

void Server::Impl::set_ready() {
  expiry.start();
  is_ready = true;
  for (CallPointer& call : std::exchange(waiting, {})) dispatch(std::move(call));
}

void Server::stop() {
  impl_->is_stopped = true;
  impl_->expiry.stop();
  impl_->service.watches.end_all();
}

bool Server::is_ready() const {
  return impl_->is_ready && !impl_->is_stopped;
}
void Server::set_pod_logs(http::Handler* handler) {
  impl_->service.options.pod_logs = handler;
}
void Server::set_views(http::Handler* handler) {
  impl_->service.options.views = handler;
}
int64_t Server::revision() const {
  return impl_->service.store.revision();
}

void Server::handle(const http::Peer& peer, http::Request request,
                    std::unique_ptr<http::ResponseSink> sink) {
  auto call = std::make_shared<Call>();
  call->peer = peer;
  call->request = std::move(request);
  call->sink = std::move(sink);
  auto url = http::parse_target(call->request.target);
  if (!url) return call->answer(bad_request(url.error().message));
  call->url = std::move(*url);
  if (impl_->answer_health(*call)) return;
  if (!impl_->is_authorized(*call)) return call->answer(unauthorized());
  const bool is_full = impl_->waiting.size() >= calls_waiting_at_start;
  if (impl_->is_stopped || (!impl_->is_ready && is_full)) {
    StatusError error{503, "ServiceUnavailable", "the server is starting or stopping"};
    error.retry_after_seconds = 1;
    return call->answer(error);
  }
  if (!impl_->is_ready) {
    impl_->waiting.push_back(std::move(call));
    return;
  }
  impl_->dispatch(std::move(call));
}

bool Server::Impl::answer_health(Call& call) {
  const std::vector<std::string>& segments = call.url.segments;
  if (segments.empty()) return false;
  if (segments[0] != "livez" && segments[0] != "readyz" && segments[0] != "healthz") return false;
  const bool is_fine = segments[0] == "livez" || (is_ready && !is_stopped);
  http::respond(*call.sink, is_fine ? 200 : 503, "text/plain; charset=utf-8",
                is_fine ? "ok" : "not ready");
  call.sink.reset();
  return true;
}

bool Server::Impl::is_authorized(const Call& call) const {
  if (call.peer.is_in_process) return true;
  const std::string_view header = http::find_header(call.request.headers, "Authorization");
  constexpr std::string_view prefix = "Bearer ";
  if (service.options.admin_token.empty() || header.size() <= prefix.size()) return false;
  if (to_lower(header.substr(0, prefix.size())) != to_lower(prefix)) return false;
  return is_same_secret(trim(header.substr(prefix.size())), service.options.admin_token);
}

void Server::Impl::dispatch(CallPointer call) {
  const std::string& method = call->request.method;
  const std::vector<std::string>& segments = call->url.segments;
  const bool is_views =
      segments.size() > 3 && segments[0] == "apis" && segments[1] == "view.taugrid.io";
  if (is_views) {
    if (service.options.views == nullptr) return call->answer(path_not_found());
    return service.options.views->handle(call->peer, std::move(call->request),
                                         std::move(call->sink));
  }
  if (method == "GET" || method == "HEAD") {
    if (const auto found = discovery.find(call->url, call->request.headers)) {
      http::respond(*call->sink, 200, found->content_type, found->text, {{"Vary", "Accept"}});
      return call->sink.reset();
    }
    if (const auto text = openapi.find(call->url)) return call->answer(200, *text);
  }
  const bool is_review =
      segments.size() == 4 && method == "POST" &&
      (segments[3] == "selfsubjectreviews" || segments[3] == "selfsubjectaccessreviews") &&
      (segments[1] == "authentication.k8s.io" || segments[1] == "authorization.k8s.io");
  if (is_review) return answer_self_review(*call);
  if (auto refusal = not_served(call->url)) return call->answer(*refusal);
  auto route = parse_route(call->url);
  if (!route) return call->answer(path_not_found());
  call->route = std::move(*route);
  auto format = choose_format(call->request, call->url, call->route.version);
  if (!format) return call->answer(format.error());
  call->format = std::move(*format);
  count(*call);
  dispatch_resource(std::move(call));
}

void Server::Impl::dispatch_resource(CallPointer call) {
  const std::string& method = call->request.method;
  if (method != "GET" && call->format.shown == Shown::table && call->route.subresource.empty() &&
      method != "POST" && method != "PUT" && method != "PATCH" && method != "DELETE") {
    return call->answer(not_acceptable("tables are answers to GET"));
  }
  if (!call->route.subresource.empty()) return dispatch_subresource(std::move(call));
  if (call->route.name.empty()) return dispatch_collection(std::move(call));
  dispatch_item(std::move(call));
}

void Server::Impl::dispatch_collection(CallPointer call) {
  const std::string& method = call->request.method;
  const bool is_whole_cluster = call->route.resource->is_namespaced && call->route.ns.empty();
  if (method == "GET" && is_true(call->query("watch"))) return watch_objects(service, *call);
  if (method == "GET") return list_objects(service, *call);
  if (method == "POST" && !is_whole_cluster) return create_object(service, std::move(call));
  if (method == "DELETE" && !is_whole_cluster && call->route.resource->kind != Kind::namespace_) {
    return delete_collection(service, std::move(call));
  }
  call->answer(
      method_not_allowed("the server does not allow this method on the requested resource"));
}

void Server::Impl::dispatch_item(CallPointer call) {
  const std::string& method = call->request.method;
  if (method == "GET" && is_true(call->query("watch"))) return watch_objects(service, *call);
  if (method == "GET") return get_object(service, *call);
  if (method == "PUT") return update_object(service, std::move(call));
  if (method == "PATCH") return patch_object(service, std::move(call));
  if (method == "DELETE") return delete_object(service, std::move(call));
  call->answer(
      method_not_allowed("the server does not allow this method on the requested resource"));
}

void Server::Impl::dispatch_subresource(CallPointer call) {
  const std::string& method = call->request.method;
  const std::string& name = call->route.subresource;
  if (name == "status") {
    if (method == "GET") return get_object(service, *call);
    if (method == "PUT") return update_object(service, std::move(call));
    if (method == "PATCH") return patch_object(service, std::move(call));
  }
  if (name == "log" && method == "GET") return forward_log(*call);
  if (name == "binding" && method == "POST") return bind_pod(service, std::move(call));
  if (name == "eviction" && method == "POST") return evict_pod(service, std::move(call));
  if (name == "finalize" && method == "PUT") return finalize_namespace(service, std::move(call));
  call->answer(
      method_not_allowed("the server does not allow this method on the requested resource"));
}

void Server::Impl::forward_log(Call& call) {
  if (!service.store.find(Kind::pod, {call.route.ns, call.route.name})) {
    return call.answer(not_found(*call.route.resource, call.route.name));
  }
  if (service.options.pod_logs == nullptr)
    return call.answer(not_implemented("this server has no pod logs"));
  service.options.pod_logs->handle(call.peer, std::move(call.request), std::move(call.sink));
}

void Server::Impl::count(const Call& call) {
  if (service.options.metrics == nullptr) return;
  static constexpr std::string_view known[] = {"GET", "POST", "PUT", "PATCH", "DELETE"};
  const bool is_known =
      std::find(std::begin(known), std::end(known), call.request.method) != std::end(known);
  service.options.metrics->add("taugrid_apiserver_requests_total",
                               "Requests to the embedded API server.",
                               {{"method", is_known ? call.request.method : "other"},
                                {"resource", std::string(call.route.resource->resource)}});
}

}  // namespace tau::apiserver
