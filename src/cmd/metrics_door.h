// MetricsDoor: answers GET /metrics, /healthz and /readyz, and hands the rest on. Stands before the
// embedded server in `tau up`, and alone in `tau controller`.
#pragma once

#include <functional>
#include <string>

#include "http/message.h"

namespace tau::cmd {

class MetricsDoor : public http::Handler {
 public:
  struct Options {
    std::function<std::string()> metrics;  // Prometheus text
    std::function<bool()> is_ready;        // for /readyz where nothing is behind the door
    std::string token;                     // bearer token that /metrics wants; "" = none
    http::Handler* behind = nullptr;       // null: everything else is 404
  };
  explicit MetricsDoor(Options options) : options_(std::move(options)) {}
  void handle(const http::Peer& peer, http::Request request,
              std::unique_ptr<http::ResponseSink> sink) override;

 private:
  Options options_;
};

}  // namespace tau::cmd
