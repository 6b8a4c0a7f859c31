// job_workload: gives each queued Job its Workload, keeps spec.suspend equal to what was decided,
// and marks the Workload finished when the Job is.
#pragma once

#include "kube/reconciler.h"

namespace tau::control {

inline constexpr std::string_view queue_label = "kueue.x-k8s.io/queue-name";
inline constexpr std::string_view priority_label = "kueue.x-k8s.io/priority-class";

class JobWorkload : public kube::Reconciler {
 public:
  std::string_view name() const override { return "job-workload"; }
  std::span<const kube::Kind> watches() const override;
  void keys_of(const kube::Stores& stores, const kube::AnyChange& change,
               const std::function<void(kube::ObjectKey)>& add) override;
  kube::Actions reconcile(const kube::Stores& stores, const kube::ObjectKey& key, Time now,
                          Rng& rng) override;
};

// The LocalQueue of a Job: its label, or "default" if its namespace has one; "" = in no queue.
std::string queue_of(const kube::Stores& stores, const kube::Job& job);
std::string workload_name(const kube::Job& job);
// The Workload that a Job should have.
kube::Workload workload_for(const kube::Stores& stores, const kube::Job& job,
                            const std::string& queue);

}  // namespace tau::control
