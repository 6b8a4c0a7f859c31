// ControllerRunner: runs Reconcilers over Informers: a change gives keys, a key gives requests, a
// failure comes back after a back-off. One key of a reconciler is never looked at twice at once.
#pragma once

#include <memory>
#include <vector>

#include "base/log.h"
#include "base/loop.h"
#include "client/informers.h"
#include "client/sender.h"
#include "kube/reconciler.h"
#include "kube/work_queue.h"

namespace tau::client {

class ControllerRunner {
 public:
  ControllerRunner(Loop& loop, Informers& informers, Sender& sender, Rng rng, Log log);
  ~ControllerRunner();
  ControllerRunner(const ControllerRunner&) = delete;
  ControllerRunner& operator=(const ControllerRunner&) = delete;

  // Before start(). The runner does not own the reconciler.
  void add(kube::Reconciler& reconciler);
  // Follows what the reconcilers watch and begins once all of it is listed.
  void start();
  // Looks at nothing more and sends nothing more; what is in flight ends unheard.
  void stop();
  // Looks at a key for a cause outside the stores, such as a container that ended.
  void wake(kube::Reconciler& reconciler, kube::ObjectKey key);
  // True when nothing is due now and nothing is in flight.
  bool is_idle() const;
  int64_t reconciles() const { return reconciles_; }

 private:
  struct Lane;
  void on_change(const kube::AnyChange& change);
  void pump(Lane& lane);
  void arm(Lane& lane);
  void run(Lane& lane, const kube::ObjectKey& key);
  void send_next(Lane& lane, kube::ObjectKey key, std::shared_ptr<kube::Actions> actions,
                 size_t index);

  Loop& loop_;
  Informers& informers_;
  Sender& sender_;
  Rng rng_;
  Log log_;
  bool is_started_ = false;
  int64_t reconciles_ = 0;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

}  // namespace tau::client
