// Rules for Jobs, and for what may change in one.
#include <fmt/format.h>

#include <algorithm>

#include "kube/field_errors.h"
#include "kube/index_ranges.h"
#include "kube/json_access.h"

namespace tau::kube {
namespace json = boost::json;

namespace {

constexpr int64_t most_parallel_indexed = 100'000;
constexpr size_t most_rules = 20;               // of a success or failure policy, as upstream
constexpr size_t most_index_bytes = 64 * 1024;  // of succeededIndexes, as upstream

void check_completion_mode(ErrorList& errors, const json::object& spec) {
  const std::string_view mode = text_at(spec, "completionMode");
  errors.one_of("spec.completionMode", mode, {"Indexed", "NonIndexed"});
  const auto parallelism = integer_at(spec, "parallelism");
  if (mode == "Indexed") {
    if (!has(spec, "completions"))
      errors.required("spec.completions", "when completion mode is Indexed");
    if (parallelism && *parallelism > most_parallel_indexed) {
      errors.invalid_value(
          "spec.parallelism", *parallelism,
          fmt::format("must be less than or equal to {} when completion mode is Indexed",
                      most_parallel_indexed));
    }
    const auto completions = integer_at(spec, "completions"),
               most_failed = integer_at(spec, "maxFailedIndexes");
    if (completions && most_failed && *most_failed > *completions) {
      errors.invalid_value("spec.maxFailedIndexes", *most_failed,
                           "must be less than or equal to completions");
    }
    return;
  }
  for (const std::string_view key : {"backoffLimitPerIndex", "maxFailedIndexes"}) {
    if (const auto value = integer_at(spec, key))
      errors.invalid_value(fmt::format("spec.{}", key), *value, "requires indexed completion mode");
  }
  if (has(spec, "successPolicy"))
    errors.invalid_value("spec.successPolicy", *spec.if_contains("successPolicy"),
                         "requires indexed completion mode");
}

void check_success_policy(ErrorList& errors, const json::object& spec) {
  if (!has(spec, "successPolicy")) return;
  const json::array& rules = array_at(object_at(spec, "successPolicy"), "rules");
  const int64_t completions = integer_at(spec, "completions").value_or(0);
  if (rules.empty())
    errors.required("spec.successPolicy.rules", "at least one rule must be specified");
  if (rules.size() > most_rules)
    errors.invalid_value("spec.successPolicy.rules", static_cast<int64_t>(rules.size()),
                         fmt::format("must have at most {} items", most_rules));
  for (size_t i = 0; i < std::min(rules.size(), most_rules); ++i) {
    const json::object& rule = as_object(rules[i]);
    const std::string at = fmt::format("spec.successPolicy.rules[{}]", i);
    const std::string_view indexes = text_at(rule, "succeededIndexes");
    const auto count = integer_at(rule, "succeededCount");
    if (!count && indexes.empty()) {
      errors.required(at, "at least one of succeededCount or succeededIndexes must be specified");
      continue;
    }
    int64_t most = completions;
    if (!indexes.empty()) {
      const bool is_short = indexes.size() <= most_index_bytes;
      const IndexRanges wanted = parse_index_ranges(is_short ? indexes : "", completions);
      if (!is_short || !wanted.is_whole) {
        errors.invalid(at + ".succeededIndexes", indexes.substr(0, 100),
                       fmt::format("must be ascending indexes or ranges such as 0,2-4, below "
                                   "completions, in at most {} bytes",
                                   most_index_bytes));
        continue;
      }
      most = wanted.count();
    }
    if (count && (*count < 1 || *count > most))
      errors.invalid_value(at + ".succeededCount", *count,
                           fmt::format("must be between 1 and {}", most));
  }
}

void check_failure_policy(ErrorList& errors, const json::object& spec) {
  if (!has(spec, "podFailurePolicy")) return;
  const json::array& rules = array_at(object_at(spec, "podFailurePolicy"), "rules");
  if (rules.size() > most_rules)
    errors.invalid_value("spec.podFailurePolicy.rules", static_cast<int64_t>(rules.size()),
                         fmt::format("must have at most {} items", most_rules));
  for (size_t i = 0; i < rules.size(); ++i) {
    const json::object& rule = as_object(rules[i]);
    const std::string at = fmt::format("spec.podFailurePolicy.rules[{}]", i);
    const std::string_view action = text_at(rule, "action");
    if (action.empty()) {
      errors.required(at + ".action",
                      "valid values: \"Count\", \"FailIndex\", \"FailJob\", \"Ignore\"");
    } else {
      errors.one_of(at + ".action", action, {"Count", "FailIndex", "FailJob", "Ignore"});
    }
    if (action == "FailIndex" && !has(spec, "backoffLimitPerIndex"))
      errors.invalid(at + ".action", action, "requires the backoffLimitPerIndex to be set");
    size_t number = 0;
    for (const json::value& pattern : array_at(rule, "onPodConditions")) {
      const std::string place = fmt::format("{}.onPodConditions[{}]", at, number++);
      if (text_at(as_object(pattern), "type").empty()) errors.required(place + ".type");
      errors.one_of(place + ".status", text_at(as_object(pattern), "status"),
                    {"False", "True", "Unknown"});
    }
    const bool by_code = has(rule, "onExitCodes"),
               by_condition = !array_at(rule, "onPodConditions").empty();
    if (by_code && by_condition)
      errors.invalid_value(at, rule,
                           "specifying both OnExitCodes and OnPodConditions is not supported");
    if (!by_code && !by_condition)
      errors.invalid_value(at, rule,
                           "specifying one of OnExitCodes and OnPodConditions is required");
    if (!by_code) continue;
    const json::object& codes = object_at(rule, "onExitCodes");
    const std::string_view operator_ = text_at(codes, "operator");
    if (operator_.empty())
      errors.required(at + ".onExitCodes.operator", "valid values: \"In\", \"NotIn\"");
    errors.one_of(at + ".onExitCodes.operator", operator_, {"In", "NotIn"});
    if (array_at(codes, "values").empty())
      errors.invalid(at + ".onExitCodes.values", "", "at least one value is required");
  }
}

void check_restart_policy(ErrorList& errors, const json::object& spec,
                          const json::object& pod_spec) {
  const std::string path = "spec.template.spec.restartPolicy";
  const std::string_view policy = text_at(pod_spec, "restartPolicy");
  if (policy == "Always" || policy.empty()) {
    errors.required(path, "valid values: \"OnFailure\", \"Never\"");
  } else if (policy != "OnFailure" && policy != "Never") {
    errors.not_supported(path, policy, {"OnFailure", "Never"});
  } else if (policy == "OnFailure" && has(spec, "podFailurePolicy")) {
    errors.invalid(path, policy, "only \"Never\" is supported when podFailurePolicy is specified");
  }
}

// Every label that the selector asks for must be on the template.
void check_selector(ErrorList& errors, const json::object& spec) {
  if (!has(spec, "selector")) return errors.required("spec.selector");
  check_label_selector(errors, object_at(spec, "selector"), "spec.selector");
  const json::object& labels =
      object_at(object_at(object_at(spec, "template"), "metadata"), "labels");
  for (const auto& [key, value] : object_at(object_at(spec, "selector"), "matchLabels")) {
    const json::value* label = labels.if_contains(key);
    if (label != nullptr && *label == value) continue;
    return errors.invalid_value("spec.template.metadata.labels", labels,
                                "`selector` does not match template `labels`");
  }
}

}  // namespace

void check_job(ErrorList& errors, const json::object& job) {
  const json::object& spec = object_at(job, "spec");
  for (const std::string_view key :
       {"parallelism", "completions", "activeDeadlineSeconds", "backoffLimit",
        "ttlSecondsAfterFinished", "backoffLimitPerIndex", "maxFailedIndexes"}) {
    errors.not_negative("spec", spec, key);
  }
  if (has(spec, "maxFailedIndexes") && !has(spec, "backoffLimitPerIndex"))
    errors.required("spec.backoffLimitPerIndex", "when maxFailedIndexes is specified");
  check_completion_mode(errors, spec);
  check_failure_policy(errors, spec);
  if (text_at(spec, "completionMode") == "Indexed") check_success_policy(errors, spec);
  if (has(spec, "podFailurePolicy")) {
    errors.one_of("spec.podReplacementPolicy", text_at(spec, "podReplacementPolicy"), {"Failed"});
  } else {
    errors.one_of("spec.podReplacementPolicy", text_at(spec, "podReplacementPolicy"),
                  {"Failed", "TerminatingOrFailed"});
  }
  const json::object& template_ = object_at(spec, "template");
  check_labels(errors, object_at(object_at(template_, "metadata"), "labels"),
               "spec.template.labels");
  check_annotations(errors, object_at(object_at(template_, "metadata"), "annotations"),
                    "spec.template.annotations");
  check_pod_spec(errors, object_at(template_, "spec"), "spec.template.spec");
  check_restart_policy(errors, spec, object_at(template_, "spec"));
  check_selector(errors, spec);
}

namespace {

// The template less what may change while the Job is suspended: where its pods may go, and what
// they ask for.
json::object fixed_template(json::object template_) {
  if (json::object* metadata = if_object_at(template_, "metadata")) {
    metadata->erase("labels");
    metadata->erase("annotations");
    if (metadata->empty()) template_.erase("metadata");
  }
  json::object& spec = make_object(template_, "spec");
  for (const std::string_view key : {"nodeSelector", "tolerations", "schedulingGates"})
    spec.erase(key);
  if (json::object* affinity = if_object_at(spec, "affinity")) {
    affinity->erase("nodeAffinity");
    if (affinity->empty()) spec.erase("affinity");
  }
  for (const std::string_view list : {"containers", "initContainers"}) {
    for_each_object(spec, list, [](json::object& container) { container.erase("resources"); });
  }
  return template_;
}

void check_completions_update(ErrorList& errors, const json::object& now, const json::object& old) {
  if (text_at(now, "completionMode") != "Indexed")
    return check_immutable(errors, now, old, "completions", "spec");
  const auto completions = integer_at(now, "completions");
  if (completions == integer_at(old, "completions") || !completions) return;
  if (completions != integer_at(now, "parallelism")) {
    errors.invalid_value("spec.completions", *completions,
                         "can only be modified in tandem with spec.parallelism");
  }
}

}  // namespace

void check_job_update(ErrorList& errors, const json::object& now, const json::object& old) {
  const json::object& spec = object_at(now, "spec");
  const json::object& before = object_at(old, "spec");
  check_completions_update(errors, spec, before);
  for (const std::string_view key : {"selector", "completionMode", "podFailurePolicy",
                                     "backoffLimitPerIndex", "managedBy", "successPolicy"}) {
    check_immutable(errors, spec, before, key, "spec");
  }
  const bool was_suspended = is_true_at(before, "suspend");
  const json::object& template_ = object_at(spec, "template");
  const json::object& template_before = object_at(before, "template");
  if (!was_suspended) {
    if (template_ != template_before)
      errors.invalid_value("spec.template", template_, "field is immutable");
  } else if (fixed_template(template_) != fixed_template(template_before)) {
    errors.invalid_value("spec.template.spec", object_at(template_, "spec"), "field is immutable");
  }
}

}  // namespace tau::kube
