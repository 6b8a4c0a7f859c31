// Loop: the one thread that owns all state, seen from below. Real: host (Asio). Virtual: sim (event
// heap).
#pragma once

#include <cstdint>
#include <functional>

#include "base/time.h"

namespace tau {

using Task = std::move_only_function<void()>;

struct TimerId {
  uint64_t value = 0;  // 0 = no timer
  bool operator==(const TimerId&) const = default;
};

class Loop {
 public:
  virtual ~Loop() = default;
  virtual Time now() const = 0;
  // Runs `task` on the loop, after the current one; in the order posted. The one member that other
  // threads may call too.
  virtual void post(Task task) = 0;
  // Runs `task` once, not before `delay` has passed. A timer that fired or was cancelled is
  // forgotten.
  virtual TimerId after(Duration delay, Task task) = 0;
  // Cancels a timer; one that fired, was cancelled, or is 0 is no error.
  virtual void cancel(TimerId timer) = 0;
  // Runs pure `work` away from the loop (a worker thread; at once in sim), then `then` on the loop.
  // `work` may touch only what it owns or what the caller leaves alone until `then`.
  virtual void offload(Task work, Task then) = 0;
};

}  // namespace tau
