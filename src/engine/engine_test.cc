#include "engine/engine.h"

#include "engine/quota.h"
#include "engine/world_for_tests.h"

namespace tau::engine {
namespace {

TEST(Gang, PlacesAllMembersOrNone) {
  TestWorld w;
  w.queue(0, 100);
  for (uint32_t n = 0; n < 3; ++n) w.give(TestWorld::node(n, 1));
  w.give(TestWorld::workload(1, 4, 1));
  auto result = w.cycle();
  EXPECT_TRUE(result.decisions.empty());
  const Verdict* verdict = TestWorld::verdict(result, 1);
  ASSERT_NE(verdict, nullptr);
  const Blocker& blocker = verdict->blockers.at(0);
  EXPECT_EQ(blocker.reason, Reason::capacity_short);
  EXPECT_EQ(blocker.pods_wanted, 4);
  EXPECT_EQ(blocker.pods_placed, 3);
  EXPECT_EQ(blocker.gpus_free, 3);
  EXPECT_EQ(blocker.nodes_by_misfit[static_cast<size_t>(Misfit::gpu_short)], 3);
  EXPECT_TRUE(w.cycle().verdicts.empty()) << "a verdict is told once";

  w.give(TestWorld::node(3, 1));
  result = w.cycle();
  const auto admits = TestWorld::only<Admit>(result);
  ASSERT_EQ(admits.size(), 1u);
  EXPECT_EQ(admits[0].pod_sets[0].nodes.size(), 4u);
  EXPECT_EQ(result.cleared, std::vector{WorkloadId(1)});
}

TEST(Gang, BindsEachPodToAHeldPlaceWithItsOwnDevices) {
  TestWorld w;
  w.queue(0, 100);
  w.give(TestWorld::node(0, 8));
  w.give(TestWorld::workload(1, 2, 4));
  ASSERT_EQ(TestWorld::only<Admit>(w.cycle()).size(), 1u);
  w.give(TestWorld::pod(10, 1, 4));
  w.give(TestWorld::pod(11, 1, 4));
  const auto binds = TestWorld::only<Bind>(w.cycle());
  ASSERT_EQ(binds.size(), 2u);
  EXPECT_EQ(binds[0].gpus, 0x0fu);
  EXPECT_EQ(binds[1].gpus, 0xf0u);
  EXPECT_TRUE(w.cycle().decisions.empty()) << "assumed pods are not bound twice";
}

TEST(Gang, FragmentedWhenTheSumIsThereButNotTheShape) {
  TestWorld w;
  w.queue(0, 100);
  for (uint32_t n = 0; n < 4; ++n) w.give(TestWorld::node(n, 1));
  w.give(TestWorld::workload(1, 1, 4));
  const auto result = w.cycle();
  const Verdict* verdict = TestWorld::verdict(result, 1);
  ASSERT_NE(verdict, nullptr);
  EXPECT_EQ(verdict->blockers.at(0).reason, Reason::capacity_fragmented);
  EXPECT_EQ(verdict->blockers[0].gpus_free, 4);
}

TEST(Capacity, UnhealthyWhenACordonedNodeWouldHelp) {
  TestWorld w;
  w.queue(0, 100);
  NodeUpsert cordoned = TestWorld::node(0, 8);
  cordoned.is_cordoned = true;
  w.give(cordoned);
  w.give(TestWorld::workload(1, 1, 8));
  const auto result = w.cycle();
  const Verdict* verdict = TestWorld::verdict(result, 1);
  ASSERT_NE(verdict, nullptr);
  EXPECT_EQ(verdict->blockers.at(0).reason, Reason::capacity_unhealthy);
}

TEST(Quota, TwelveWantedEightFreeWaitsThenRunsInOrder) {
  TestWorld w;
  w.queue(0, 16);
  w.give(TestWorld::node(0, 8));
  w.give(TestWorld::node(1, 8));
  w.give(TestWorld::workload(1, 1, 8));
  ASSERT_EQ(TestWorld::only<Admit>(w.cycle()).size(), 1u);
  w.give(TestWorld::workload(2, 12, 1));
  w.give(TestWorld::workload(3, 12, 1));
  const auto waiting = w.cycle();
  EXPECT_TRUE(waiting.decisions.empty());
  const Verdict* verdict = TestWorld::verdict(waiting, 2);
  ASSERT_NE(verdict, nullptr);
  EXPECT_EQ(verdict->blockers.at(0).reason, Reason::waiting_quota);
  EXPECT_EQ(verdict->blockers[0].quota.at(0).want, 12);
  EXPECT_EQ(verdict->blockers[0].quota[0].free, 8);
  WorkloadUpsert done = TestWorld::workload(1, 1, 8);
  done.is_finished = true;
  w.give(done);
  const auto admits = TestWorld::only<Admit>(w.cycle());
  ASSERT_EQ(admits.size(), 1u);
  EXPECT_EQ(admits[0].workload, WorkloadId(2));
}

TEST(Quota, MoreThanEverPossibleIsToldAsSuch) {
  TestWorld w;
  w.queue(0, 4);
  w.give(TestWorld::node(0, 8));
  w.give(TestWorld::workload(1, 1, 8));
  const auto result = w.cycle();
  EXPECT_EQ(TestWorld::verdict(result, 1)->blockers.at(0).reason, Reason::exceeds_max_quota);
}

TEST(Quota, BorrowsInTheCohortUpToTheLimits) {
  QuotaTree tree;
  const auto a = tree.add_node(), b = tree.add_node(), cohort = tree.add_node();
  const FlavorResource at{FlavorId(0), gpu};
  tree.set_parent(a, cohort);
  tree.set_parent(b, cohort);
  tree.set_quota(a, at, {.resource = gpu, .nominal = 4, .borrowing_limit = 2});
  tree.set_quota(b, at, {.resource = gpu, .nominal = 6, .lending_limit = 3});
  tree.seal();
  EXPECT_EQ(tree.available(a, at), 6);   // 4 + min(2, 3)
  EXPECT_EQ(tree.available(b, at), 10);  // 3 kept + 3 lent + a's 4
  tree.charge(a, at, 6, nullptr);
  EXPECT_EQ(tree.available(a, at), 0);
  EXPECT_EQ(tree.available(b, at), 4);
  tree.charge(a, at, -6, nullptr);
  EXPECT_EQ(tree.available(b, at), 10);
  EXPECT_EQ(tree.potential(a, at), 6);
}

TEST(Order, StrictHeadBlocksAndBestEffortDoesNot) {
  for (const Strategy strategy : {Strategy::strict_fifo, Strategy::best_effort_fifo}) {
    TestWorld w;
    w.queue(0, 100, strategy);
    w.give(TestWorld::node(0, 4));
    w.give(TestWorld::workload(1, 1, 8));
    w.give(TestWorld::workload(2, 1, 2));
    EXPECT_EQ(TestWorld::only<Admit>(w.cycle()).size(),
              strategy == Strategy::strict_fifo ? 0u : 1u);
  }
}

TEST(Order, PriorityThenAge) {
  TestWorld w;
  w.queue(0, 100);
  w.give(TestWorld::node(0, 1));
  w.give(TestWorld::workload(1, 1, 1, 0));
  w.give(TestWorld::workload(2, 1, 1, 50));
  const auto result = w.cycle();
  ASSERT_EQ(TestWorld::only<Admit>(result).size(), 1u);
  EXPECT_EQ(TestWorld::only<Admit>(result)[0].workload, WorkloadId(2));
}

TEST(Restart, RecordedAdmissionsAndPodsDecideNothingNew) {
  TestWorld w;
  w.queue(0, 100);
  for (uint32_t n = 0; n < 2; ++n) w.give(TestWorld::node(n, 4));
  w.give(TestWorld::workload(1, 2, 4));
  const auto admit = TestWorld::only<Admit>(w.cycle()).at(0);
  w.give(TestWorld::pod(10, 1, 4));
  const Bind bind = TestWorld::only<Bind>(w.cycle()).at(0);

  TestWorld again;
  again.queue(0, 100);
  for (uint32_t n = 0; n < 2; ++n) again.give(TestWorld::node(n, 4));
  WorkloadUpsert recorded = TestWorld::workload(1, 2, 4);
  recorded.admission = admit.pod_sets;
  PodUpsert bound = TestWorld::pod(10, 1, 4);
  bound.node = bind.node;
  bound.gpus = bind.gpus;
  again.give(bound);  // before its workload: order must not matter
  again.give(recorded);
  again.give(TestWorld::workload(2, 1, 4));
  const auto result = again.cycle();
  EXPECT_TRUE(result.decisions.empty())
      << "the second place is held for the pod that has not appeared yet";
  again.give(TestWorld::pod(11, 1, 4));
  const auto binds = TestWorld::only<Bind>(again.cycle());
  ASSERT_EQ(binds.size(), 1u);
  EXPECT_NE(binds[0].node, bind.node);
}

TEST(Failure, ABindThatDidNotTakeIsTriedAgain) {
  TestWorld w;
  w.queue(0, 100);
  w.give(TestWorld::node(0, 4));
  w.give(TestWorld::workload(1, 1, 4));
  w.cycle();
  w.give(TestWorld::pod(10, 1, 4));
  ASSERT_EQ(TestWorld::only<Bind>(w.cycle()).size(), 1u);
  w.give(BindFailed{PodId(10)});
  EXPECT_EQ(TestWorld::only<Bind>(w.cycle()).size(), 1u);
}

TEST(Failure, AssumptionsExpire) {
  TestWorld w;
  w.queue(0, 100);
  w.give(TestWorld::node(0, 4));
  w.give(TestWorld::workload(1, 1, 4));
  const auto first = w.cycle();
  ASSERT_TRUE(first.next);
  w.now = *first.next;
  EXPECT_EQ(TestWorld::only<Admit>(w.cycle()).size(), 1u) << "never confirmed, so decided again";
}

TEST(NodeLoss, AHeldPlaceMovesAndTheRestStays) {
  TestWorld w;
  w.queue(0, 100);
  for (uint32_t n = 0; n < 3; ++n) w.give(TestWorld::node(n, 4));
  w.give(TestWorld::workload(1, 2, 4));
  const auto admit = TestWorld::only<Admit>(w.cycle()).at(0);
  WorkloadUpsert confirmed = TestWorld::workload(1, 2, 4);
  confirmed.admission = admit.pod_sets;
  w.give(confirmed);
  const NodeId lost = admit.pod_sets[0].nodes[0].first;
  w.give(NodeGone{lost});
  w.give(TestWorld::pod(10, 1, 4));
  w.give(TestWorld::pod(11, 1, 4));
  const auto result = w.cycle();
  EXPECT_EQ(TestWorld::only<Bind>(result).size(), 2u);
  const auto moved = TestWorld::only<Admit>(result);
  ASSERT_EQ(moved.size(), 1u);
  for (const auto& [node, count] : moved[0].pod_sets[0].nodes) EXPECT_NE(node, lost);
}

TEST(NodeLoss, WithoutRoomTheWholeGangGoesBackAfterAWhile) {
  TestWorld w;
  w.queue(0, 100);
  for (uint32_t n = 0; n < 2; ++n) w.give(TestWorld::node(n, 4));
  w.give(TestWorld::workload(1, 2, 4));
  const auto admit = TestWorld::only<Admit>(w.cycle()).at(0);
  WorkloadUpsert confirmed = TestWorld::workload(1, 2, 4);
  confirmed.admission = admit.pod_sets;
  w.give(confirmed);
  w.give(NodeGone{admit.pod_sets[0].nodes[0].first});
  w.give(TestWorld::pod(10, 1, 4));
  w.give(TestWorld::pod(11, 1, 4));
  const auto first = w.cycle();
  EXPECT_EQ(TestWorld::only<Bind>(first).size(), 1u);
  ASSERT_TRUE(first.next);
  w.now += seconds(31);
  PodUpsert bound = TestWorld::pod(10, 1, 4);
  bound.node = TestWorld::only<Bind>(first)[0].node;
  bound.gpus = TestWorld::only<Bind>(first)[0].gpus;
  bound.id = TestWorld::only<Bind>(first)[0].pod;
  w.give(bound);
  const auto later = w.cycle();
  ASSERT_EQ(TestWorld::only<Evict>(later).size(), 1u);
  EXPECT_EQ(TestWorld::only<Evict>(later)[0].reason, EvictReason::node_lost);
}

TEST(Stop, HoldKeepsOutAndDrainTakesBack) {
  TestWorld w;
  w.queue(0, 100);
  w.give(TestWorld::node(0, 4));
  w.give(TestWorld::workload(1, 1, 2));
  w.cycle();
  QueueUpsert stopped{
      .id = QueueId(0),
      .stop = StopPolicy::hold,
      .groups = {{.resources = {cpu, gpu},
                  .flavors = {{.flavor = FlavorId(0), .quotas = {{cpu, 1'000'000}, {gpu, 100}}}}}}};
  w.give(stopped);
  w.give(TestWorld::workload(2, 1, 1));
  auto result = w.cycle();
  EXPECT_TRUE(result.decisions.empty());
  EXPECT_EQ(TestWorld::verdict(result, 2)->blockers.at(0).reason, Reason::queue_stopped);
  stopped.stop = StopPolicy::hold_and_drain;
  w.give(stopped);
  EXPECT_EQ(TestWorld::only<Evict>(w.cycle()).size(), 1u);
}

TEST(Loose, PodsOutsideQueuesArePlacedButNotIntoHeldPlaces) {
  TestWorld w;
  w.queue(0, 100);
  w.give(TestWorld::node(0, 4));
  w.give(TestWorld::workload(1, 1, 3));
  w.cycle();
  PodUpsert loose{.id = PodId(5), .request = TestWorld::request(2)};
  w.give(loose);
  auto result = w.cycle();
  EXPECT_TRUE(TestWorld::only<Bind>(result).empty());
  ASSERT_EQ(result.verdicts.size(), 1u);
  EXPECT_EQ(result.verdicts[0].pod, PodId(5));
  w.give(TestWorld::node(1, 2));
  EXPECT_EQ(TestWorld::only<Bind>(w.cycle()).size(), 1u);
}

TEST(Hostile, ContradictionsNeverBreakTheLedger) {
  TestWorld w;
  w.give(PodGone{PodId(77)});
  w.give(NodeGone{NodeId(99)});
  w.give(WorkloadGone{WorkloadId(5)});
  w.give(BindFailed{PodId(1)});
  w.give(AdmitFailed{WorkloadId(1)});
  w.give(PodUpsert{.id = PodId(1),
                   .workload = WorkloadId(9),
                   .pod_set = 7,
                   .request = TestWorld::request(2),
                   .node = NodeId(3),
                   .gpus = 3});
  w.give(WorkloadUpsert{
      .id = WorkloadId(9), .queue = QueueId(4), .admission = std::vector<PodSetAdmission>(5)});
  w.give(NodeUpsert{.id = NodeId(UINT32_MAX - 1)});
  w.give(PodUpsert{});
  w.cycle();
  w.give(QueueGone{QueueId(4)});
  w.give(FlavorGone{FlavorId(4)});
  w.give(CohortUpsert{.id = CohortId(0), .parent = CohortId(0)});
  w.cycle();
}

}  // namespace
}  // namespace tau::engine
