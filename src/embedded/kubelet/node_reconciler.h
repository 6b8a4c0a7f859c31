// NodeReconciler: keeps the Node objects and Leases of the nodes served here.
#pragma once

#include "embedded/kubelet/node_model.h"
#include "kube/reconciler.h"

namespace tau::kubelet {

class NodeReconciler : public kube::Reconciler {
 public:
  explicit NodeReconciler(std::vector<NodeModel> nodes);
  std::string_view name() const override { return "kubelet-node"; }
  std::span<const kube::Kind> watches() const override;
  std::vector<kube::ObjectKey> initial_keys() const override;
  void keys_of(const kube::Stores& stores, const kube::AnyChange& change,
               const std::function<void(kube::ObjectKey)>& add) override;
  kube::Actions reconcile(const kube::Stores& stores, const kube::ObjectKey& key, Time now,
                          Rng& rng) override;
  // A silent node renews nothing (simulated loss).
  void set_silent(const std::string& node, bool is_silent);

 private:
  std::map<std::string, NodeModel> nodes_;
  std::set<std::string> silent_;
};

}  // namespace tau::kubelet
