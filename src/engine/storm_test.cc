// Random clusters, random work, random trouble, from one seed: the ledger holds after each cycle,
// nothing is bound twice, a restart decides nothing new for what is held, and the same seed decides
// the same.
#include <fmt/format.h>

#include "engine/world_for_tests.h"

namespace tau::engine {
namespace {

std::string describe(const CycleResult& result) {
  std::string out;
  for (const Decision& decision : result.decisions) {
    if (const auto* admit = std::get_if<Admit>(&decision)) {
      out += fmt::format("admit {}:", admit->workload.value);
      for (const auto& set : admit->pod_sets) {
        for (const auto& [resource, flavor] : set.flavors)
          out += fmt::format(" {}={}", resource.value, flavor.value);
        for (const auto& [node, count] : set.nodes) out += fmt::format(" {}x{}", node.value, count);
      }
    } else if (const auto* bind = std::get_if<Bind>(&decision)) {
      out += fmt::format("bind {} {} {:x}", bind->pod.value, bind->node.value, bind->gpus);
    } else if (const auto* evict = std::get_if<Evict>(&decision)) {
      out += fmt::format("evict {} {} by {} {}", evict->workload.value,
                         static_cast<int>(evict->reason), evict->preemptor.value,
                         static_cast<int>(evict->cause));
    }
    out += '\n';
  }
  for (const Verdict& verdict : result.verdicts) {
    out += fmt::format("verdict {} {}:", verdict.workload.value, verdict.pod.value);
    for (const Blocker& b : verdict.blockers)
      out += fmt::format(" {} {}/{} {}/{}", static_cast<int>(b.reason), b.pods_placed,
                         b.pods_wanted, b.gpus_free, b.gpus_wanted);
    out += '\n';
  }
  for (const WorkloadId id : result.cleared) out += fmt::format("cleared {}\n", id.value);
  return out;
}

// Plays the API: its objects, which confirm, refuse, go and come back.
class Storm {
 public:
  explicit Storm(uint64_t seed) : seed_(seed), rng_(seed) {
    for (uint32_t f = 0; f < 2; ++f)
      flavors_.push_back(
          {.id = FlavorId(f), .node_labels = {{LabelKeyId(0), LabelValueId(f), {}}}});
    if (rng_.chance(0.5)) flavors_[1].levels = {LabelKeyId(0), LabelKeyId(7)};
    for (uint32_t q = 0; q < 3; ++q) queues_.push_back(queue(q));
    fair_.is_on = rng_.chance(0.4);
    if (rng_.chance(0.3)) fair_.rules.pop_back();
    const auto nodes = static_cast<uint32_t>(rng_.between(1, 8));
    for (uint32_t n = 0; n < nodes; ++n) nodes_[n] = node(n);
    rebuild();
  }

  std::string run(int steps) {
    std::string log;
    for (int step = 0; step < steps && !testing::Test::HasFailure(); ++step) {
      now_ += seconds(rng_.between(0, 20));
      trouble();
      const Engine what_if(*engine_);
      log += cycle();
      if (rng_.chance(0.05)) restart();
      if (rng_.chance(0.05)) expect_same_decisions(what_if);
    }
    if (testing::Test::HasFailure()) ADD_FAILURE() << "seed " << seed_;
    return log;
  }

 private:
  QueueUpsert queue(uint32_t id) {
    QueueUpsert made{
        .id = QueueId(id),
        .strategy = rng_.chance(0.3) ? Strategy::strict_fifo : Strategy::best_effort_fifo};
    if (id < 2) made.cohort = CohortId(0);
    made.groups = {{.resources = {cpu, gpu}, .flavors = {}}};
    for (uint32_t f = 0; f < 2; ++f) {
      Quota gpus{.resource = gpu, .nominal = rng_.between(0, 20)};
      if (id < 2 && rng_.chance(0.3)) gpus.borrowing_limit = rng_.between(0, 8);
      if (id < 2 && rng_.chance(0.3)) gpus.lending_limit = rng_.between(0, gpus.nominal);
      made.groups[0].flavors.push_back({.flavor = FlavorId(f), .quotas = {{cpu, 1'000'000}, gpus}});
    }
    if (rng_.chance(0.1))
      made.stop = rng_.chance(0.5) ? StopPolicy::hold : StopPolicy::hold_and_drain;
    made.follows_nodes = id == 2 && rng_.chance(0.3);
    made.tries_next_before_borrowing = rng_.chance(0.3);
    made.weight = rng_.between(0, 3) * weight_one;
    made.stops_at_preemption = rng_.chance(0.2);
    made.prefers_preemption_to_borrowing = rng_.chance(0.2);
    made.preemption = {.within = static_cast<Within>(rng_.below(3)),
                       .reclaim = static_cast<Reclaim>(rng_.below(3)),
                       .may_borrow = rng_.chance(0.3)};
    if (rng_.chance(0.3)) made.preemption.borrow_max_priority = static_cast<int32_t>(rng_.below(3));
    return made;
  }
  NodeUpsert node(uint32_t id) {
    NodeUpsert made =
        TestWorld::node(id, static_cast<int>(rng_.between(0, 8)), rng_.between(4, 64) * 1000);
    made.labels = {{LabelKeyId(0), LabelValueId(id % 2), {}},
                   {LabelKeyId(7), LabelValueId(10 + id / 4), {}}};
    made.is_ready = rng_.chance(0.85);
    made.is_cordoned = rng_.chance(0.1);
    if (rng_.chance(0.2)) made.healthy_gpus &= rng_.next();
    if (rng_.chance(0.1))
      made.taints = {{LabelKeyId(1), LabelValueId(1),
                      rng_.chance(0.5) ? Effect::no_schedule : Effect::prefer_no_schedule}};
    return made;
  }
  void give(Delta delta) { engine_->apply({&delta, 1}); }
  void give_all() {
    give(fair_);
    for (const auto& flavor : flavors_) give(flavor);
    for (const auto& [id, pod] : pods_)
      give(pod);  // before nodes and workloads: the order must not matter
    for (const auto& [id, one] : nodes_) give(one);
    for (const auto& one : queues_) give(one);
    for (const auto& [id, one] : work_) give(one);
  }
  void rebuild() {
    engine_ = std::make_unique<Engine>();
    give_all();
    EXPECT_EQ(engine_->check_invariants(), "");
  }

  // Nothing changed but the engine: what is held stays held, what is bound stays bound.
  void restart() {
    rebuild();
    Rng rng(1);
    Engine probe(*engine_);
    for (const Decision& decision : probe.run_cycle(now_, rng).decisions) {
      if (const auto* admit = std::get_if<Admit>(&decision)) {
        const WorkloadUpsert& work = work_.at(admit->workload.value);
        if (work.admission) {
          EXPECT_TRUE(has_trouble(work)) << "admitted again: workload " << admit->workload.value;
        }
      } else if (const auto* bind = std::get_if<Bind>(&decision)) {
        EXPECT_FALSE(pods_.at(bind->pod.value).node.is_some())
            << "bound again: pod " << bind->pod.value;
      } else if (const auto* evict = std::get_if<Evict>(&decision)) {
        EXPECT_TRUE(work_.at(evict->workload.value).admission) << "evicted, but not admitted";
      }
    }
  }
  // A place of it is on a node that cannot take its pod any more, so it may be moved.
  bool has_trouble(const WorkloadUpsert& work) const {
    for (const auto& [id, pod] : pods_) {
      if (pod.workload == work.id && !pod.node.is_some() && !pod.is_ended) return true;
    }
    return false;
  }
  void expect_same_decisions(const Engine& before) {
    Engine one(before), two(before);
    Rng rng(1);
    EXPECT_EQ(describe(one.run_cycle(now_, rng)), describe(two.run_cycle(now_, rng)));
  }

  void trouble() {
    const auto id = static_cast<uint32_t>(rng_.below(14));
    switch (rng_.below(13)) {
      case 0:
      case 1:
      case 2:
      case 3:
        submit(id);
        break;
      case 4:
        give(nodes_[id % 8] = node(id % 8));
        break;
      case 5:
        if (nodes_.erase(id % 8) > 0) lose_pods(id % 8);
        give(NodeGone{NodeId(id % 8)});
        break;
      case 6:
        finish(id);
        break;
      case 7: {
        const auto q = static_cast<uint32_t>(rng_.below(3));
        give(queues_[q] = queue(q));
        break;
      }
      case 8:
        if (work_.contains(id)) {
          if (rng_.chance(0.5))
            work_[id].is_active = !work_[id].is_active;
          else
            work_[id].stop = static_cast<StopPolicy>(rng_.below(3));
          give(work_[id]);
        }
        break;
      case 9:
        if (work_.contains(id) && !work_[id].admission) {
          work_[id].priority = static_cast<int32_t>(rng_.below(4));
          work_[id].not_before = now_ + seconds(rng_.between(0, 60));
          give(work_[id]);
        }
        break;
      case 10: {
        const uint32_t pod = next_pod_++;
        pods_[pod] = {.id = PodId(pod),
                      .request = TestWorld::request(static_cast<int>(rng_.between(0, 2))),
                      .created = now_};
        give(pods_[pod]);
        break;
      }
      case 11:
        fail_a_pod();
        break;
      case 12:
        nonsense();
        break;
      default:
        break;
    }
  }
  void submit(uint32_t id) {
    if (work_.contains(id)) return;
    WorkloadUpsert made{.id = WorkloadId(id),
                        .queue = QueueId(static_cast<uint32_t>(rng_.below(4))),
                        .priority = static_cast<int32_t>(rng_.below(3)),
                        .created = now_};
    const int64_t sets = rng_.between(1, 2);
    for (int64_t s = 0; s < sets; ++s) {
      made.pod_sets.push_back({.request = TestWorld::request(static_cast<int>(rng_.between(0, 4)),
                                                             rng_.between(1, 4) * 1000),
                               .count = static_cast<int32_t>(rng_.between(1, 4))});
      if (rng_.chance(0.2)) made.pod_sets.back().min_count = 1;
      if (rng_.chance(0.2))
        made.pod_sets.back().topology = {.kind = static_cast<TopologyRequest::Kind>(rng_.below(4)),
                                         .level = LabelKeyId(rng_.chance(0.5) ? 0 : 7),
                                         .slices = {},
                                         .group = static_cast<uint32_t>(rng_.below(2))};
    }
    work_[id] = made;
    give(made);
  }
  void finish(uint32_t id) {
    if (!work_.contains(id)) return;
    WorkloadUpsert done = work_[id];
    done.is_finished = true;
    done.admission.reset();
    give(done);
    drop_pods(done.id);
    give(WorkloadGone{done.id});
    work_.erase(id);
  }
  void drop_pods(WorkloadId id) {
    std::erase_if(pods_, [&](const auto& entry) {
      if (entry.second.workload != id) return false;
      give(PodGone{PodId(entry.first)});
      return true;
    });
  }
  // As the Job controller: a pod that is gone has a successor.
  void replace(PodUpsert pod) {
    if (!pod.workload.is_some() || !work_.contains(pod.workload.value) ||
        !work_[pod.workload.value].admission)
      return;
    pod.id = PodId(next_pod_++);
    pod.node = {};
    pod.gpus = 0;
    pod.is_ended = false;
    pods_[pod.id.value] = pod;
    give(pod);
  }
  void lose_pods(uint32_t node_id) {
    std::vector<PodUpsert> lost;
    for (const auto& [id, pod] : pods_) {
      if (pod.node == NodeId(node_id)) lost.push_back(pod);
    }
    for (const PodUpsert& pod : lost) {
      pods_.erase(pod.id.value);
      give(PodGone{pod.id});
      replace(pod);
    }
  }
  void fail_a_pod() {
    for (auto& [id, pod] : pods_) {
      if (!pod.node.is_some() || pod.is_ended || !rng_.chance(0.3)) continue;
      pod.is_ended = true;
      give(pod);
      replace(pod);
      return;
    }
  }
  void nonsense() {
    const auto any = [&] { return static_cast<uint32_t>(rng_.below(40)); };
    give(BindFailed{PodId(any())});
    give(AdmitFailed{WorkloadId(any() + 20)});
    give(PodGone{PodId(any() + 1000)});
    give(WorkloadGone{WorkloadId(any() + 20)});
    give(QueueGone{QueueId(any() + 5)});
    give(CohortUpsert{.id = CohortId(1), .parent = CohortId(1), .groups = {}});
    give(FlavorGone{FlavorId(any() + 5)});
  }

  std::string cycle() {
    const bool is_one_by_one = rng_.chance(0.2);
    const CycleResult result =
        engine_->run_cycle(now_, rng_, {.max_heads_per_queue = is_one_by_one ? 1 : 0});
    EXPECT_EQ(engine_->check_invariants(), "");
    for (const Decision& decision : result.decisions) {
      if (const auto* admit = std::get_if<Admit>(&decision))
        admitted(*admit);
      else if (const auto* bind = std::get_if<Bind>(&decision))
        bound(*bind);
      else if (const auto* evict = std::get_if<Evict>(&decision))
        evicted(*evict);
    }
    EXPECT_EQ(engine_->check_invariants(), "");
    return describe(result);
  }
  void admitted(const Admit& admit) {
    WorkloadUpsert& work = work_.at(admit.workload.value);
    if (rng_.chance(0.1)) return give(AdmitFailed{admit.workload});
    if (rng_.chance(0.05)) return;  // nothing is heard of it: it expires
    const bool is_new = !work.admission;
    work.admission = admit.pod_sets;
    give(work);
    for (uint32_t set = 0; is_new && set < work.pod_sets.size(); ++set) {
      for (int p = 0; p < admit.pod_sets[set].count; ++p) {
        const uint32_t id = next_pod_++;
        pods_[id] = {.id = PodId(id),
                     .workload = admit.workload,
                     .pod_set = set,
                     .request = work.pod_sets[set].request,
                     .created = now_};
        give(pods_[id]);
      }
    }
  }
  void bound(const Bind& bind) {
    if (!pods_.contains(bind.pod.value)) return;
    PodUpsert& pod = pods_[bind.pod.value];
    EXPECT_FALSE(pod.node.is_some()) << "bound twice: pod " << bind.pod.value;
    const int64_t wants = amount_of_gpus(pod);
    EXPECT_EQ(std::popcount(bind.gpus), wants) << "pod " << bind.pod.value;
    EXPECT_EQ(bind.gpus & ~nodes_.at(bind.node.value).healthy_gpus, 0u)
        << "a sick device was given";
    for (const auto& [id, other] : pods_) {
      if (other.node == bind.node && !other.is_ended) {
        EXPECT_EQ(other.gpus & bind.gpus, 0u) << "a device was given twice";
      }
    }
    if (rng_.chance(0.1)) return give(BindFailed{bind.pod});
    if (rng_.chance(0.05)) return;
    pod.node = bind.node;
    pod.gpus = bind.gpus;
    give(pod);
  }
  static int64_t amount_of_gpus(const PodUpsert& pod) {
    for (const Amount& amount : pod.request.amounts) {
      if (amount.resource == gpu) return amount.value;
    }
    return 0;
  }
  void evicted(const Evict& evict) {
    if (rng_.chance(0.1)) return;  // the write is lost
    drop_pods(evict.workload);
    work_.at(evict.workload.value).admission.reset();
    give(work_.at(evict.workload.value));
  }

  uint64_t seed_;
  Rng rng_;
  Time now_{seconds(1000)};
  std::unique_ptr<Engine> engine_;
  FairSharing fair_;
  std::vector<FlavorUpsert> flavors_;
  std::vector<QueueUpsert> queues_;
  std::map<uint32_t, NodeUpsert> nodes_;
  std::map<uint32_t, WorkloadUpsert> work_;
  std::map<uint32_t, PodUpsert> pods_;
  uint32_t next_pod_ = 0;
};

TEST(Storm, LedgerHoldsAndSameSeedDecidesTheSame) {
  for (uint64_t seed = 1; seed <= 120; ++seed) {
    const std::string first = Storm(seed).run(60);
    if (HasFailure()) break;
    ASSERT_EQ(first, Storm(seed).run(60)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace tau::engine
