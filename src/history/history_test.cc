#include <gtest/gtest.h>

#include "history/memory_history.h"

namespace tau::history {
namespace {

TEST(History, TerminalPhasesNeverRevert) {
  MemoryHistory store;
  RunRecord run{.uid = "u", .id = "r-u", .ns = "default", .name = "a", .submitted = Time(seconds(5)), .ended = Time(seconds(9)), .phase = "Succeeded"};
  ASSERT_TRUE(store.record(run));
  run.phase = "Running";
  run.ended.reset();
  ASSERT_TRUE(store.record(run));
  const auto found = store.query({.name_or_id = "a"});
  ASSERT_EQ(found->size(), 1u);
  EXPECT_EQ((*found)[0].phase, "Succeeded");
  EXPECT_EQ((*found)[0].ended, Time(seconds(9)));
}

TEST(History, NewestFirstAndByEveryName) {
  MemoryHistory store;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(store.record({.uid = "u" + std::to_string(i), .id = "r-abc" + std::to_string(i), .ns = i == 2 ? "b" : "a", .name = "run", .submitted = Time(seconds(i)), .phase = "Queued"}));
  }
  EXPECT_EQ((*store.query({}))[0].uid, "u2");
  EXPECT_EQ(store.query({.ns = "a"})->size(), 2u);
  EXPECT_EQ(store.query({.name_or_id = "r-abc1"})->size(), 1u);
  EXPECT_EQ(store.query({.name_or_id = "r-abc"})->size(), 3u);
  EXPECT_EQ(store.query({.name_or_id = "run", .limit = 1})->size(), 1u);
  EXPECT_EQ(store.query({.phase = "Running"})->size(), 0u);
}

}  // namespace
}  // namespace tau::history
