#include "embedded/controllers/job_policies.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace tau::controllers {
namespace {

FailureAction action_of(std::string_view word) {
  if (word == "FailJob") return FailureAction::fail_job;
  if (word == "FailIndex") return FailureAction::fail_index;
  if (word == "Ignore") return FailureAction::ignore;
  return FailureAction::count;
}

// The container whose end matches; containers that ended well never do.
std::optional<std::string> matching_end(const kube::ExitCodeMatch& match, const kube::Pod& pod) {
  for (const auto* statuses :
       {&pod.status.container_statuses, &pod.status.init_container_statuses}) {
    for (const kube::ContainerStatus& status : *statuses) {
      if (!match.container_name.empty() && status.name != match.container_name) continue;
      if (!status.state.terminated || status.state.terminated->exit_code == 0) continue;
      const int64_t code = status.state.terminated->exit_code;
      const bool is_listed = std::ranges::find(match.values, code) != match.values.end();
      if (is_listed == (match.operator_ == "In"))
        return fmt::format("Container {} for pod {}/{} failed with exit code {}", status.name,
                           pod.metadata.namespace_, pod.metadata.name, code);
    }
  }
  return std::nullopt;
}

std::optional<std::string> matching_condition(const std::vector<kube::PodConditionMatch>& patterns,
                                              const kube::Pod& pod) {
  for (const kube::PodConditionMatch& pattern : patterns) {
    const kube::Condition* found = kube::find_condition(pod.status.conditions, pattern.type);
    if (found == nullptr) continue;
    if (found->status == (pattern.status.empty() ? "True" : pattern.status))
      return fmt::format("Pod {}/{} has condition {}", pod.metadata.namespace_, pod.metadata.name,
                         pattern.type);
  }
  return std::nullopt;
}

}  // namespace

FailureVerdict judge_failure(const kube::JobSpec& spec, const kube::Pod& pod) {
  if (!spec.pod_failure_policy) return {};
  size_t index = 0;
  for (const kube::PodFailureRule& rule : spec.pod_failure_policy->rules) {
    const auto why = rule.on_exit_codes ? matching_end(*rule.on_exit_codes, pod)
                                        : matching_condition(rule.on_pod_conditions, pod);
    if (why)
      return {action_of(rule.action),
              fmt::format("{} matching {} rule at index {}", *why, rule.action, index)};
    ++index;
  }
  return {};
}

std::optional<int64_t> index_of(const kube::Pod& pod) {
  const auto found = pod.metadata.annotations.find("batch.kubernetes.io/job-completion-index");
  if (found == pod.metadata.annotations.end()) return std::nullopt;
  const auto index = parse_int(found->second);
  return index ? std::optional(*index) : std::nullopt;
}

int64_t failures_before(const kube::Pod& pod) {
  const auto found = pod.metadata.annotations.find(std::string(index_failures_annotation));
  if (found == pod.metadata.annotations.end()) return 0;
  return std::max<int64_t>(parse_int(found->second).value_or(0), 0);
}

std::optional<std::string> met_success_rule(const kube::JobSpec& spec,
                                            const kube::IndexRanges& done) {
  if (!spec.success_policy) return std::nullopt;
  size_t number = 0;
  for (const kube::SuccessRule& rule : spec.success_policy->rules) {
    int64_t reached = done.count(), wanted = 0;
    if (!rule.succeeded_indexes.empty()) {
      const kube::IndexRanges indexes =
          kube::parse_index_ranges(rule.succeeded_indexes, spec.completions.value_or(0));
      wanted = indexes.count();
      reached = indexes.count_common(done);
    }
    const int64_t needed = rule.succeeded_count.value_or(wanted);
    if (needed > 0 && reached >= needed) return fmt::format("Matched rules at index {}", number);
    ++number;
  }
  return std::nullopt;
}

int64_t restarts_of(const kube::Pod& pod) {
  int64_t restarts = 0;
  for (const auto* statuses :
       {&pod.status.container_statuses, &pod.status.init_container_statuses}) {
    for (const kube::ContainerStatus& status : *statuses) restarts += status.restart_count;
  }
  return restarts;
}

Duration back_off(int64_t failures) {
  if (failures <= 0) return Duration(0);
  return std::min<Duration>(minutes(10),
                            seconds(10) * (int64_t{1} << std::min<int64_t>(failures - 1, 6)));
}

}  // namespace tau::controllers
