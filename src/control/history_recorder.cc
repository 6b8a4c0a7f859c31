#include "control/history_recorder.h"

#include "base/text.h"
#include "control/job_workload.h"
#include "kube/quantity.h"

namespace tau::control {
using history::AttemptRecord;
using history::PodRecord;
using history::RunRecord;

namespace {

bool is_terminal(const std::string& phase) {
  return phase == "Succeeded" || phase == "Failed" || phase == "Cancelled";
}

int64_t gpus_of(const kube::PodSpec& spec) {
  int64_t gpus = 0;
  for (const kube::Container& container : spec.containers) {
    const auto wants = container.resources.requests.find("nvidia.com/gpu");
    if (wants != container.resources.requests.end())
      gpus += kube::parse_quantity(wants->second).value_or(0);
  }
  return gpus;
}

std::vector<std::string> assigned_gpus(const kube::Pod& pod) {
  std::vector<std::string> uuids;
  const auto found = pod.metadata.annotations.find("taugrid.io/gpus");
  if (found == pod.metadata.annotations.end()) return uuids;
  for (const std::string_view part : split(found->second, ';')) {
    const size_t equals = part.find('=');
    if (equals == std::string_view::npos) continue;
    for (const std::string_view uuid : split(part.substr(equals + 1), ','))
      uuids.emplace_back(uuid);
  }
  return uuids;
}

AttemptRecord& last_attempt(RunRecord& run) {
  if (run.attempts.empty()) run.attempts.push_back({.number = 1});
  return run.attempts.back();
}

void end_run(RunRecord& run, std::string phase, std::string reason, std::string message,
             Time ended) {
  run.phase = std::move(phase);
  run.reason = std::move(reason);
  run.message = std::move(message);
  run.ended = ended;
  AttemptRecord& attempt = last_attempt(run);
  if (attempt.outcome.empty()) {
    attempt.outcome = run.phase;
    attempt.reason = run.reason;
    attempt.message = run.message;
    attempt.ended = ended;
  }
}

}  // namespace

std::string run_id(std::string_view uid) {
  std::string digits;
  for (const char c : uid) {
    if (c != '-' && digits.size() < 6) digits += c;
  }
  return "r-" + digits;
}

std::span<const kube::Kind> HistoryRecorder::watches() {
  static constexpr kube::Kind kinds[] = {kube::Kind::job, kube::Kind::workload, kube::Kind::pod,
                                         kube::Kind::local_queue, kube::Kind::node};
  return kinds;
}

void HistoryRecorder::restore(RunRecord run) {
  if (!run.deleted) runs_[run.uid] = std::move(run);
}

history::RunRecord* HistoryRecorder::run_of(const std::string& uid) {
  const auto found = runs_.find(uid);
  return found == runs_.end() ? nullptr : &found->second;
}

void HistoryRecorder::on_change(const kube::Stores& stores, const kube::AnyChange& change,
                                Time now) {
  if (const auto* job = std::get_if<kube::Change<kube::Job>>(&change))
    see_job(stores, *job, now);
  else if (const auto* pod = std::get_if<kube::Change<kube::Pod>>(&change))
    see_pod(stores, *pod, now);
  else if (const auto* workload = std::get_if<kube::Change<kube::Workload>>(&change))
    see_workload(*workload, now);
}

void HistoryRecorder::end_unseen(const kube::Stores& stores, Time now) {
  for (auto& [uid, run] : runs_) {
    if (run.deleted || stores.get<kube::Job>().find_uid(uid)) continue;
    run.deleted = now;
    if (!is_terminal(run.phase)) {
      end_run(run, "Cancelled", "Deleted", "the Job was deleted while the platform was away", now);
    }
    touch(uid);
  }
}

std::vector<RunRecord> HistoryRecorder::take_changed() {
  std::vector<RunRecord> taken;
  for (const std::string& uid : std::exchange(changed_, {})) {
    const auto found = runs_.find(uid);
    if (found == runs_.end()) continue;
    taken.push_back(found->second);
    if (found->second.deleted) runs_.erase(found);
  }
  return taken;
}

void HistoryRecorder::see_job(const kube::Stores& stores, const kube::Change<kube::Job>& change,
                              Time now) {
  const kube::Job& job = change.latest();
  RunRecord& run = runs_[job.metadata.uid];
  const RunRecord before_phase{.phase = run.phase};
  run.uid = job.metadata.uid;
  run.id = run_id(run.uid);
  run.kind = "Job";
  run.ns = job.metadata.namespace_;
  run.name = job.metadata.name;
  if (const std::string queue = queue_of(stores, job); !queue.empty()) {
    run.queue = queue;
    if (const auto local = stores.get<kube::LocalQueue>().find(run.ns, queue))
      run.cluster_queue = local->cluster_queue;
  }
  run.pods_requested = job.spec.completions
                           ? std::min(job.spec.parallelism.value_or(1), *job.spec.completions)
                           : job.spec.parallelism.value_or(1);
  run.gpus_requested = gpus_of(job.spec.template_.spec) * run.pods_requested;
  run.submitted = job.metadata.creation_timestamp;
  if (!is_terminal(run.phase)) {
    const kube::Condition* complete = kube::is_true(job.status.conditions, "Complete")
                                          ? kube::find_condition(job.status.conditions, "Complete")
                                          : nullptr;
    const kube::Condition* failed = kube::is_true(job.status.conditions, "Failed")
                                        ? kube::find_condition(job.status.conditions, "Failed")
                                        : nullptr;
    if (complete != nullptr) {
      end_run(run, "Succeeded", "Completed", complete->message,
              job.status.completion_time.value_or(complete->last_transition_time.value_or(now)));
    } else if (failed != nullptr) {
      end_run(run, "Failed", failed->reason, failed->message,
              failed->last_transition_time.value_or(now));
    } else if (!change.now) {
      end_run(run, "Cancelled", "Deleted", "the Job was deleted before it ended", now);
    } else if (job.status.ready.value_or(0) > 0 ||
               (job.status.active > 0 && run.phase == "Running")) {
      run.phase = "Running";
    } else if (job.status.active > 0 || (run.admitted && !job.spec.suspend.value_or(false))) {
      run.phase = "Starting";
    } else {
      run.phase = "Queued";
    }
  }
  if (!change.now) run.deleted = now;
  touch(run.uid);
}

void HistoryRecorder::see_workload(const kube::Change<kube::Workload>& change, Time now) {
  const kube::Workload& workload = change.latest();
  const kube::OwnerReference* owner = kube::controller_of(workload.metadata);
  RunRecord* run = owner == nullptr ? nullptr : run_of(owner->uid);
  if (run == nullptr) return;
  const kube::Condition* admitted = kube::find_condition(workload.status.conditions, "Admitted");
  const kube::Condition* evicted = kube::find_condition(workload.status.conditions, "Evicted");
  if (workload.status.admission) run->cluster_queue = workload.status.admission->cluster_queue;
  if (admitted != nullptr && admitted->status == "True") {
    AttemptRecord* attempt = &last_attempt(*run);
    if (!attempt->outcome.empty() && !is_terminal(run->phase)) {
      run->attempts.push_back({.number = attempt->number + 1});
      attempt = &run->attempts.back();
    }
    if (!attempt->admitted) attempt->admitted = admitted->last_transition_time.value_or(now);
    if (!run->admitted) run->admitted = attempt->admitted;
  } else if (evicted != nullptr && evicted->status == "True") {
    AttemptRecord& attempt = last_attempt(*run);
    if (attempt.outcome.empty() && attempt.admitted) {
      attempt.outcome = evicted->reason == "NodeFailures" ? "NodeLost"
                        : evicted->reason == "Preempted"  ? "Preempted"
                                                          : "Evicted";
      attempt.reason = evicted->reason;
      attempt.message = evicted->message;
      attempt.ended = evicted->last_transition_time.value_or(now);
    }
  }
  touch(run->uid);
}

void HistoryRecorder::see_pod(const kube::Stores& stores, const kube::Change<kube::Pod>& change,
                              Time now) {
  const kube::Pod& pod = change.latest();
  const kube::OwnerReference* owner = kube::controller_of(pod.metadata);
  RunRecord* run = owner == nullptr ? nullptr : run_of(owner->uid);
  if (run == nullptr) return;
  auto found = std::ranges::find(run->pods, pod.metadata.uid, &PodRecord::uid);
  if (found == run->pods.end()) {
    run->pods.push_back(
        {.uid = pod.metadata.uid, .name = pod.metadata.name, .attempt = last_attempt(*run).number});
    found = run->pods.end() - 1;
  }
  PodRecord& record = *found;
  record.created = pod.metadata.creation_timestamp;
  if (!pod.spec.node_name.empty()) record.node = pod.spec.node_name;
  if (const kube::Condition* scheduled =
          kube::find_condition(pod.status.conditions, "PodScheduled");
      scheduled != nullptr && scheduled->status == "True" && !record.bound) {
    record.bound = scheduled->last_transition_time;
  }
  if (const auto gpus = assigned_gpus(pod); !gpus.empty()) record.gpu_uuids = gpus;
  if (const auto node = stores.get<kube::Node>().find("", record.node)) {
    const auto product = node->metadata.labels.find("nvidia.com/gpu.product");
    if (product != node->metadata.labels.end() && !record.gpu_uuids.empty())
      record.gpu_product = product->second;
  }
  if (!is_terminal(record.phase)) record.phase = pod.status.phase;
  if (!pod.status.reason.empty()) record.reason = pod.status.reason;
  for (const kube::ContainerStatus& status : pod.status.container_statuses) {
    if (status.state.running && !record.started) record.started = status.state.running->started_at;
    if (const auto& end = status.state.terminated) {
      if (!record.started) record.started = end->started_at;
      record.ended = end->finished_at;
      record.exit_code = static_cast<int>(end->exit_code);
      if (end->signal != 0) record.signal = static_cast<int>(end->signal);
      record.reason = end->reason;
    }
  }
  if (!change.now && !record.ended) record.ended = now;
  AttemptRecord& attempt =
      run->attempts.empty()
          ? last_attempt(*run)
          : run->attempts[static_cast<size_t>(std::clamp<int>(
                record.attempt - 1, 0, static_cast<int>(run->attempts.size()) - 1))];
  if (record.started && (!attempt.started || *record.started < *attempt.started))
    attempt.started = record.started;
  if (record.started && !run->started) run->started = record.started;
  if (record.phase == "Running" && !is_terminal(run->phase)) run->phase = "Running";
  touch(run->uid);
}

}  // namespace tau::control
