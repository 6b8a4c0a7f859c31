// Trail: every tentative write of a cycle goes through it, so that undo is one loop and cannot be
// wrong.
#pragma once

#include <cstdint>
#include <vector>

#include "base/check.h"

namespace tau::engine {

class Trail {
 public:
  using Mark = size_t;
  Mark mark() const { return entries_.size(); }
  void set(int64_t& cell, int64_t value) {
    entries_.push_back({&cell, cell});
    cell = value;
  }
  void add(int64_t& cell, int64_t amount) { set(cell, cell + amount); }
  void undo_to(Mark mark) {
    CHECK(mark <= entries_.size());
    while (entries_.size() > mark) {
      *entries_.back().cell = entries_.back().old;
      entries_.pop_back();
    }
  }
  bool is_empty() const { return entries_.empty(); }

 private:
  struct Entry {
    int64_t* cell;
    int64_t old;
  };
  std::vector<Entry> entries_;
};

}  // namespace tau::engine
