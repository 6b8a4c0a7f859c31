#include "sim/scenario.h"

#include <gtest/gtest.h>

namespace tau::sim {
namespace {

constexpr std::string_view cluster = R"(
scenarios:
- id: X
  title: a title
  kind: cycle
  queues: [{name: q, groups: [[{flavor: std, cpu: 4}]]}]
  pending: [{name: w, queue: q, podSets: [{name: main, count: 2, each: {cpu: 1}}]}]
)";

TEST(Scenario, TellsWhatDiffers) {
  struct Case {
    std::string_view name, given, want;
  };
  const Case cases[] = {
      {"as expected", "  expect: {admitted: {w: {main: {cpu: std}}}}\n",
       "1 passed, 0 failed, 0 skipped\n"},
      {"another flavor", "  expect: {admitted: {w: {main: {cpu: spot}}}}\n",
       "X: FAILED: a title\n  first cycle: w, pod set main: flavor of cpu: want spot, got std\n0 "
       "passed, 1 failed, 0 skipped\n"},
      {"not expected", "  expect: {pending: {w: {state: parked}}}\n",
       "X: FAILED: a title\n  first cycle: w: want not admitted, got admitted\n  first cycle: w: "
       "want pending, got not pending\n0 passed, 1 failed, 0 skipped\n"},
      {"a slip of the pen", "  expect: {admited: {}}\n",
       "X: FAILED: a title\n  expect: unknown key \"admited\"; did you mean \"admitted\"?\n0 "
       "passed, 1 failed, 0 skipped\n"},
      {"what the engine lacks", "  localQueues: [x]\n  gates: {Magic: true}\n  expect: {}\n",
       "X: not supported: gate Magic, local queues\n0 passed, 0 failed, 1 skipped\n"},
      {"a later step",
       "  expect: {admitted: {w: {}}}\n  then: [{do: [{finish: w}, {add: {name: v, queue: q, "
       "podSets: [{name: main, count: 5, each: {cpu: 1}}]}}, cycle], expect: {pending: {v: "
       "{reason: WaitingForQuota}}}}]\n",
       "X: FAILED: a title\n  step 1: v: reason: want WaitingForQuota, got ExceedsMaxQuota\n0 "
       "passed, 1 failed, 0 skipped\n"},
      {"nobody of that name", "  expect: {admitted: {w: {}}}\n  then: [{do: [{finish: x}]}]\n",
       "X: FAILED: a title\n  finish: there is no workload \"x\"\n0 passed, 1 failed, 0 skipped\n"},
      {"better by design", "  expect: {}\n  ours: {expect: {admitted: {w: {}}}, why: it fits}\n",
       "X: passed; better by design: it fits\n1 passed, 0 failed, 0 skipped\n"},
  };
  for (const Case& one : cases) {
    const auto report = run_scenarios(std::string(cluster) + std::string(one.given));
    ASSERT_TRUE(report) << one.name << ": " << report.error().message;
    EXPECT_EQ(to_text(*report), one.want) << one.name;
  }
}

TEST(Scenario, WhatIsNotOneIsAnError) {
  for (const std::string_view text :
       {"", "a: b", "scenarios: 1", "scenarios: [1]", "scenarios: [{title: x}]", "{"}) {
    EXPECT_FALSE(run_scenarios(text)) << text;
  }
}

TEST(Scenario, OddValuesNeverCrash) {
  for (const std::string_view text :
       {"scenarios: [{id: X, kind: cycle, queues: 1, pending: [1, {name: 2}], expect: {pending: "
        "{a: 1}}}]",
        "scenarios: [{id: X, kind: cycle, queues: [{name: q, groups: [[{flavor: f, cpu: [1]}], "
        "2]}], pending: [{podSets: [{count: x, each: {cpu: {}}}]}], expect: {admitted: {w: 1}}, "
        "then: [{do: [{wait: x}, [], boo]}]}]",
        "scenarios: [{id: X, kind: cycle, nodes: [{name: n, gpu: 99, unhealthy: [70, x]}], "
        "running: [{name: r, at: {n: 1}}], expect: {}, then: [{do: [restart, evictionsDone, "
        "run]}]}]"}) {
    const auto report = run_scenarios(text);
    ASSERT_TRUE(report) << text;
    EXPECT_EQ(report->passed + report->failed + report->skipped, 1);
  }
}

}  // namespace
}  // namespace tau::sim
