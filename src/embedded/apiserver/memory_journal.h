// MemoryJournal: a Journal that keeps its rows in memory: for tests, for the simulator, and for a
// server whose state is to be forgotten. `done` comes by the loop, in order. It can be told to
// fail, and outlives the server that writes to it, so that a restart can be played.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/loop.h"
#include "embedded/apiserver/journal.h"

namespace tau::apiserver {

class MemoryJournal : public Journal {
 public:
  explicit MemoryJournal(Loop& loop, Duration delay = Duration(0)) : loop_(loop), delay_(delay) {}
  Result<int64_t> replay(std::function<void(JournalRow)> row) override {
    for (const auto& [key, stored] : rows_) row({key, stored.first, stored.second});
    return revision_;
  }
  void append(std::vector<JournalWrite> writes,
              std::move_only_function<void(Result<void>)> done) override {
    Result<void> result;
    if (failure_) {
      result = std::unexpected(*failure_);
    } else {
      for (JournalWrite& write : writes) keep(std::move(write));
    }
    ++appends_;
    auto task = [done = std::move(done), result = std::move(result)]() mutable {
      done(std::move(result));
    };
    if (delay_ > Duration(0)) {
      loop_.after(delay_, std::move(task));
    } else {
      loop_.post(std::move(task));
    }
  }
  // From now on every append fails with this error; nullopt = works again.
  void set_failure(std::optional<Error> failure) { failure_ = std::move(failure); }
  size_t append_count() const { return appends_; }
  size_t row_count() const { return rows_.size(); }

 private:
  void keep(JournalWrite write) {
    revision_ = write.revision;
    if (write.value) {
      rows_[write.key] = {write.revision, std::move(*write.value)};
    } else {
      rows_.erase(write.key);
    }
  }

  Loop& loop_;
  Duration delay_;
  std::map<std::string, std::pair<int64_t, std::string>> rows_;
  int64_t revision_ = 0;
  size_t appends_ = 0;
  std::optional<Error> failure_;
};

}  // namespace tau::apiserver
