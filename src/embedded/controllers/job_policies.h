// What a Job's own policies say about its pods: podFailurePolicy, backoffLimitPerIndex and
// successPolicy, as upstream reads them. Pure questions; job_controller counts and acts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "kube/index_ranges.h"
#include "kube/types.h"

namespace tau::controllers {

enum class FailureAction : uint8_t { count, fail_index, fail_job, ignore };
struct FailureVerdict {
  FailureAction action = FailureAction::count;
  std::string message;  // which rule matched, and by what; empty if none did
};
// For a pod that failed: the first rule that matches it.
FailureVerdict judge_failure(const kube::JobSpec& spec, const kube::Pod& pod);

// The index that a pod of an Indexed Job stands for.
std::optional<int64_t> index_of(const kube::Pod& pod);
// Failures of the pod's index before it, as its annotation says; 0 where it says nothing.
int64_t failures_before(const kube::Pod& pod);
inline constexpr std::string_view index_failures_annotation =
    "batch.kubernetes.io/job-index-failure-count";

// "Matched rules at index N", once the indexes done meet a rule of the success policy.
std::optional<std::string> met_success_rule(const kube::JobSpec& spec,
                                            const kube::IndexRanges& done);

// Restarts inside pods that still run, which count against backoffLimit with restartPolicy
// OnFailure.
int64_t restarts_of(const kube::Pod& pod);

// Ten seconds after the first failure in a row, doubling with each, at most ten minutes.
Duration back_off(int64_t failures);

}  // namespace tau::controllers
