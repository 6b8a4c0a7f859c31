// A Job's pods: how they are made, and what one says of its own end.
#pragma once

#include <memory>
#include <span>

#include "base/rng.h"
#include "kube/request.h"
#include "kube/types.h"

namespace tau::controllers {

// On a pod until it is counted.
inline constexpr std::string_view tracking_finalizer = "batch.kubernetes.io/job-tracking";

// Of an index, if the Job is Indexed, with the failures of that index so far.
kube::Pod make_pod(const kube::Job& job, std::optional<int64_t> index, int64_t failures, Rng& rng);

bool is_ended(const kube::Pod& pod);
bool has_finalizer(const kube::Pod& pod);
kube::ApiRequest without_finalizer(const kube::Pod& pod);
// When its containers ended; if it was deleted without one, when it was told to go.
Time end_of(const kube::Pod& pod);

// A pod that somebody deletes has failed: it may never come to report an end. Unless only failed
// ones are to be replaced; then its end is waited for, if a node can bring one.
bool is_failure(const kube::JobSpec& spec, const kube::Pod& pod);

struct Failures {
  int64_t count = 0;
  Time last{};
};
// What a new pod waits for: failures since a pod last ended well.
Failures failures_in_a_row(const kube::JobSpec& spec,
                           std::span<const std::shared_ptr<const kube::Pod>> pods);

}  // namespace tau::controllers
