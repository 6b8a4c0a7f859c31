// Whom to push out for a workload whose flavors are chosen: candidates by the queue's policy, the
// cheapest first, until all of it fits by quota and nodes; then all that turn out not to be needed
// stay. Works on the trail, on the quota that is looked ahead to.
#pragma once

#include "engine/cycle.h"

namespace tau::engine {

// Whether pods fit the nodes as they would be without those pushed out so far.
class NodeProbe {
 public:
  NodeProbe(Cycle& cycle, const WorkloadState& workload,
            const std::vector<PodSetAdmission>& flavors);
  // Its pods and places leave its nodes, or come back.
  void remove(WorkloadId id);
  void put_back(WorkloadId id);
  bool fits();
  bool is_needed() const { return !needs_.empty(); }
  // As when it was made, once the trail is back there.
  void start_over() { needs_ = at_start_; }

 private:
  struct Need {
    const Amounts* wants;
    Candidates where;
    int64_t count = 0, room = 0;
    std::vector<int32_t> room_at;  // per node, at most count
  };
  void change(WorkloadId id, int64_t sign);
  void refresh(NodeId node);
  bool is_in_topology(const PodSetAdmission& set) const;
  Cycle& cycle_;
  const WorkloadState& workload_;
  const std::vector<PodSetAdmission>& flavors_;
  std::vector<Need> needs_, at_start_;
};

struct Cycle::Targets {
  using Wants = std::map<FlavorResource, int64_t>;
  Cycle& cycle;
  const WorkloadState& workload;
  const QueueState& queue;
  const Wants& wants;
  std::vector<FlavorResource> contested;  // where there is not enough
  NodeProbe* nodes = nullptr;             // null = quota alone

  enum class Kind : uint8_t { hierarchical, without_borrowing, while_borrowing, in_queue };
  struct Candidate {
    WorkloadId id;
    Kind kind = Kind::in_queue;
    QuotaTree::NodeIndex below = QuotaTree::none;  // lowest common ancestor
    bool is_leaving = false;
    int64_t priority = 0;
    Time since{};
    PreemptCause cause = PreemptCause::none;
  };
  std::vector<Candidate> candidates = {};
  int32_t borrow_level = 0;  // once they are gone

  // Those found are gone on the trail; if none are, it is left as it was.
  std::optional<std::vector<Victim>> find();

 private:
  QuotaTree& quota() { return cycle.state.quota; }
  void undo(Trail::Mark mark);
  void note_level();
  void gather();
  void gather_in_queue();
  void gather_below(QuotaTree::NodeIndex node, QuotaTree::NodeIndex top, QuotaTree::NodeIndex skip,
                    bool is_hierarchical);
  void gather_from(const QueueState& other, QuotaTree::NodeIndex top, bool is_hierarchical);
  bool is_anyone_leaving() const;
  bool uses_contested(const WorkloadState& other) const;
  bool is_within(QuotaTree::NodeIndex node) const;
  static PreemptCause cause_of(Kind kind);
  bool is_valid(const Candidate& candidate, bool may_borrow) const;
  bool fits(bool may_borrow);
  void charge(WorkloadId id, int64_t sign);
  std::optional<std::vector<Victim>> attempt(bool may_borrow);
  std::vector<Victim> keep_needed(std::vector<const Candidate*> taken, bool may_borrow);
  std::vector<bool> attempts() const;
  std::optional<std::vector<Victim>> attempt_all();
  // The nodes that candidates are on, the first candidate's first.
  std::vector<NodeId> nodes_of_candidates() const;
  bool is_on(const Candidate& candidate, NodeId node) const;
  // fair_preempt.cc
  struct FairTargets;
  std::optional<std::vector<Victim>> find_fairly();
  void gather_fairly();
  void charge_own(int64_t sign);
};

}  // namespace tau::engine
