#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "control/defaults.h"
#include "control/history_recorder.h"
#include "control/job_workload.h"
#include "control/queue_status.h"
#include "meta/json.h"

namespace tau::control {
namespace {
namespace json = boost::json;

const Time start{seconds(1'800'000'000)};

template <class T>
void put(kube::Stores& stores, T object) {
  stores.get<T>().put(std::make_shared<const T>(std::move(object)));
}

kube::Job job(bool is_suspended = true) {
  kube::Job made;
  made.metadata = {
      .name = "train", .namespace_ = "d", .uid = "abcdef01-23", .resource_version = "5"};
  made.metadata.labels["kueue.x-k8s.io/queue-name"] = "local";
  made.spec.suspend = is_suspended;
  made.spec.parallelism = 4;
  made.spec.completions = 2;
  made.spec.template_.spec.containers = {
      {.name = "main", .resources = {.requests = {{"cpu", "1"}, {"nvidia.com/gpu", "2"}}}}};
  return made;
}
kube::Workload workload_of(const kube::Stores& stores, const kube::Job& j) {
  kube::Workload made = workload_for(stores, j, "local");
  made.metadata.uid = "w1";
  made.metadata.resource_version = "6";
  return made;
}
void admit(kube::Workload& workload) {
  kube::PodSetAssignment set{.name = "main",
                             .flavors = {{"nvidia.com/gpu", "default"}},
                             .resource_usage = {{"nvidia.com/gpu", "4"}},
                             .count = 2};
  workload.status.admission =
      kube::Admission{.cluster_queue = "cluster", .pod_set_assignments = {set}};
  kube::set_condition(workload.status.conditions,
                      {.type = "Admitted", .status = "True", .reason = "Admitted"}, start);
}
kube::Pod pod_of(const kube::Job& j, const std::string& name, const std::string& phase) {
  kube::Pod made;
  made.metadata = {.name = name, .namespace_ = "d", .uid = "pod-" + name};
  made.metadata.owner_references.push_back(
      {.kind = "Job", .name = j.metadata.name, .uid = j.metadata.uid, .controller = true});
  made.spec = j.spec.template_.spec;
  made.status.phase = phase;
  return made;
}

// What is sent, in short: "create workloads", "patch jobs {...}".
std::vector<std::string> words(const kube::Actions& actions) {
  std::vector<std::string> said;
  for (const kube::ApiRequest& request : actions.requests) {
    const std::string kind(kube::info(request.kind).resource);
    const json::value body = request.body.empty() ? json::value() : json::parse(request.body);
    if (request.kind == kube::Kind::event)
      said.push_back("event " + std::string(meta::string_at(body, "reason")));
    else if (request.verb == kube::Verb::create)
      said.push_back("create " + kind);
    else if (request.verb == kube::Verb::remove)
      said.push_back("delete " + kind);
    else {
      const json::value* spec = meta::find_path(body, "spec");
      said.push_back("patch " + kind + (spec == nullptr ? "" : " " + json::serialize(*spec)));
    }
  }
  return said;
}

TEST(JobWorkload, KeepsWorkloadAndSuspensionEqualToWhatWasDecided) {
  using Words = std::vector<std::string>;
  struct Case {
    std::string name;
    std::function<void(kube::Stores&)> given;
    Words want;
  };
  const Case cases[] = {
      {"a queued Job gets its Workload",
       [](kube::Stores& s) { put(s, job()); },
       {"create workloads", "event CreatedWorkload"}},
      {"one that slipped by is suspended first",
       [](kube::Stores& s) { put(s, job(false)); },
       {R"(patch jobs {"suspend":true})", "create workloads", "event CreatedWorkload"}},
      {"one that runs already is left alone",
       [](kube::Stores& s) {
         put(s, job(false));
         put(s, pod_of(job(), "p", "Running"));
       },
       {}},
      {"without a queue nothing",
       [](kube::Stores& s) {
         kube::Job j = job();
         j.metadata.labels.clear();
         put(s, j);
       },
       {}},
      {"while it waits nothing",
       [](kube::Stores& s) {
         put(s, job());
         put(s, workload_of(s, job()));
       },
       {}},
      {"admitted, it starts",
       [](kube::Stores& s) {
         put(s, job());
         auto w = workload_of(s, job());
         admit(w);
         put(s, w);
       },
       {R"(patch jobs {"suspend":false})"}},
      {"running, nothing",
       [](kube::Stores& s) {
         put(s, job(false));
         auto w = workload_of(s, job());
         admit(w);
         put(s, w);
       },
       {}},
      {"evicted, it stops",
       [](kube::Stores& s) {
         put(s, job(false));
         put(s, workload_of(s, job()));
       },
       {R"(patch jobs {"suspend":true})"}},
      {"another template while it waits: decided anew",
       [](kube::Stores& s) {
         put(s, workload_of(s, job()));
         kube::Job j = job();
         j.spec.template_.spec.containers[0].resources.requests["cpu"] = "9";
         put(s, j);
       },
       {"delete workloads"}},
      {"more parallel than admitted: decided anew",
       [](kube::Stores& s) {
         auto w = workload_of(s, job());
         admit(w);
         put(s, w);
         kube::Job j = job(false);
         j.spec.completions = 4;
         put(s, j);
       },
       {R"(patch jobs {"suspend":true})", "delete workloads"}},
      {"less parallel: goes on",
       [](kube::Stores& s) {
         auto w = workload_of(s, job());
         admit(w);
         put(s, w);
         kube::Job j = job(false);
         j.spec.completions = 1;
         put(s, j);
       },
       {}},
      {"another queue while it waits",
       [](kube::Stores& s) {
         put(s, workload_of(s, job()));
         kube::Job j = job();
         j.metadata.labels["kueue.x-k8s.io/queue-name"] = "other";
         put(s, j);
       },
       {R"(patch workloads {"queueName":"other"})"}},
      {"complete",
       [](kube::Stores& s) {
         kube::Job j = job(false);
         j.status.conditions = {{.type = "Complete", .status = "True"}};
         put(s, j);
         auto w = workload_of(s, job());
         admit(w);
         put(s, w);
       },
       {"patch workloads", "event FinishedWorkload"}},
      {"going",
       [](kube::Stores& s) {
         kube::Job j = job();
         j.metadata.deletion_timestamp = start;
         put(s, j);
       },
       {}},
  };
  for (const Case& c : cases) {
    kube::Stores stores;
    c.given(stores);
    JobWorkload rule;
    Rng rng(1);
    EXPECT_EQ(words(rule.reconcile(stores, {"d", "train"}, start, rng)), c.want) << c.name;
  }
}

TEST(JobWorkload, AWorkloadIsTheJobInKueuesTerms) {
  kube::Stores stores;
  kube::WorkloadPriorityClass high;
  high.metadata.name = "high";
  high.value = 900;
  put(stores, high);
  kube::Job j = job();
  j.metadata.labels["kueue.x-k8s.io/priority-class"] = "high";
  const kube::Workload made = workload_for(stores, j, "local");
  EXPECT_TRUE(made.metadata.name.starts_with("job-train-")) << made.metadata.name;
  EXPECT_EQ(made.spec.pod_sets.at(0).count, 2) << "not more at once than are wanted in all";
  EXPECT_EQ(made.spec.priority, 900);
  EXPECT_EQ(made.spec.priority_class_kind, "WorkloadPriorityClass");
  EXPECT_EQ(kube::controller_of(made.metadata)->uid, j.metadata.uid);
}

TEST(JobWorkload, APriorityLabelGivenLaterIsFollowed) {
  kube::Stores stores;
  put(stores, workload_of(stores, job()));
  kube::WorkloadPriorityClass high;
  high.metadata.name = "high";
  high.value = 900;
  put(stores, high);
  kube::Job j = job();
  j.metadata.labels["kueue.x-k8s.io/priority-class"] = "high";
  put(stores, j);
  JobWorkload rule;
  Rng rng(1);
  const kube::Actions actions = rule.reconcile(stores, {"d", "train"}, start, rng);
  ASSERT_EQ(actions.requests.size(), 1u);
  const json::value body = json::parse(actions.requests[0].body);
  EXPECT_EQ(meta::find_path(body, "spec.priority")->as_int64(), 900);
  EXPECT_EQ(meta::string_at(body, "spec.priorityClassRef.name"), "high");
}

struct Queues {
  kube::Stores stores;
  ClusterQueueStatus rule;
  Rng rng{1};
  Queues() {
    kube::ResourceFlavor flavor;
    flavor.metadata.name = "default";
    put(stores, flavor);
    kube::ClusterQueue queue;
    queue.metadata.name = "cluster";
    queue.spec.resource_groups = {
        {.covered_resources = {"nvidia.com/gpu"},
         .flavors = {{.name = "default",
                      .resources = {{.name = "nvidia.com/gpu", .nominal_quota = "3"}}}}}};
    put(stores, queue);
    kube::LocalQueue local;
    local.metadata = {.name = "local", .namespace_ = "d"};
    local.cluster_queue = "cluster";
    put(stores, local);
  }
  kube::Actions at(Time now) { return rule.reconcile(stores, {"", "cluster"}, now, rng); }
};

TEST(QueueStatus, CountsAndUsage) {
  Queues q;
  kube::Workload admitted = workload_of(q.stores, job());
  admit(admitted);
  put(q.stores, admitted);
  kube::Workload waiting = workload_of(q.stores, job());
  waiting.metadata.name = "waiting";
  waiting.metadata.uid = "w2";
  put(q.stores, waiting);
  const kube::Actions actions = q.at(start);
  ASSERT_EQ(actions.requests.size(), 1u);
  const json::value status = *meta::find_path(json::parse(actions.requests[0].body), "status");
  EXPECT_EQ(meta::find_path(status, "pendingWorkloads")->as_int64(), 1);
  EXPECT_EQ(meta::find_path(status, "admittedWorkloads")->as_int64(), 1);
  EXPECT_EQ(
      json::serialize(*meta::find_path(status, "flavorsUsage")),
      R"([{"name":"default","resources":[{"name":"nvidia.com/gpu","total":"4","borrowed":"1"}]}])");
  EXPECT_EQ(meta::string_at(meta::find_path(status, "conditions")->as_array().at(0), "reason"),
            "Ready");
}

TEST(QueueStatus, IsWrittenAtMostOnceASecond) {
  Queues q;
  EXPECT_EQ(q.at(start).requests.size(), 1u);
  put(q.stores, workload_of(q.stores, job()));
  const kube::Actions soon = q.at(start + milliseconds(400));
  EXPECT_TRUE(soon.requests.empty());
  EXPECT_EQ(soon.again_after, milliseconds(600));
  EXPECT_EQ(q.at(start + seconds(1)).requests.size(), 1u);
}

TEST(QueueStatus, AQueueWithoutItsFlavorIsNotActive) {
  Queues q;
  q.stores.get<kube::ResourceFlavor>().remove({"", "default"});
  EXPECT_NE(q.at(start).requests.at(0).body.find("FlavorNotFound"), std::string::npos);
}

TEST(Defaults, AreMadeOnceAndNotAgain) {
  kube::Stores stores;
  Defaults rule;
  Rng rng(1);
  const kube::ObjectKey key = rule.initial_keys().at(0);
  EXPECT_EQ(words(rule.reconcile(stores, key, start, rng)),
            (std::vector<std::string>{"create resourceflavors", "create clusterqueues",
                                      "create localqueues", "create configmaps"}));
  kube::ConfigMap marker;
  marker.metadata = {.name = key.name, .namespace_ = key.ns};
  put(stores, marker);
  EXPECT_TRUE(rule.reconcile(stores, key, start, rng).requests.empty());
}

// ---- history

struct Recorded {
  kube::Stores stores;
  HistoryRecorder recorder;
  Time now = start;
  template <class T>
  void see(T object) {
    auto is = std::make_shared<const T>(std::move(object));
    const auto was = stores.get<T>().find(is->metadata.namespace_, is->metadata.name);
    stores.get<T>().put(is);
    recorder.on_change(stores, kube::Change<T>{was, is}, now);
  }
  template <class T>
  void lose(const std::string& name) {
    const auto was = stores.get<T>().find("d", name);
    stores.get<T>().remove({"d", name});
    recorder.on_change(stores, kube::Change<T>{was, nullptr}, now);
  }
  history::RunRecord take() {
    const auto taken = recorder.take_changed();
    EXPECT_EQ(taken.size(), 1u);
    return taken.empty() ? history::RunRecord() : taken[0];
  }
};

kube::Pod running(const std::string& name, const std::string& gpus) {
  kube::Pod made = pod_of(job(), name, "Running");
  made.spec.node_name = "n";
  made.metadata.annotations["taugrid.io/gpus"] = gpus;
  made.status.container_statuses = {
      {.name = "main", .state = {.running = kube::ContainerStateRunning{start}}}};
  return made;
}

TEST(HistoryRecorder, KeepsWhichGpusARunHadAndHowItEnded) {
  Recorded r;
  r.see(job());
  EXPECT_EQ(r.take().phase, "Queued");
  r.see(running("p", "main=G1,G2"));
  kube::Pod ended = running("p", "main=G1,G2");
  ended.status.phase = "Failed";
  ended.status.container_statuses[0].state = {
      .terminated = kube::ContainerStateTerminated{
          .exit_code = 3, .reason = "Error", .finished_at = start + seconds(9)}};
  r.see(ended);
  r.lose<kube::Pod>("p");
  kube::Job failed = job(false);
  failed.status.conditions = {{.type = "Failed",
                               .status = "True",
                               .reason = "BackoffLimitExceeded",
                               .message = "too often",
                               .last_transition_time = start + seconds(10)}};
  r.see(failed);
  const history::RunRecord run = r.take();
  EXPECT_EQ(run.id, "r-abcdef");
  EXPECT_EQ(run.phase, "Failed");
  EXPECT_EQ(run.reason, "BackoffLimitExceeded");
  EXPECT_EQ(run.gpus_requested, 4);
  ASSERT_EQ(run.pods.size(), 1u);
  EXPECT_EQ(run.pods[0].gpu_uuids, (std::vector<std::string>{"G1", "G2"}));
  EXPECT_EQ(run.pods[0].exit_code, 3);
  EXPECT_EQ(run.pods[0].ended, start + seconds(9));
}

TEST(HistoryRecorder, AnEvictionEndsTheAttemptAndTheNextAdmissionBeginsAnother) {
  Recorded r;
  r.see(job());
  kube::Workload w = workload_of(r.stores, job());
  admit(w);
  r.see(w);
  r.now += seconds(60);
  kube::Workload evicted = workload_of(r.stores, job());
  evicted.status.conditions = {{.type = "Evicted",
                                .status = "True",
                                .reason = "NodeFailures",
                                .message = "a node was lost",
                                .last_transition_time = r.now},
                               {.type = "Admitted", .status = "False"}};
  r.see(evicted);
  r.now += seconds(60);
  kube::set_condition(w.status.conditions,
                      {.type = "Admitted", .status = "True", .last_transition_time = r.now}, r.now);
  r.see(w);
  const history::RunRecord run = r.take();
  ASSERT_EQ(run.attempts.size(), 2u);
  EXPECT_EQ(run.attempts[0].outcome, "NodeLost");
  EXPECT_EQ(run.attempts[1].number, 2);
  EXPECT_EQ(run.attempts[1].outcome, "");
}

TEST(HistoryRecorder, ADeletionBeforeTheEndCancelsAndOneAfterItDoesNot) {
  for (const bool is_done : {false, true}) {
    Recorded r;
    kube::Job j = job(false);
    if (is_done) j.status.conditions = {{.type = "Complete", .status = "True"}};
    r.see(j);
    r.lose<kube::Job>("train");
    const history::RunRecord run = r.take();
    EXPECT_EQ(run.phase, is_done ? "Succeeded" : "Cancelled");
    EXPECT_EQ(run.deleted, start);
  }
}

TEST(HistoryRecorder, ARunWhoseJobWentUnseenIsEnded) {
  Recorded r;
  r.recorder.restore({.uid = "gone", .id = "r-gone", .phase = "Running"});
  r.recorder.restore({.uid = "done", .id = "r-done", .phase = "Succeeded"});
  r.see(job());
  r.recorder.end_unseen(r.stores, start);
  std::map<std::string, std::string> phases;
  for (const history::RunRecord& run : r.recorder.take_changed())
    phases[run.uid] = run.phase + (run.deleted ? ", gone" : "");
  EXPECT_EQ(phases, (std::map<std::string, std::string>{{"gone", "Cancelled, gone"},
                                                        {"done", "Succeeded, gone"},
                                                        {"abcdef01-23", "Queued"}}));
}

}  // namespace
}  // namespace tau::control
