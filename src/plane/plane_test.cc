// The whole platform in one process and virtual time: real embedded server, controllers, kubelets,
// plane.
#include "plane/plane.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "kube/codec.h"
#include "kube/request.h"
#include "plane/platform_for_tests.h"

namespace tau::plane {
namespace {

TEST(Plane, WhatRunsForPodsThatAreNoMoreIsEnded) {
  Platform p("1x8xH100");
  p.submit("kept", 1, 1, "1000s");
  ASSERT_TRUE(p.reaches("kept", "Running"));
  // As after a crash between a pod's deletion and the end of its containers.
  const kubelet::ContainerId orphan{"no-such-pod", "main", 0};
  p.runtime.start({.id = orphan, .sim_duration = seconds(1000)});
  p.loop.advance(seconds(1));
  ASSERT_EQ(p.runtime.list().size(), 2u);
  p.cluster.reset();
  p.cluster = std::make_unique<EmbeddedCluster>(p.loop, p.transport, p.runtime,
                                                kubelet::parse_nodes("1x8xH100").value(), Log());
  p.cluster->start();
  p.server.set_pod_logs(&p.cluster->pod_logs());
  p.loop.advance(seconds(5));
  ASSERT_EQ(p.runtime.list().size(), 1u);
  EXPECT_NE(p.runtime.list()[0].first, orphan);
  EXPECT_EQ(p.phase("kept"), "Running");
}

TEST(Plane, HistoryOutlivesAFullDiskAndTheObjects) {
  Platform p("1x8xH100");
  p.history.is_full = true;
  p.submit("gone", 1, 1, "5s", R"(,"ttlSecondsAfterFinished":1)");
  const std::string job = "/apis/batch/v1/namespaces/default/jobs/gone";
  ASSERT_TRUE(p.loop.run_until([&] { return p.call("GET", job).status == 404; }, seconds(60),
                               milliseconds(200)));
  EXPECT_TRUE(p.history.query({}).value().empty());
  p.history.is_full = false;
  p.loop.advance(seconds(2));
  const auto runs = p.history.query({}).value();
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].phase, "Succeeded");
  EXPECT_EQ(runs[0].pods.at(0).gpu_uuids.size(), 1u);
  EXPECT_TRUE(runs[0].deleted.has_value());
}

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

// The pod is bound, but nobody says so for a while, and in the meantime a node comes that suits it
// as well.
TEST(Plane, ALostAnswerIsNoReasonToGiveItsGpuToAnother) {
  Platform p("2x1xH100");
  const auto cordon = [&](const char* value) {
    http::Request request{.method = "PATCH",
                          .target = "/api/v1/nodes/sim-0",
                          .headers = {{"Content-Type", "application/merge-patch+json"}},
                          .body = fmt::format(R"({{"spec":{{"unschedulable":{}}}}})", value)};
    http::send_whole(p.transport, std::move(request), Duration(0), [](Result<http::Response>) {});
  };
  cordon("true");
  p.loop.advance(seconds(1));
  p.plane_transport.lateness = seconds(2);
  p.plane_transport.lost_answers = 1;
  for (const char* name : {"a", "b"}) {
    const std::string body = fmt::format(
        R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{}","annotations":)"
        R"({{"taugrid.io/sim-duration":"9s"}}}},"spec":{{"restartPolicy":"Never","containers":)"
        R"([{{"name":"main","image":"x","command":["true"],)"
        R"("resources":{{"limits":{{"nvidia.com/gpu":"1"}}}}}}]}}}})",
        name);
    ASSERT_EQ(p.call("POST", "/api/v1/namespaces/default/pods", body).status, 201);
  }
  ASSERT_TRUE(p.loop.run_until([&] { return p.plane_transport.pod_writes > 0; }));
  cordon("false");
  p.loop.advance(seconds(5));
  std::set<std::string> nodes;
  const json::value pods = p.get("/api/v1/namespaces/default/pods");
  for (const json::value& pod : meta::find_path(pods, "items")->get_array()) {
    nodes.emplace(meta::string_at(pod, "spec.nodeName"));
  }
  EXPECT_EQ(nodes, (std::set<std::string>{"sim-0", "sim-1"})) << json::serialize(pods);
}

TEST(Plane, EventsOnTheJobTellItsStoryOnce) {
  Platform p("1x1xH100");
  p.submit("first", 1, 1, "10s");
  ASSERT_TRUE(p.reaches("first", "Running"));
  p.submit("second", 1, 1);
  ASSERT_TRUE(p.reaches("second", "Succeeded"));
  p.loop.advance(seconds(2));
  std::vector<std::string> story;
  const json::value events =
      p.get("/api/v1/namespaces/default/events?fieldSelector=involvedObject.name%3Dsecond");
  for (const json::value& event : meta::find_path(events, "items")->get_array()) {
    if (meta::string_at(event, "source.component") == "taugrid") {
      story.emplace_back(meta::string_at(event, "reason"));
    }
  }
  std::ranges::sort(story);
  EXPECT_EQ(story, (std::vector<std::string>{"CreatedWorkload", "FinishedWorkload", "Started",
                                             "WaitingForQuota"}));
}

TEST(Plane, OfTwoOnlyTheLeaderWritesAndTheOtherGoesOnWhereItStopped) {
  Platform p("1x1xH100");
  p.plane.reset();
  SpoiledTransport first_way(p.loop, p.transport), second_way(p.loop, p.transport);
  history::MemoryHistory first_history, second_history;
  const auto options = [](const char* identity) {
    return PlaneOptions{.is_embedded = true, .lease_identity = identity};
  };
  Plane first(p.loop, first_way, first_history, Log(), options("first"));
  Plane second(p.loop, second_way, second_history, Log(), options("second"));
  first.start();
  p.loop.advance(seconds(1));
  second.start();
  p.loop.advance(seconds(10));
  EXPECT_EQ(second_way.writes, 0);
  p.server.set_views(&second.views());
  p.submit("job", 1, 1, "20s");
  p.loop.advance(seconds(5));
  EXPECT_EQ(first.counts().bound, 1);
  bool is_given_up = false;
  first.stop([&] { is_given_up = true; });
  EXPECT_TRUE(p.loop.run_until([&] { return is_given_up; }, seconds(1)));
  const int writes = first_way.writes;
  ASSERT_TRUE(p.reaches("job", "Succeeded"));
  p.submit("next", 1, 1);
  ASSERT_TRUE(p.reaches("next", "Succeeded"));
  EXPECT_EQ(first_way.writes, writes);
  EXPECT_EQ(second.counts().bound, 1) << "the running one was not decided again";
  p.server.set_views(nullptr);
}

}  // namespace
}  // namespace tau::plane
