// What every HistoryStore promises, as tests that each store instantiates:
//   INSTANTIATE_TYPED_TEST_SUITE_P(Memory, HistoryStores, MemoryHistoryMaker);
// A maker has `HistoryStore& store()`, and `void reopen()`, which keeps what was recorded.
#pragma once

#include <gtest/gtest.h>

#include "history/records.h"

namespace tau::history {

inline RunRecord full_run() {
  const Time t(seconds(1'800'000'000) + microseconds(123'456));
  RunRecord run{.uid = "u-1",
                .id = "r-abc123",
                .kind = "Job",
                .ns = "team-a",
                .name = "train",
                .queue = "q",
                .cluster_queue = "cq",
                .user = "someone"};
  run.gpus_requested = 8;
  run.pods_requested = 2;
  run.submitted = t;
  run.admitted = t + seconds(1);
  run.started = t + seconds(2);
  run.ended = t + seconds(3);
  run.deleted = t + seconds(4);
  run.phase = "Failed";
  run.reason = "Error";
  run.message = "exit code 3: \"x\" \n\xc3\xa9";
  run.attempts = {{.number = 1,
                   .admitted = t,
                   .started = t,
                   .ended = t,
                   .outcome = "Preempted",
                   .reason = "InCohort",
                   .message = "m"},
                  {.number = 2}};
  run.pods = {{.uid = "p-1",
               .name = "train-0",
               .node = "sim-0",
               .attempt = 2,
               .gpu_uuids = {"GPU-1", "GPU-2"},
               .gpu_product = "H100",
               .created = t,
               .bound = t,
               .started = t,
               .ended = t,
               .phase = "Failed",
               .exit_code = 3,
               .signal = 9,
               .reason = "OOMKilled"},
              {.uid = "p-2", .name = "train-1", .exit_code = 0}};
  return run;
}

// Compares what is shown, whole.
inline std::string text_of(const RunRecord& run) {
  std::string text;
  const auto add = [&](auto... words) { ((text += words, text += '|'), ...); };
  const auto time = [](const std::optional<Time>& t) {
    return t ? format_rfc3339_micros(*t) : std::string("-");
  };
  const auto number = [](const std::optional<int>& n) {
    return n ? std::to_string(*n) : std::string("-");
  };
  add(run.uid, run.id, run.kind, run.ns, run.name, run.queue, run.cluster_queue, run.user,
      std::to_string(run.gpus_requested), std::to_string(run.pods_requested));
  add(time(run.submitted), time(run.admitted), time(run.started), time(run.ended),
      time(run.deleted), run.phase, run.reason, run.message);
  for (const AttemptRecord& a : run.attempts)
    add("\n", std::to_string(a.number), time(a.admitted), time(a.started), time(a.ended), a.outcome,
        a.reason, a.message);
  for (const PodRecord& p : run.pods) {
    add("\n", p.uid, p.name, p.node, std::to_string(p.attempt), p.gpu_product, time(p.created),
        time(p.bound), time(p.started), time(p.ended), p.phase, number(p.exit_code),
        number(p.signal), p.reason);
    for (const std::string& uuid : p.gpu_uuids) add(uuid);
  }
  return text;
}

template <class Maker>
class HistoryStores : public ::testing::Test {
 protected:
  Maker maker_;
  HistoryStore& store() { return maker_.store(); }
  std::string uids(const RunQuery& query) {
    std::string text;
    const auto found = store().query(query);
    EXPECT_TRUE(found) << found.error().message;
    if (found) {
      for (const RunRecord& run : *found) text += run.uid + " ";
    }
    return text;
  }
};
TYPED_TEST_SUITE_P(HistoryStores);

TYPED_TEST_P(HistoryStores, KeepWholeRecords) {
  const RunRecord run = full_run();
  ASSERT_TRUE(this->store().record(run));
  for (int life = 0; life < 2; ++life) {
    const auto found = this->store().query({});
    ASSERT_TRUE(found) << found.error().message;
    ASSERT_EQ(found->size(), 1u);
    EXPECT_EQ(text_of((*found)[0]), text_of(run));
    this->maker_.reopen();
  }
}

TYPED_TEST_P(HistoryStores, ReplaceARunWhole) {
  RunRecord run{.uid = "u", .id = "r-1", .ns = "n", .name = "a", .phase = "Queued"};
  ASSERT_TRUE(this->store().record(run));
  run.phase = "Running";
  run.pods = {{.uid = "p", .name = "a-0"}};
  ASSERT_TRUE(this->store().record(run));
  const auto found = this->store().query({.name_or_id = "a"});
  ASSERT_EQ(found->size(), 1u);
  EXPECT_EQ(text_of((*found)[0]), text_of(run));
}

TYPED_TEST_P(HistoryStores, NeverTakeATerminalPhaseBack) {
  for (const char* phase : {"Succeeded", "Failed", "Cancelled"}) {
    RunRecord run{.uid = phase,
                  .id = "r-1",
                  .ns = "n",
                  .name = phase,
                  .ended = Time(seconds(9)),
                  .phase = phase};
    ASSERT_TRUE(this->store().record(run));
    this->maker_.reopen();
    run.phase = "Running";
    run.ended.reset();
    run.deleted = Time(seconds(10));
    ASSERT_TRUE(this->store().record(run));
    const auto found = this->store().query({.name_or_id = phase});
    ASSERT_EQ(found->size(), 1u);
    EXPECT_EQ((*found)[0].phase, phase);
    EXPECT_EQ((*found)[0].ended, Time(seconds(9)));
    EXPECT_EQ((*found)[0].deleted, Time(seconds(10)));
  }
}

TYPED_TEST_P(HistoryStores, AnswerEveryQuery) {
  const auto add = [&](const char* uid, const char* id, const char* ns, const char* name,
                       const char* queue, const char* phase, std::optional<int> at) {
    RunRecord run{.uid = uid, .id = id, .ns = ns, .name = name, .queue = queue, .phase = phase};
    if (at) run.submitted = Time(seconds(*at));
    ASSERT_TRUE(this->store().record(run));
  };
  add("u1", "r-aa0001", "a", "one", "q1", "Running", 10);
  add("u2", "r-aa0002", "a", "two", "q2", "Failed", 30);
  add("u3", "r-bb0003", "b", "one", "q1", "Queued", 20);
  add("u4", "r-bb%_*4", "b", "100%", "q1", "Queued", std::nullopt);
  add("u5", "r-cc0005", "b", "five", "q1", "Queued", 20);
  struct Case {
    const char* name;
    RunQuery query;
    const char* want;
  };
  const Case cases[] = {
      {"all, newest first, unknown last", {}, "u2 u3 u5 u1 u4 "},
      {"namespace", {.ns = "a"}, "u2 u1 "},
      {"name", {.name_or_id = "one"}, "u3 u1 "},
      {"name and namespace", {.ns = "b", .name_or_id = "one"}, "u3 "},
      {"uid", {.name_or_id = "u2"}, "u2 "},
      {"id", {.name_or_id = "r-bb0003"}, "u3 "},
      {"id prefix", {.name_or_id = "r-aa"}, "u2 u1 "},
      {"an id's letter alone is no prefix", {.name_or_id = "r-"}, ""},
      {"a name is no prefix", {.name_or_id = "on"}, ""},
      {"nothing is a pattern", {.name_or_id = "r-*"}, ""},
      {"nor here", {.name_or_id = "r-bb%"}, "u4 "},
      {"queue", {.queue = "q2"}, "u2 "},
      {"phase", {.phase = "Queued"}, "u3 u5 u4 "},
      {"since", {.since = Time(seconds(20))}, "u2 u3 u5 "},
      {"until", {.until = Time(seconds(20))}, "u1 "},
      {"limit", {.limit = 2}, "u2 u3 "},
      {"limit counts what is found", {.until = Time(seconds(20)), .limit = 1}, "u1 "},
      {"no limit below none", {.limit = -1}, ""},
  };
  for (const Case& one : cases) EXPECT_EQ(this->uids(one.query), one.want) << one.name;
}

REGISTER_TYPED_TEST_SUITE_P(HistoryStores, KeepWholeRecords, ReplaceARunWhole,
                            NeverTakeATerminalPhaseBack, AnswerEveryQuery);

}  // namespace tau::history
