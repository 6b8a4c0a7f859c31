// The engine's vocabulary: what goes in (deltas) and what comes out (decisions, verdicts). Values
// only, dense typed ids, integers everywhere. Names live in `mirror`; the engine has never heard of
// Kubernetes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/time.h"

namespace tau::engine {

using NodeId = Id<struct NodeTag>;
using PodId = Id<struct PodTag>;
using WorkloadId = Id<struct WorkloadTag>;
using QueueId = Id<struct QueueTag>;  // a ClusterQueue
using CohortId = Id<struct CohortTag>;
using FlavorId = Id<struct FlavorTag>;
using ShapeId = Id<struct ShapeTag>;
using ResourceId = Id<struct ResourceTag>;
using LabelKeyId = Id<struct LabelKeyTag>;
using LabelValueId = Id<struct LabelValueTag>;

// Fixed resources; the mirror hands out further ids from first_free on.
constexpr ResourceId cpu{0};     // thousandths of a core
constexpr ResourceId memory{1};  // bytes
constexpr ResourceId pods{2};    // count
constexpr ResourceId gpu{3};     // whole devices; placed by mask
constexpr uint32_t first_free_resource = 4;

// Amount per resource, sorted by id, no zeros.
struct Amount {
  ResourceId resource;
  int64_t value = 0;
  auto operator<=>(const Amount&) const = default;
};
using Amounts = std::vector<Amount>;

// One bit per device of a node.
using GpuMask = uint64_t;

struct Label {
  LabelKeyId key;
  LabelValueId value;
  std::optional<int64_t> number;  // the value as a whole number, for greater/less requirements
  auto operator<=>(const Label&) const = default;
};
enum class Effect : uint8_t { no_schedule, prefer_no_schedule, no_execute };
struct Taint {
  LabelKeyId key;
  LabelValueId value;
  Effect effect = Effect::no_schedule;
  auto operator<=>(const Taint&) const = default;
};
struct Toleration {
  LabelKeyId key;                // none = every key
  LabelValueId value;            // none = any value (Exists)
  std::optional<Effect> effect;  // nullopt = every effect
  auto operator<=>(const Toleration&) const = default;
};
enum class Operator : uint8_t { in, not_in, exists, does_not_exist, greater, less };
struct Requirement {
  LabelKeyId key;
  Operator op = Operator::in;
  std::vector<LabelValueId> values;
  int64_t bound = 0;  // of greater, less
  auto operator<=>(const Requirement&) const = default;
};
using Term = std::vector<Requirement>;  // all must hold
struct Preference {
  int32_t weight = 1;  // 1..100
  Term term;
  auto operator<=>(const Preference&) const = default;
};

// What one pod asks for. Equal requests share a ShapeId inside the engine.
struct Request {
  Amounts amounts;          // gpu included
  std::vector<Term> terms;  // any must hold; empty = every node
  std::vector<Toleration> tolerations;
  std::vector<Preference> preferences;
  NodeId only_node;  // matchFields metadata.name; none = any
  auto operator<=>(const Request&) const = default;
};

// Deltas: what goes in.

struct NodeUpsert {
  NodeId id;
  Amounts allocatable;  // gpu = number of devices
  GpuMask healthy_gpus =
      0;  // bits below the number of devices; an unhealthy device takes no new pod
  std::vector<Label> labels;
  std::vector<Taint> taints;
  bool is_ready = true;
  bool is_cordoned = false;
};
struct NodeGone {
  NodeId id;
};

// A pod as the API shows it. `workload` none = outside every queue: scheduled by itself.
struct PodUpsert {
  PodId id;
  WorkloadId workload;
  uint32_t pod_set = 0;
  Request request;
  int32_t priority = 0;
  Time created{};
  NodeId node;                 // none = not bound yet
  GpuMask gpus = 0;            // when bound: devices, from the assignment annotation
  bool is_ended = false;       // Succeeded, Failed: holds nothing
  bool is_schedulable = true;  // false: gated, or another scheduler's
};
struct PodGone {
  PodId id;
};

// How close to each other the pods of a set have to be, in the levels of their flavor's topology.
struct TopologyRequest {
  enum class Kind : uint8_t { none, unconstrained, preferred, required };
  struct Slice {
    LabelKeyId level;
    int32_t size = 1;  // so many pods stay together
    auto operator<=>(const Slice&) const = default;
  };
  Kind kind = Kind::none;
  LabelKeyId level;           // of preferred, required
  std::vector<Slice> slices;  // from the widest to the narrowest
  uint32_t group = 0;         // sets of the same one, not 0, go to the same flavor and domain
  auto operator<=>(const TopologyRequest&) const = default;
  bool is_asked() const { return kind != Kind::none || !slices.empty(); }
};
struct PodSet {
  Request request;
  int32_t count = 1;
  std::optional<int32_t> min_count;  // may be admitted with fewer
  TopologyRequest topology;
  bool operator==(const PodSet&) const = default;
};
// What an admitted workload holds, as recorded: enough to rebuild the engine after a restart.
struct PodSetAdmission {
  std::vector<std::pair<ResourceId, FlavorId>> flavors;
  int32_t count = 0;
  std::vector<std::pair<NodeId, int32_t>> nodes;  // pods per node; empty = quota only
  bool operator==(const PodSetAdmission&) const = default;
};
enum class StopPolicy : uint8_t { none, hold, hold_and_drain };
struct WorkloadUpsert {
  WorkloadId id;
  QueueId queue;  // none = its queue does not exist (verdict queue_not_found)
  int32_t priority = 0;
  Time created{};  // order within equal priority
  std::vector<PodSet> pod_sets;
  bool is_active = true;                                  // spec.active
  StopPolicy stop = StopPolicy::none;                     // of its LocalQueue
  bool is_finished = false;                               // holds nothing any more
  std::optional<std::vector<PodSetAdmission>> admission;  // as recorded in the API
  std::optional<Time> not_before;                         // requeue back-off
  std::optional<Time> reserved_at;                        // since when it holds its quota
  bool is_evicted = false;  // told to go, and still there: holds its quota until it is gone
};
struct WorkloadGone {
  WorkloadId id;
};

struct FlavorUpsert {
  FlavorId id;
  std::vector<Label> node_labels;  // nodes of this flavor have all of them
  std::vector<Taint> node_taints;
  std::vector<Toleration> tolerations;
  std::vector<LabelKeyId> levels;  // of its topology, from the top; its nodes have all of them
};
struct FlavorGone {
  FlavorId id;
};

struct Quota {
  ResourceId resource;
  int64_t nominal = 0;
  std::optional<int64_t> borrowing_limit, lending_limit;
  bool operator==(const Quota&) const = default;
};
struct FlavorQuota {
  FlavorId flavor;
  std::vector<Quota> quotas;
  bool operator==(const FlavorQuota&) const = default;
};
struct ResourceGroup {
  std::vector<ResourceId> resources;
  std::vector<FlavorQuota> flavors;  // in order of preference
  bool operator==(const ResourceGroup&) const = default;
};
enum class Strategy : uint8_t { best_effort_fifo, strict_fifo };
// Whom the queue's work may push out: its own, and what others have borrowed.
enum class Within : uint8_t { never, lower_priority, lower_or_newer_equal_priority };
enum class Reclaim : uint8_t { never, lower_priority, any };
struct Preemption {
  Within within = Within::never;
  Reclaim reclaim = Reclaim::never;
  bool may_borrow = false;  // end up borrowing, by pushing out lower priorities of other queues
  std::optional<int32_t> borrow_max_priority;  // of those
  bool operator==(const Preemption&) const = default;
};
constexpr int64_t weight_one = 1'000'000;  // weights are in millionths
struct QueueUpsert {
  QueueId id;
  CohortId cohort;
  Strategy strategy = Strategy::best_effort_fifo;
  StopPolicy stop = StopPolicy::none;
  std::vector<ResourceGroup> groups;
  bool follows_nodes =
      false;  // taugrid.io/quota: auto: nominal = allocatable of the flavor's nodes
  bool tries_next_before_borrowing = false;      // flavorFungibility.whenCanBorrow: TryNextFlavor
  bool stops_at_preemption = false;              // flavorFungibility.whenCanPreempt: MayStopSearch
  bool prefers_preemption_to_borrowing = false;  // flavorFungibility.preference
  Preemption preemption;
  int64_t weight = weight_one;
  bool reserves_for_head = false;  // backfill easy or conservative; kept, not used yet
};
struct QueueGone {
  QueueId id;
};
struct CohortUpsert {
  CohortId id, parent;
  std::vector<ResourceGroup> groups;
  int64_t weight = weight_one;
};
struct CohortGone {
  CohortId id;
};
// Whether what cohorts lend is shared by weight, and when a queue may push out another's work for
// its share: if afterwards it has no more than the other keeps, or no more than the other had.
enum class FairRule : uint8_t { no_more_than_it_keeps, less_than_it_had };
struct FairSharing {
  bool is_on = false;
  std::vector<FairRule> rules = {FairRule::no_more_than_it_keeps, FairRule::less_than_it_had};
};

// A write that did not take: the pod is unbound again, what was assumed for it is released and
// retried.
struct BindFailed {
  PodId pod;
};
struct AdmitFailed {
  WorkloadId workload;
};

using Delta = std::variant<NodeUpsert, NodeGone, PodUpsert, PodGone, WorkloadUpsert, WorkloadGone,
                           FlavorUpsert, FlavorGone, QueueUpsert, QueueGone, CohortUpsert,
                           CohortGone, FairSharing, BindFailed, AdmitFailed>;

// Decisions: what comes out.

// Quota and nodes for a whole workload, decided together and held until its pods are bound.
struct Admit {
  WorkloadId workload;
  QueueId queue;
  std::vector<PodSetAdmission> pod_sets;
};
struct Bind {
  PodId pod;
  NodeId node;
  GpuMask gpus = 0;
};
// Takes a workload's quota and nodes back (preemption, stop policy, deactivation, lost node).
enum class EvictReason : uint8_t {
  preempted,
  queue_stopped,
  local_queue_stopped,
  deactivated,
  node_lost
};
enum class PreemptCause : uint8_t {
  none,
  in_queue,
  reclaim,
  reclaim_while_borrowing,
  fair_sharing
};
struct Evict {
  WorkloadId workload;
  EvictReason reason = EvictReason::preempted;
  WorkloadId preemptor;  // of preempted: whose room is held until it can start
  PreemptCause cause = PreemptCause::none;
};
using Decision = std::variant<Admit, Bind, Evict>;

// Answers: why what waits does.

// Why a pod does not fit a node; the order is the order of the filters.
enum class Misfit : uint8_t {
  fits,
  node_not_ready,
  cordoned,
  taint,
  selector,
  other_node,
  pods_full,
  cpu_short,
  memory_short,
  gpu_short,
  other_resource_short,
};
constexpr int misfit_count = 11;

// reference: one vocabulary for API, CLI, metrics (kube has the table to Kueue's words).
enum class Reason : uint8_t {
  none,
  not_evaluated,
  invalid_spec,
  queue_not_found,
  queue_stopped,
  user_hold,
  no_matching_flavor,
  exceeds_max_quota,
  waiting_quota,
  waiting_priority,
  capacity_short,
  capacity_fragmented,
  capacity_unhealthy,
  waiting_preemption,
  backoff,
};

// Whether a search that found nothing looked everywhere, or ran out of steps.
enum class Proof : uint8_t { proved, not_within_budget };

struct QuotaShort {  // "cluster queue q: flavor f: gpu: want 12, free 8 of 16"
  FlavorId flavor;
  ResourceId resource;
  int64_t want = 0, free = 0, nominal = 0;
  bool operator==(const QuotaShort&) const = default;
};
struct Blocker {
  Reason reason = Reason::none;
  std::vector<QuotaShort> quota;  // of waiting_quota, exceeds_max_quota
  // Of capacity_*: nodes per misfit for the first pod that found no place.
  std::array<int32_t, misfit_count> nodes_by_misfit{};
  uint32_t pod_set = 0;
  int32_t pods_wanted = 0, pods_placed = 0;  // how much of the gang fits at once
  int64_t gpus_wanted = 0, gpus_free = 0;    // in the whole, on nodes that the pod may use
  std::vector<int32_t> free_gpus_by_node;    // descending, at most 64
  int32_t position = 0, ahead = 0;           // of waiting_priority: 1 = head
  Proof proof = Proof::proved;               // of capacity_*
  bool operator==(const Blocker&) const = default;
};
struct Verdict {
  WorkloadId workload;  // or, for a pod outside queues, `pod`
  PodId pod;
  std::vector<Blocker> blockers;  // all true ones, first = what holds it now
  bool operator==(const Verdict&) const = default;
};

struct CycleStats {
  int64_t heads = 0, admitted = 0, bound = 0, evicted = 0, steps = 0, nodes_scanned = 0;
  bool is_budget_spent = false;
};
struct CycleResult {
  std::vector<Decision> decisions;
  std::vector<Verdict> verdicts;    // of every workload and pod whose verdict changed this cycle
  std::vector<WorkloadId> cleared;  // verdicts that ended (admitted, gone)
  std::optional<Time> next;         // when time alone may change an answer (back-off, expiry)
  CycleStats stats;
};

}  // namespace tau::engine
