// The answers of view.taugrid.io/v1alpha1: what the controller serves and the CLI and portal show.
// Served at
//   /apis/view.taugrid.io/v1alpha1/[namespaces/{ns}/]runs            RunViewList (live and from
//   history) /apis/view.taugrid.io/v1alpha1/namespaces/{ns}/runs/{name|id}    RunView (with
//   attempts, pods, verdict) /apis/view.taugrid.io/v1alpha1/queues QueueViewList
//   /apis/view.taugrid.io/v1alpha1/nodes                             NodeViewList
// Lists take ?phase= ?queue= ?history=true ?limit=. Missing data is absent, never 0.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time.h"

namespace tau::kube {

struct BlockerView {
  std::string reason;   // CAPACITY_SHORT, WAITING_QUOTA, ... (reasons.h)
  std::string message;  // one line with numbers: "needs 12 GPUs, 8 of 16 free in flavor default"
  std::optional<int64_t> wanted, free, total, position, ahead, pods_wanted, pods_placed;
  std::vector<std::pair<std::string, int64_t>> nodes_by_misfit;  // "gpu_short": 3
  std::vector<int64_t> free_gpus_by_node;
};
struct PodView {
  std::string name, uid, node, phase, reason;
  int64_t attempt = 1;
  std::vector<std::string> gpus;  // UUIDs
  std::string gpu_product;
  std::optional<Time> created, bound, started, ended;
  std::optional<int64_t> exit_code, signal;
};
struct AttemptView {
  int64_t number = 1;
  std::string outcome, reason, message;
  std::optional<Time> admitted, started, ended;
};
struct RunView {
  std::string id, uid, kind, ns, name, queue, cluster_queue, workload;
  std::string phase;         // Queued, Starting, Running, Succeeded, Failed, Cancelled
  std::string health;        // Busy, Idle, Unknown, ... while Starting or Running
  std::string reason, note;  // first blocker, or how it ended
  int64_t priority = 0;
  std::optional<int64_t> gpus, pods, pods_running, position;
  std::string gpu_product;
  std::vector<std::string> nodes;
  std::optional<Time> created, admitted, started, ended, deleted, evaluated;
  std::vector<AttemptView> attempts;
  std::vector<PodView> pod_list;
  std::vector<BlockerView> blockers;
};
struct QueueResourceView {
  std::string flavor, resource;
  int64_t used = 0, nominal = 0;
};
struct QueueView {
  std::string ns, name, cluster_queue;  // ns empty = the ClusterQueue itself
  std::string strategy;
  int64_t pending = 0, admitted = 0;
  bool is_stopped = false;
  std::vector<QueueResourceView> resources;
};
struct NodeView {
  std::string name, state, gpu_product;  // Ready, NotReady, Cordoned
  bool is_simulated = false;
  std::optional<int64_t> gpus, gpus_used, cpu_milli, cpu_milli_used, memory_bytes,
      memory_bytes_used, pods;
  std::vector<std::string> runs;
};

}  // namespace tau::kube
