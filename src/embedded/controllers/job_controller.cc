#include "embedded/controllers/job_controller.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "embedded/controllers/job_pods.h"
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

bool is_in(const std::vector<std::string>& list, std::string_view text) {
  return std::ranges::find(list, text) != list.end();
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
  std::vector<PodPointer> active;      // not ended, not being deleted
  std::vector<PodPointer> to_release;  // their finalizer may go once they are counted for good
  kube::UncountedPods uncounted;       // in the counters, and still with their finalizer
  kube::IndexRanges done_indexes, failed_indexes;
  std::map<int64_t, int64_t> newest_count;  // index -> failures before its newest pod
  std::string fatal_failure;                // what podFailurePolicy says ends the Job

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
    const kube::UncountedPods listed =
        status.uncounted_terminated_pods.value_or(kube::UncountedPods{});
    status.active = 0;
    int64_t ready = 0, terminating = 0;
    uncounted = {};
    for (const PodPointer& pod : pods) {
      const bool is_deleting = pod->metadata.deletion_timestamp.has_value();
      if (const auto index = index_of(*pod))
        newest_count[*index] = std::max(newest_count[*index], failures_before(*pod));
      if (!is_ended(*pod)) {
        if (is_deleting) {
          ++terminating;
        } else {
          ++status.active;
          active.push_back(pod);
          if (kube::is_true(pod->status.conditions, "Ready")) ++ready;
        }
      }
      if (!has_finalizer(*pod)) continue;
      if (const auto& uid = pod->metadata.uid; is_in(listed.succeeded, uid)) {
        uncounted.succeeded.push_back(uid);
      } else if (is_in(listed.failed, uid)) {
        uncounted.failed.push_back(uid);
      } else if (pod->status.phase == "Succeeded") {
        uncounted.succeeded.push_back(uid);
        count_success(*pod);
      } else if (is_failure(job.spec, *pod)) {
        count_failure(*pod);
      } else {
        continue;
      }
      to_release.push_back(pod);
    }
    status.ready = ready;
    status.terminating = terminating;
    if (is_indexed()) {
      status.completed_indexes = done_indexes.text();
      status.succeeded = done_indexes.count();
    }
    if (has_limit_per_index()) status.failed_indexes = failed_indexes.text();
  }

  // Completions may have been lowered since the pod was made.
  bool has_index(std::optional<int64_t> index) const {
    return index && *index >= 0 && *index < job.spec.completions.value_or(0);
  }

  void count_success(const kube::Pod& pod) {
    if (!is_indexed()) {
      ++status.succeeded;
    } else if (const auto index = index_of(pod); has_index(index)) {
      done_indexes.insert(*index);
    }
  }

  FailureVerdict add_failure(const kube::Pod& pod) {
    uncounted.failed.push_back(pod.metadata.uid);
    FailureVerdict verdict = judge_failure(job.spec, pod);
    if (verdict.action != FailureAction::ignore) ++status.failed;
    return verdict;
  }
  void count_failure(const kube::Pod& pod) {
    const FailureVerdict verdict = add_failure(pod);
    if (verdict.action == FailureAction::ignore) return;
    if (verdict.action == FailureAction::fail_job && fatal_failure.empty())
      fatal_failure = verdict.message;
    const auto index = index_of(pod);
    if (!has_limit_per_index() || !index) return;
    if (verdict.action == FailureAction::fail_index ||
        failures_before(pod) >= *job.spec.backoff_limit_per_index)
      failed_indexes.insert(*index);
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

  void delete_pod(const kube::Pod& pod) {
    actions.requests.push_back(
        kube::delete_request(Kind::pod, pod.metadata.namespace_, pod.metadata.name));
    event("Normal", "SuccessfulDelete", "Deleted pod: " + pod.metadata.name);
  }
  // Pods that are no longer wanted are not failures: they leave the count before they are told to
  // go.
  void withdraw(const kube::Pod& pod) {
    if (has_finalizer(pod)) actions.requests.push_back(without_finalizer(pod));
    delete_pod(pod);
  }
  void withdraw_active() {
    for (const PodPointer& pod : active) withdraw(*pod);
  }

  // Ended for good: first the cause (FailureTarget, SuccessCriteriaMet), then, with no pod left,
  // the end itself. What still runs when a Job fails fails with it.
  void settle_failure(std::string reason, std::string message) {
    if (!is_true("FailureTarget")) condition("FailureTarget", "True", reason, message);
    for (const PodPointer& pod : active) {
      if (has_finalizer(*pod) && !is_in(uncounted.failed, pod->metadata.uid)) add_failure(*pod);
      delete_pod(*pod);
    }
    if (status.active > 0 || status.terminating.value_or(0) > 0) return;
    condition("Failed", "True", reason, message);
    event("Warning", reason, message);
  }
  void settle_success(std::string reason, std::string message) {
    if (!is_true("SuccessCriteriaMet")) condition("SuccessCriteriaMet", "True", reason, message);
    withdraw_active();
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
    if (!has_limit_per_index() || failed_indexes.ranges.empty()) return false;
    const auto failed = failed_indexes.count();
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
    withdraw_active();
    if (!is_true("Suspended")) {
      condition("Suspended", "True", "JobSuspended", "Job suspended");
      event("Normal", "Suspended", "Job suspended");
    }
    status.start_time.reset();
    return true;
  }

  bool is_waiting(const Failures& before) {
    const Time due = before.last + back_off(before.count);
    if (before.count == 0 || before.last == Time{} || now >= due) return false;
    note_later(due - now);
    return true;
  }

  // The same, of each index.
  std::map<int64_t, Failures> failures_by_index() const {
    std::map<int64_t, Failures> by_index;
    for (const PodPointer& pod : pods) {
      const auto index = index_of(*pod);
      if (!index || !is_failure(job.spec, *pod)) continue;
      const bool is_ignored = judge_failure(job.spec, *pod).action == FailureAction::ignore;
      Failures& sum = by_index[*index];
      sum.count = std::max(sum.count, failures_before(*pod) + (is_ignored ? 0 : 1));
      sum.last = std::max(sum.last, end_of(*pod));
    }
    return by_index;
  }

  // The first index from `from` on that is neither done nor failed for good.
  int64_t first_open(int64_t from) const {
    for (int64_t at = done_indexes.first_absent(from);; at = done_indexes.first_absent(from)) {
      from = failed_indexes.first_absent(at);
      if (from == at) return at;
    }
  }

  // Pods of no index of the Job, and all but one of each index.
  bool withdraw_misfits() {
    if (!is_indexed()) return false;
    std::set<int64_t> held;
    bool are_any = false;
    for (const PodPointer& pod : active) {
      const auto index = index_of(*pod);
      if (has_index(index) && held.insert(*index).second) continue;
      withdraw(*pod);
      are_any = true;
    }
    return are_any;
  }
  // Those that cost least to lose go first: unplaced, not running, not ready, young.
  void withdraw_surplus(int64_t surplus) {
    const auto rank = [](const PodPointer& pod) {
      return std::tuple(!pod->spec.node_name.empty(), pod->status.phase == "Running",
                        kube::is_true(pod->status.conditions, "Ready"));
    };
    std::ranges::stable_sort(active, [&](const PodPointer& a, const PodPointer& b) {
      return rank(a) != rank(b) ? rank(a) < rank(b)
                                : a->metadata.creation_timestamp > b->metadata.creation_timestamp;
    });
    for (int64_t i = 0; i < surplus; ++i) withdraw(*active[static_cast<size_t>(i)]);
  }

  void fill_up() {
    int64_t wanted = parallelism();
    if (job.spec.completions)
      wanted = std::min(wanted, *job.spec.completions - status.succeeded - failed_indexes.count());
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
    if (withdraw_misfits()) return;
    if (status.active > wanted) return withdraw_surplus(status.active - wanted);
    if (held >= wanted) return;
    if (!has_limit_per_index() && is_waiting(failures_in_a_row(job.spec, pods))) return;
    std::set<int64_t> taken;
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
    auto failures = has_limit_per_index() ? failures_by_index() : std::map<int64_t, Failures>{};
    int64_t made = 0;
    for (int64_t index = first_open(0); has_index(index) && made < missing;
         index = first_open(index + 1)) {
      if (taken.contains(index)) continue;
      const Failures before = failures[index];
      if (is_waiting(before)) continue;
      create_pod(index, before.count);
      ++made;
    }
  }

  void create_pod(std::optional<int64_t> index, int64_t failures) {
    const kube::Pod pod = make_pod(job, index, failures, rng);
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
    if (!has_limit_per_index() || !index || failed.status.phase == "Succeeded") return false;
    if (is_true("Failed") || is_true("Complete") || job.metadata.deletion_timestamp) return false;
    if (done_indexes.contains(*index) || failed_indexes.contains(*index)) return false;
    return newest_count.at(*index) <= failures_before(failed);
  }

  // Status first, then finalizers: a pod leaves only once it is counted for good.
  void write() {
    std::vector<kube::ApiRequest> ordered;
    if (uncounted == kube::UncountedPods{})
      status.uncounted_terminated_pods.reset();
    else
      status.uncounted_terminated_pods = uncounted;
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
          is_in(counted.succeeded, pod->metadata.uid) || is_in(counted.failed, pod->metadata.uid);
      if (!is_counted || is_needed(*pod)) continue;
      ordered.push_back(without_finalizer(*pod));
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
    const int64_t completions = job->spec.completions.value_or(0);
    sync.done_indexes = kube::parse_index_ranges(job->status.completed_indexes, completions);
    sync.failed_indexes =
        kube::parse_index_ranges(job->status.failed_indexes.value_or(""), completions);
  }
  const bool is_over = sync.is_true("Complete") || sync.is_true("Failed");
  sync.count_pods();
  if (is_over) {
    sync.status.active = job->status.active;  // a finished Job's counters stand
    sync.status.ready = job->status.ready;
    sync.status.terminating = job->status.terminating;
    if (job->metadata.deletion_timestamp) sync.withdraw_active();
    sync.write();
    return std::move(sync.actions);
  }
  if (job->metadata.deletion_timestamp) {
    sync.withdraw_active();
    sync.write();
    return std::move(sync.actions);
  }
  sync.decide();
  sync.write();
  return std::move(sync.actions);
}

}  // namespace tau::controllers
