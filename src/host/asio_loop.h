// AsioLoop: the real Loop: one thread that runs everything, one worker for offloaded work, the
// system clock.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/loop.h"

namespace boost::asio {
class io_context;
}

namespace tau::host {

class AsioLoop : public Loop {
 public:
  AsioLoop();
  ~AsioLoop() override;
  Time now() const override;
  void post(Task task) override;
  TimerId after(Duration delay, Task task) override;
  void cancel(TimerId timer) override;
  void offload(Task work, Task then) override;

  // Runs until stop(). Called by the thread that owns all state.
  void run();
  void stop();
  // Runs until `done` holds or the time is up; for a client that waits. False = time is up.
  bool run_until(const std::function<bool()>& done, Duration limit);
  // Calls `on_signal` on the loop for each of the signals.
  void on_signals(std::vector<int> signals, std::function<void(int)> on_signal);
  boost::asio::io_context& context();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The system clock; for what runs before or without a loop.
Time system_now();
// From the operating system.
uint64_t random_seed();
std::string random_token(int bytes);  // hex

}  // namespace tau::host
