// Watches: resume, selection, bookmarks, expiry, slow readers.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "embedded/apiserver/test_server.h"

namespace tau::apiserver {
namespace {

using Events = std::vector<std::string>;
const std::string configmaps = "/api/v1/namespaces/default/configmaps";
const http::Headers merge_type{{"Content-Type", "application/merge-patch+json"}};

void create(TestServer& server, std::string_view name, std::string_view labels = "{}",
            size_t bytes = 1) {
  server.json(201, "POST", configmaps,
              fmt::format(R"({{"metadata":{{"name":"{}","labels":{}}},"data":{{"k":"{}"}}}})", name,
                          labels, std::string(bytes, 'x')));
}

std::string since(const TestServer& server) {
  return configmaps + "?watch=true&resourceVersion=" + std::to_string(server.server->revision());
}

TEST(Watch, TellsWhatHappensInOrder) {
  TestServer server;
  const auto watch = server.watch(since(server));
  EXPECT_EQ(watch->status, 200);
  create(server, "a");
  server.call("PATCH", configmaps + "/a", R"({"data":{"k":"2"}})", merge_type);
  server.call("DELETE", configmaps + "/a");
  server.json(201, "POST", "/api/v1/namespaces/kube-system/configmaps",
              R"({"metadata":{"name":"elsewhere"}})");
  EXPECT_EQ(watch->take_events(), (Events{"ADDED a", "MODIFIED a", "DELETED a"}));
}

TEST(Watch, BeginsWithThePresentWithoutAVersion) {
  TestServer server;
  create(server, "a");
  const auto watch = server.watch(configmaps + "?watch=true");
  create(server, "b");
  EXPECT_EQ(watch->take_events(), (Events{"ADDED a", "ADDED b"}));
}

TEST(Watch, ResumesAfterAVersion) {
  TestServer server;
  create(server, "a");
  const std::string target = since(server);
  create(server, "b");
  create(server, "c");
  EXPECT_EQ(server.watch(target)->take_events(), (Events{"ADDED b", "ADDED c"}));
}

TEST(Watch, SaysWhenAVersionIsTooOldOrInTheFuture) {
  TestServer server({.history_events = 2});
  const std::string target = since(server);
  for (const char* name : {"a", "b", "c", "d"}) create(server, name);
  const auto watch = server.watch(target);
  EXPECT_EQ(watch->take_events(), Events{"ERROR 410"});
  EXPECT_TRUE(watch->is_ended);
  EXPECT_EQ(server.call("GET", configmaps + "?watch=true&resourceVersion=99999").status, 504);
  // A restart forgets the history, but not where it stands.
  const std::string now = since(server);
  server.restart();
  const auto resumed = server.watch(now);
  create(server, "e");
  EXPECT_EQ(resumed->take_events(), Events{"ADDED e"});
}

TEST(Watch, SendsInitialEventsAndTheirEnd) {
  TestServer server;
  create(server, "a");
  const auto watch = server.watch(configmaps +
                                  "?watch=true&sendInitialEvents=true&resourceVersionMatch="
                                  "NotOlderThan&allowWatchBookmarks=true&resourceVersion=");
  EXPECT_EQ(watch->take_events(), (Events{"ADDED a", "BOOKMARK initial-end"}));
  EXPECT_EQ(server.call("GET", configmaps + "?watch=true&sendInitialEvents=true").status, 400);
}

TEST(Watch, BookmarksComeEachMinuteToThoseWhoAsk) {
  TestServer server;
  const auto asks = server.watch(since(server) + "&allowWatchBookmarks=true");
  const auto not_asks = server.watch(since(server));
  server.loop.advance(seconds(61));
  EXPECT_EQ(asks->take_events(), Events{"BOOKMARK"});
  EXPECT_EQ(not_asks->take_events(), Events{});
}

TEST(Watch, SelectionMakesArrivalsAndDepartures) {
  TestServer server;
  const auto watch = server.watch(since(server) + "&labelSelector=app%3Dx");
  create(server, "other");
  create(server, "a", R"({"app":"y"})");
  server.call("PATCH", configmaps + "/a", R"({"metadata":{"labels":{"app":"x"}}})", merge_type);
  server.call("PATCH", configmaps + "/a", R"({"data":{"k":"2"}})", merge_type);
  server.call("PATCH", configmaps + "/a", R"({"metadata":{"labels":{"app":"z"}}})", merge_type);
  EXPECT_EQ(watch->take_events(), (Events{"ADDED a", "MODIFIED a", "DELETED a"}));
  const auto named = server.watch(configmaps + "?watch=true&fieldSelector=metadata.name%3Da");
  create(server, "b");
  EXPECT_EQ(named->take_events(), Events{"ADDED a"});
}

TEST(Watch, EndsAtItsTimeout) {
  TestServer server;
  const auto watch = server.watch(since(server) + "&timeoutSeconds=5");
  server.loop.advance(seconds(4));
  EXPECT_FALSE(watch->is_ended);
  server.loop.advance(seconds(2));
  EXPECT_TRUE(watch->is_ended);
}

TEST(Watch, TablesCarryTheirColumnsOnce) {
  TestServer server;
  create(server, "a");
  const auto watch = server.watch(configmaps + "?watch=true",
                                  {{"Accept", "application/json;as=Table;v=v1;g=meta.k8s.io"}});
  create(server, "b");
  EXPECT_EQ(watch->take_events(), (Events{"ADDED rows 1 with columns", "ADDED rows 1"}));
}

// A sink that takes in nothing until told.
struct StuckSink : http::ResponseSink {
  struct State {
    size_t backlog = 0;
    std::string text;
    bool is_ended = false;
  };
  std::shared_ptr<State> state;
  explicit StuckSink(std::shared_ptr<State> s) : state(std::move(s)) {}
  void head(http::ResponseHead) override {}
  void body(std::string_view bytes) override {
    state->backlog += bytes.size();
    state->text += bytes;
  }
  void end() override { state->is_ended = true; }
  size_t backlog_bytes() const override { return state->backlog; }
  void on_closed(std::move_only_function<void()>) override {}
};

TEST(Watch, ASlowReaderCatchesUpFromHistoryOrIsToldItIsTooLate) {
  for (const bool is_too_late : {false, true}) {
    TestServer server({.history_events = is_too_late ? 4u : 1000u});
    auto state = std::make_shared<StuckSink::State>();
    server.server->handle({.is_in_process = true}, {"GET", since(server), {}, ""},
                          std::make_unique<StuckSink>(state));
    for (int i = 0; i < 20; ++i) create(server, fmt::format("a{:02}", i), "{}", 500'000);
    EXPECT_LT(state->backlog, 3'000'000u);  // the rest waits in the store's history
    for (int i = 0; i < 100 && !state->is_ended; ++i) {
      state->backlog = 0;
      server.loop.advance(milliseconds(20));
    }
    OpenWatch watch;
    watch.text = state->text;
    const Events events = watch.take_events();
    EXPECT_EQ(state->is_ended, is_too_late);
    if (is_too_late) {
      EXPECT_EQ(events.back(), "ERROR 410");
    } else {
      EXPECT_EQ(events.size(), 20u);
    }
  }
}

TEST(Watch, AClosedWatchIsForgotten) {
  TestServer server;
  const auto watch = server.watch(since(server));
  server.cancel(*watch);
  create(server, "a");
  EXPECT_EQ(watch->text, "");
  server.server->stop();
  EXPECT_EQ(server.call("GET", configmaps).status, 503);
}

}  // namespace
}  // namespace tau::apiserver
