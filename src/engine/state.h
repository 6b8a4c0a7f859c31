// The engine's one state. Deltas change it for good (apply.cc); a cycle's tentative writes go over
// the trail.
#pragma once

#include <deque>

#include "engine/engine.h"
#include "engine/nodes.h"
#include "engine/queue_book.h"
#include "engine/quota.h"
#include "engine/topology.h"

namespace tau::engine {

struct Shape {
  Request request;  // `pods` always included
  int64_t uses = 0;
  Bits fits;                          // nodes that pass every filter on the object
  std::vector<int64_t> object_score;  // per node; empty = 0 for all
  std::vector<Misfit> misfits;        // per node, made when first explained
};

struct PodState {
  bool is_known = false, is_ended = false, is_schedulable = true;
  WorkloadId workload;
  uint32_t pod_set = 0;
  ShapeId shape;
  int32_t priority = 0;
  Time created{};
  NodeId shown_node;  // as the API shows it
  GpuMask shown_gpus = 0;
  NodeId node;  // where it is, confirmed or assumed
  GpuMask gpus = 0;
  std::optional<Time> assumed_until;  // set while the API has not confirmed
  bool has_verdict = false;
  bool is_live() const { return is_known && !is_ended; }
};

// Places of a pod set on one node: given by the admission, taken by live pods of the set.
struct Place {
  NodeId node;
  int32_t given = 0, taken = 0;
  int32_t left() const { return std::max(0, given - taken); }
};

enum class Phase : uint8_t { none, waiting, admitted, evicting, finished };

struct WorkloadState {
  Phase phase = Phase::none;
  bool is_active = true, is_finished = false;
  StopPolicy stop = StopPolicy::none;
  QueueId queue;
  int32_t priority = 0;
  Time created{};
  std::optional<Time> not_before;
  bool is_ripe = false;         // not_before is past
  std::vector<ShapeId> shapes;  // one per pod set
  std::vector<int32_t> counts, min_counts;
  std::vector<TopologyRequest> topology;
  ClassId work_class;
  std::optional<std::vector<PodSetAdmission>> recorded;  // as the API shows it
  std::vector<PodSetAdmission> admission;                // in force, while admitted or evicting
  std::vector<std::vector<Place>> places;                // per pod set, sorted by node
  std::set<PodId> pods;
  Time reserved_at{};  // since when it holds its quota
  // Room held for it until those that it pushed out are gone: it waits beside its queue's book.
  std::vector<PodSetAdmission> hold;
  uint64_t hold_checked = 0;  // generation of the state when its hold was looked at last
  WorkloadId preemptor;       // who pushed it out, until it is gone
  PreemptCause cause = PreemptCause::none;
  std::optional<Time> assumed_until;   // admission not confirmed yet
  std::optional<Time> evicting_until;  // told to go; waits for the API to show it
  std::optional<Time> partial_since;   // some pod of it has found no place since then
  bool was_tried = false;              // since it came or changed
  uint64_t told_version = 0;           // of its bucket's blockers
  Reason told_reason = Reason::none;   // first of the verdict last told; none = nothing is told
  bool is_known() const { return phase != Phase::none; }
  OrderKey key(WorkloadId id) const { return {-int64_t{priority}, created, id}; }
};

struct QueueState {
  bool is_known = false;
  QueueUpsert spec;
  QuotaTree::NodeIndex quota = QuotaTree::none;
  QueueBook book;
  std::set<OrderKey> holders;     // of room, until they can start
  bool has_news = false;          // somebody may have to be told something
  std::set<WorkloadId> admitted;  // evicting ones too: their quota is in use until they are gone
};

struct FlavorState {
  bool is_known = false;
  FlavorUpsert spec;
  Bits nodes;  // known nodes with all its labels
  Topology topology;
  bool is_topology_stale = true;
};
struct CohortState {
  bool is_known = false;
  CohortUpsert spec;
  QuotaTree::NodeIndex quota = QuotaTree::none;
};

// Where the pods of one set go.
using Places = std::vector<std::pair<NodeId, int32_t>>;

struct Engine::State {
  NodeTable nodes;
  std::vector<PodState> pods;
  std::vector<WorkloadState> workloads;
  std::vector<QueueState> queues;
  std::vector<FlavorState> flavors;
  std::vector<CohortState> cohorts;
  std::vector<Shape> shapes;
  std::map<Request, ShapeId> shape_ids;
  std::vector<ShapeId> free_shapes;
  struct WorkClass {
    std::vector<ShapeId> shapes;
    std::vector<int32_t> counts, min_counts;
    std::vector<TopologyRequest> topology;
    auto operator<=>(const WorkClass&) const = default;
  };
  std::map<WorkClass, std::pair<ClassId, int64_t>> classes;  // id and uses
  std::vector<ClassId> free_classes;

  std::set<PodId> unbound;        // live pods without a node
  std::set<WorkloadId> homeless;  // waiting workloads whose queue does not exist
  std::set<WorkloadId> watched;   // those that time may change
  std::set<WorkloadId> must_go;   // may have to be evicted
  std::set<WorkloadId> leaving;   // told to go, and still there
  size_t holder_count = 0;
  std::deque<std::pair<Time, PodId>> assumed_pods;  // by expiry; stale entries are passed over
  std::map<PodId, Verdict> told_pods;               // of pods outside queues that wait
  std::vector<WorkloadId> cleared;                  // verdicts that ended since the last cycle
  FairSharing fair;
  QuotaTree quota;
  std::vector<QueueId> queue_at;  // by node of the quota tree; none = a cohort
  bool is_quota_stale = true;
  bool has_freed_capacity = false;             // since the last cycle
  std::set<QuotaTree::NodeIndex> freed_quota;  // roots, since the last cycle
  bool has_freed_all_quota = false;
  uint64_t last_version = 0;  // of any bucket's blockers
  size_t explain_from = 0;    // queue where refreshing verdicts goes on
  uint64_t generation = 1;    // rises with every change that a verdict may tell of
  Trail trail;

  // apply.cc: deltas
  void apply(const Delta& delta);
  void apply(const NodeUpsert& delta);
  void apply(const NodeGone& delta);
  void apply(const PodUpsert& delta);
  void apply(const PodGone& delta);
  void apply(const WorkloadUpsert& delta);
  void apply(const WorkloadGone& delta);
  void apply(const FlavorUpsert& delta);
  void apply(const FlavorGone& delta);
  void apply(const QueueUpsert& delta);
  void apply(const QueueGone& delta);
  void apply(const CohortUpsert& delta);
  void apply(const CohortGone& delta);
  void apply(const FairSharing& delta);
  void apply(const BindFailed& delta);
  void apply(const AdmitFailed& delta);
  void node_changed(NodeId id);
  void check_flavor(FlavorState& flavor, NodeId node);
  static WorkClass class_of(const WorkloadState& workload);
  const Topology& topology_of(FlavorId id);
  void enqueue(WorkloadId id);
  void dequeue(WorkloadId id);
  void requeue_all(QueueId id);
  void stop_telling(WorkloadId id);

  // shapes.cc: equal requests and equal work, once
  ShapeId intern_shape(Request request);
  void release_shape(ShapeId id);
  ClassId intern_class(const WorkClass& work);
  void release_class(const WorkClass& work);
  void check_object(Shape& shape, NodeId node);
  const Amounts& amounts(ShapeId shape) const { return shapes[shape.index()].request.amounts; }

  // ledger.cc: what is used, by whom
  void set_pod_node(PodId id, NodeId node, GpuMask gpus);
  void charge_pod(const PodState& pod, int64_t sign);
  void count_taken(const PodState& pod, int32_t delta);
  void change_place(WorkloadState& workload, size_t set, NodeId node, int32_t given, int32_t taken);
  void set_admission(WorkloadId id, std::vector<PodSetAdmission> admission);
  void clear_admission(WorkloadId id);
  void give_up_places(WorkloadState& workload);
  void charge_quota(const WorkloadState& workload, const std::vector<PodSetAdmission>& admission,
                    int64_t sign, QuotaTree::Usage which);
  // Its places are free at once, for others once its pods are gone; its quota stays in use until
  // the API shows it gone.
  void start_leaving(WorkloadId id);
  void set_hold(WorkloadId id, std::vector<PodSetAdmission> admission);
  void release_hold(WorkloadId id);
  void charge_hold(const WorkloadState& workload, int64_t sign);
  void join_quota();
  // Room that is held on a node besides what is there.
  int64_t held_on(NodeId node, ResourceId resource) const;
  void refresh_quota();
  void note_freed_quota(const QueueState& queue);
  void note_freed_capacity() { has_freed_capacity = true; }
  bool is_queue(QueueId id) const {
    return id.index() < queues.size() && queues[id.index()].is_known;
  }

  // check.cc
  std::string check() const;
};

template <class T, class IdType>
T& grow(std::vector<T>& items, IdType id) {
  if (id.index() >= items.size()) items.resize(id.index() + 1);
  return items[id.index()];
}
// A wild id must not exhaust memory.
template <class IdType>
bool is_sane(IdType id) {
  return id.is_some() && id.value < (1u << 26);
}

}  // namespace tau::engine
