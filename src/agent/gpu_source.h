// GpuSource: what GPUs a host has and how they are. Real: NVML (host). Other: scripted (tests,
// simulated nodes).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace tau::agent {

// Missing data is nullopt ("unknown"), never 0.
struct Gpu {
  int index = 0;
  std::string uuid;     // "GPU-...."; simulated ones begin "GPU-51300000-"
  std::string product;  // as in label nvidia.com/gpu.product: "NVIDIA-H100-80GB-HBM3"
  std::string pci_address;
  std::optional<int64_t> memory_bytes, memory_used_bytes;
  std::optional<double> utilisation;  // 0..1
  std::optional<double> power_w, temperature_c;
  std::optional<int> numa_node;
};

class GpuSource {
 public:
  virtual ~GpuSource() = default;
  virtual Result<std::vector<Gpu>> read() = 0;
};

}  // namespace tau::agent
