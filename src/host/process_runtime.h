// ProcessRuntime: containers as local processes, each under its own shim (shim.h). What runs goes
// on when the platform ends, and is found again by the files that the shims keep. Timed containers
// have no process; they too are found again. Images are not pulled: commands run on this machine's
// files.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/log.h"
#include "base/loop.h"
#include "embedded/kubelet/container_runtime.h"
#include "host/container_files.h"
#include "host/worker.h"

namespace tau::host {

// What this machine lets containers be held to; for node conditions and `tau doctor`.
struct RuntimeCapabilities {
  std::string limits_by;  // "cgroup v2", "cgroup v1" or "none"
  bool enforces_memory = false, enforces_cpu = false;
  std::string limits_reason;        // why something is not enforced; "" = all is
  bool has_private_mounts = false;  // volumes, and the simulated nvidia-smi in its place
  std::string mounts_reason;
};
// Tried out, in some milliseconds.
RuntimeCapabilities probe_capabilities();

class ProcessRuntime : public kubelet::ContainerRuntime {
 public:
  // `root` holds one folder per pod; `program` is started as `program shim FOLDER`. One runtime
  // per root at a time: the owner of the state folder holds its lock.
  ProcessRuntime(Loop& loop, std::string root, std::string program, Log log);
  ~ProcessRuntime() override;
  void observe(Observer observer) override { observer_ = std::move(observer); }
  std::vector<std::pair<kubelet::ContainerId, kubelet::ContainerState>> list() override;
  void start(kubelet::ContainerSpec spec) override;
  void signal(const kubelet::ContainerId& id, int signal) override;
  void remove(const kubelet::ContainerId& id) override;
  void remove_pod(const std::string& pod_uid) override;
  std::move_only_function<void()> read_log(
      const kubelet::ContainerId& id, kubelet::LogQuery query,
      std::function<void(std::string_view)> on_data,
      std::move_only_function<void(Result<void>)> on_end) override;

  const RuntimeCapabilities& capabilities() const { return capabilities_; }

 private:
  using Id = kubelet::ContainerId;
  struct One {
    ContainerRecord record;
    bool is_preparing = false;  // the worker is making its folder and its shim
    bool is_leaving = false;    // its pod is gone; ended, then forgotten
    int pending_signal = 0;     // for when there is a shim
    int looks = 0;
    uint64_t version = 0;  // of the state file last read
    Time asked{};
    TimerId timer;  // of a timed one
    kubelet::ContainerState& state() { return record.state; }
    bool is_ended() const { return record.state.phase == kubelet::ContainerState::Phase::exited; }
  };

  void load();
  void load_one(const Id& id, bool is_leaving);
  void start_timed(const Id& id, Time end, int exit_code);
  void end_timed(const Id& id, Time ended, int exit_code, int signal);
  void refuse(const Id& id, const Error& why);
  void set_state(const Id& id, kubelet::ContainerState state);
  void keep(const Id& id, const ContainerRecord& record);
  void forget_if_ended(const Id& id);
  void watch_soon();
  void watch();
  void look(const Id& id, One& one);

  Loop& loop_;
  std::string root_, program_;
  Log log_;
  RuntimeCapabilities capabilities_;
  Observer observer_;
  std::map<Id, One> containers_;
  std::set<std::string> leaving_pods_;
  TimerId watch_timer_;
  std::shared_ptr<char> alive_ = std::make_shared<char>();
  std::shared_ptr<Worker> worker_;
};

}  // namespace tau::host
