// Server: the embedded Kubernetes API server, as an http::Handler over a Journal. It knows the
// kinds of kube/resources.h and speaks as kube-apiserver does: discovery, OpenAPI, get, list,
// watch, create, update, patch, delete, tables, Status errors. An answered write is durable; what
// is read is durable. Not here: sockets and TLS (host), controllers, users other than the one
// administrator.
#pragma once

#include <memory>
#include <string>

#include "base/limits.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/metrics.h"
#include "base/rng.h"
#include "embedded/apiserver/journal.h"
#include "http/message.h"

namespace tau::apiserver {

struct Options {
  std::string admin_token;  // bearer token of peers that are not in process; "" admits none of them
  http::Handler* pod_logs =
      nullptr;  // answers GET .../pods/{name}/log of pods that exist; may be set later
  http::Handler* views = nullptr;  // answers everything below /apis/view.taugrid.io/
  Metrics* metrics = nullptr;
  size_t history_events = limits::watch_history_events;
  size_t history_bytes = limits::watch_history_bytes;
};

class Server : public http::Handler {
 public:
  Server(Loop& loop, Journal& journal, Rng rng, Log log, Options options);
  ~Server() override;

  // Replays the journal (blocking), then makes what every cluster has (system namespaces, priority
  // classes). Requests that come before that is durable wait for it.
  Result<void> start();
  // Ends all watches; later requests get 503.
  void stop();
  bool is_ready() const;
  // For parts that are made after the server.
  void set_pod_logs(http::Handler* handler);
  void set_views(http::Handler* handler);
  int64_t revision() const;  // of the last durable change
  void handle(const http::Peer& peer, http::Request request,
              std::unique_ptr<http::ResponseSink> sink) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tau::apiserver
