#include "sim/rig.h"

namespace tau::sim {

Rig::Rig(plane::PlaneOptions options, Time start)
    : options_(std::move(options)),
      loop_(start),
      server_(loop_, journal_, Rng(7), Log(), apiserver::Options{}),
      observer_(loop_, transport_, Rng(9), Log()) {
  options_.is_stepped = true;
  CHECK(server_.start().has_value());
  for (const kube::Kind kind :
       {kube::Kind::node, kube::Kind::pod, kube::Kind::job, kube::Kind::workload,
        kube::Kind::cluster_queue, kube::Kind::local_queue, kube::Kind::cohort})
    observer_.follow(kind);
  settle();
}

Rig::~Rig() {
  server_.set_views(nullptr);
  plane_.reset();
}

void Rig::start_plane() {
  server_.set_views(nullptr);
  plane_.reset();
  plane_ = std::make_unique<plane::Plane>(loop_, transport_, history_, Log(), options_);
  plane_->start();
  server_.set_views(&plane_->views());
  settle();
}

// What is due within a moment, such as a retry after a conflict of two writers, belongs to it too.
void Rig::settle() {
  loop_.run_ready();
  loop_.advance(milliseconds(20));
}

void Rig::cycle(const engine::CycleOptions& options) {
  if (plane_ == nullptr) start_plane();
  settle();
  plane_->step(options);
  settle();
}

void Rig::advance(Duration by) {
  loop_.advance(by);
}

http::Response Rig::call(http::Request request) {
  std::optional<Result<http::Response>> answer;
  http::send_whole(transport_, std::move(request), Duration(0),
                   [&](Result<http::Response> got) { answer = std::move(got); });
  CHECK(loop_.run_until([&] { return answer.has_value(); }));
  CHECK(answer->has_value());
  return std::move(**answer);
}

Result<std::string> Rig::send(const kube::ApiRequest& request) {
  http::Response answer = call(kube::to_http(request));
  if (answer.status >= 300) return std::unexpected(kube::to_error(answer.status, answer.body));
  return std::move(answer.body);
}

}  // namespace tau::sim
