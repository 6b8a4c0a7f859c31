// PodReconciler: the kubelet's rule for pods bound to the nodes served here: containers in their
// order, restarts with back-off, graceful ends, status. Containers are named by (pod uid,
// container, restart), so that after a restart of the platform what runs is found again and nothing
// is started twice.
#pragma once

#include <functional>

#include "embedded/kubelet/container_runtime.h"
#include "embedded/kubelet/node_model.h"
#include "kube/reconciler.h"

namespace tau::kubelet {

class PodReconciler : public kube::Reconciler {
 public:
  PodReconciler(ContainerRuntime& runtime, std::vector<NodeModel> nodes);
  ~PodReconciler() override { runtime_.observe(nullptr); }
  std::string_view name() const override { return "kubelet-pod"; }
  std::span<const kube::Kind> watches() const override;
  void keys_of(const kube::Stores& stores, const kube::AnyChange& change,
               const std::function<void(kube::ObjectKey)>& add) override;
  kube::Actions reconcile(const kube::Stores& stores, const kube::ObjectKey& key, Time now,
                          Rng& rng) override;

  // Called when a container's state changes; the owner looks at the pod then.
  void set_wake(std::function<void(kube::ObjectKey)> wake) { wake_ = std::move(wake); }
  // The newest start of a container, or the one before it.
  std::optional<ContainerId> find_container(const std::string& pod_uid,
                                            const std::string& container, bool is_previous) const;
  // Ends what runs for pods that are no more: a crash may have come between a pod's deletion and
  // the end of its containers. Only once the stores hold all pods.
  void end_orphans(const kube::Stores& stores);
  // A node that is lost: its containers are forgotten and nothing is done for its pods.
  void set_silent(const std::string& node, bool is_silent);
  bool serves(const std::string& node) const { return nodes_.contains(node); }

 private:
  struct Sync;
  void observe(const ContainerId& id, const ContainerState& state);

  ContainerRuntime& runtime_;
  std::map<std::string, NodeModel> nodes_;
  std::set<std::string> silent_;
  std::map<ContainerId, ContainerState> states_;
  std::map<std::string, kube::ObjectKey> keys_;            // by pod uid
  std::map<kube::ObjectKey, std::set<std::string>> uids_;  // the same, by name
  std::map<std::string, Time> terminated_;                 // pod uid -> when TERM was sent
  std::set<std::string> killed_;                           // pods that got KILL
  std::set<std::string> told_;  // events that are said once: "<uid>/<what>"
  std::function<void(kube::ObjectKey)> wake_;
};

}  // namespace tau::kubelet
