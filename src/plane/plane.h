// Plane: the control plane, wired once on a Loop and a Transport. The same object in `tau up`, in
// `tau controller` and in simulation: informers -> mirror -> engine cycles -> writer, the
// reconcilers of `control`, history, and the answers of view.taugrid.io.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/log.h"
#include "base/loop.h"
#include "base/metrics.h"
#include "engine/engine.h"
#include "history/records.h"
#include "http/message.h"

namespace tau::plane {

struct PlaneOptions {
  bool is_embedded =
      false;  // the server has no other scheduler, and `defaults` makes the first queues
  std::string scheduler_name = "taugrid";
  uint64_t seed = 1;
  engine::FairSharing fair_sharing = {};
  bool is_stepped = false;  // cycles run only when step() is called
  // Not empty: begins only once it leads by the Lease kube-system/taugrid-controller under this
  // name.
  std::string lease_identity;
  std::function<void(std::string holder)> on_waiting = {};  // another leads
  std::function<void(std::string why)> on_deposed = {};     // stopped for good
};

struct PlaneCounts {
  int64_t cycles = 0, admitted = 0, bound = 0, evicted = 0, failed_writes = 0, history_writes = 0;
};

class Plane {
 public:
  Plane(Loop& loop, http::Transport& transport, history::HistoryStore& history, Log log,
        PlaneOptions options);
  ~Plane();
  void start();
  // Sends nothing more; what is in flight is forgotten. A lease held is given up, then `done` is
  // called.
  void stop(std::function<void()> done = {});
  // Called once, when the first state is in and recorded.
  void when_ready(std::move_only_function<void()> ready);
  bool is_idle() const;
  // One cycle now, with what is known; only where cycles are stepped and the first state is in.
  void step(const engine::CycleOptions& options);
  http::Handler& views();
  Metrics& metrics();
  const PlaneCounts& counts() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tau::plane
