// Cycle: one round of decisions on a State. What it finds out on the way (what surely does not fit
// any more) is kept for its length only.
#pragma once

#include "engine/state.h"

namespace tau::engine {

// Where the pods of a set may go: the shape's nodes that every chosen flavor has too.
struct Candidates {
  ShapeId shape;
  Bits nodes;
};

struct Cycle {
  using State = Engine::State;
  State& state;
  Time now;
  const CycleOptions& options;
  CycleResult result = {};
  std::map<std::pair<ShapeId, std::vector<FlavorId>>, int32_t> too_many =
      {};  // pods that found no room

  // cycle.cc
  void expire();
  void evict_what_must_go();
  void wake_what_may_fit();
  void note_next(Time when);
  void evict(WorkloadId id, EvictReason reason, WorkloadId preemptor = {},
             PreemptCause cause = PreemptCause::none);
  // bind.cc
  void bind_held_pods();
  bool bind_one(PodId id);
  bool move_place(WorkloadId id, size_t set);
  void keep_together(WorkloadId id, size_t set, NodeId lost, Candidates& where);
  bool is_usable(const WorkloadState& workload, size_t set, NodeId node) const;
  void assume_bound(PodId id, NodeId node, GpuMask gpus);
  void place_loose_pods();
  struct Outcome {
    std::optional<std::vector<PodSetAdmission>> admission;
    Wake blocked_by = wake_none;  // what could help
    int32_t borrow_level = 0;
    Proof proof = Proof::proved;
  };
  // admit.cc
  void admit_heads();
  struct Head {
    OrderKey key;
    BucketKey bucket;
    QueueId queue;
    int32_t borrow_level = 0;
    bool has_quota = true;
    std::map<FlavorResource, int64_t> wants = {};  // where cohorts share fairly
  };
  std::vector<Head> pop_heads(std::vector<QueueId>& queues);
  // fair_order.cc: the head that is next where cohorts share fairly.
  struct FairOrder;
  void try_head(const Head& head, bool is_alone, std::vector<QueueId>& blocked);
  // With fewer pods than it asks for, as many as fit.
  bool admit_fewer(const Head& head, Outcome& outcome);
  bool admit_or_take(const Head& head, std::span<const int32_t> counts, Outcome& outcome);
  void keep_admission(WorkloadId id, std::vector<PodSetAdmission> admission);
  // hold.cc
  void serve_holders();
  void serve_holder(WorkloadId id);
  bool is_hold_sound(const WorkloadState& workload) const;
  bool is_room_coming(WorkloadId id) const;
  std::set<QueueId> had_holder = {};  // as the cycle began
  // assign.cc
  struct Search;
  // With nodes, or by quota alone (to see how far it would borrow). Leaves nothing on the trail.
  Outcome find_admission(const WorkloadState& workload, std::span<const int32_t> counts,
                         bool is_with_nodes);
  // The same in the state that is on the trail, looking ahead to what those who leave will free,
  // with the flavors as chosen.
  std::optional<std::vector<PodSetAdmission>> find_later(
      const WorkloadState& workload, const std::vector<PodSetAdmission>& flavors_and_counts);
  bool has_nodes(std::span<const FlavorId> flavors) const;
  bool may_spread(const WorkloadState& workload) const;
  bool is_flavor_open(FlavorId flavor, const WorkloadState& workload, size_t set) const;
  // nominate.cc: how a flavor would do for a part of the work, from worst to best.
  enum class Mode : uint8_t { none, no_candidates, preempt, reclaim, fit };
  struct Nominator;
  struct Nomination {
    Mode mode = Mode::none;
    int32_t borrow_level = 0;
    std::map<FlavorResource, int64_t> wants = {};
  };
  Nomination nominate(const WorkloadState& workload, std::span<const int32_t> counts);
  // preempt.cc
  struct Victim {
    WorkloadId workload;
    PreemptCause cause = PreemptCause::none;
  };
  struct Targets;
  // A way in once others are gone: those to push out, and the room to hold. Nobody to push out:
  // those who are leaving already make the room.
  struct Taking {
    std::vector<PodSetAdmission> admission;
    std::vector<Victim> victims;
  };
  std::optional<Taking> find_taking(const WorkloadState& workload, std::span<const int32_t> counts,
                                    bool is_only_if_nominated);
  void take(WorkloadId id, Taking taking);
  // Quota of a head that nobody has to make room for, kept from the others of its round.
  struct Aside {
    QuotaTree::NodeIndex node;
    FlavorResource at;
    int64_t amount;
  };
  std::vector<Aside> aside = {};
  void set_aside(const QueueState& queue, const Nomination& nomination);
  void put_back_aside();
  // place.cc
  Candidates candidates(ShapeId shape, std::span<const FlavorId> flavors) const;
  NodeId best_node(const Candidates& where);
  // Up to `count` pods on the trail; fewer come back if there is no room for all. `used` = nodes
  // that hold a part of the gang already.
  Places place(const Candidates& where, int32_t count, const Places& used);
  // place_topology.cc: the same by the levels of a flavor's topology; all of them or none.
  Places place_by_topology(const Candidates& where, FlavorId flavor, int32_t count,
                           const TopologyRequest& asks);
  // One pod that leads, and its workers in the same domain.
  std::optional<std::pair<Places, Places>> place_group(const Candidates& leader,
                                                       const Candidates& workers, FlavorId flavor,
                                                       int32_t count, const TopologyRequest& asks);
  FlavorId topology_flavor(std::span<const FlavorId> flavors) const;
  // explain.cc
  // Sets of flavors, one of which a pod set's nodes must all have.
  using FlavorChoices = std::vector<std::vector<FlavorId>>;
  // Pod sets as shape and count, and the choices of each.
  using CapacityKey =
      std::pair<std::vector<std::pair<ShapeId, int32_t>>, std::vector<FlavorChoices>>;
  std::vector<Blocker> blockers_of(const WorkloadState& workload);
  std::vector<Blocker> quota_blockers(const WorkloadState& workload,
                                      std::vector<FlavorChoices>& choices);
  std::optional<Blocker> capacity_blocker(const CapacityKey& key);
  Blocker joint_blocker(const WorkloadState& workload);
  Blocker explain_nodes(const Candidates& where, std::span<const FlavorId> flavors, int32_t count,
                        int32_t placed);
  std::map<CapacityKey, std::optional<Blocker>> known_capacity = {};  // once all is placed
  std::vector<int32_t> free_gpus_before_ = {};
  // verdict.cc
  void explain_what_waits();
  void explain_queue(QueueState& queue, int64_t& refreshes_left);
  bool explain_bucket(Bucket& bucket);
  void explain_pods();
  void tell(WorkloadId id, uint64_t version, std::vector<Blocker> blockers);
  std::vector<PodId> waiting_pods = {};  // outside queues, without a node
};

// The verdict on a workload that waits: what its bucket waits for, and its place in the queue.
std::vector<Blocker> blockers_in_queue(const std::vector<Blocker>& of_bucket, int32_t ahead);
// Why one that is held back waits.
Reason held_back_reason(const WorkloadState& workload);

}  // namespace tau::engine
