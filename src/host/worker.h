// Worker: one thread of its own for blocking work of one owner, beside the loop's common worker:
// what starts processes and reads logs must not hold up the journal.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "base/loop.h"

namespace tau::host {

class Worker {
 public:
  explicit Worker(Loop& loop) : loop_(loop) {}
  // Finishes all work that was given; no `then` of it runs.
  ~Worker() {
    {
      const std::lock_guard lock(mutex_);
      is_stopping_ = true;
    }
    wake_.notify_one();
    if (thread_.joinable()) thread_.join();
  }
  // As Loop::offload; in the order given.
  void offload(Task work, Task then) {
    {
      const std::lock_guard lock(mutex_);
      jobs_.emplace_back(std::move(work), std::move(then));
    }
    wake_.notify_one();
    if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    while (true) {
      wake_.wait(lock, [this] { return is_stopping_ || !jobs_.empty(); });
      if (jobs_.empty()) return;
      auto [work, then] = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      work();
      work = nullptr;
      loop_.post(std::move(then));
      lock.lock();
    }
  }

  Loop& loop_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::pair<Task, Task>> jobs_;
  bool is_stopping_ = false;
  std::thread thread_;
};

}  // namespace tau::host
