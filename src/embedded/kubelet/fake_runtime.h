// FakeRuntime: a ContainerRuntime without processes, in the loop's time: containers run for as long
// as they are told and end as they are told. For simulation and tests.
#pragma once

#include "base/loop.h"
#include "embedded/kubelet/container_runtime.h"

namespace tau::kubelet {

class FakeRuntime : public ContainerRuntime {
 public:
  // `ordinary` is how long a container without sim_duration runs.
  FakeRuntime(Loop& loop, Duration ordinary) : loop_(loop), ordinary_(ordinary) {}
  ~FakeRuntime() override {
    for (auto& [id, one] : containers_) loop_.cancel(one.timer);
  }
  void observe(Observer observer) override { observer_ = std::move(observer); }
  std::vector<std::pair<ContainerId, ContainerState>> list() override {
    std::vector<std::pair<ContainerId, ContainerState>> all;
    for (const auto& [id, one] : containers_) all.emplace_back(id, one.state);
    return all;
  }
  void start(ContainerSpec spec) override {
    ++starts_[spec.id];
    One& one = containers_[spec.id];
    one.spec = std::move(spec);
    const ContainerId id = one.spec.id;
    one.timer = loop_.after(milliseconds(20), [this, id] { begin(id); });
  }
  void signal(const ContainerId& id, int signal) override {
    const auto found = containers_.find(id);
    if (found == containers_.end() || found->second.state.phase == ContainerState::Phase::exited)
      return;
    loop_.cancel(found->second.timer);
    found->second.timer =
        loop_.after(milliseconds(10), [this, id, signal] { end(id, 128 + signal, signal); });
  }
  void remove(const ContainerId& id) override { forget(id); }
  void remove_pod(const std::string& pod_uid) override {
    while (true) {
      const auto at = containers_.lower_bound({pod_uid, "", 0});
      if (at == containers_.end() || at->first.pod_uid != pod_uid) return;
      forget(at->first);
    }
  }
  std::move_only_function<void()> read_log(
      const ContainerId&, LogQuery, std::function<void(std::string_view)> on_data,
      std::move_only_function<void(Result<void>)> on_end) override {
    loop_.post([on_data = std::move(on_data), on_end = std::move(on_end)]() mutable {
      on_data("simulated\n");
      on_end({});
    });
    return [] {};
  }

  // From now on containers end with what this says.
  void choose_exit_codes(std::function<int(const ContainerSpec&)> exit_code_of) {
    exit_code_of_ = std::move(exit_code_of);
  }
  const ContainerSpec* spec_of(const ContainerId& id) const {
    const auto found = containers_.find(id);
    return found == containers_.end() ? nullptr : &found->second.spec;
  }
  // How often each container was started while its machine lived: never more than once.
  const std::map<ContainerId, int>& starts() const { return starts_; }
  // A machine that dies takes its containers with it, without a word.
  void lose_node(const std::string& node) {
    std::vector<ContainerId> lost;
    for (const auto& [id, one] : containers_) {
      if (one.spec.node_name == node) lost.push_back(id);
    }
    for (const ContainerId& id : lost) {
      forget(id);
      starts_.erase(id);  // it died with the machine: starting it again is no second start
    }
  }

 private:
  struct One {
    ContainerSpec spec;
    ContainerState state{.phase = ContainerState::Phase::starting};
    TimerId timer;
  };
  void begin(const ContainerId& id) {
    One& one = containers_.at(id);
    one.state.phase = ContainerState::Phase::running;
    one.state.started = loop_.now();
    const Duration length = one.spec.sim_duration.count() > 0 ? one.spec.sim_duration : ordinary_;
    one.timer = loop_.after(length, [this, id] {
      const ContainerSpec& spec = containers_.at(id).spec;
      end(id, exit_code_of_ ? exit_code_of_(spec) : spec.sim_exit_code, 0);
    });
    tell(id);
  }
  void end(const ContainerId& id, int exit_code, int signal) {
    One& one = containers_.at(id);
    one.state.phase = ContainerState::Phase::exited;
    one.state.ended = loop_.now();
    one.state.exit_code = exit_code;
    one.state.signal = signal;
    if (!one.state.started) one.state.started = loop_.now();
    tell(id);
  }
  void tell(const ContainerId& id) {
    if (observer_) observer_(id, containers_.at(id).state);
  }
  void forget(const ContainerId& id) {
    const auto found = containers_.find(id);
    if (found == containers_.end()) return;
    loop_.cancel(found->second.timer);
    containers_.erase(found);
  }

  Loop& loop_;
  Duration ordinary_;
  Observer observer_;
  std::function<int(const ContainerSpec&)> exit_code_of_;
  std::map<ContainerId, One> containers_;
  std::map<ContainerId, int> starts_;
};

}  // namespace tau::kubelet
