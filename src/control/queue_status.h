// queue_status: counts and use in the status of ClusterQueues and LocalQueues.
#pragma once

#include "kube/reconciler.h"

namespace tau::control {

class ClusterQueueStatus : public kube::Reconciler {
 public:
  std::string_view name() const override { return "cluster-queue-status"; }
  std::span<const kube::Kind> watches() const override;
  void keys_of(const kube::Stores& stores, const kube::AnyChange& change,
               const std::function<void(kube::ObjectKey)>& add) override;
  kube::Actions reconcile(const kube::Stores& stores, const kube::ObjectKey& key, Time now,
                          Rng& rng) override;
};

class LocalQueueStatus : public kube::Reconciler {
 public:
  std::string_view name() const override { return "local-queue-status"; }
  std::span<const kube::Kind> watches() const override;
  void keys_of(const kube::Stores& stores, const kube::AnyChange& change,
               const std::function<void(kube::ObjectKey)>& add) override;
  kube::Actions reconcile(const kube::Stores& stores, const kube::ObjectKey& key, Time now,
                          Rng& rng) override;
};

}  // namespace tau::control
