#include "kube/watcher.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "kube/work_queue.h"
#include "meta/json.h"

namespace tau::kube {
namespace {

struct Heard {
  std::vector<std::string> events;
  Watcher::Sink sink() {
    return {.object =
                [this](Watcher::Event e, const boost::json::value& o) {
                  const char* names[] = {"added ", "modified ", "deleted "};
                  events.push_back(names[static_cast<int>(e)] +
                                   std::string(meta::string_at(o, "metadata.name")));
                },
            .list_began = [this] { events.push_back("began"); },
            .list_ended = [this] { events.push_back("ended"); },
            .complaint = [this](std::string text) { events.push_back("! " + text.substr(0, 6)); }};
  }
};

TEST(Watcher, ListsByPagesThenWatchesFromTheListsVersion) {
  Heard heard;
  Rng rng(1);
  Watcher watcher(Kind::pod, "", heard.sink());
  EXPECT_EQ(to_http(*watcher.request()).target, "/api/v1/pods?limit=500");
  watcher.on_list(
      R"({"metadata":{"resourceVersion":"7","continue":"abc"},"items":[{"metadata":{"name":"a"}}]})",
      Time{}, rng);
  EXPECT_EQ(to_http(*watcher.request()).target, "/api/v1/pods?limit=500&continue=abc");
  watcher.on_list(R"({"metadata":{"resourceVersion":"9"},"items":[{"metadata":{"name":"b"}}]})",
                  Time{}, rng);
  EXPECT_EQ(watcher.state(), Watcher::State::watching);
  EXPECT_EQ(to_http(*watcher.request()).target,
            "/api/v1/pods?watch=true&allowWatchBookmarks=true&resourceVersion=9");
  watcher.on_line(R"({"type":"DELETED","object":{"metadata":{"name":"a","resourceVersion":"11"}}})",
                  Time{}, rng);
  watcher.on_line(R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"15"}}})", Time{},
                  rng);
  EXPECT_EQ(watcher.version(), "15");
  EXPECT_EQ(heard.events,
            (std::vector<std::string>{"began", "added a", "added b", "ended", "deleted a"}));
}

TEST(Watcher, ExpiredVersionListsAgainAndErrorsBackOffFromTheLastVersion) {
  Heard heard;
  Rng rng(1);
  Watcher watcher(Kind::pod, "", heard.sink());
  watcher.on_list(R"({"metadata":{"resourceVersion":"9"},"items":[]})", Time{}, rng);
  watcher.on_failure({ErrorCode::unavailable, "reset"}, Time{}, rng);
  EXPECT_EQ(watcher.state(), Watcher::State::backing_off);
  EXPECT_FALSE(watcher.request());
  EXPECT_GT(watcher.resume_at(), Time{});
  watcher.resume();
  EXPECT_EQ(watcher.state(), Watcher::State::watching);
  watcher.on_line(R"({"type":"ERROR","object":{"kind":"Status","code":410}})", Time{}, rng);
  EXPECT_EQ(watcher.state(), Watcher::State::listing);
}

TEST(Watcher, AServerThatAlwaysExpiresIsNotListedWithoutPause) {
  Heard heard;
  Rng rng(1);
  Watcher watcher(Kind::pod, "", heard.sink());
  const Error gone{ErrorCode::gone, "too old"};
  const std::string list = R"({"metadata":{"resourceVersion":"9"},"items":[]})";
  watcher.on_list(list, Time{}, rng);
  watcher.on_failure(gone, Time{}, rng);
  EXPECT_EQ(watcher.state(), Watcher::State::listing) << "the first time at once";
  watcher.on_list(list, Time{}, rng);
  watcher.on_failure(gone, Time{}, rng);
  EXPECT_EQ(watcher.state(), Watcher::State::backing_off);
  watcher.resume();
  EXPECT_EQ(watcher.state(), Watcher::State::listing);
}

TEST(Watcher, OneBadLineDoesNotEndTheWatch) {
  Heard heard;
  Rng rng(1);
  Watcher watcher(Kind::pod, "", heard.sink());
  watcher.on_list(R"({"metadata":{"resourceVersion":"9"},"items":[]})", Time{}, rng);
  watcher.on_line("{nonsense", Time{}, rng);
  watcher.on_line(R"({"type":"ADDED","object":{"metadata":{"name":"c","resourceVersion":"10"}}})",
                  Time{}, rng);
  EXPECT_EQ(watcher.bad_objects(), 1);
  EXPECT_EQ(heard.events.back(), "added c");
  EXPECT_EQ(watcher.state(), Watcher::State::watching);
}

TEST(WorkQueue, EachKeyOnceAndAgainIfItChangesWhileLookedAt) {
  WorkQueue<std::string> queue;
  const Time now{seconds(10)};
  queue.add("a");
  queue.add("a");
  EXPECT_EQ(queue.take(now), "a");
  EXPECT_EQ(queue.take(now), std::nullopt);
  queue.add("a");
  EXPECT_EQ(queue.take(now), std::nullopt);
  queue.done("a");
  EXPECT_EQ(queue.take(now), "a");
  queue.add_at("a", now + seconds(5));
  queue.done("a");
  EXPECT_EQ(queue.next(), now + seconds(5));
}

TEST(WorkQueue, FailuresBackOffDoubling) {
  WorkQueue<std::string> queue;
  Time now{seconds(10)};
  queue.add("a");
  std::vector<int64_t> waits;
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(queue.take(now), "a");
    queue.add("a");  // a change does not cut the back-off short
    queue.failed("a", now);
    waits.push_back((*queue.next() - now).count() / 1000);
    now = *queue.next();
  }
  EXPECT_EQ(waits, (std::vector<int64_t>{100, 200, 400}));
}

}  // namespace
}  // namespace tau::kube
