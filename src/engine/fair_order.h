// The order of a round's heads where cohorts share fairly: a tournament from the leaves upwards. At
// each cohort the candidate wins whose branch stays within its own, then the one whose branch would
// have the lower share with it, then by priority and age.
#pragma once

#include "engine/cycle.h"

namespace tau::engine {

struct Cycle::FairOrder {
  FairOrder(Cycle& cycle, const std::vector<Head>& heads);
  // The index of the head that is next; shares are as they are by then.
  size_t next();

 private:
  using NodeIndex = QuotaTree::NodeIndex;
  static constexpr size_t nobody = SIZE_MAX;
  // What a branch sends to its parent's round.
  struct Entry {
    size_t head = nobody;
    bool borrows = false;
    QuotaTree::Share share;
  };
  const Entry& best_of(NodeIndex node);
  size_t winner_below(NodeIndex node);
  bool is_before(const Entry& a, const Entry& b) const;
  Cycle& cycle_;
  const std::vector<Head>& heads_;
  std::map<NodeIndex, size_t> at_;                        // queue -> its head
  std::map<NodeIndex, std::vector<NodeIndex>> children_;  // only branches with heads
  std::vector<NodeIndex> roots_;
  std::map<NodeIndex, Entry> known_;
};

}  // namespace tau::engine
