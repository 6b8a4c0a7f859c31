// The engine's one state, and the steps that work on it. Columns per resource, masks per node, bitsets per
// shape; everything that a cycle writes tentatively goes over the trail.
#pragma once

#include <map>
#include <set>
#include <unordered_map>

#include "engine/engine.h"
#include "engine/policy.h"
#include "engine/quota.h"
#include "engine/trail.h"

namespace tau::engine {

int64_t amount_of(const Amounts& amounts, ResourceId resource);

// One bit per node.
class Bits {
 public:
  void resize(size_t n) { words_.resize((n + 63) / 64); }
  void set(size_t i, bool on) {
    if (on) words_[i / 64] |= uint64_t{1} << (i % 64);
    else words_[i / 64] &= ~(uint64_t{1} << (i % 64));
  }
  bool test(size_t i) const { return i / 64 < words_.size() && (words_[i / 64] >> (i % 64) & 1) != 0; }
  template <class Visit>
  void for_each(Visit visit) const {
    for (size_t w = 0; w < words_.size(); ++w) {
      for (uint64_t bits = words_[w]; bits != 0; bits &= bits - 1) visit(w * 64 + static_cast<size_t>(std::countr_zero(bits)));
    }
  }

 private:
  std::vector<uint64_t> words_;
};

struct NodeState {
  bool is_known = false, is_dirty = false;
  NodeUpsert spec;
  std::set<PodId> pods;            // live and bound or assumed here
  std::set<WorkloadId> holders;    // admitted workloads with places here
  GpuMask gpus_used = 0;
};

struct PodState {
  bool is_known = false;
  PodUpsert spec;
  ShapeId shape;
  NodeId node;                     // where it is, confirmed or assumed
  GpuMask gpus = 0;
  std::optional<Time> assumed_until;  // set while the API has not confirmed
  std::optional<Verdict> verdict;
  bool is_live() const { return is_known && !spec.is_ended; }
};

struct WorkloadState {
  bool is_known = false;
  WorkloadUpsert spec;
  std::vector<ShapeId> shapes;     // one per pod set
  bool is_admitted = false;
  std::vector<PodSetAdmission> admission;
  std::optional<Time> assumed_until;   // admission not confirmed yet
  std::optional<Time> evicting_until;  // told to go; waits for the API to show it
  std::optional<Time> partial_since;   // some pod of it has found no place since then
  bool is_parked = false;          // tried and failed; waits for a change
  bool was_tried = false;          // since it came or changed
  std::set<PodId> pods;
  std::optional<Verdict> verdict;
  bool waits() const { return is_known && !is_admitted && !spec.is_finished; }
};

// Order within a queue: priority, then age, then id.
struct OrderKey {
  int64_t minus_priority;
  Time created;
  WorkloadId id;
  auto operator<=>(const OrderKey&) const = default;
};

struct QueueState {
  bool is_known = false;
  QueueUpsert spec;
  QuotaTree::NodeIndex quota = QuotaTree::none;
  std::set<OrderKey> pending;
  std::set<WorkloadId> admitted;
};

struct FlavorState {
  bool is_known = false;
  FlavorUpsert spec;
};
struct CohortState {
  bool is_known = false;
  CohortUpsert spec;
  QuotaTree::NodeIndex quota = QuotaTree::none;
};

struct Shape {
  Request request;                 // `pods` always included
  int64_t uses = 0;
  Bits fits;                       // nodes that pass every static filter
};

// Where the pods of one set go; nodes with pods each.
using Places = std::vector<std::pair<NodeId, int32_t>>;

struct Engine::State {
  std::vector<NodeState> nodes;
  std::vector<std::vector<int64_t>> free;  // [resource][node]
  std::vector<PodState> pods;
  std::vector<WorkloadState> workloads;
  std::vector<QueueState> queues;
  std::vector<FlavorState> flavors;
  std::vector<CohortState> cohorts;
  std::vector<Shape> shapes;
  std::map<Request, ShapeId> shape_ids;
  std::vector<ShapeId> free_shapes;
  std::set<PodId> unbound;         // live pods without a node
  std::set<WorkloadId> homeless;   // waiting workloads whose queue does not exist
  std::set<WorkloadId> to_watch;   // assumed, evicting or partial: time may change them
  std::set<PodId> assumed_pods;
  std::set<NodeId> dirty_nodes;
  std::vector<WorkloadId> cleared; // verdicts that ended since the last cycle
  QuotaTree quota;
  bool is_quota_dirty = true;
  bool has_changed = true;         // something that may let a parked workload fit
  Trail trail;

  // apply.cc
  void apply(const Delta& delta);
  void upsert_node(const NodeUpsert& delta);
  void remove_node(NodeId id);
  void upsert_pod(const PodUpsert& delta);
  void remove_pod(PodId id);
  void upsert_workload(const WorkloadUpsert& delta);
  void remove_workload(WorkloadId id);
  void set_pod_node(PodState& pod, PodId id, NodeId node, GpuMask gpus);
  void set_admission(WorkloadId id, std::vector<PodSetAdmission> admission);
  void clear_admission(WorkloadId id);
  void enqueue(WorkloadId id);
  void dequeue(WorkloadId id);
  void mark_dirty(NodeId id);
  ShapeId intern_shape(Request request);
  void release_shape(ShapeId id);
  void ensure_node(NodeId id);
  std::vector<int64_t>& column(ResourceId resource);

  // totals.cc
  void refresh();
  void recompute_node(NodeId id);
  void rebuild_quota();
  NodeFacts facts(NodeId id) const;
  // Places of a pod set on a node that no pod has taken yet.
  int32_t held(const WorkloadState& workload, size_t set, NodeId node) const;
  void charge(WorkloadId id, int64_t sign);
  bool flavor_has(FlavorId flavor, NodeId node) const;
  std::string check() const;

  // place.cc
  int64_t room(const Shape& shape, NodeId node) const;
  Misfit misfit(const Shape& shape, NodeId node) const;
  bool is_in_flavors(std::span<const FlavorId> flavors, NodeId node) const;
  // The best node for one or more pods of the shape, or none. Counts the nodes looked at.
  NodeId best_node(const Shape& shape, std::span<const FlavorId> flavors, const Places& own, int64_t pods_to_place, CycleStats& stats) const;
  // Places up to `count` pods on the trail; fewer come back if there is no room for all.
  Places place(const Shape& shape, int32_t count, std::span<const FlavorId> flavors, CycleStats& stats);
  void take(const Shape& shape, NodeId node, int64_t count);
  GpuMask pick_gpus(NodeId node, int64_t count) const;
};

// Members that only cycle.cc and verdict.cc need, around one call of run_cycle.
struct Cycle {
  Engine::State& state;
  Time now;
  const CycleOptions& options;
  CycleResult result;
  std::set<PodId> told_pods;

  void expire_assumed();
  void evict_what_must_go();
  void bind_held_pods();
  void admit_heads();
  void place_loose_pods();
  void explain_what_waits();

  bool try_admit(WorkloadId id);
  void keep_admission(WorkloadId id, std::vector<PodSetAdmission> admission);
  void evict(WorkloadId id, EvictReason reason);
  bool bind_one(PodId id);
  bool move_place(WorkloadId id, size_t set);
  void assume_bound(PodId id, NodeId node, GpuMask gpus);
  bool is_usable(const WorkloadState& workload, size_t set, NodeId node) const;
  void note_next(Time when);
  // verdict.cc
  std::vector<Blocker> blockers_of(const WorkloadState& workload);
  std::vector<Blocker> quota_blockers(const WorkloadState& workload);
  std::optional<Blocker> capacity_blocker(std::span<const std::pair<ShapeId, int32_t>> sets, std::span<const FlavorId> flavors);
  void tell(std::optional<Verdict>& held, Verdict verdict);
  // assign.cc
  struct Search;
  std::optional<std::vector<PodSetAdmission>> find_admission(const WorkloadState& workload);
  bool is_flavor_open(const QueueState& queue, FlavorId flavor, const Request& request) const;
};

}  // namespace tau::engine
