// ContainerRuntime: what the kubelet asks of the world. Real: local processes (host). Other:
// simulated (sim).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace tau::kubelet {

// Names one start of one container; stable across restarts of the platform.
struct ContainerId {
  std::string pod_uid;
  std::string container;
  int restart = 0;  // 0 for the first start
  auto operator<=>(const ContainerId&) const = default;
};

struct VolumeFile {
  std::string path;  // relative to the volume's root
  std::string content;
  int mode = 0644;
};
struct Volume {
  std::string name;
  enum class Kind { empty_dir, files, host_path } kind = Kind::empty_dir;
  std::vector<VolumeFile> files;  // configMap, secret, downwardAPI
  std::string host_path;
  bool is_memory = false;  // emptyDir medium Memory
};
struct Mount {
  std::string volume;
  std::string path;  // inside the container
  std::string sub_path;
  bool is_read_only = false;
};

// A device that a container may see.
struct GpuModel {
  std::string uuid;     // simulated ones begin "GPU-51300000-"
  std::string product;  // "NVIDIA-H100-80GB-HBM3"
  int64_t memory_bytes = 0;
  bool operator==(const GpuModel&) const = default;
};

struct ContainerSpec {
  ContainerId id;
  std::string ns, pod_name, node_name, image;
  std::vector<std::string> argv;  // command + args; empty is refused: images have no files here
  std::vector<std::pair<std::string, std::string>> env;
  std::string working_dir;
  std::vector<Volume> volumes;
  std::vector<Mount> mounts;
  int64_t cpu_limit_milli = 0;     // 0 = none
  int64_t memory_limit_bytes = 0;  // 0 = none
  std::vector<GpuModel>
      gpus;  // what it may see, by CUDA_VISIBLE_DEVICES and NVIDIA_VISIBLE_DEVICES; none = no GPU
  // Timed pods (simulated fleets): no process is started, the container just ends. Zero = a real
  // process.
  Duration sim_duration{0};
  int sim_exit_code = 0;
};

struct ContainerState {
  enum class Phase { unknown, starting, running, exited } phase = Phase::unknown;
  std::optional<Time> started, ended;
  int exit_code = 0;
  int signal = 0;
  bool is_oom_killed = false;
  std::string message;  // start failure in words, or the last lines written to the termination log
  int64_t pid = 0;
};

struct LogQuery {
  bool follow = false;
  std::optional<int64_t> tail_lines;
  std::optional<Time> since;
  bool timestamps = false;
  std::optional<int64_t> limit_bytes;
  // If set, asked before each piece; false = the reader is behind, wait. So no log is too long for
  // it.
  std::function<bool()> may_read;
};

class ContainerRuntime {
 public:
  virtual ~ContainerRuntime() = default;
  // Called on the loop whenever a container's state changes.
  using Observer = std::function<void(const ContainerId&, const ContainerState&)>;
  virtual void observe(Observer observer) = 0;
  // Containers known from before (an earlier life of the platform included), each with its state
  // now.
  virtual std::vector<std::pair<ContainerId, ContainerState>> list() = 0;
  // Starts; the outcome comes through the observer (running, or exited with a message).
  virtual void start(ContainerSpec spec) = 0;
  // Sends a signal to the whole process tree of the container. An ended one is no error.
  virtual void signal(const ContainerId& id, int signal) = 0;
  // Forgets an ended container and its volumes' files; its logs are kept until remove_logs.
  virtual void remove(const ContainerId& id) = 0;
  virtual void remove_pod(
      const std::string& pod_uid) = 0;  // volumes, logs and records of a whole pod
  // Streams the log; `on_end` exactly once. The returned function stops the stream.
  virtual std::move_only_function<void()> read_log(
      const ContainerId& id, LogQuery query, std::function<void(std::string_view)> on_data,
      std::move_only_function<void(Result<void>)> on_end) = 0;
};

}  // namespace tau::kubelet
