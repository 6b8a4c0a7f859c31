// Jobs through the whole platform: what their own policies promise, as upstream keeps them.
#include "plane/platform_for_tests.h"

namespace tau::plane {
namespace {

struct JobWorld : Platform {
  JobWorld() : Platform("1x8xH100") {}

  // Containers end with the first code left of their pod's index (0 for pods without one), and then
  // with 0.
  void end_with(std::map<int64_t, std::vector<int>> codes) {
    runtime.choose_exit_codes([codes](const kubelet::ContainerSpec& spec) mutable {
      int64_t index = 0;
      for (const auto& [name, value] : spec.env)
        if (name == "JOB_COMPLETION_INDEX") index = std::stoll(value);
      std::vector<int>& left = codes[index];
      if (left.empty()) return 0;
      const int code = left.front();
      left.erase(left.begin());
      return code;
    });
  }
  void create(const std::string& spec, const std::string& restart = "Never") {
    const std::string body = fmt::format(
        R"({{"apiVersion":"batch/v1","kind":"Job","metadata":{{"name":"j"}},"spec":{{{},)"
        R"("template":{{"metadata":{{"annotations":{{"taugrid.io/sim-duration":"5s"}}}},"spec":)"
        R"({{"restartPolicy":"{}","containers":[{{"name":"main","image":"x","command":["true"]}}]}}}}}}}})",
        spec, restart);
    const auto response = call("POST", "/apis/batch/v1/namespaces/default/jobs", body);
    ASSERT_EQ(response.status, 201) << response.body;
  }
  json::value job() { return get("/apis/batch/v1/namespaces/default/jobs/j"); }
  // "Complete: reason", "Failed: reason: message" or "".
  std::string end() {
    const json::value now = job();
    const json::value* conditions = meta::find_path(now, "status.conditions");
    if (conditions == nullptr) return "";
    for (const json::value& condition : conditions->as_array()) {
      const std::string type(meta::string_at(condition, "type"));
      if ((type == "Complete" || type == "Failed") &&
          meta::string_at(condition, "status") == "True")
        return fmt::format("{}: {}: {}", type, meta::string_at(condition, "reason"),
                           meta::string_at(condition, "message"));
    }
    return "";
  }
  std::vector<std::string> pods_in(const std::string& phase) {
    const json::value pods =
        get("/api/v1/namespaces/default/pods?fieldSelector=status.phase%3D" + phase);
    std::vector<std::string> names;
    for (const json::value& pod : meta::find_path(pods, "items")->as_array())
      names.emplace_back(meta::string_at(pod, "metadata.name"));
    return names;
  }
  std::string ended(Duration within = minutes(30)) {
    loop.run_until([&] { return !end().empty(); }, within, seconds(1));
    return end();
  }
  // "succeeded/failed done=… bad=…"
  std::string counters() {
    const json::value now = job();
    const auto number = [&](const char* path) {
      const json::value* found = meta::find_path(now, path);
      return found == nullptr ? int64_t{0} : found->as_int64();
    };
    return fmt::format("{}/{} done={} bad={}", number("status.succeeded"), number("status.failed"),
                       meta::string_at(now, "status.completedIndexes"),
                       meta::string_at(now, "status.failedIndexes"));
  }
};

TEST(JobPolicies, EndAJobAsUpstreamDoes) {
  struct Case {
    const char* name;
    const char* spec;
    const char* restart;
    std::map<int64_t, std::vector<int>> codes;
    const char* end;
    const char* counters;
  };
  const std::string indexed = R"("completionMode":"Indexed","completions":3,"parallelism":3)";
  const Case cases[] = {
      {"each index may fail once",
       R"(,"backoffLimitPerIndex":1)",
       "Never",
       {{1, {1}}},
       "Complete: CompletionsReached: Reached expected number of succeeded pods",
       "3/1 done=0-2 bad="},
      {"an index that fails twice fails the Job, once the others are done",
       R"(,"backoffLimitPerIndex":1)",
       "Never",
       {{1, {1, 1}}},
       "Failed: FailedIndexes: Job has failed indexes",
       "2/2 done=0,2 bad=1"},
      {"more failed indexes than borne end it at once",
       R"(,"backoffLimitPerIndex":0,"maxFailedIndexes":1)",
       "Never",
       {{0, {1}}, {1, {1}}},
       "Failed: MaxFailedIndexesExceeded: Job has exceeded the specified maximal number of failed "
       "indexes",
       "0/3 done= bad=0,1"},
      {"FailIndex spares the index its other tries",
       R"(,"backoffLimitPerIndex":5,"podFailurePolicy":{"rules":[{"action":"FailIndex","onExitCodes":{"operator":"In","values":[7]}}]})",
       "Never",
       {{2, {7}}},
       "Failed: FailedIndexes: Job has failed indexes",
       "2/1 done=0,1 bad=2"},
      {"Ignore does not count",
       R"(,"backoffLimit":0,"podFailurePolicy":{"rules":[{"action":"Ignore","onExitCodes":{"operator":"NotIn","values":[1]}}]})",
       "Never",
       {{0, {42, 43}}},
       "Complete: CompletionsReached: Reached expected number of succeeded pods",
       "3/0 done=0-2 bad="},
      {"the first rule that matches counts",
       R"(,"backoffLimit":0,"podFailurePolicy":{"rules":[{"action":"Ignore","onExitCodes":{"operator":"In","values":[42]}},{"action":"FailJob","onExitCodes":{"operator":"In","values":[42]}}]})",
       "Never",
       {{0, {42}}},
       "Complete: CompletionsReached: Reached expected number of succeeded pods",
       "3/0 done=0-2 bad="},
      {"a success rule of one index ends the others",
       R"(,"successPolicy":{"rules":[{"succeededIndexes":"1-2","succeededCount":2},{"succeededIndexes":"0"}]})",
       "Never",
       {{1, {1}}, {2, {1}}},
       "Complete: SuccessPolicy: Matched rules at index 1",
       "1/0 done=0 bad="},
      {"restarts inside a pod count against the limit",
       R"(,"backoffLimit":2)",
       "OnFailure",
       {{0, {1, 1, 1}}},
       "Failed: BackoffLimitExceeded: Job has reached the specified backoff limit",
       ""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    JobWorld world;
    world.end_with(c.codes);
    world.create(indexed + c.spec, c.restart);
    EXPECT_EQ(world.ended(), c.end);
    if (*c.counters != 0) EXPECT_EQ(world.counters(), c.counters);
  }
}

TEST(JobPolicies, RefusesWhatNoRuleMayAsk) {
  const std::string huge = "0-2147483645";
  const std::string cases[] = {
      R"("completions":3,"successPolicy":{"rules":[]})",
      R"("completions":3,"successPolicy":{"rules":[{}]})",
      R"("completions":3,"successPolicy":{"rules":[{"succeededIndexes":")" + huge + R"("}]})",
      R"("completions":3,"successPolicy":{"rules":[{"succeededIndexes":"1--9223372036854775808"}]})",
      R"("completions":3,"successPolicy":{"rules":[{"succeededIndexes":"2,1"}]})",
      R"("completions":3,"successPolicy":{"rules":[{"succeededIndexes":"0-1","succeededCount":3}]})",
      R"("completions":3,"podFailurePolicy":{"rules":[{"action":"FailIndex","onExitCodes":{"operator":"In","values":[1]}}]})",
      R"("completions":3,"podFailurePolicy":{"rules":[{"action":"Count","onPodConditions":[{"status":"True"}]}]})",
  };
  JobWorld world;
  for (const std::string& spec : cases) {
    const auto answer = world.call(
        "POST", "/apis/batch/v1/namespaces/default/jobs",
        R"({"metadata":{"name":"x"},"spec":{"completionMode":"Indexed",)" + spec +
            R"(,"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}})");
    EXPECT_EQ(answer.status, 422) << spec << answer.body;
  }
}

TEST(JobPolicies, LongRangesCostNothing) {
  // Whoever may write a Job's status may write this too.
  JobWorld world;
  world.create(
      R"("completionMode":"Indexed","completions":2147483646,"parallelism":1,"successPolicy":{"rules":[{"succeededIndexes":"0-2147483645"}]})");
  const auto patched = world.call("PUT", "/apis/batch/v1/namespaces/default/jobs/j/status", [&] {
    json::value job = world.job();
    job.as_object()["status"].as_object()["completedIndexes"] =
        "0-9,5-2147483645,1--9223372036854775808,x,3-2,9223372036854775807";
    return json::serialize(job);
  }());
  EXPECT_EQ(patched.status, 200) << patched.body;
  world.loop.advance(seconds(30));
  EXPECT_EQ(world.end(), "");
}

TEST(JobPolicies, FailJobEndsAllPodsAndSaysWhichRule) {
  JobWorld world;
  world.end_with({{1, {42}}});
  world.create(
      R"("completionMode":"Indexed","completions":3,"parallelism":2,"podFailurePolicy":{"rules":[)"
      R"({"action":"FailJob","onExitCodes":{"containerName":"main","operator":"In","values":[42]}}]})");
  const std::string end = world.ended();
  EXPECT_TRUE(end.starts_with("Failed: PodFailurePolicy: Container main for pod default/j-1-"))
      << end;
  EXPECT_TRUE(end.ends_with(" failed with exit code 42 matching FailJob rule at index 0")) << end;
}

TEST(JobPolicies, WhatRunsWhenAJobFailsFailsWithIt) {
  JobWorld world;
  world.create(R"("completions":6,"parallelism":2,"activeDeadlineSeconds":2)");
  EXPECT_EQ(world.ended(),
            "Failed: DeadlineExceeded: Job was active longer than specified deadline");
  EXPECT_EQ(world.counters(), "0/2 done= bad=");
}

TEST(JobPolicies, APodThatSomebodyDeletesHasFailed) {
  JobWorld world;
  world.create(R"("completions":1,"parallelism":1)");
  world.loop.run_until([&] { return world.pods_in("Running").size() == 1; }, minutes(1),
                       seconds(1));
  ASSERT_EQ(world.pods_in("Running").size(), 1U);
  world.call("DELETE", "/api/v1/namespaces/default/pods/" + world.pods_in("Running")[0]);
  EXPECT_EQ(world.ended(),
            "Complete: CompletionsReached: Reached expected number of succeeded pods");
  EXPECT_EQ(world.counters(), "1/1 done= bad=");
}

TEST(JobPolicies, PodsNoLongerWantedHaveNotFailed) {
  JobWorld world;
  const auto patch = [&](const std::string& spec) {
    EXPECT_EQ(
        world.call("PATCH", "/apis/batch/v1/namespaces/default/jobs/j", R"({"spec":)" + spec + "}")
            .status,
        200);
  };
  world.create(R"("completionMode":"Indexed","completions":4,"parallelism":4)");
  world.loop.run_until([&] { return world.pods_in("Running").size() == 4; }, minutes(1),
                       seconds(1));
  ASSERT_EQ(world.pods_in("Running").size(), 4U);
  patch(R"({"parallelism":2,"completions":2})");  // an elastic Job shrinks
  world.loop.run_until([&] { return world.pods_in("Running").size() == 2; }, minutes(1),
                       seconds(1));
  patch(R"({"parallelism":1,"completions":1})");
  EXPECT_EQ(world.ended(),
            "Complete: CompletionsReached: Reached expected number of succeeded pods");
  EXPECT_EQ(world.counters(), "1/0 done=0 bad=");
}

TEST(JobPolicies, APodThatEndsWellEndsTheBackOff) {
  JobWorld world;
  int number = 0;
  // Six failures, each after a success: none waits longer than the first.
  world.runtime.choose_exit_codes([&](const kubelet::ContainerSpec&) { return number++ % 2; });
  world.create(R"("completions":7,"parallelism":1,"backoffLimit":6)");
  EXPECT_EQ(world.ended(minutes(3)),
            "Complete: CompletionsReached: Reached expected number of succeeded pods");
  EXPECT_EQ(world.counters(), "7/6 done= bad=");
}

TEST(JobPolicies, AnIndexCountsOnWhenItsFailedPodIsDeleted) {
  JobWorld world;
  world.end_with({{0, {1, 1, 1, 1}}});
  world.create(
      R"("completionMode":"Indexed","completions":1,"parallelism":1,"backoffLimitPerIndex":2)");
  for (int i = 0; i < 200 && world.end().empty(); ++i) {
    const json::value pods =
        world.get("/api/v1/namespaces/default/pods?fieldSelector=status.phase%3DFailed");
    for (const json::value& pod : meta::find_path(pods, "items")->as_array())
      world.call("DELETE", "/api/v1/namespaces/default/pods/" +
                               std::string(meta::string_at(pod, "metadata.name")));
    world.loop.advance(seconds(1));
  }
  EXPECT_EQ(world.end(), "Failed: FailedIndexes: Job has failed indexes");
  EXPECT_EQ(world.counters(), "0/3 done= bad=0");
}

}  // namespace
}  // namespace tau::plane
