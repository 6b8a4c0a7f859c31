#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "meta/json.h"
#include "mirror/cluster_mirror.h"
#include "mirror/decision_writer.h"
#include "mirror/translate.h"
#include "mirror/verdict_text.h"

namespace tau::mirror {
namespace {
namespace json = boost::json;

const Time start{seconds(1'800'000'000)};

// Objects come and go as the informers tell it: into the store first, then to the mirror.
struct World {
  kube::Stores stores;
  ClusterMirror mirror{{.scheduler_name = "taugrid"}};
  Rng rng{3};

  template <class T>
  void put(T object) {
    auto now = std::make_shared<const T>(std::move(object));
    const auto old = stores.get<T>().find(now->metadata.namespace_, now->metadata.name);
    stores.get<T>().put(now);
    mirror.on_change(stores, kube::Change<T>{old, now});
  }
  template <class T>
  void remove(const std::string& ns, const std::string& name) {
    const auto old = stores.get<T>().find(ns, name);
    stores.get<T>().remove({ns, name});
    mirror.on_change(stores, kube::Change<T>{old, nullptr});
  }
  template <class T>
  std::vector<T> take() {
    std::vector<T> found;
    for (const engine::Delta& delta : mirror.take_deltas()) {
      if (const T* one = std::get_if<T>(&delta)) found.push_back(*one);
    }
    return found;
  }
};

kube::Container container(std::string name, kube::StringMap requests) {
  return {.name = std::move(name), .resources = {.requests = std::move(requests)}};
}
kube::Pod pod(const std::string& name, const std::string& job_uid = "") {
  kube::Pod made;
  made.metadata = {.name = name, .namespace_ = "d", .uid = "pod-" + name};
  if (!job_uid.empty()) {
    made.metadata.owner_references.push_back(
        {.kind = "Job", .name = "j", .uid = job_uid, .controller = true});
  }
  made.spec.scheduler_name = "taugrid";
  made.spec.containers = {container("main", {{"cpu", "500m"}, {"nvidia.com/gpu", "2"}})};
  return made;
}
kube::Node node(const std::string& name, const std::string& devices) {
  kube::Node made;
  made.metadata = {.name = name, .uid = "node-" + name};
  made.metadata.annotations["taugrid.io/gpu-devices"] = devices;
  made.status.allocatable = {
      {"cpu", "8"}, {"memory", "16Gi"}, {"pods", "110"}, {"nvidia.com/gpu", "4"}};
  made.status.conditions = {{.type = "Ready", .status = "True"}};
  return made;
}
kube::Job job(const std::string& uid) {
  kube::Job made;
  made.metadata = {.name = "j", .namespace_ = "d", .uid = uid};
  made.metadata.labels["kueue.x-k8s.io/queue-name"] = "local";
  return made;
}
kube::Workload workload(const std::string& name, const std::string& job_uid, int count = 1) {
  kube::Workload made;
  made.metadata = {.name = name,
                   .namespace_ = "d",
                   .uid = "w-" + name,
                   .resource_version = "7",
                   .generation = 1,
                   .creation_timestamp = start - seconds(3)};
  made.metadata.owner_references.push_back(
      {.kind = "Job", .name = "j", .uid = job_uid, .controller = true});
  made.spec.queue_name = "local";
  kube::PodSet set{.name = "main", .count = count};
  set.template_.spec = pod("x").spec;
  made.spec.pod_sets.push_back(std::move(set));
  return made;
}
void put_queues(World& w) {
  kube::Namespace space;
  space.metadata.name = "d";
  w.put(space);
  kube::ResourceFlavor flavor;
  flavor.metadata.name = "default";
  w.put(flavor);
  kube::ClusterQueue queue;
  queue.metadata.name = "cluster";
  queue.spec.namespace_selector.emplace();
  w.put(queue);
  kube::LocalQueue local;
  local.metadata = {.name = "local", .namespace_ = "d"};
  local.cluster_queue = "cluster";
  w.put(local);
}

TEST(Translate, APodAsksForItsContainersAtLeastItsLargestInitContainerAndItsOverhead) {
  Names names;
  kube::PodSpec spec;
  spec.containers = {container("a", {{"cpu", "1"}, {"memory", "1Gi"}}),
                     container("b", {{"cpu", "250m"}})};
  spec.init_containers = {container("i", {{"cpu", "500m"}, {"memory", "3Gi"}})};
  spec.overhead = {{"memory", "1Mi"}};
  const int64_t gib = int64_t{1} << 30;
  EXPECT_EQ(pod_amounts(names, spec),
            (engine::Amounts{{engine::cpu, 1250}, {engine::memory, 3 * gib + (1 << 20)}}));
}

TEST(Translate, ASidecarRunsBesideTheContainersAndBesideTheInitContainersAfterIt) {
  Names names;
  kube::Container sidecar = container("log", {{"cpu", "250m"}});
  sidecar.restart_policy = "Always";
  kube::PodSpec spec;
  spec.containers = {container("a", {{"cpu", "1"}}), container("b", {{"cpu", "500m"}})};
  spec.init_containers = {sidecar};
  EXPECT_EQ(pod_amounts(names, spec), (engine::Amounts{{engine::cpu, 1750}}));
  spec.init_containers.push_back(container("fetch", {{"cpu", "4"}}));
  EXPECT_EQ(pod_amounts(names, spec), (engine::Amounts{{engine::cpu, 4250}}));
  std::ranges::reverse(spec.init_containers);
  EXPECT_EQ(pod_amounts(names, spec), (engine::Amounts{{engine::cpu, 4000}}))
      << "what starts later does not count beside it";
}

TEST(Translate, SlicesAndGroupsOfPodSetsAreAskedFor) {
  Names names;
  kube::PodSet set;
  set.required_topology = "block";
  set.slice_required_topology = "rack";
  set.slice_size = 4;
  set.group_name = "lw";
  engine::TopologyRequest asked = topology_of(names, set);
  EXPECT_EQ(asked.slices,
            (std::vector<engine::TopologyRequest::Slice>{{names.label_keys.find("rack"), 4}}));
  EXPECT_NE(asked.group, 0u);
  set.slice_required_topology.reset();
  set.slice_constraints = {{"rack", 8}, {"host", 0}};
  asked = topology_of(names, set);
  EXPECT_EQ(asked.slices,
            (std::vector<engine::TopologyRequest::Slice>{{names.label_keys.find("rack"), 8},
                                                         {names.label_keys.find("host"), 1}}));
}

TEST(Translate, EmptyAffinityTermsMatchNoNodeAndOthersCarryTheSelector) {
  Names names;
  kube::PodSpec spec;
  spec.node_selector = {{"zone", "a"}};
  spec.required_node_affinity = {{}, {.match_expressions = {{"gpu", "Exists", {}}}}};
  const engine::Request both = request_of(names, spec);
  ASSERT_EQ(both.terms.size(), 1u);
  EXPECT_EQ(both.terms[0].size(), 2u);
  spec.required_node_affinity = {{}};
  const engine::Request none = request_of(names, spec);
  ASSERT_EQ(none.terms.size(), 1u);
  EXPECT_EQ(none.terms[0][0].op, engine::Operator::in);
  EXPECT_TRUE(none.terms[0][0].values.empty());
}

TEST(Translate, AnAssignmentIsTheBitsOfItsDevicesInTheNodesOrder) {
  kube::Pod assigned = pod("p");
  const std::vector<std::string> devices = devices_of(node("n", "G0, G1,G2,G3"));
  const std::pair<const char*, engine::GpuMask> cases[] = {
      {"main=G1,G3", 0b1010}, {"main=G0;side=G2", 0b0101}, {"main=unknown", 0}, {"nonsense", 0}};
  for (const auto& [text, want] : cases) {
    assigned.metadata.annotations["taugrid.io/gpus"] = text;
    EXPECT_EQ(mask_of(assigned, devices), want) << text;
  }
}

TEST(ClusterMirror, APodKnowsItsWorkloadWhicheverComesFirst) {
  World w;
  put_queues(w);
  w.put(pod("p", "u1"));
  w.put(job("u1"));
  auto told = w.take<engine::PodUpsert>();
  EXPECT_FALSE(told.back().is_schedulable) << "its Job is in a queue: it may not slip in by itself";
  w.put(workload("w", "u1"));
  told = w.take<engine::PodUpsert>();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].workload, w.mirror.names().workloads.find("w-w"));
  EXPECT_TRUE(told[0].is_schedulable);
}

TEST(ClusterMirror, PodsOfAGoneWorkloadAreItsNoMore) {
  World w;
  put_queues(w);
  w.put(job("u1"));
  w.put(workload("w", "u1"));
  w.put(pod("p", "u1"));
  w.mirror.take_deltas();
  w.remove<kube::Workload>("d", "w");
  const auto told = w.take<engine::PodUpsert>();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_FALSE(told[0].workload.is_some());
  w.mirror.take_deltas();
  w.put(workload("other", "u2"));
  EXPECT_EQ(w.take<engine::WorkloadUpsert>().size(), 1u);
}

TEST(ClusterMirror, AnIdIsReusedOnlyAfterTheNextDeltasAndAFailureNeverHitsItsHeir) {
  World w;
  w.put(pod("a"));
  const engine::PodId id = w.take<engine::PodUpsert>()[0].id;
  w.remove<kube::Pod>("d", "a");
  w.put(pod("b"));
  EXPECT_NE(w.mirror.names().pods.find("pod-b"), id) << "the engine has not heard of the end yet";
  w.mirror.take_deltas();
  w.put(pod("c"));
  EXPECT_EQ(w.mirror.names().pods.find("pod-c"), id);
  w.mirror.take_deltas();
  w.mirror.failed(engine::BindFailed{id}, "pod-a");
  EXPECT_FALSE(w.mirror.has_deltas());
  w.mirror.failed(engine::BindFailed{id}, "pod-c");
  EXPECT_TRUE(w.mirror.has_deltas());
}

TEST(ClusterMirror, AKubeletsReportsWakeNobody) {
  World w;
  kube::Pod p = pod("p");
  w.put(p);
  w.put(node("n", "G0"));
  w.mirror.take_deltas();
  p.status.phase = "Running";
  w.put(p);
  kube::Node n = node("n", "G0");
  n.status.conditions[0].last_heartbeat_time = start;
  w.put(n);
  EXPECT_FALSE(w.mirror.has_deltas());
  p.status.phase = "Succeeded";
  w.put(p);
  EXPECT_TRUE(w.take<engine::PodUpsert>()[0].is_ended);
}

TEST(ClusterMirror, PodsOfOtherSchedulersCountButAreNotOurs) {
  World w;
  kube::Pod other = pod("p");
  other.spec.scheduler_name = "default-scheduler";
  w.put(other);
  EXPECT_FALSE(w.take<engine::PodUpsert>()[0].is_schedulable);
}

TEST(ClusterMirror, SaysWhyAWorkloadHasNoQueue) {
  World w;
  const kube::Workload waiting = workload("w", "u1");
  const auto why = [&] {
    const auto queue = cluster_queue_of(w.stores, waiting);
    return queue ? "in " + *queue : queue.error().message;
  };
  EXPECT_EQ(why(), "LocalQueue local does not exist in namespace d");
  put_queues(w);
  EXPECT_EQ(why(), "in cluster");
  kube::ClusterQueue closed;
  closed.metadata.name = "cluster";
  w.put(closed);
  EXPECT_EQ(why(), "ClusterQueue cluster admits no namespace: it has no namespaceSelector");
  closed.spec.namespace_selector = kube::LabelSelector{.match_labels = {{"team", "x"}}};
  w.put(closed);
  EXPECT_EQ(why(), "ClusterQueue cluster does not admit namespace d");
}

TEST(DecisionWriter, ABindIsOneBindingWithTheDevicesOfEachContainer) {
  World w;
  w.put(node("n", "G0,G1,G2,G3"));
  kube::Pod two = pod("p");
  two.spec.containers = {container("a", {{"nvidia.com/gpu", "1"}}), container("b", {}),
                         container("c", {{"nvidia.com/gpu", "2"}})};
  w.put(two);
  const Names& names = w.mirror.names();
  const engine::Bind bind{names.pods.find("pod-p"), names.nodes.find("n"), 0b1011};
  const auto write = write_of(names, w.stores, engine::Decision(bind), start, w.rng);
  ASSERT_TRUE(write);
  EXPECT_EQ(kube::to_http(write->request).target, "/api/v1/namespaces/d/pods/p/binding");
  EXPECT_EQ(json::parse(write->request.body), json::parse(R"({"apiVersion":"v1","kind":"Binding",
              "metadata":{"name":"p","namespace":"d","uid":"pod-p","annotations":{"taugrid.io/gpus":"a=G0;c=G1,G3"}},
              "target":{"apiVersion":"v1","kind":"Node","name":"n"}})"));
  EXPECT_TRUE(write->events.empty()) << "pod events are the kubelet's";
  w.remove<kube::Node>("", "n");
  EXPECT_FALSE(write_of(names, w.stores, engine::Decision(bind), start, w.rng));
}

struct Written {
  json::value body;
  std::vector<std::string> events;
};
Written read(const Write& write) {
  Written written{json::parse(write.request.body), {}};
  for (const kube::ApiRequest& event : write.events) {
    const json::value e = json::parse(event.body);
    written.events.push_back(std::string(meta::string_at(e, "involvedObject.kind")) + " " +
                             std::string(meta::string_at(e, "type")) + " " +
                             std::string(meta::string_at(e, "reason")));
  }
  return written;
}

struct AdmitWorld : World {
  AdmitWorld() {
    put_queues(*this);
    put(node("n", "G0,G1,G2,G3"));
    put(job("u1"));
    put(workload("w", "u1", 2));
  }
  engine::Admit admit() const {
    const Names& names = mirror.names();
    const engine::FlavorId flavor = names.flavors.find("default");
    return {names.workloads.find("w-w"),
            names.queues.find("cluster"),
            {{.flavors = {{engine::cpu, flavor}, {engine::gpu, flavor}},
              .count = 2,
              .nodes = {{names.nodes.find("n"), 2}}}}};
  }
  std::optional<Write> write(engine::Decision decision) {
    return write_of(mirror.names(), stores, decision, start, rng);
  }
};

TEST(DecisionWriter, AnAdmissionHasKueuesWordsAndTheNodesHeld) {
  AdmitWorld w;
  const auto write = w.write(w.admit());
  ASSERT_TRUE(write);
  const Written written = read(*write);
  EXPECT_EQ(meta::string_at(written.body, "metadata.resourceVersion"), "7");
  json::value admission = *meta::find_path(written.body, "status.admission");
  json::object& set = admission.at("podSetAssignments").at(0).as_object();
  EXPECT_NE(json::serialize(set.at("topologyAssignment")).find("kubernetes.io/hostname"),
            std::string::npos);
  set.erase("topologyAssignment");  // read back in the next test
  EXPECT_EQ(admission,
            json::parse(R"({"clusterQueue":"cluster","podSetAssignments":[{"name":"main","count":2,
      "flavors":{"cpu":"default","nvidia.com/gpu":"default"},
      "resourceUsage":{"cpu":"1","nvidia.com/gpu":"4"}}]})"));
  EXPECT_EQ(written.events,
            (std::vector<std::string>{"Workload Normal Admitted", "Job Normal Started"}));
  EXPECT_TRUE(std::holds_alternative<engine::AdmitFailed>(*write->on_failure));
}

TEST(DecisionWriter, WhatItWritesReadsBackAsTheSameHold) {
  AdmitWorld w;
  const engine::Admit admit = w.admit();
  kube::Workload admitted = workload("w", "u1", 2);
  admitted.status.admission = admission_text(w.mirror.names(), admitted, admit);
  w.put(admitted);
  const auto told = w.take<engine::WorkloadUpsert>();
  ASSERT_TRUE(told.back().admission);
  EXPECT_EQ(*told.back().admission, admit.pod_sets);
}

TEST(DecisionWriter, AnEvictionTakesTheAdmissionAwayAndSaysWhy) {
  AdmitWorld w;
  const engine::Evict evict{
      w.mirror.names().workloads.find("w-w"), engine::EvictReason::node_lost, {}};
  EXPECT_FALSE(w.write(evict)) << "nothing to take";
  kube::Workload admitted = workload("w", "u1", 2);
  admitted.status.admission = kube::Admission{.cluster_queue = "cluster"};
  w.put(admitted);
  const auto write = w.write(evict);
  ASSERT_TRUE(write);
  const Written written = read(*write);
  EXPECT_TRUE(meta::find_path(written.body, "status.admission")->is_null());
  EXPECT_EQ(written.events, (std::vector<std::string>{"Workload Normal EvictedDueToNodeFailures",
                                                      "Job Normal Stopped"}));
}

TEST(DecisionWriter, APreemptionSaysForWhomAndWhy) {
  AdmitWorld w;
  kube::Workload admitted = workload("w", "u1", 2);
  admitted.status.admission = kube::Admission{.cluster_queue = "cluster"};
  w.put(admitted);
  const auto id = w.mirror.names().workloads.find("w-w");
  const auto write =
      w.write(engine::Evict{id, engine::EvictReason::preempted, id, engine::PreemptCause::reclaim});
  ASSERT_TRUE(write);
  std::map<std::string, std::string> told;
  const Written written = read(*write);
  for (const json::value& one : meta::find_path(written.body, "status.conditions")->as_array()) {
    told[std::string(meta::string_at(one, "type"))] =
        fmt::format("{} {}: {}", meta::string_at(one, "status"), meta::string_at(one, "reason"),
                    meta::string_at(one, "message"));
  }
  const std::string why =
      "Makes room for workload d/w: its ClusterQueue takes back quota that it lent";
  EXPECT_EQ(told["Preempted"], "True InCohortReclamation: " + why);
  EXPECT_EQ(told["Evicted"], "True Preempted: " + why);
  EXPECT_EQ(told["QuotaReserved"], "False PendingEvaluation: " + why);
}

TEST(DecisionWriter, AVerdictIsRewrittenOnlyWhenItsReasonChanges) {
  AdmitWorld w;
  engine::Verdict verdict{.workload = w.mirror.names().workloads.find("w-w")};
  const engine::QuotaShort few{w.mirror.names().flavors.find("default"), engine::gpu, 12, 8, 16};
  verdict.blockers = {{.reason = engine::Reason::waiting_quota, .quota = {few}}};
  const auto say = [&] { return write_of(w.mirror.names(), w.stores, verdict, start, w.rng); };
  const auto write = say();
  ASSERT_TRUE(write);
  const Written written = read(*write);
  const json::value& condition =
      meta::find_path(written.body, "status.conditions")->as_array().at(0);
  EXPECT_EQ(meta::string_at(condition, "reason"), "WaitingForQuota");
  EXPECT_EQ(meta::string_at(condition, "message"),
            "WAITING_QUOTA: needs 12 GPUs, 8 of 16 free in flavor default");
  EXPECT_EQ(written.events, (std::vector<std::string>{"Workload Normal WaitingForQuota",
                                                      "Job Normal WaitingForQuota"}));

  kube::Workload waiting = workload("w", "u1", 2);
  waiting.status.conditions = {
      {.type = "QuotaReserved",
       .status = "False",
       .reason = "WaitingForQuota",
       .message = "WAITING_QUOTA: needs 12 GPUs, 3 of 16 free in flavor default"}};
  w.put(waiting);
  EXPECT_FALSE(say()) << "only numbers moved";
  verdict.blockers = {{.reason = engine::Reason::exceeds_max_quota, .quota = {few}}};
  ASSERT_TRUE(say());
  EXPECT_EQ(read(*say()).events[0], "Workload Warning ExceedsMaxQuota");
}

TEST(VerdictText, IsOneLineWithNumbers) {
  Names names;
  const engine::FlavorId flavor = names.flavors.intern("default");
  engine::Blocker gang{.reason = engine::Reason::capacity_short,
                       .pods_wanted = 4,
                       .pods_placed = 3,
                       .gpus_wanted = 4,
                       .gpus_free = 3,
                       .free_gpus_by_node = {1, 1, 1, 0}};
  gang.nodes_by_misfit[static_cast<size_t>(engine::Misfit::fits)] = 3;
  gang.nodes_by_misfit[static_cast<size_t>(engine::Misfit::gpu_short)] = 1;
  struct Case {
    engine::Blocker given;
    std::string reason, message;
  };
  const Case cases[] = {
      {{.reason = engine::Reason::waiting_quota, .quota = {{flavor, engine::gpu, 12, 8, 16}}},
       "WAITING_QUOTA",
       "needs 12 GPUs, 8 of 16 free in flavor default"},
      {{.reason = engine::Reason::waiting_quota, .quota = {{flavor, engine::cpu, 1500, 500, 4000}}},
       "WAITING_QUOTA",
       "needs 1500m cpu, 500m of 4 free in flavor default"},
      {gang, "CAPACITY_SHORT",
       "3 of 4 pods fit at once; needs 4 GPUs, 3 free on 3 nodes (1 1 1 0); nodes: 3 fit, 1 short "
       "of GPUs"},
      {{.reason = engine::Reason::waiting_priority, .position = 3, .ahead = 2},
       "WAITING_PRIORITY",
       "2 ahead in the queue"},
      {{.reason = engine::Reason::no_matching_flavor},
       "NO_MATCHING_FLAVOR",
       "no flavor of the queue matches its node selector and tolerations"},
  };
  for (const Case& c : cases) {
    const kube::BlockerView view = blocker_view(names, c.given);
    EXPECT_EQ(view.reason, c.reason);
    EXPECT_EQ(view.message, c.message);
  }
}

}  // namespace
}  // namespace tau::mirror
