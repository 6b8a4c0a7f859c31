// ProcessRuntime: containers as local processes, each under its own shim (shim.h). What runs goes on when the
// platform ends, and is found again by the files that the shims keep.
// Not enforced here: CPU and memory limits (no cgroups are set up); node conditions and `tau doctor` say so.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/loop.h"
#include "base/log.h"
#include "embedded/kubelet/container_runtime.h"

namespace tau::host {

class ProcessRuntime : public kubelet::ContainerRuntime {
 public:
  // `root` holds one folder per pod; `program` is started as `program shim FOLDER`.
  ProcessRuntime(Loop& loop, std::string root, std::string program, Log log);
  ~ProcessRuntime() override;
  void observe(Observer observer) override { observer_ = std::move(observer); }
  std::vector<std::pair<kubelet::ContainerId, kubelet::ContainerState>> list() override;
  void start(kubelet::ContainerSpec spec) override;
  void signal(const kubelet::ContainerId& id, int signal) override;
  void remove(const kubelet::ContainerId& id) override;
  void remove_pod(const std::string& pod_uid) override;
  std::move_only_function<void()> read_log(const kubelet::ContainerId& id, kubelet::LogQuery query, std::function<void(std::string_view)> on_data,
                                           std::move_only_function<void(Result<void>)> on_end) override;

 private:
  void load();
  void watch();
  void tell(const kubelet::ContainerId& id, kubelet::ContainerState state);
  void start_timed(const kubelet::ContainerId& id, Time started, Duration length, int exit_code);
  bool is_ended(const kubelet::ContainerId& id) const;

  struct One {
    kubelet::ContainerState state;
    int64_t shim_pid = 0;
    bool is_timed = false;
    TimerId timer;
    Time asked{};
  };
  Loop& loop_;
  std::string root_, program_;
  Log log_;
  Observer observer_;
  std::map<kubelet::ContainerId, One> containers_;
  TimerId watch_timer_;
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

}  // namespace tau::host
