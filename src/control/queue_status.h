// queue_status: counts and use in the status of ClusterQueues and LocalQueues.
#pragma once

#include <map>

#include "kube/reconciler.h"

namespace tau::control {

// Counts follow each change of a workload; written at most once a second per queue.
class StatusPace {
 public:
  // Lets the write through, or puts it off.
  kube::Actions pace(const kube::ObjectKey& key, kube::Actions actions, Time now);
  void forget(const kube::ObjectKey& key) { last_.erase(key); }

 private:
  std::map<kube::ObjectKey, Time> last_;
};

class ClusterQueueStatus : public kube::Reconciler {
 public:
  std::string_view name() const override { return "cluster-queue-status"; }
  std::span<const kube::Kind> watches() const override;
  void keys_of(const kube::Stores& stores, const kube::AnyChange& change,
               const std::function<void(kube::ObjectKey)>& add) override;
  kube::Actions reconcile(const kube::Stores& stores, const kube::ObjectKey& key, Time now,
                          Rng& rng) override;

 private:
  StatusPace pace_;
};

class LocalQueueStatus : public kube::Reconciler {
 public:
  std::string_view name() const override { return "local-queue-status"; }
  std::span<const kube::Kind> watches() const override;
  void keys_of(const kube::Stores& stores, const kube::AnyChange& change,
               const std::function<void(kube::ObjectKey)>& add) override;
  kube::Actions reconcile(const kube::Stores& stores, const kube::ObjectKey& key, Time now,
                          Rng& rng) override;

 private:
  StatusPace pace_;
};

}  // namespace tau::control
