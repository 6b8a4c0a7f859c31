// How objects end: grace, finalizers, namespaces, collections, Events' time.
#include <gtest/gtest.h>

#include "embedded/apiserver/test_objects.h"

namespace tau::apiserver {
namespace {

TEST(Deletion, BoundPodsWaitForTheirGrace) {
  TestServer server;
  server.call("POST", pods, pod("free"));
  EXPECT_EQ(at(server.json(200, "DELETE", std::string(pods) + "/free"), "kind"), "Pod");
  EXPECT_EQ(server.call("GET", std::string(pods) + "/free").status, 404);

  server.call("POST", pods, pod("p", R"("nodeName":"n1",)"));
  const json::value marked = server.json(200, "DELETE", std::string(pods) + "/p");
  EXPECT_EQ(at(marked, "metadata.deletionGracePeriodSeconds"), "30");
  EXPECT_EQ(at(server.json(200, "DELETE", std::string(pods) + "/p"), "metadata.resourceVersion"),
            at(marked, "metadata.resourceVersion"));
  EXPECT_EQ(at(server.json(200, "DELETE", std::string(pods) + "/p?gracePeriodSeconds=5"),
               "metadata.deletionGracePeriodSeconds"),
            "5");
  EXPECT_EQ(server
                .call("DELETE", std::string(pods) + "/p",
                      R"({"preconditions":{"uid":"other"},"gracePeriodSeconds":0})")
                .status,
            409);
  EXPECT_EQ(server.call("DELETE", std::string(pods) + "/p", R"({"gracePeriodSeconds":0})").status,
            200);
  EXPECT_EQ(server.call("GET", std::string(pods) + "/p").status, 404);
}

TEST(Deletion, EvictionDeletes) {
  TestServer server;
  server.call("POST", pods, pod("p", R"("nodeName":"n1",)"));
  EXPECT_EQ(server
                .call("POST", std::string(pods) + "/p/eviction",
                      R"({"apiVersion":"policy/v1","kind":"Eviction"})")
                .status,
            201);
  EXPECT_NE(at(server.json(200, "GET", std::string(pods) + "/p"), "metadata.deletionTimestamp"),
            "<absent>");
}

TEST(Deletion, FinalizersHoldADeletedObject) {
  TestServer server;
  server.call("POST", configmaps, R"({"metadata":{"name":"a","finalizers":["x/y"]}})");
  const std::string target = std::string(configmaps) + "/a";
  EXPECT_NE(at(server.json(200, "DELETE", target), "metadata.deletionTimestamp"), "<absent>");
  EXPECT_EQ(server.call("PATCH", target, R"({"metadata":{"finalizers":["x/y","z/z"]}})", merge_type)
                .status,
            422);
  EXPECT_EQ(server.call("PATCH", target, R"({"metadata":{"finalizers":null}})", merge_type).status,
            200);
  EXPECT_EQ(server.call("GET", target).status, 404);

  server.call("POST", jobs, job("j"));
  const json::value foreground =
      server.json(200, "DELETE", std::string(jobs) + "/j", R"({"propagationPolicy":"Foreground"})");
  EXPECT_EQ(at(foreground, "metadata.finalizers"), R"(["foregroundDeletion"])");
  EXPECT_EQ(server.call("DELETE", std::string(jobs) + "/j?propagationPolicy=Sideways").status, 400);
}

TEST(Deletion, NamespacesTerminateBeforeTheyGo) {
  TestServer server;
  server.call("POST", "/api/v1/namespaces", R"({"metadata":{"name":"team"}})");
  EXPECT_EQ(names(server.json(200, "GET", "/api/v1/namespaces/team/serviceaccounts")),
            Names{"default"});
  EXPECT_EQ(at(server.json(200, "DELETE", "/api/v1/namespaces/team"), "status.phase"),
            "Terminating");
  EXPECT_EQ(at(server.json(403, "POST", "/api/v1/namespaces/team/configmaps", config_map("a")),
               "message"),
            "configmaps \"a\" is forbidden: unable to create new content in namespace team because "
            "it is being terminated");
  json::value name_space = server.json(200, "GET", "/api/v1/namespaces/team");
  name_space.at("spec").as_object()["finalizers"] = json::array();
  EXPECT_EQ(
      server.call("PUT", "/api/v1/namespaces/team/finalize", json::serialize(name_space)).status,
      200);
  EXPECT_EQ(server.call("GET", "/api/v1/namespaces/team").status, 404);
}

TEST(Deletion, DeletesACollection) {
  TestServer server;
  server.call("POST", configmaps, config_map("a", "1", R"({"app":"x"})"));
  server.call("POST", configmaps, config_map("b", "1", R"({"app":"x"})"));
  server.call("POST", configmaps, config_map("c"));
  EXPECT_EQ(names(server.json(200, "DELETE", std::string(configmaps) + "?labelSelector=app%3Dx")),
            (Names{"a", "b"}));
  EXPECT_EQ(names(server.json(200, "GET", configmaps)), Names{"c"});
}

TEST(Deletion, EventsExpireAfterAnHour) {
  TestServer server;
  const std::string events = "/api/v1/namespaces/default/events";
  server.json(
      201, "POST", events,
      R"({"metadata":{"name":"e1"},"involvedObject":{"kind":"Pod","name":"p","namespace":"default"},"reason":"Started"})");
  EXPECT_EQ(names(server.json(200, "GET", events + "?fieldSelector=involvedObject.name%3Dp")),
            Names{"e1"});
  server.loop.advance(minutes(30));
  server.restart();
  EXPECT_EQ(names(server.json(200, "GET", events)), Names{"e1"});
  server.loop.advance(minutes(32));
  EXPECT_EQ(names(server.json(200, "GET", events)), Names{});
}

}  // namespace
}  // namespace tau::apiserver
