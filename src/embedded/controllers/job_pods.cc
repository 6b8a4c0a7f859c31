#include "embedded/controllers/job_pods.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "embedded/controllers/job_policies.h"

namespace tau::controllers {
namespace json = boost::json;

kube::Pod make_pod(const kube::Job& job, std::optional<int64_t> index, int64_t failures, Rng& rng) {
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
  if (!index) return pod;
  const std::string text = std::to_string(*index);
  pod.metadata.annotations["batch.kubernetes.io/job-completion-index"] = text;
  pod.metadata.labels["batch.kubernetes.io/job-completion-index"] = text;
  if (job.spec.backoff_limit_per_index)
    pod.metadata.annotations[std::string(index_failures_annotation)] = std::to_string(failures);
  if (pod.spec.hostname.empty()) pod.spec.hostname = fmt::format("{}-{}", base, text);
  for (auto* containers : {&pod.spec.init_containers, &pod.spec.containers}) {
    for (kube::Container& container : *containers) {
      container.env.push_back(
          {.name = "JOB_COMPLETION_INDEX",
           .field_path = "metadata.labels['batch.kubernetes.io/job-completion-index']"});
    }
  }
  return pod;
}

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
  return kube::merge_patch(kube::Kind::pod, pod.metadata.namespace_, pod.metadata.name,
                           json::serialize(patch));
}

Time end_of(const kube::Pod& pod) {
  Time end{};
  for (const auto& container : pod.status.container_statuses) {
    if (container.state.terminated && container.state.terminated->finished_at)
      end = std::max(end, *container.state.terminated->finished_at);
  }
  if (end == Time{} && pod.metadata.deletion_timestamp)
    end = *pod.metadata.deletion_timestamp -
          seconds(pod.metadata.deletion_grace_period_seconds.value_or(0));
  return end;
}

bool is_failure(const kube::JobSpec& spec, const kube::Pod& pod) {
  if (pod.status.phase == "Failed") return true;
  return pod.metadata.deletion_timestamp && pod.status.phase != "Succeeded" &&
         (spec.pod_replacement_policy != "Failed" || pod.spec.node_name.empty());
}

Failures failures_in_a_row(const kube::JobSpec& spec,
                           std::span<const std::shared_ptr<const kube::Pod>> pods) {
  Time last_success{};
  for (const auto& pod : pods) {
    if (pod->status.phase == "Succeeded") last_success = std::max(last_success, end_of(*pod));
  }
  Failures sum;
  for (const auto& pod : pods) {
    if (!is_failure(spec, *pod) || end_of(*pod) <= last_success) continue;
    ++sum.count;
    sum.last = std::max(sum.last, end_of(*pod));
  }
  return sum;
}

}  // namespace tau::controllers
