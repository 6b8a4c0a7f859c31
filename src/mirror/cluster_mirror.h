// ClusterMirror: changes of Kubernetes objects in, engine deltas out. Quantities are parsed and
// names interned once. Ids of what is gone are reused only after the next take_deltas(), so a cycle
// in flight never meets an id with a new meaning.
#pragma once

#include <string>
#include <vector>

#include "kube/reconciler.h"
#include "mirror/names.h"

namespace tau::mirror {

struct MirrorOptions {
  std::string scheduler_name = "taugrid";
  bool owns_all_pods = false;  // the embedded server has no other scheduler
};

class ClusterMirror {
 public:
  explicit ClusterMirror(MirrorOptions options) : options_(std::move(options)) {}
  static std::span<const kube::Kind> watches();
  void on_change(const kube::Stores& stores, const kube::AnyChange& change);
  // A decision was not carried out: the engine must hear of it, unless its object (`uid`) is gone
  // and the id names another by now.
  void failed(const engine::Delta& decision, const std::string& uid);
  // As failed(), for a bind decided in the cycle that just ended.
  void give_up(const engine::Bind& bind) { deltas_.push_back(engine::BindFailed{bind.pod}); }
  // Tells the engine all pods and the node anew, to heal a difference.
  void reassert(const kube::Stores& stores, const std::string& node);
  bool has_deltas() const { return !deltas_.empty(); }
  std::vector<engine::Delta> take_deltas();
  const Names& names() const { return names_; }

 private:
  void pod_changed(const kube::Stores& stores, const kube::Change<kube::Pod>& change);
  void put_flavor(const kube::Stores& stores, const kube::ResourceFlavor& flavor);
  void put_pods_of(const kube::Stores& stores, const kube::Workload& workload);
  void put_pod(const kube::Stores& stores, const kube::Pod& pod);
  void node_changed(const kube::Stores& stores, const kube::Change<kube::Node>& change);
  void workload_changed(const kube::Stores& stores, const kube::Change<kube::Workload>& change);
  void put_workload(const kube::Stores& stores, const kube::Workload& workload);
  // Queues, namespaces: what workloads resolve through.
  void reresolve_workloads(const kube::Stores& stores, const std::string& ns,
                           const std::string& local_queue);

  MirrorOptions options_;
  Names names_;
  std::vector<engine::Delta> deltas_;
  std::vector<engine::PodId> dead_pods_;
  std::vector<engine::WorkloadId> dead_workloads_;
};

// The ClusterQueue that a workload goes to, or why there is none.
Result<std::string> cluster_queue_of(const kube::Stores& stores, const kube::Workload& workload);

}  // namespace tau::mirror
