// What keeps a cluster tidy: garbage collection by owner, Jobs past their time to live, namespaces
// being deleted, nodes that went silent and the pods they leave behind.
#pragma once

#include "kube/reconciler.h"

namespace tau::controllers {

// Deletes what no owner holds any more. Key: "<kind number>/<ns>" and name, one per dependent
// object.
class GarbageCollector : public kube::Reconciler {
 public:
  std::string_view name() const override { return "garbage-collector"; }
  std::span<const kube::Kind> watches() const override;
  void keys_of(const kube::Stores& stores, const kube::AnyChange& change,
               const std::function<void(kube::ObjectKey)>& add) override;
  kube::Actions reconcile(const kube::Stores& stores, const kube::ObjectKey& key, Time now,
                          Rng& rng) override;
};

class JobTtl : public kube::Reconciler {
 public:
  std::string_view name() const override { return "job-ttl"; }
  std::span<const kube::Kind> watches() const override;
  void keys_of(const kube::Stores& stores, const kube::AnyChange& change,
               const std::function<void(kube::ObjectKey)>& add) override;
  kube::Actions reconcile(const kube::Stores& stores, const kube::ObjectKey& key, Time now,
                          Rng& rng) override;
};

class NamespaceController : public kube::Reconciler {
 public:
  std::string_view name() const override { return "namespace"; }
  std::span<const kube::Kind> watches() const override;
  void keys_of(const kube::Stores& stores, const kube::AnyChange& change,
               const std::function<void(kube::ObjectKey)>& add) override;
  kube::Actions reconcile(const kube::Stores& stores, const kube::ObjectKey& key, Time now,
                          Rng& rng) override;
};

struct NodeLifeOptions {
  Duration grace = seconds(40);          // a lease older than this: the node is not ready
  Duration pod_patience = seconds(300);  // then its pods are given up
};
class NodeLife : public kube::Reconciler {
 public:
  explicit NodeLife(NodeLifeOptions options = {}) : options_(options) {}
  std::string_view name() const override { return "node-life"; }
  std::span<const kube::Kind> watches() const override;
  void keys_of(const kube::Stores& stores, const kube::AnyChange& change,
               const std::function<void(kube::ObjectKey)>& add) override;
  kube::Actions reconcile(const kube::Stores& stores, const kube::ObjectKey& key, Time now,
                          Rng& rng) override;

 private:
  NodeLifeOptions options_;
};

}  // namespace tau::controllers
