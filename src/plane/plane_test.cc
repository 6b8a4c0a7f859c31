// The whole platform in one process and virtual time: real embedded server, controllers, kubelets,
// plane.
#include "plane/plane.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/fake_loop.h"
#include "embedded/apiserver/memory_journal.h"
#include "embedded/apiserver/server.h"
#include "embedded/kubelet/fake_runtime.h"
#include "history/memory_history.h"
#include "http/direct_transport.h"
#include "kube/codec.h"
#include "kube/request.h"
#include "meta/json.h"
#include "plane/embedded_cluster.h"

namespace tau::plane {
namespace {
namespace json = boost::json;

// Counts the writes about pods on the plane's way to the server.
class CountingTransport : public http::Transport {
 public:
  explicit CountingTransport(http::Transport& next) : next_(next) {}
  http::CallId send(http::Request request, Duration timeout,
                    http::ResponseCallbacks callbacks) override {
    if (request.method != "GET" && request.target.find("/pods") != std::string::npos) ++pod_writes;
    return next_.send(std::move(request), timeout, std::move(callbacks));
  }
  void cancel(http::CallId call) override { next_.cancel(call); }
  int pod_writes = 0;

 private:
  http::Transport& next_;
};

struct Platform {
  FakeLoop loop;
  apiserver::MemoryJournal journal{loop};
  apiserver::Server server{loop, journal, Rng(7), Log(), {}};
  http::DirectTransport transport{loop, server};
  CountingTransport plane_transport{transport};
  kubelet::FakeRuntime runtime{loop, seconds(5)};
  history::MemoryHistory history;
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
    http::Request request{.method = method,
                          .target = target,
                          .headers = {{"Content-Type", "application/json"}},
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

TEST(Plane, TheSmokeTestIsQueuedPlacedRunAndRemembered) {
  Platform p("2x8xH100");
  const int before = p.plane_transport.pod_writes;
  p.submit("smoke", 1, 1);
  ASSERT_TRUE(p.reaches("smoke", "Succeeded"));
  EXPECT_EQ(p.plane_transport.pod_writes - before, 1) << "one write for its pod";
  const json::value run = p.run("smoke");
  EXPECT_EQ(meta::string_at(run, "queue"), "default");
  const json::value* pods = meta::find_path(run, "podList");
  ASSERT_NE(pods, nullptr);
  ASSERT_EQ(pods->get_array().size(), 1u);
  const json::value* gpus = meta::find_path(pods->get_array()[0], "gpus");
  ASSERT_NE(gpus, nullptr);
  EXPECT_TRUE(std::string_view(gpus->get_array()[0].get_string()).starts_with("GPU-51300000-"));
  const json::value workloads = p.get("/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads");
  EXPECT_NE(json::serialize(workloads).find(R"("type":"Finished","status":"True")"),
            std::string::npos);
}

TEST(Plane, TheTtlRemovesTheJobAndItsRunIsStillKnown) {
  Platform p("1x8xH100");
  p.submit("short", 1, 1, "2s", R"(,"ttlSecondsAfterFinished":3)");
  ASSERT_TRUE(p.reaches("short", "Succeeded"));
  EXPECT_TRUE(p.loop.run_until(
      [&] { return p.call("GET", "/apis/batch/v1/namespaces/default/jobs/short").status == 404; },
      seconds(30), milliseconds(500)));
  p.loop.advance(seconds(5));
  EXPECT_EQ(meta::find_path(p.get("/api/v1/namespaces/default/pods"), "items")->get_array().size(),
            0u);
  EXPECT_EQ(p.phase("short"), "Succeeded");
  EXPECT_NE(json::serialize(p.run("short")).find("GPU-51300000-"), std::string::npos);
}

TEST(Plane, AGangOfFourOnThreeNodesWaitsWithNumbersAndStartsWhole) {
  Platform p("4x1xH100");
  p.submit("holder", 1, 1, "30s");
  ASSERT_TRUE(p.reaches("holder", "Running"));
  p.submit("gang", 4, 1);
  p.loop.advance(seconds(3));
  const json::value waiting = p.run("gang");
  EXPECT_EQ(meta::string_at(waiting, "phase"), "Queued");
  const std::string text = json::serialize(waiting);
  EXPECT_NE(text.find("CAPACITY_SHORT"), std::string::npos) << text;
  EXPECT_NE(text.find("3 of 4 pods fit at once"), std::string::npos) << text;
  EXPECT_EQ(meta::find_path(p.get("/api/v1/namespaces/default/pods?labelSelector=job-name%3Dgang"),
                            "items")
                ->get_array()
                .size(),
            0u);
  ASSERT_TRUE(p.reaches("gang", "Running"));
  EXPECT_EQ(meta::find_path(p.run("gang"), "nodes")->get_array().size(), 4u);
  ASSERT_TRUE(p.reaches("gang", "Succeeded"));
}

TEST(Plane, TwelveWantedEightFreeWaitsWithReasonThenRunsInOrder) {
  Platform p("2x8xH100");
  p.submit("first", 1, 8, "20s");
  ASSERT_TRUE(p.reaches("first", "Running"));
  p.submit("second", 12, 1, "3s");
  p.loop.advance(seconds(1));
  p.submit("third", 12, 1, "3s");
  p.loop.advance(seconds(2));
  EXPECT_NE(json::serialize(p.run("second")).find("needs 12 GPUs, 8 of 16 free"), std::string::npos)
      << json::serialize(p.run("second"));
  EXPECT_EQ(p.phase("third"), "Queued");
  ASSERT_TRUE(p.reaches("second", "Running"));
  EXPECT_EQ(p.phase("third"), "Queued");
  ASSERT_TRUE(p.reaches("third", "Succeeded"));
}

TEST(Plane, AFailingJobIsRetriedAndThenFails) {
  Platform p("1x8xH100");
  const std::string body =
      R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"bad"},"spec":{"backoffLimit":1,"template":{"metadata":{"annotations":{"taugrid.io/sim-duration":"1s","taugrid.io/sim-exit-code":"3"}},"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"x","command":["false"]}]}}}})";
  ASSERT_EQ(p.call("POST", "/apis/batch/v1/namespaces/default/jobs", body).status, 201);
  ASSERT_TRUE(p.reaches("bad", "Failed", seconds(120)));
  const json::value job = p.get("/apis/batch/v1/namespaces/default/jobs/bad");
  EXPECT_EQ(meta::find_path(job, "status.failed")->get_int64(), 2);
  EXPECT_NE(json::serialize(job).find("BackoffLimitExceeded"), std::string::npos);
}

TEST(Plane, ARestartInTheMiddleDecidesNothingTwice) {
  Platform p("2x8xH100");
  p.submit("long", 4, 2, "30s");
  ASSERT_TRUE(p.reaches("long", "Running"));
  p.plane.reset();
  p.loop.advance(seconds(1));
  p.start_plane();
  p.loop.advance(seconds(3));
  EXPECT_EQ(p.plane->counts().bound, 0);
  EXPECT_EQ(p.plane->counts().admitted, 0);
  ASSERT_TRUE(p.reaches("long", "Succeeded"));
  for (const auto& [id, times] : p.runtime.starts()) EXPECT_EQ(times, 1) << id.container;
}

TEST(Plane, DeletingAQueuedRunAndARunningRunCancelsThem) {
  Platform p("1x1xH100");
  p.submit("runs", 1, 1, "60s");
  ASSERT_TRUE(p.reaches("runs", "Running"));
  p.submit("waits", 1, 1);
  p.loop.advance(seconds(1));
  for (const char* name : {"runs", "waits"}) {
    EXPECT_EQ(p.call("DELETE", std::string("/apis/batch/v1/namespaces/default/jobs/") + name +
                                   "?propagationPolicy=Background")
                  .status,
              200);
    ASSERT_TRUE(p.reaches(name, "Cancelled"));
  }
  EXPECT_TRUE(p.loop.run_until(
      [&] {
        return meta::find_path(p.get("/api/v1/namespaces/default/pods"), "items")
            ->get_array()
            .empty();
      },
      seconds(60), milliseconds(500)));
}

}  // namespace
}  // namespace tau::plane
