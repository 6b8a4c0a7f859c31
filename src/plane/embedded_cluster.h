// EmbeddedCluster: what a cluster brings besides its API server, wired: controllers, and the
// kubelets of all nodes.
#pragma once

#include <memory>
#include <vector>

#include "base/log.h"
#include "base/loop.h"
#include "embedded/kubelet/container_runtime.h"
#include "embedded/kubelet/node_model.h"
#include "http/message.h"

namespace tau::plane {

struct EmbeddedClusterOptions {
  uint64_t seed = 2;
  Duration node_grace = seconds(40);
  Duration pod_patience = seconds(300);
};

class EmbeddedCluster {
 public:
  EmbeddedCluster(Loop& loop, http::Transport& transport, kubelet::ContainerRuntime& runtime,
                  std::vector<kubelet::NodeModel> nodes, Log log,
                  EmbeddedClusterOptions options = {});
  ~EmbeddedCluster();
  void start();
  // Jobs past their time to live go only from now on: their history must be written first.
  void start_ttl();
  http::Handler& pod_logs();
  bool is_idle() const;
  // Simulated loss: the node's kubelet says and does nothing.
  void set_silent(const std::string& node, bool is_silent);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tau::plane
