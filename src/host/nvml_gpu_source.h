// NvmlGpuSource: the GPUs of this machine, by NVIDIA's management library. The library is loaded
// at run time: a machine without it has no GPUs, which is no error.
#pragma once

#include <memory>
#include <string>

#include "agent/gpu_source.h"

namespace tau::host {

class NvmlGpuSource : public agent::GpuSource {
 public:
  explicit NvmlGpuSource(std::string library = "libnvidia-ml.so.1");
  ~NvmlGpuSource() override;
  // Blocking, some milliseconds: for start-up and for a worker thread, one call at a time. A device
  // that cannot be asked is left out; one value that cannot be had is unknown.
  Result<std::vector<agent::Gpu>> read() override;
  bool is_loaded() const;

 private:
  struct Library;
  std::unique_ptr<Library> library_;  // null = there is none
};

}  // namespace tau::host
