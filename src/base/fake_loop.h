// FakeLoop: a Loop in virtual time for unit tests. Time moves only by advance(); posted tasks and
// due timers run in a fixed order (time, then order of arrival). Single-threaded; offload runs its
// work at once.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include "base/check.h"
#include "base/loop.h"

namespace tau {

class FakeLoop : public Loop {
 public:
  explicit FakeLoop(Time start = Time(seconds(1'800'000'000))) : now_(start) {}
  Time now() const override { return now_; }
  void post(Task task) override { posted_.push_back(std::move(task)); }
  TimerId after(Duration delay, Task task) override {
    const uint64_t id = ++last_timer_;
    const Time due = now_ + std::max(delay, Duration(0));
    timers_.emplace(std::pair(due, id), std::move(task));
    due_of_.emplace(id, due);
    return TimerId{id};
  }
  void cancel(TimerId timer) override {
    const auto found = due_of_.find(timer.value);
    if (found == due_of_.end()) return;
    timers_.erase({found->second, timer.value});
    due_of_.erase(found);
  }
  void offload(Task work, Task then) override {
    work();
    post(std::move(then));
  }

  // Runs posted tasks, and what they post, until none is left. Timers due now run too.
  void run_ready() {
    for (uint64_t steps = 0;; ++steps) {
      CHECK(steps < 100'000'000);  // a task that posts itself for ever
      if (posted_.empty() && !fire_due()) return;
      if (posted_.empty()) continue;
      Task task = std::move(posted_.front());
      posted_.pop_front();
      task();
    }
  }
  // Moves time forward, stopping at each timer on the way.
  void advance(Duration by) {
    const Time end = now_ + by;
    run_ready();
    while (!timers_.empty() && timers_.begin()->first.first <= end) {
      now_ = std::max(now_, timers_.begin()->first.first);
      run_ready();
    }
    now_ = end;
    run_ready();
  }
  // Advances by `step` until `done` holds; false if that takes longer than `limit`.
  template <class Done>
  bool run_until(Done done, Duration limit = seconds(600), Duration step = milliseconds(10)) {
    const Time end = now_ + limit;
    run_ready();
    while (!done()) {
      if (now_ >= end) return false;
      advance(step);
    }
    return true;
  }
  size_t timer_count() const { return timers_.size(); }

 private:
  bool fire_due() {
    if (timers_.empty() || timers_.begin()->first.first > now_) return false;
    auto node = timers_.extract(timers_.begin());
    due_of_.erase(node.key().second);
    posted_.push_back(std::move(node.mapped()));
    return true;
  }

  Time now_;
  std::deque<Task> posted_;
  std::map<std::pair<Time, uint64_t>, Task> timers_;
  std::map<uint64_t, Time> due_of_;
  uint64_t last_timer_ = 0;
};

}  // namespace tau
