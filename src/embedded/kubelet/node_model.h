// NodeModel: what a node of the embedded cluster is, real or simulated, and how simulated fleets
// are described.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "embedded/kubelet/container_runtime.h"
#include "kube/types.h"

namespace tau::kubelet {

struct NodeModel {
  std::string name;
  kube::StringMap labels;
  std::vector<kube::Taint> taints;
  int64_t cpu_milli = 0, memory_bytes = 0, max_pods = 110;
  std::vector<GpuModel> gpus;
  bool is_simulated = false;
  kube::NodeInfo info;
};

// "2x8xH100", "2x8xH100,4x4xA100", "3x0" (without GPUs); or YAML:
//   nodes:
//   - {count: 2, gpus: 8, model: H100, rack: r1, block: b1, nvlinkDomain: n1, labels: {k: v},
//   taints: [{key: k, effect: NoSchedule}], cpu: 96, memory: 1Ti, pods: 110}
// Names are sim-0, sim-1, ... over all groups; UUIDs follow from node name and index.
Result<std::vector<NodeModel>> parse_nodes(std::string_view text);

}  // namespace tau::kubelet
