#include "embedded/controllers/job_controller.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "embedded/controllers/job_policies.h"
#include "kube/codec.h"
#include "kube/event_request.h"
#include "meta/fields.h"

namespace tau::controllers {
namespace json = boost::json;
using kube::Kind;
using PodPointer = kube::Store<kube::Pod>::Pointer;

std::span<const Kind> JobController::watches() const {
  static constexpr Kind kinds[] = {Kind::job, Kind::pod};
  return kinds;
}

void JobController::keys_of(const kube::Stores&, const kube::AnyChange& change,
                            const std::function<void(kube::ObjectKey)>& add) {
  if (const auto* job = std::get_if<kube::Change<kube::Job>>(&change)) {
    add({job->latest().metadata.namespace_, job->latest().metadata.name});
  } else if (const auto* pod = std::get_if<kube::Change<kube::Pod>>(&change)) {
    const kube::OwnerReference* owner = kube::controller_of(pod->latest().metadata);
    if (owner == nullptr || owner->kind != "Job") return;
    if (const auto found = expected_.find(owner->uid); found != expected_.end()) {
      found->second.erase(pod->latest().metadata.name);
      if (found->second.empty()) expected_.erase(found);
    }
    add({pod->latest().metadata.namespace_, owner->name});
  }
}

namespace {

bool is_ended(const kube::Pod& pod) {
  return pod.status.phase == "Succeeded" || pod.status.phase == "Failed";
}

bool has_finalizer(const kube::Pod& pod) {
  return std::ranges::find(pod.metadata.finalizers, tracking_finalizer) !=
         pod.metadata.finalizers.end();
}

kube::ApiRequest without_finalizer(const kube::Pod& pod) {
  json::array left;
  for (const std::string& finalizer : pod.metadata.finalizers) {
    if (finalizer != tracking_finalizer) left.push_back(json::value(finalizer));
  }
  const json::object patch{{"metadata", json::object{{"finalizers", std::move(left)}}}};
  return kube::merge_patch(Kind::pod, pod.metadata.namespace_, pod.metadata.name,
                           json::serialize(patch));
}

// Everything about one Job at one moment, and what follows from it.
struct Sync {
  const kube::Job& job;
  Time now;
  Rng& rng;
  JobController::ExpectedPods& expected;
  kube::JobStatus status;
  std::vector<PodPointer> pods;
  kube::Actions actions;
  std::vector<PodPointer> active;         // not ended, not being deleted
  std::vector<PodPointer> to_release;     // counted; their finalizer may go
  std::vector<PodPointer> never_started;  // being deleted, and not to be counted
  std::set<int64_t> done_indexes;
  std::set<int64_t> failed_indexes;
  std::map<int64_t, int64_t> newest_count;  // index -> failures before its newest pod
  std::string fatal_failure;                // what podFailurePolicy says ends the Job
  Time last_failure{};

  bool is_indexed() const { return job.spec.completion_mode == "Indexed"; }
  int64_t parallelism() const { return job.spec.parallelism.value_or(1); }
  bool has_limit_per_index() const {
    return is_indexed() && job.spec.backoff_limit_per_index.has_value();
  }

  void event(std::string_view type, std::string_view reason, std::string message) {
    actions.requests.push_back(kube::event_on(Kind::job, job.metadata, type, reason,
                                              std::move(message), "job-controller", now, rng));
  }
  bool is_true(const char* type) const { return kube::is_true(status.conditions, type); }

  // A pod is counted once: while its finalizer is there, unless its uid is already in the counters.
  // The status write and the finalizer's removal are two writes; a crash between them is seen by
  // the uncounted list.
  void count_pods() {
    const kube::UncountedPods uncounted =
        status.uncounted_terminated_pods.value_or(kube::UncountedPods{});
    kube::UncountedPods still;
    status.active = 0;
    int64_t ready = 0, terminating = 0;
    for (const PodPointer& pod : pods) {
      const bool is_deleting = pod->metadata.deletion_timestamp.has_value();
      if (const auto index = index_of(*pod))
        newest_count[*index] = std::max(newest_count[*index], failures_before(*pod));
      if (!is_ended(*pod)) {
        if (is_deleting && pod->spec.node_name.empty()) {
          never_started.push_back(pod);  // no kubelet will ever end it
        } else if (is_deleting) {
          ++terminating;
        } else {
          ++status.active;
          active.push_back(pod);
          if (kube::is_true(pod->status.conditions, "Ready")) ++ready;
        }
        continue;
      }
      if (pod->status.phase == "Failed") last_failure = std::max(last_failure, end_of(*pod));
      if (!has_finalizer(*pod)) continue;
      to_release.push_back(pod);
      const auto& uid = pod->metadata.uid;
      const bool is_success = pod->status.phase == "Succeeded";
      const auto& listed = is_success ? uncounted.succeeded : uncounted.failed;
      if (std::ranges::find(listed, uid) != listed.end()) {
        (is_success ? still.succeeded : still.failed).push_back(uid);
        continue;
      }
      (is_success ? still.succeeded : still.failed).push_back(uid);
      if (!is_success) {
        count_failure(*pod);
        continue;
      }
      const auto index = index_of(*pod);
      if (is_indexed() && index) {
        if (!done_indexes.insert(*index).second) continue;
      }
      ++status.succeeded;
    }
    status.ready = ready;
    status.terminating = terminating;
    if (is_indexed()) status.completed_indexes = format_indexes(done_indexes);
    if (has_limit_per_index()) status.failed_indexes = format_indexes(failed_indexes);
    if (still.succeeded.empty() && still.failed.empty())
      status.uncounted_terminated_pods.reset();
    else
      status.uncounted_terminated_pods = std::move(still);
  }

  void count_failure(const kube::Pod& pod) {
    const FailureVerdict verdict = judge_failure(job.spec, pod);
    if (verdict.action == FailureAction::ignore) return;
    ++status.failed;
    if (verdict.action == FailureAction::fail_job && fatal_failure.empty())
      fatal_failure = verdict.message;
    const auto index = index_of(pod);
    if (!has_limit_per_index() || !index) return;
    if (verdict.action == FailureAction::fail_index ||
        failures_before(pod) >= *job.spec.backoff_limit_per_index)
      failed_indexes.insert(*index);
  }

  static Time end_of(const kube::Pod& pod) {
    Time end{};
    for (const auto& container : pod.status.container_statuses) {
      if (container.state.terminated && container.state.terminated->finished_at)
        end = std::max(end, *container.state.terminated->finished_at);
    }
    return end;
  }

  void condition(const char* type, const char* value, std::string reason, std::string message) {
    kube::set_condition(status.conditions,
                        {.type = type,
                         .status = value,
                         .reason = std::move(reason),
                         .message = std::move(message),
                         .last_probe_time = now},
                        now);
  }

  // Pods that we end ourselves are not failures: they leave the count before they are told to go.
  void delete_active() {
    for (const PodPointer& pod : active) {
      if (has_finalizer(*pod)) actions.requests.push_back(without_finalizer(*pod));
      actions.requests.push_back(
          kube::delete_request(Kind::pod, pod->metadata.namespace_, pod->metadata.name));
    }
  }

  // Ended for good: first the cause (FailureTarget, SuccessCriteriaMet), then, with no pod left,
  // the end itself.
  void settle_failure(std::string reason, std::string message) {
    if (!is_true("FailureTarget")) condition("FailureTarget", "True", reason, message);
    delete_active();
    if (status.active > 0 || status.terminating.value_or(0) > 0) return;
    condition("Failed", "True", reason, message);
    event("Warning", reason, message);
  }
  void settle_success(std::string reason, std::string message) {
    if (!is_true("SuccessCriteriaMet")) condition("SuccessCriteriaMet", "True", reason, message);
    delete_active();
    if (status.active > 0 || status.terminating.value_or(0) > 0) return;
    condition("Complete", "True", std::move(reason), std::move(message));
    status.completion_time = now;
    event("Normal", "Completed", "Job completed");
  }

  // Of the Job as a whole. With OnFailure a container's restarts count too.
  bool is_past_backoff_limit() const {
    const int64_t limit = job.spec.backoff_limit.value_or(6);
    if (status.failed > limit) return true;
    if (job.spec.template_.spec.restart_policy != "OnFailure") return false;
    int64_t restarts = 0;
    for (const PodPointer& pod : active) restarts += restarts_of(*pod);
    return limit == 0 ? restarts > 0 : restarts >= limit;
  }

  // Each index is done or failed for good; or more failed than are borne.
  bool settles_by_indexes() {
    if (!has_limit_per_index() || failed_indexes.empty()) return false;
    const auto failed = static_cast<int64_t>(failed_indexes.size());
    if (job.spec.max_failed_indexes && failed > *job.spec.max_failed_indexes) {
      settle_failure("MaxFailedIndexesExceeded",
                     "Job has exceeded the specified maximal number of failed indexes");
      return true;
    }
    if (failed + status.succeeded < job.spec.completions.value_or(0)) return false;
    settle_failure("FailedIndexes", "Job has failed indexes");
    return true;
  }

  bool is_past_deadline() {
    if (!job.spec.active_deadline_seconds || !status.start_time || job.spec.suspend.value_or(false))
      return false;
    const Time deadline = *status.start_time + seconds(*job.spec.active_deadline_seconds);
    if (now >= deadline) return true;
    note_later(deadline - now);
    return false;
  }
  void note_later(Duration wait) {
    if (!actions.again_after || wait < *actions.again_after) actions.again_after = wait;
  }

  bool suspend() {
    if (!job.spec.suspend.value_or(false)) {
      if (is_true("Suspended")) {
        condition("Suspended", "False", "JobResumed", "Job resumed");
        status.start_time = now;
        event("Normal", "Resumed", "Job resumed");
      }
      if (!status.start_time) status.start_time = now;
      return false;
    }
    delete_active();
    if (!is_true("Suspended")) {
      condition("Suspended", "True", "JobSuspended", "Job suspended");
      event("Normal", "Suspended", "Job suspended");
    }
    status.start_time.reset();
    return true;
  }

  bool is_waiting(int64_t failures, Time last) {
    const Time due = last + back_off(failures);
    if (failures == 0 || last == Time{} || now >= due) return false;
    note_later(due - now);
    return true;
  }

  // What the pods of one index that ended badly come to.
  struct IndexFailures {
    int64_t count = 0;
    Time last{};
  };
  std::map<int64_t, IndexFailures> failures_by_index() const {
    std::map<int64_t, IndexFailures> by_index;
    for (const PodPointer& pod : pods) {
      const auto index = index_of(*pod);
      if (!index || pod->status.phase != "Failed") continue;
      const bool is_ignored = judge_failure(job.spec, *pod).action == FailureAction::ignore;
      IndexFailures& sum = by_index[*index];
      sum.count = std::max(sum.count, failures_before(*pod) + (is_ignored ? 0 : 1));
      sum.last = std::max(sum.last, end_of(*pod));
    }
    return by_index;
  }

  void fill_up() {
    int64_t wanted = parallelism();
    if (job.spec.completions)
      wanted = std::min(wanted, *job.spec.completions - status.succeeded -
                                    static_cast<int64_t>(failed_indexes.size()));
    if (!job.spec.completions && status.succeeded > 0)
      wanted = status.active;  // a work queue is drained: no new pods
    wanted = std::max<int64_t>(0, wanted);
    // A pod that is being ended still holds its place unless only failed ones are replaced early.
    std::erase_if(expected,
                  [&](const auto& entry) { return entry.second.since + minutes(2) < now; });
    int64_t still_to_come = 0;
    for (const auto& [name, pod] : expected) {
      actions.requests.push_back(
          kube::create_request(Kind::pod, job.metadata.namespace_, pod.body));
      ++still_to_come;
    }
    const int64_t held =
        still_to_come + status.active +
        (job.spec.pod_replacement_policy == "Failed" ? status.terminating.value_or(0) : 0);
    for (size_t i = 0; status.active - static_cast<int64_t>(i) > wanted && i < active.size(); ++i) {
      const PodPointer& pod = active[active.size() - 1 - i];
      actions.requests.push_back(
          kube::delete_request(Kind::pod, pod->metadata.namespace_, pod->metadata.name));
      event("Normal", "SuccessfulDelete", "Deleted pod: " + pod->metadata.name);
    }
    if (held >= wanted) return;
    if (!has_limit_per_index() && is_waiting(status.failed, last_failure)) return;
    std::set<int64_t> taken = done_indexes;
    taken.insert(failed_indexes.begin(), failed_indexes.end());
    for (const PodPointer& pod : pods) {
      if (!is_ended(*pod) && index_of(*pod)) taken.insert(*index_of(*pod));
    }
    for (const auto& [name, pod] : expected) {
      if (pod.index) taken.insert(*pod.index);
    }
    constexpr int64_t most_at_once = 500;
    const int64_t missing = std::min(wanted - held, most_at_once);
    if (!is_indexed()) {
      for (int64_t i = 0; i < missing; ++i) create_pod(std::nullopt, 0);
      return;
    }
    auto failures =
        has_limit_per_index() ? failures_by_index() : std::map<int64_t, IndexFailures>{};
    int64_t made = 0;
    for (int64_t index = 0; index < job.spec.completions.value_or(0) && made < missing; ++index) {
      if (taken.contains(index)) continue;
      const IndexFailures before = failures[index];
      if (is_waiting(before.count, before.last)) continue;
      create_pod(index, before.count);
      ++made;
    }
  }

  void create_pod(std::optional<int64_t> index, int64_t failures) {
    kube::Pod pod;
    pod.metadata = job.spec.template_.metadata;
    pod.spec = job.spec.template_.spec;
    pod.metadata.namespace_ = job.metadata.namespace_;
    const std::string base = job.metadata.name.substr(0, 50);
    pod.metadata.name = index ? fmt::format("{}-{}-{}", base, *index, make_name_suffix(rng))
                              : fmt::format("{}-{}", base, make_name_suffix(rng));
    pod.metadata.owner_references.push_back({.api_version = "batch/v1",
                                             .kind = "Job",
                                             .name = job.metadata.name,
                                             .uid = job.metadata.uid,
                                             .controller = true,
                                             .block_owner_deletion = true});
    pod.metadata.finalizers.emplace_back(tracking_finalizer);
    if (index) {
      const std::string text = std::to_string(*index);
      pod.metadata.annotations["batch.kubernetes.io/job-completion-index"] = text;
      pod.metadata.labels["batch.kubernetes.io/job-completion-index"] = text;
      if (has_limit_per_index())
        pod.metadata.annotations[std::string(index_failures_annotation)] = std::to_string(failures);
      if (pod.spec.hostname.empty()) pod.spec.hostname = fmt::format("{}-{}", base, text);
      for (auto* containers : {&pod.spec.init_containers, &pod.spec.containers}) {
        for (kube::Container& container : *containers) {
          container.env.push_back(
              {.name = "JOB_COMPLETION_INDEX",
               .field_path = "metadata.labels['batch.kubernetes.io/job-completion-index']"});
        }
      }
    }
    const std::string body = kube::object_text(pod);
    expected[pod.metadata.name] = {body, index, now};
    actions.requests.push_back(kube::create_request(Kind::pod, job.metadata.namespace_, body));
    event("Normal", "SuccessfulCreate", "Created pod: " + pod.metadata.name);
  }

  // What becomes of a Job that is neither over nor being deleted. An end that was begun goes on.
  void decide() {
    const auto begun = [&](const char* type) -> const kube::Condition* {
      return is_true(type) ? kube::find_condition(status.conditions, type) : nullptr;
    };
    if (const kube::Condition* failure = begun("FailureTarget"))
      return settle_failure(failure->reason, failure->message);
    if (const kube::Condition* success = begun("SuccessCriteriaMet"))
      return settle_success(success->reason, success->message);
    if (!fatal_failure.empty()) return settle_failure("PodFailurePolicy", fatal_failure);
    if (is_past_backoff_limit())
      return settle_failure("BackoffLimitExceeded", "Job has reached the specified backoff limit");
    if (is_past_deadline())
      return settle_failure("DeadlineExceeded", "Job was active longer than specified deadline");
    if (settles_by_indexes()) return;
    if (is_indexed()) {
      if (const auto met = met_success_rule(job.spec, done_indexes))
        return settle_success("SuccessPolicy", *met);
    }
    const bool is_complete = job.spec.completions ? status.succeeded >= *job.spec.completions
                                                  : status.succeeded > 0 && status.active == 0;
    if (is_complete)
      return settle_success("CompletionsReached", "Reached expected number of succeeded pods");
    if (!suspend()) fill_up();
  }

  // A failed pod carries its index's count until another pod of that index does.
  bool is_needed(const kube::Pod& failed) const {
    const auto index = index_of(failed);
    if (!has_limit_per_index() || !index || failed.status.phase != "Failed") return false;
    if (is_true("Failed") || is_true("Complete") || job.metadata.deletion_timestamp) return false;
    if (done_indexes.contains(*index) || failed_indexes.contains(*index)) return false;
    return newest_count.at(*index) <= failures_before(failed);
  }

  // Status first, then finalizers: a pod leaves only once it is counted for good.
  void write() {
    std::vector<kube::ApiRequest> ordered;
    if (status != job.status) {
      json::object patch{
          {"metadata", json::object{{"resourceVersion", job.metadata.resource_version}}}};
      json::object body = meta::encode(status).as_object();
      // A merge patch removes only what it names.
      const json::value before = meta::encode(job.status);
      for (const auto& [key, value] : before.as_object()) {
        if (!body.contains(key)) body[key] = nullptr;
      }
      patch["status"] = std::move(body);
      ordered.push_back(kube::merge_patch(Kind::job, job.metadata.namespace_, job.metadata.name,
                                          json::serialize(patch), "status"));
    }
    for (kube::ApiRequest& request : actions.requests) ordered.push_back(std::move(request));
    // What was counted in an earlier write and shows in the status may go now.
    const kube::UncountedPods counted =
        job.status.uncounted_terminated_pods.value_or(kube::UncountedPods{});
    for (const PodPointer& pod : to_release) {
      const bool is_counted =
          std::ranges::find(counted.succeeded, pod->metadata.uid) != counted.succeeded.end() ||
          std::ranges::find(counted.failed, pod->metadata.uid) != counted.failed.end();
      if (!is_counted || is_needed(*pod)) continue;
      ordered.push_back(without_finalizer(*pod));
    }
    for (const PodPointer& pod : never_started) {
      if (has_finalizer(*pod)) ordered.push_back(without_finalizer(*pod));
    }
    actions.requests = std::move(ordered);
  }
};

}  // namespace

kube::Actions JobController::reconcile(const kube::Stores& stores, const kube::ObjectKey& key,
                                       Time now, Rng& rng) {
  const auto job = stores.get<kube::Job>().find(key);
  if (!job) {
    std::erase_if(expected_, [&](const auto& entry) {
      return !stores.get<kube::Job>().find_uid(entry.first);
    });
    // Its pods lose the finalizer, so that the collector can take them.
    kube::Actions actions;
    for (const auto& [at, pod] : stores.get<kube::Pod>().all()) {
      const kube::OwnerReference* owner = kube::controller_of(pod->metadata);
      if (at.ns != key.ns || owner == nullptr || owner->kind != "Job" || owner->name != key.name ||
          !has_finalizer(*pod))
        continue;
      actions.requests.push_back(
          kube::merge_patch(Kind::pod, at.ns, at.name, R"({"metadata":{"finalizers":null}})"));
    }
    return actions;
  }
  if (!job->spec.managed_by.empty() && job->spec.managed_by != "kubernetes.io/job-controller")
    return {};
  ExpectedPods& expected = expected_[job->metadata.uid];
  Sync sync{.job = *job,
            .now = now,
            .rng = rng,
            .expected = expected,
            .status = job->status,
            .pods = stores.get<kube::Pod>().owned_by(job->metadata.uid)};
  if (sync.is_indexed()) {
    sync.done_indexes =
        parse_indexes(job->status.completed_indexes, job->spec.completions.value_or(0));
    sync.failed_indexes =
        parse_indexes(job->status.failed_indexes.value_or(""), job->spec.completions.value_or(0));
  }
  const bool is_over = sync.is_true("Complete") || sync.is_true("Failed");
  sync.count_pods();
  if (is_over) {
    sync.status.active = job->status.active;  // a finished Job's counters stand
    sync.status.ready = job->status.ready;
    sync.status.terminating = job->status.terminating;
    if (job->metadata.deletion_timestamp) sync.delete_active();
    sync.write();
    return std::move(sync.actions);
  }
  if (job->metadata.deletion_timestamp) {
    sync.delete_active();
    sync.write();
    return std::move(sync.actions);
  }
  sync.decide();
  sync.write();
  return std::move(sync.actions);
}

}  // namespace tau::controllers
