#include "embedded/kubelet/pod_reconciler.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/limits.h"
#include "embedded/kubelet/environment.h"
#include "kube/event_request.h"
#include "meta/fields.h"

namespace tau::kubelet {
namespace json = boost::json;
using kube::Kind;
using Phase = ContainerState::Phase;

namespace {
constexpr int term_signal = 15, kill_signal = 9;
}

PodReconciler::PodReconciler(ContainerRuntime& runtime, std::vector<NodeModel> nodes)
    : runtime_(runtime) {
  for (NodeModel& node : nodes) {
    const std::string name = node.name;
    nodes_.emplace(name, std::move(node));
  }
  runtime_.observe(
      [this](const ContainerId& id, const ContainerState& state) { observe(id, state); });
  for (auto& [id, state] : runtime_.list()) states_[id] = state;
}

std::span<const Kind> PodReconciler::watches() const {
  static constexpr Kind kinds[] = {Kind::pod, Kind::config_map, Kind::secret};
  return kinds;
}

void PodReconciler::observe(const ContainerId& id, const ContainerState& state) {
  states_[id] = state;
  const auto key = keys_.find(id.pod_uid);
  if (key != keys_.end() && wake_) wake_(key->second);
}

void PodReconciler::keys_of(const kube::Stores&, const kube::AnyChange& change,
                            const std::function<void(kube::ObjectKey)>& add) {
  const auto* pod = std::get_if<kube::Change<kube::Pod>>(&change);
  if (pod == nullptr) return;
  const kube::Pod& latest = pod->latest();
  if (!serves(latest.spec.node_name)) return;
  const kube::ObjectKey key{latest.metadata.namespace_, latest.metadata.name};
  keys_[latest.metadata.uid] = key;
  uids_[key].insert(latest.metadata.uid);
  add(key);
}

void PodReconciler::end_orphans(const kube::Stores& stores) {
  std::set<std::string> orphans;
  for (const auto& [id, state] : states_) {
    if (!stores.get<kube::Pod>().find_uid(id.pod_uid)) orphans.insert(id.pod_uid);
  }
  for (const std::string& uid : orphans) {
    runtime_.remove_pod(uid);
    std::erase_if(states_, [&](const auto& entry) { return entry.first.pod_uid == uid; });
  }
}

void PodReconciler::set_silent(const std::string& node, bool is_silent) {
  if (is_silent) {
    silent_.insert(node);
    return;
  }
  silent_.erase(node);
  // A kubelet that comes back knows what its runtime knows, and nothing else.
  states_.clear();
  for (auto& [id, state] : runtime_.list()) states_[id] = state;
  for (const auto& [uid, key] : keys_) {
    if (wake_) wake_(key);
  }
}

std::optional<ContainerId> PodReconciler::find_container(const std::string& pod_uid,
                                                         const std::string& container,
                                                         bool is_previous) const {
  std::optional<ContainerId> newest, before;
  for (auto at = states_.lower_bound({pod_uid, container, 0});
       at != states_.end() && at->first.pod_uid == pod_uid && at->first.container == container;
       ++at) {
    before = newest;
    newest = at->first;
  }
  return is_previous ? before : newest;
}

// One look at one pod.
struct PodReconciler::Sync {
  PodReconciler& self;
  const kube::Stores& stores;
  const kube::Pod& pod;
  const NodeModel& node;
  Time now;
  Rng& rng;
  kube::Actions actions;
  kube::PodStatus status;
  bool is_any_pending = false, is_any_running = false, is_all_ready = true;
  std::optional<int> failed_exit;

  void event(const char* type, const char* reason, std::string message) {
    actions.requests.push_back(kube::event_on(Kind::pod, pod.metadata, type, reason,
                                              std::move(message), "kubelet", now, rng));
  }
  void event_once(const std::string& what, const char* type, const char* reason,
                  std::string message) {
    if (self.told_.insert(pod.metadata.uid + "/" + what).second)
      event(type, reason, std::move(message));
  }
  void look_again(Duration wait) {
    if (!actions.again_after || wait < *actions.again_after)
      actions.again_after = std::max<Duration>(wait, milliseconds(1));
  }
  ContainerState* latest(const std::string& container, int& restart) {
    const auto id = self.find_container(pod.metadata.uid, container, false);
    restart = id ? id->restart : -1;
    return id ? &self.states_[*id] : nullptr;
  }

  // A container that the API says was started, and that the runtime knows nothing of, is lost.
  void find_lost(const kube::Container& container, const std::vector<kube::ContainerStatus>& held) {
    const auto was = std::ranges::find(held, container.name, &kube::ContainerStatus::name);
    if (was == held.end() || (!was->state.running && !was->state.terminated)) return;
    const ContainerId id{pod.metadata.uid, container.name, static_cast<int>(was->restart_count)};
    if (self.states_.contains(id)) return;
    ContainerState lost{.phase = Phase::exited,
                        .exit_code = 137,
                        .message = "the container could not be found after a restart of the node"};
    if (was->state.terminated) {
      lost.exit_code = static_cast<int>(was->state.terminated->exit_code);
      lost.signal = static_cast<int>(was->state.terminated->signal);
      lost.started = was->state.terminated->started_at;
      lost.ended = was->state.terminated->finished_at;
      lost.message = was->state.terminated->message;
    } else {
      lost.started = was->state.running->started_at;
      lost.ended = now;
    }
    self.states_[id] = lost;
  }

  void start(const kube::Container& container, int restart, kube::ContainerStatus& shown) {
    auto spec = container_spec(stores, pod, container, restart, node);
    if (!spec) {
      const bool is_final = spec.error().code == ErrorCode::unsupported;
      const char* reason = is_final ? "CreateContainerError" : "CreateContainerConfigError";
      shown.state = {.waiting = kube::ContainerStateWaiting{reason, spec.error().message}};
      event_once(container.name + spec.error().message, "Warning", "Failed",
                 "Error: " + spec.error().message);
      look_again(seconds(10));
      return;
    }
    event_once("pulled", "Normal", "Pulled",
               "Images are not pulled here: the command runs on the host's files");
    event("Normal", "Created", "Created container: " + container.name);
    event("Normal", "Started", "Started container " + container.name);
    self.states_[spec->id].phase = Phase::starting;
    shown.state = {.waiting = kube::ContainerStateWaiting{"ContainerCreating", ""}};
    self.runtime_.start(std::move(*spec));
  }

  static kube::ContainerStateTerminated ended_state(const ContainerId& id,
                                                    const ContainerState& state) {
    kube::ContainerStateTerminated made{.exit_code = state.exit_code,
                                        .signal = state.signal,
                                        .message = state.message,
                                        .started_at = state.started,
                                        .finished_at = state.ended};
    made.reason = state.is_oom_killed ? "OOMKilled" : state.exit_code == 0 ? "Completed" : "Error";
    made.container_id = fmt::format("tau://{}-{}-{}", id.pod_uid, id.container, id.restart);
    return made;
  }

  bool restarts(int exit_code) const {
    if (pod.spec.restart_policy == "Never") return false;
    return pod.spec.restart_policy != "OnFailure" || exit_code != 0;
  }

  // Shows one container and starts it when it is time. True when it has ended for good with code 0.
  bool run(const kube::Container& container, bool is_init,
           std::vector<kube::ContainerStatus>& out) {
    kube::ContainerStatus shown{.name = container.name, .image = container.image, .started = false};
    int restart = -1;
    const ContainerState* state = latest(container.name, restart);
    bool is_done = false;
    if (state == nullptr) {
      is_any_pending = true;
      shown.state = {.waiting = kube::ContainerStateWaiting{"ContainerCreating", ""}};
      start(container, 0, shown);
    } else {
      const ContainerId id{pod.metadata.uid, container.name, restart};
      shown.restart_count = restart;
      shown.container_id = fmt::format("tau://{}-{}-{}", id.pod_uid, id.container, id.restart);
      if (restart > 0) {
        const ContainerId before{pod.metadata.uid, container.name, restart - 1};
        if (const auto old = self.states_.find(before); old != self.states_.end())
          shown.last_state = {.terminated = ended_state(before, old->second)};
      }
      if (state->phase == Phase::running) {
        is_any_running = true;
        shown.state = {.running = kube::ContainerStateRunning{state->started}};
        shown.ready = !is_init;
        shown.started = true;
      } else if (state->phase == Phase::exited) {
        is_done = ended(container, is_init, id, *state, shown);
      } else {
        is_any_pending = true;
        shown.state = {.waiting = kube::ContainerStateWaiting{"ContainerCreating", ""}};
      }
    }
    if (!shown.ready) is_all_ready = false;
    out.push_back(std::move(shown));
    return is_done;
  }

  bool ended(const kube::Container& container, bool is_init, const ContainerId& id,
             const ContainerState& state, kube::ContainerStatus& shown) {
    const bool is_success = state.exit_code == 0;
    shown.state = {.terminated = ended_state(id, state)};
    if (is_init) shown.ready = is_success;
    if (is_init && is_success) return true;
    if (!restarts(state.exit_code) || (is_init && is_success)) {
      if (!is_success && !failed_exit) failed_exit = state.exit_code;
      return is_success;
    }
    is_any_pending = true;
    const Duration wait =
        std::min<Duration>(minutes(5), seconds(10) * (int64_t{1} << std::min(id.restart, 6)));
    const Time due = state.ended.value_or(now) + wait;
    // The first restart is immediate; a container that keeps failing waits longer each time.
    if (id.restart == 0 || now >= due) {
      start(container, id.restart + 1, shown);
      shown.last_state = {.terminated = ended_state(id, state)};
      shown.restart_count = id.restart + 1;
      return false;
    }
    shown.last_state = {.terminated = ended_state(id, state)};
    shown.state = {
        .waiting = kube::ContainerStateWaiting{
            "CrashLoopBackOff", fmt::format("back-off {} restarting failed container={} pod={}",
                                            format_age(wait), container.name, pod.metadata.name)}};
    event_once(fmt::format("{}-backoff-{}", container.name, id.restart), "Warning", "BackOff",
               fmt::format("Back-off restarting failed container {} in pod {}", container.name,
                           pod.metadata.name));
    look_again(due - now);
    return false;
  }

  void set_condition(const char* type, bool is_true, std::string reason = "",
                     std::string message = "") {
    kube::set_condition(status.conditions,
                        {.type = type,
                         .status = is_true ? "True" : "False",
                         .reason = std::move(reason),
                         .message = std::move(message)},
                        now);
  }

  std::vector<ContainerId> live_containers() const {
    std::vector<ContainerId> live;
    for (auto at = self.states_.lower_bound({pod.metadata.uid, "", 0});
         at != self.states_.end() && at->first.pod_uid == pod.metadata.uid; ++at) {
      if (at->second.phase != Phase::exited) live.push_back(at->first);
    }
    return live;
  }

  // TERM, then KILL after the grace. True when nothing runs any more.
  bool end_containers(int64_t grace_s, const char* why) {
    const auto live = live_containers();
    if (live.empty()) return true;
    const auto [told, is_first] = self.terminated_.emplace(pod.metadata.uid, now);
    if (is_first) {
      for (const ContainerId& id : live) {
        event("Normal", "Killing", fmt::format("Stopping container {}{}", id.container, why));
        self.runtime_.signal(id, grace_s == 0 ? kill_signal : term_signal);
      }
    }
    const Time kill_at = told->second + seconds(grace_s);
    if (now < kill_at) {
      look_again(kill_at - now);
    } else if (self.killed_.insert(pod.metadata.uid).second) {
      for (const ContainerId& id : live) self.runtime_.signal(id, kill_signal);
    }
    return false;
  }

  void show_containers() {
    status.init_container_statuses.clear();
    status.container_statuses.clear();
    for (const auto& container : pod.spec.init_containers)
      find_lost(container, pod.status.init_container_statuses);
    for (const auto& container : pod.spec.containers)
      find_lost(container, pod.status.container_statuses);
  }

  // Containers are only shown as they are; nothing is started.
  void show_only() {
    const auto show = [&](const std::vector<kube::Container>& containers,
                          std::vector<kube::ContainerStatus>& out,
                          const std::vector<kube::ContainerStatus>& held) {
      for (const kube::Container& container : containers) {
        int restart = -1;
        const ContainerState* state = latest(container.name, restart);
        const auto was = std::ranges::find(held, container.name, &kube::ContainerStatus::name);
        kube::ContainerStatus shown =
            was == held.end()
                ? kube::ContainerStatus{.name = container.name, .image = container.image}
                : *was;
        if (state != nullptr && state->phase == Phase::exited) {
          shown.state = {.terminated =
                             ended_state({pod.metadata.uid, container.name, restart}, *state)};
          shown.ready = false;
          shown.started = false;
          if (state->exit_code != 0 && !failed_exit) failed_exit = state->exit_code;
        } else if (state != nullptr) {
          is_any_running = true;
        }
        out.push_back(std::move(shown));
      }
    };
    show_containers();
    show(pod.spec.init_containers, status.init_container_statuses,
         pod.status.init_container_statuses);
    show(pod.spec.containers, status.container_statuses, pod.status.container_statuses);
  }

  void first_look() {
    if (status.start_time) return;
    status.start_time = now;
    status.host_ip = status.pod_ip = "127.0.0.1";
    if (status.qos_class.empty()) status.qos_class = "Burstable";
    actions.requests.push_back(
        kube::event_on(Kind::pod, pod.metadata, "Normal", "Scheduled",
                       fmt::format("Successfully assigned {}/{} to {}", pod.metadata.namespace_,
                                   pod.metadata.name, node.name),
                       "taugrid", now, rng));
    set_condition("PodScheduled", true);
    set_condition("PodReadyToStartContainers", true);
  }

  void run_all() {
    show_containers();
    bool is_initialized = true;
    for (const kube::Container& container : pod.spec.init_containers) {
      if (!is_initialized) {
        status.init_container_statuses.push_back(
            {.name = container.name,
             .image = container.image,
             .started = false,
             .state = {.waiting = kube::ContainerStateWaiting{"PodInitializing", ""}}});
        continue;
      }
      is_initialized = run(container, true, status.init_container_statuses);
    }
    is_all_ready = true;
    bool is_all_done = is_initialized;
    for (const kube::Container& container : pod.spec.containers) {
      if (is_initialized) {
        is_all_done &= run(container, false, status.container_statuses) ||
                       (failed_exit && !restarts(*failed_exit));
        continue;
      }
      is_all_ready = false;
      status.container_statuses.push_back(
          {.name = container.name,
           .image = container.image,
           .started = false,
           .state = {.waiting = kube::ContainerStateWaiting{"PodInitializing", ""}}});
    }
    const bool is_init_failed =
        !is_initialized && failed_exit && pod.spec.restart_policy == "Never";
    const bool is_over = is_init_failed || (is_initialized && !is_any_pending && !is_any_running);
    if (is_over)
      status.phase = failed_exit ? "Failed" : "Succeeded";
    else if (is_initialized && (is_any_running || status.phase == "Running" || has_started()))
      status.phase = "Running";
    else
      status.phase = "Pending";
    const bool is_ready = is_all_ready && is_any_running && !is_over;
    const std::string why = status.phase == "Succeeded" ? "PodCompleted"
                            : is_ready                  ? ""
                            : status.phase == "Failed"  ? "PodFailed"
                                                        : "ContainersNotReady";
    set_condition("Initialized", is_initialized,
                  is_initialized ? (status.phase == "Succeeded" ? "PodCompleted" : "")
                                 : "ContainersNotInitialized");
    set_condition("ContainersReady", is_ready, why);
    set_condition("Ready", is_ready, why);
  }
  bool has_started() const {
    return std::ranges::any_of(status.container_statuses, [](const auto& c) {
      return c.last_state.terminated || c.state.terminated || c.state.running;
    });
  }

  void write_status() {
    if (status == pod.status) return;
    json::object patch{{"metadata", json::object{{"uid", pod.metadata.uid}}},
                       {"status", meta::encode(status)}};
    actions.requests.insert(actions.requests.begin(),
                            kube::merge_patch(Kind::pod, pod.metadata.namespace_, pod.metadata.name,
                                              json::serialize(patch), "status"));
  }
  void force_delete() {
    kube::ApiRequest remove{.verb = kube::Verb::remove,
                            .kind = Kind::pod,
                            .ns = pod.metadata.namespace_,
                            .name = pod.metadata.name,
                            .query = "gracePeriodSeconds=0"};
    remove.body =
        json::serialize(json::object{{"kind", "DeleteOptions"},
                                     {"apiVersion", "v1"},
                                     {"gracePeriodSeconds", 0},
                                     {"preconditions", json::object{{"uid", pod.metadata.uid}}}});
    actions.requests.push_back(std::move(remove));
  }
};

kube::Actions PodReconciler::reconcile(const kube::Stores& stores, const kube::ObjectKey& key,
                                       Time now, Rng& rng) {
  const auto pod = stores.get<kube::Pod>().find(key);
  // What is gone from the API ends here too, and its files with it.
  std::set<std::string> gone;
  if (const auto known = uids_.find(key); known != uids_.end()) {
    gone = std::exchange(known->second, {});
    if (pod && gone.erase(pod->metadata.uid) > 0)
      known->second.insert(pod->metadata.uid);
    else
      uids_.erase(known);
  }
  for (const std::string& uid : gone) {
    for (auto at = states_.lower_bound({uid, "", 0});
         at != states_.end() && at->first.pod_uid == uid;) {
      if (at->second.phase != Phase::exited) runtime_.signal(at->first, kill_signal);
      at = states_.erase(at);
    }
    runtime_.remove_pod(uid);
    keys_.erase(uid);
    terminated_.erase(uid);
    killed_.erase(uid);
    for (auto at = told_.lower_bound(uid); at != told_.end() && at->starts_with(uid);)
      at = told_.erase(at);
  }
  if (!pod || !serves(pod->spec.node_name) || silent_.contains(pod->spec.node_name)) return {};
  Sync sync{*this, stores, *pod, nodes_.at(pod->spec.node_name), now, rng, {}, pod->status, false,
            false, true,   {}};
  const bool is_terminal = pod->status.phase == "Succeeded" || pod->status.phase == "Failed";
  if (pod->metadata.deletion_timestamp) {
    const int64_t grace = pod->metadata.deletion_grace_period_seconds.value_or(
        pod->spec.termination_grace_period_seconds.value_or(limits::termination_grace_s));
    if (!sync.end_containers(grace, "")) return std::move(sync.actions);
    if (!is_terminal && sync.status.start_time) {
      sync.show_only();
      sync.status.phase = sync.failed_exit ? "Failed" : "Succeeded";
      sync.write_status();
    }
    // A Job's finalizer may hold the object; then it goes when that is removed.
    sync.force_delete();
    return std::move(sync.actions);
  }
  if (is_terminal) {
    sync.end_containers(limits::termination_grace_s, "");
    return std::move(sync.actions);
  }
  sync.first_look();
  if (pod->spec.active_deadline_seconds &&
      now >= *sync.status.start_time + seconds(*pod->spec.active_deadline_seconds)) {
    const bool is_ended = sync.end_containers(
        pod->spec.termination_grace_period_seconds.value_or(limits::termination_grace_s),
        ": active deadline exceeded");
    if (!is_ended) return std::move(sync.actions);
    sync.show_only();
    sync.status.phase = "Failed";
    sync.status.reason = "DeadlineExceeded";
    sync.status.message = "Pod was active on the node longer than the specified deadline";
    sync.write_status();
    return std::move(sync.actions);
  }
  if (pod->spec.active_deadline_seconds)
    sync.look_again(*sync.status.start_time + seconds(*pod->spec.active_deadline_seconds) - now);
  sync.run_all();
  sync.write_status();
  return std::move(sync.actions);
}

}  // namespace tau::kubelet
