// The whole platform in one process and virtual time, for tests: real embedded server, controllers,
// kubelets and plane; containers are simulated. What lies between can be spoiled.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/fake_loop.h"
#include "embedded/apiserver/memory_journal.h"
#include "embedded/apiserver/server.h"
#include "embedded/kubelet/fake_runtime.h"
#include "history/memory_history.h"
#include "http/direct_transport.h"
#include "meta/json.h"
#include "plane/embedded_cluster.h"
#include "plane/plane.h"

namespace tau::plane {
namespace json = boost::json;

// The plane's way to the server: counts its writes about pods, and can lose answers or be late with
// what watches tell.
class SpoiledTransport : public http::Transport {
 public:
  SpoiledTransport(Loop& loop, http::Transport& next) : loop_(loop), next_(next) {}
  http::CallId send(http::Request request, Duration timeout,
                    http::ResponseCallbacks callbacks) override {
    const bool is_write = request.method != "GET";
    const bool is_about_pods = request.target.find("/pods") != std::string::npos;
    if (is_write) ++writes;
    if (is_write && is_about_pods) ++pod_writes;
    if (is_write && lost_answers > 0 && request.target.ends_with("/binding")) {
      --lost_answers;
      callbacks.on_head = [](const http::ResponseHead&) {};
      callbacks.on_body = [](std::string_view) {};
      callbacks.on_end = [end = std::move(callbacks.on_end)](Result<void>) mutable {
        end(fail(ErrorCode::unavailable, "connection reset"));
      };
    }
    if (request.target.starts_with("/api/v1/pods?watch=true")) {
      callbacks.on_body = [this, body = std::make_shared<decltype(callbacks.on_body)>(
                                     std::move(callbacks.on_body))](std::string_view bytes) {
        if (lateness == Duration(0)) return (*body)(bytes);
        loop_.after(lateness, [body, text = std::string(bytes)] { (*body)(text); });
      };
    }
    return next_.send(std::move(request), timeout, std::move(callbacks));
  }
  void cancel(http::CallId call) override { next_.cancel(call); }
  int writes = 0, pod_writes = 0, lost_answers = 0;
  Duration lateness{0};

 private:
  Loop& loop_;
  http::Transport& next_;
};

class SpoiledHistory : public history::MemoryHistory {
 public:
  Result<void> record(const history::RunRecord& run) override {
    if (is_full) return fail(ErrorCode::unavailable, "the disk is full");
    return MemoryHistory::record(run);
  }
  bool is_full = false;
};

struct Platform {
  FakeLoop loop;
  apiserver::MemoryJournal journal{loop};
  apiserver::Server server{loop, journal, Rng(7), Log(), {}};
  http::DirectTransport transport{loop, server};
  SpoiledTransport plane_transport{loop, transport};
  kubelet::FakeRuntime runtime{loop, seconds(5)};
  SpoiledHistory history;
  std::unique_ptr<EmbeddedCluster> cluster;
  std::unique_ptr<Plane> plane;

  explicit Platform(std::string_view nodes) {
    EXPECT_TRUE(server.start());
    auto models = kubelet::parse_nodes(nodes);
    EXPECT_TRUE(models) << models.error().message;
    cluster = std::make_unique<EmbeddedCluster>(loop, transport, runtime, *models, Log());
    cluster->start();
    server.set_pod_logs(&cluster->pod_logs());
    start_plane();
    loop.advance(seconds(2));
  }
  ~Platform() {
    plane.reset();
    cluster.reset();
  }
  void start_plane() {
    plane = std::make_unique<Plane>(loop, plane_transport, history, Log(),
                                    PlaneOptions{.is_embedded = true});
    plane->when_ready([this] { cluster->start_ttl(); });
    plane->start();
    server.set_views(&plane->views());
  }
  http::Response call(const std::string& method, const std::string& target,
                      const std::string& body = "") {
    std::optional<Result<http::Response>> answer;
    http::Request request{
        .method = method,
        .target = target,
        .headers = {{"Content-Type",
                     method == "PATCH" ? "application/merge-patch+json" : "application/json"}},
        .body = body};
    http::send_whole(transport, std::move(request), Duration(0),
                     [&](Result<http::Response> r) { answer = std::move(r); });
    EXPECT_TRUE(loop.run_until([&] { return answer.has_value(); }));
    EXPECT_TRUE(*answer);
    return **answer;
  }
  json::value get(const std::string& target) {
    const http::Response response = call("GET", target);
    const auto parsed = meta::parse_json(response.body);
    return parsed ? *parsed : json::value();
  }
  void submit(const std::string& name, int pods, int gpus, std::string duration = "5s",
              std::string extra = "") {
    const std::string body = fmt::format(
        R"({{"apiVersion":"batch/v1","kind":"Job","metadata":{{"name":"{0}"}},"spec":{{"parallelism":{1},"completions":{1},"backoffLimit":1{4},"template":{{"metadata":{{"annotations":{{"taugrid.io/sim-duration":"{3}"}}}},"spec":{{"restartPolicy":"Never","containers":[{{"name":"main","image":"x","command":["true"],"resources":{{"requests":{{"cpu":"1","nvidia.com/gpu":"{2}"}},"limits":{{"cpu":"1","nvidia.com/gpu":"{2}"}}}}}}]}}}}}}}})",
        name, pods, gpus, duration, extra);
    const http::Response response = call("POST", "/apis/batch/v1/namespaces/default/jobs", body);
    ASSERT_EQ(response.status, 201) << response.body;
  }
  json::value run(const std::string& name) {
    return get("/apis/view.taugrid.io/v1alpha1/namespaces/default/runs/" + name);
  }
  std::string phase(const std::string& name) {
    return std::string(meta::string_at(run(name), "phase"));
  }
  bool reaches(const std::string& name, const std::string& wanted, Duration within = seconds(60)) {
    const bool did =
        loop.run_until([&] { return phase(name) == wanted; }, within, milliseconds(200));
    if (!did) ADD_FAILURE() << name << " is " << json::serialize(run(name));
    return did;
  }
};

}  // namespace tau::plane
