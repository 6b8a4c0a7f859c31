// The verbs over HTTP, in process and in virtual time.
#include "embedded/apiserver/server.h"

#include <gtest/gtest.h>

#include "embedded/apiserver/test_objects.h"

namespace tau::apiserver {
namespace {

TEST(Server, HasWhatEveryClusterHas) {
  TestServer server;
  EXPECT_EQ(names(server.json(200, "GET", "/api/v1/namespaces")),
            (Names{"default", "kube-node-lease", "kube-public", "kube-system"}));
  EXPECT_EQ(names(server.json(200, "GET", "/api/v1/namespaces/default/serviceaccounts")),
            Names{"default"});
  EXPECT_EQ(server.call("GET", "/readyz").body, "ok");
}

TEST(Server, CreatesReadsUpdatesDeletes) {
  TestServer server;
  const json::value created = server.json(201, "POST", configmaps, config_map("a"));
  EXPECT_EQ(at(created, "kind"), "ConfigMap");
  EXPECT_EQ(at(created, "metadata.namespace"), "default");
  EXPECT_EQ(server.json(200, "GET", std::string(configmaps) + "/a"), created);
  EXPECT_EQ(at(server.json(409, "POST", configmaps, config_map("a")), "message"),
            "configmaps \"a\" already exists");

  json::value changed = created;
  changed.at("data").as_object()["k"] = "2";
  const json::value updated =
      server.json(200, "PUT", std::string(configmaps) + "/a", json::serialize(changed));
  EXPECT_EQ(at(updated, "data.k"), "2");
  EXPECT_EQ(at(updated, "metadata.uid"), at(created, "metadata.uid"));
  EXPECT_NE(at(updated, "metadata.resourceVersion"), at(created, "metadata.resourceVersion"));
  EXPECT_EQ(at(server.json(409, "PUT", std::string(configmaps) + "/a", json::serialize(changed)),
               "message"),
            "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; "
            "please apply your changes to the latest version and try again");
  // What changes nothing makes no new version.
  EXPECT_EQ(server.json(200, "PUT", std::string(configmaps) + "/a", json::serialize(updated)),
            updated);

  const json::value deleted = server.json(200, "DELETE", std::string(configmaps) + "/a");
  EXPECT_EQ(at(deleted, "status"), "Success");
  EXPECT_EQ(at(deleted, "details.uid"), at(created, "metadata.uid"));
  const json::value gone = server.json(404, "GET", std::string(configmaps) + "/a");
  EXPECT_EQ(
      json::serialize(gone),
      R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"configmaps \"a\" not found","reason":"NotFound","details":{"name":"a","kind":"configmaps"},"code":404})");
}

TEST(Server, RefusesWhatItCannotTake) {
  TestServer server;
  struct Case {
    const char *name, *method, *target;
    std::string body;
    int status;
    const char* message;
  };
  const Case cases[] = {
      {"no such path", "GET", "/apis/nothing/v1/things", "", 404,
       "the server could not find the requested resource"},
      {"no such namespace", "POST", "/api/v1/namespaces/none/configmaps", config_map("a"), 404,
       "namespaces \"none\" not found"},
      {"other kind", "POST", pods, config_map("a"), 400,
       "ConfigMap in version \"v1\" cannot be handled as a Pod: converting (ConfigMap) to (Pod): "
       "unknown conversion"},
      {"other version", "POST", jobs, R"({"apiVersion":"batch/v1beta1","kind":"Job"})", 400,
       "the API version in the data (batch/v1beta1) does not match the expected API version "
       "(batch/v1)"},
      {"no name", "POST", configmaps, R"({"metadata":{}})", 422,
       "ConfigMap \"\" is invalid: metadata.name: Required value: name or generateName is "
       "required"},
      {"other namespace", "POST", configmaps, R"({"metadata":{"name":"a","namespace":"other"}})",
       400,
       "the namespace of the provided object does not match the namespace sent on the request"},
      {"empty", "POST", configmaps, "", 400, "the request body is empty: an object is required"},
      {"method", "POST", "/api/v1/namespaces/default", "{}", 405,
       "the server does not allow this method on the requested resource"},
      {"exec", "POST", "/api/v1/namespaces/default/pods/a/exec", "", 501,
       "pods/exec is not supported by this server"},
      {"token", "POST", "/api/v1/namespaces/default/serviceaccounts/default/token", "{}", 501,
       "tokens of service accounts are not supported: the administrator's token is the only one"},
      {"field selector", "GET", "/api/v1/pods?fieldSelector=spec.foo%3Dx", "", 400,
       "field label not supported: spec.foo"},
      {"future", "GET", "/api/v1/pods?resourceVersion=999999", "", 504,
       "Too large resource version: 999999, current: 11"},
      {"bad continue", "GET", "/api/v1/pods?continue=%21", "", 400,
       "continue key is not valid: it must be a token that an earlier list returned"},
      {"bad limit", "GET", "/api/v1/pods?limit=x", "", 400, "limit: Invalid value: \"x\""},
      {"dot segments", "GET", "/api/v1/../v1/pods", "", 400,
       "the request path may not have '.' or '..' segments"},
      {"default namespace", "DELETE", "/api/v1/namespaces/default", "", 403,
       "namespaces \"default\" is forbidden: this namespace may not be deleted"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(at(server.json(c.status, c.method, c.target, c.body), "message"), c.message)
        << c.name;
  }
  EXPECT_EQ(server.call("POST", configmaps, "x", {{"Content-Type", "application/cbor"}}).status,
            415);
  EXPECT_EQ(server.call("GET", configmaps, "", {{"Accept", "application/vnd.kubernetes.protobuf"}})
                .status,
            406);
  EXPECT_EQ(server
                .call("GET", configmaps, "",
                      {{"Accept", "application/vnd.kubernetes.protobuf,application/json"}})
                .status,
            200);
  EXPECT_EQ(server.call("POST", configmaps, std::string(1000, '[')).status, 400);
}

TEST(Server, UnknownFieldsAreTreatedAsAsked) {
  TestServer server;
  const std::string body = R"({"metadata":{"name":"a"},"datas":{"k":"1"}})";
  EXPECT_EQ(at(server.json(400, "POST", std::string(configmaps) + "?fieldValidation=Strict", body),
               "message"),
            "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding error: "
            "unknown field \"datas\"");
  const http::Response warned =
      server.call("POST", std::string(configmaps) + "?fieldValidation=Warn", body);
  EXPECT_EQ(warned.status, 201);
  EXPECT_EQ(http::find_header(warned.headers, "Warning"), "299 - \"unknown field \\\"datas\\\"\"");
  EXPECT_EQ(warned.body.find("datas"), std::string::npos);
  server.call("DELETE", std::string(configmaps) + "/a");
  EXPECT_EQ(
      http::find_header(
          server.call("POST", std::string(configmaps) + "?fieldValidation=Ignore", body).headers,
          "Warning"),
      "");
}

TEST(Server, WarnsOfWhatNobodyHereCarriesOut) {
  TestServer server;
  const http::Response answer = server.call(
      "POST", "/apis/batch/v1/namespaces/default/jobs",
      R"({"metadata":{"name":"a"},"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[)"
      R"({"name":"c","image":"i","livenessProbe":{"exec":{"command":["true"]}}}]}}}})");
  EXPECT_EQ(answer.status, 201) << answer.body;
  EXPECT_EQ(http::find_header(answer.headers, "Warning"),
            "299 - \"spec.template.spec.containers[0].livenessProbe: kept, but not carried out by "
            "this kubelet\"");
}

TEST(Server, GivesNamesUnderAPrefix) {
  TestServer server;
  const json::value a =
      server.json(201, "POST", configmaps, R"({"metadata":{"generateName":"x-"}})");
  const json::value b =
      server.json(201, "POST", configmaps, R"({"metadata":{"generateName":"x-"}})");
  EXPECT_EQ(at(a, "metadata.name").size(), 7u);
  EXPECT_TRUE(at(a, "metadata.name").starts_with("x-"));
  EXPECT_NE(at(a, "metadata.name"), at(b, "metadata.name"));
}

TEST(Server, DryRunKeepsNothing) {
  TestServer server;
  const int64_t before = server.server->revision();
  EXPECT_EQ(at(server.json(201, "POST", std::string(configmaps) + "?dryRun=All", config_map("a")),
               "metadata.name"),
            "a");
  EXPECT_EQ(server.call("GET", std::string(configmaps) + "/a").status, 404);
  server.call("POST", configmaps, config_map("a"));
  EXPECT_EQ(server.call("DELETE", std::string(configmaps) + "/a?dryRun=All").status, 200);
  EXPECT_EQ(at(server.json(200, "PATCH", std::string(configmaps) + "/a?dryRun=All",
                           R"({"data":{"k":"9"}})", merge_type),
               "data.k"),
            "9");
  EXPECT_EQ(at(server.json(200, "GET", std::string(configmaps) + "/a"), "data.k"), "1");
  EXPECT_EQ(server.server->revision(), before + 1);
}

TEST(Server, PatchesInThreeForms) {
  TestServer server;
  server.call("POST", pods, pod("p"));
  const std::string target = std::string(pods) + "/p";
  EXPECT_EQ(
      at(server.json(200, "PATCH", target, R"({"metadata":{"labels":{"x":"y"}}})", merge_type),
         "metadata.labels.x"),
      "y");
  const json::value strategic =
      server.json(200, "PATCH", target,
                  R"({"spec":{"containers":[{"name":"main","image":"alpine"}]}})", strategic_type);
  EXPECT_EQ(strategic.at("spec").at("containers").as_array().size(), 1u);
  EXPECT_EQ(at(strategic.at("spec").at("containers").at(0), "image"), "alpine");
  EXPECT_EQ(at(server.json(200, "PATCH", target, R"([{"op":"remove","path":"/metadata/labels/x"}])",
                           json_patch_type),
               "metadata.labels.x"),
            "<absent>");
  EXPECT_EQ(server
                .call("PATCH", target, R"([{"op":"remove","path":"/metadata/labels/none"}])",
                      json_patch_type)
                .status,
            422);
  EXPECT_EQ(
      server.call("PATCH", target, R"({"metadata":{"resourceVersion":"1"}})", merge_type).status,
      409);
  EXPECT_EQ(server.call("PATCH", target, R"({"metadata":{"name":"q"}})", merge_type).status, 400);
  EXPECT_EQ(server.call("PATCH", target, "[1]", merge_type).status, 400);
  EXPECT_EQ(server.call("PATCH", target, "{}", {{"Content-Type", "text/plain"}}).status, 415);
  EXPECT_EQ(server.call("PATCH", std::string(pods) + "/none", "{}", merge_type).status, 404);
}

TEST(Server, StatusAndSpecAreWrittenApart) {
  TestServer server;
  server.call("POST", jobs, job("j"));
  const std::string target = std::string(jobs) + "/j";
  EXPECT_EQ(at(server.json(200, "PATCH", target, R"({"status":{"active":3}})", merge_type),
               "status.active"),
            "<absent>");
  const json::value status =
      server.json(200, "PATCH", target + "/status",
                  R"({"status":{"active":3},"spec":{"parallelism":9}})", merge_type);
  EXPECT_EQ(at(status, "status.active"), "3");
  EXPECT_NE(at(status, "spec.parallelism"), "9");
  EXPECT_EQ(at(status, "metadata.generation"), "1");
  const json::value spec =
      server.json(200, "PATCH", target, R"({"spec":{"suspend":true}})", merge_type);
  EXPECT_EQ(at(spec, "metadata.generation"), "2");
  EXPECT_EQ(at(spec, "status.active"), "3");
}

TEST(Server, SelectsByLabelsAndFields) {
  TestServer server;
  server.call("POST", configmaps, config_map("a", "1", R"({"app":"x"})"));
  server.call("POST", configmaps, config_map("b", "1", R"({"app":"y"})"));
  server.call("POST", pods, pod("p1", R"("nodeName":"n1",)"));
  server.call("POST", pods, pod("p2"));
  const std::pair<std::string, Names> cases[] = {
      {std::string(configmaps) + "?labelSelector=app%3Dx", {"a"}},
      {std::string(configmaps) + "?labelSelector=app", {"a", "b"}},
      {std::string(configmaps) + "?labelSelector=app%20in%20(y,z)", {"b"}},
      {"/api/v1/configmaps?labelSelector=!app", {}},
      {std::string(configmaps) + "?fieldSelector=metadata.name%3Db", {"b"}},
      {"/api/v1/configmaps?fieldSelector=metadata.namespace%3Dother", {}},
      {"/api/v1/pods?fieldSelector=spec.nodeName%3Dn1", {"p1"}},
      {"/api/v1/pods?fieldSelector=spec.nodeName!%3Dn1,status.phase!%3DFailed", {"p2"}},
  };
  for (const auto& [target, want] : cases)
    EXPECT_EQ(names(server.json(200, "GET", target)), want) << target;
}

TEST(Server, PagesShowOneMoment) {
  TestServer server;
  for (const char* name : {"a", "b", "c", "d", "e"})
    server.call("POST", configmaps, config_map(name));
  const json::value first = server.json(200, "GET", std::string(configmaps) + "?limit=2");
  EXPECT_EQ(names(first), (Names{"a", "b"}));
  EXPECT_EQ(at(first, "metadata.remainingItemCount"), "3");
  // What changes between the pages is not seen by the later ones.
  server.call("DELETE", std::string(configmaps) + "/c");
  server.call("POST", configmaps, config_map("bb"));
  server.call("PATCH", std::string(configmaps) + "/d", R"({"data":{"k":"new"}})", merge_type);
  const json::value second = server.json(
      200, "GET", std::string(configmaps) + "?limit=2&continue=" + at(first, "metadata.continue"));
  EXPECT_EQ(names(second), (Names{"c", "d"}));
  EXPECT_EQ(at(second.at("items").at(1), "data.k"), "1");
  EXPECT_EQ(at(second, "metadata.resourceVersion"), at(first, "metadata.resourceVersion"));
  const json::value third = server.json(
      200, "GET", std::string(configmaps) + "?limit=2&continue=" + at(second, "metadata.continue"));
  EXPECT_EQ(names(third), Names{"e"});
  EXPECT_EQ(at(third, "metadata.continue"), "<absent>");
  EXPECT_EQ(
      names(server.json(200, "GET",
                        std::string(configmaps) + "?resourceVersionMatch=Exact&resourceVersion=" +
                            at(first, "metadata.resourceVersion"))),
      (Names{"a", "b", "c", "d", "e"}));
}

TEST(Server, OldPagesExpire) {
  TestServer server({.history_events = 3});
  for (const char* name : {"a", "b", "c"}) server.call("POST", configmaps, config_map(name));
  const json::value first = server.json(200, "GET", std::string(configmaps) + "?limit=1");
  for (const char* name : {"d", "e", "f", "g"}) server.call("POST", configmaps, config_map(name));
  EXPECT_EQ(at(server.json(410, "GET",
                           std::string(configmaps) + "?continue=" + at(first, "metadata.continue")),
               "reason"),
            "Expired");
}

TEST(Server, JobsOfAQueueAreCreatedSuspended) {
  TestServer server;
  EXPECT_NE(at(server.json(201, "POST", jobs, job("free")), "spec.template.spec.schedulerName"),
            "taugrid");
  const json::value labelled = server.json(
      201, "POST", jobs, job("labelled", R"("labels":{"kueue.x-k8s.io/queue-name":"q"},)"));
  EXPECT_EQ(at(labelled, "spec.suspend"), "true");
  EXPECT_EQ(at(labelled, "spec.template.spec.schedulerName"), "taugrid");
  server.json(
      201, "POST", "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/localqueues",
      R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue","metadata":{"name":"default"},"spec":{"clusterQueue":"default"}})");
  const json::value queued = server.json(201, "POST", jobs, job("queued"));
  EXPECT_EQ(at(queued, "spec.suspend"), "true");
  EXPECT_EQ(
      queued.at("metadata").at("labels").as_object().at("kueue.x-k8s.io/queue-name").as_string(),
      "default");
}

TEST(Server, PodsGetPriorityAndServiceAccount) {
  TestServer server;
  const json::value plain = server.json(201, "POST", pods, pod("plain"));
  EXPECT_EQ(at(plain, "spec.priority"), "0");
  EXPECT_EQ(at(plain, "spec.serviceAccountName"), "default");
  EXPECT_EQ(at(server.json(201, "POST", pods,
                           pod("critical", R"("priorityClassName":"system-node-critical",)")),
               "spec.priority"),
            "2000001000");
  EXPECT_EQ(
      at(server.json(403, "POST", pods, pod("x", R"("priorityClassName":"none",)")), "message"),
      "pods \"x\" is forbidden: no PriorityClass with name none was found");
  EXPECT_EQ(
      at(server.json(403, "POST", pods, pod("x", R"("serviceAccountName":"none",)")), "reason"),
      "Forbidden");
}

TEST(Server, BindsAPodOnce) {
  TestServer server;
  server.call("POST", pods, pod("p"));
  const std::string target = std::string(pods) + "/p/binding";
  const std::string body =
      R"({"target":{"kind":"Node","name":"n1"},"metadata":{"annotations":{"taugrid.io/gpus":"main=GPU-1"}}})";
  EXPECT_EQ(at(server.json(201, "POST", target, body), "status"), "Success");
  const json::value bound = server.json(200, "GET", std::string(pods) + "/p");
  EXPECT_EQ(at(bound, "spec.nodeName"), "n1");
  EXPECT_EQ(bound.at("metadata").at("annotations").as_object().at("taugrid.io/gpus"), "main=GPU-1");
  EXPECT_EQ(at(bound.at("status").at("conditions").at(0), "type"), "PodScheduled");
  EXPECT_EQ(at(server.json(409, "POST", target, body), "message"),
            "Operation cannot be fulfilled on pods/binding \"p\": pod p is already assigned to "
            "node \"n1\"");
  EXPECT_EQ(server.call("POST", target, R"({"target":{}})").status, 422);
  EXPECT_EQ(server.call("POST", std::string(pods) + "/none/binding", body).status, 404);
}

TEST(Server, ShowsTables) {
  TestServer server;
  server.call("POST", configmaps, config_map("a"));
  const json::value table = server.json(200, "GET", configmaps, "", table_type);
  EXPECT_EQ(at(table, "kind"), "Table");
  EXPECT_EQ(at(table.at("columnDefinitions").at(0), "name"), "Name");
  EXPECT_EQ(table.at("rows").at(0).at("cells").at(0), "a");
  EXPECT_EQ(at(table.at("rows").at(0), "object.kind"), "PartialObjectMetadata");
}

TEST(Server, WantsTheTokenFromOutside) {
  TestServer server({.admin_token = "secret"});
  const auto status = [&](std::string target, http::Headers headers) {
    struct Sink : http::ResponseSink {
      int* status;
      explicit Sink(int* s) : status(s) {}
      void head(http::ResponseHead head) override { *status = head.status; }
      void body(std::string_view) override {}
      void end() override {}
      size_t backlog_bytes() const override { return 0; }
      void on_closed(std::move_only_function<void()>) override {}
    };
    int result = 0;
    server.server->handle({.address = "127.0.0.1:1"},
                          {"GET", std::move(target), std::move(headers), ""},
                          std::make_unique<Sink>(&result));
    return result;
  };
  EXPECT_EQ(status("/api/v1/pods", {}), 401);
  EXPECT_EQ(status("/api/v1/pods", {{"Authorization", "Bearer wrong!"}}), 401);
  EXPECT_EQ(status("/api/v1/pods", {{"Authorization", "Bearer "}}), 401);
  EXPECT_EQ(status("/api/v1/pods", {{"authorization", "bearer secret"}}), 200);
  EXPECT_EQ(status("/readyz", {}), 200);
}

TEST(Server, AFailedJournalShowsNothing) {
  TestServer server;
  const auto watch = server.watch(std::string(configmaps) + "?watch=true&resourceVersion=" +
                                  std::to_string(server.server->revision()));
  server.journal.set_failure(Error{ErrorCode::unavailable, "disk full"});
  EXPECT_EQ(at(server.json(503, "POST", configmaps, config_map("a")), "message"), "disk full");
  EXPECT_EQ(server.call("GET", std::string(configmaps) + "/a").status, 404);
  EXPECT_EQ(watch->take_events(), Names{});
  server.journal.set_failure(std::nullopt);
  EXPECT_EQ(server.call("POST", configmaps, config_map("a")).status, 201);
  EXPECT_EQ(watch->take_events(), Names{"ADDED a"});
}

TEST(Server, MayGoWhileWritesAreUnderWay) {
  FakeLoop loop;
  MemoryJournal journal(loop, seconds(1));
  auto server = std::make_unique<Server>(loop, journal, Rng(1), Log(), Options{});
  ASSERT_TRUE(server->start());
  auto transport = std::make_unique<http::DirectTransport>(loop, *server);
  int answers = 0;
  const auto post = [&] {
    http::send_whole(*transport, {"POST", configmaps, {}, config_map("a")}, seconds(10),
                     [&](Result<http::Response>) { ++answers; });
  };
  post();
  loop.advance(milliseconds(1500));
  post();
  loop.run_ready();
  server.reset();
  loop.advance(seconds(30));
  EXPECT_EQ(answers, 2);
  transport.reset();
}

TEST(Server, ARestartKnowsEverythingAcknowledged) {
  TestServer server;
  server.call("POST", configmaps, config_map("a"));
  server.call("POST", configmaps, config_map("b"));
  server.call("DELETE", std::string(configmaps) + "/b");
  const std::string before = server.call("GET", configmaps).body;
  const std::string namespaces = server.call("GET", "/api/v1/namespaces").body;
  server.restart();
  EXPECT_EQ(server.call("GET", configmaps).body, before);
  EXPECT_EQ(server.call("GET", "/api/v1/namespaces").body, namespaces);
}

}  // namespace
}  // namespace tau::apiserver
