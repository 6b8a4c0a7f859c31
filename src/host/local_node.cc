#include "host/local_node.h"

#include "base/text.h"
#include "host/nvml_gpu_source.h"
#include "host/system_info.h"

namespace tau::host {

kubelet::NodeModel local_node() {
  const SystemInfo info = system_info();
  kubelet::NodeModel node{.name = to_lower(info.host_name),
                          .cpu_milli = info.cpu_milli,
                          .memory_bytes = info.memory_bytes};
  for (char& c : node.name) {
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-')) c = '-';
  }
  node.labels = {{"kubernetes.io/hostname", node.name},
                 {"kubernetes.io/arch", info.architecture},
                 {"kubernetes.io/os", "linux"}};
  node.info = {.machine_id = info.machine_id,
               .boot_id = info.boot_id,
               .kernel_version = info.kernel_version,
               .os_image = info.os_image,
               .container_runtime_version = "tau://0.1.0",
               .kubelet_version = "v1.37.0+taugrid",
               .operating_system = "linux",
               .architecture = info.architecture};
  NvmlGpuSource source;
  const auto gpus = source.read();
  if (!gpus) return node;  // `tau doctor` says why
  for (const agent::Gpu& gpu : *gpus) {
    node.gpus.push_back({gpu.uuid, gpu.product, gpu.memory_bytes.value_or(0)});
    node.labels["nvidia.com/gpu.product"] = gpu.product;
  }
  if (!node.gpus.empty()) node.labels["nvidia.com/gpu.count"] = std::to_string(node.gpus.size());
  return node;
}

}  // namespace tau::host
