// JobController: batch/v1 Jobs as upstream runs them: parallelism, completions, Indexed, back-off
// limits, deadlines, suspend, the policies of job_policies.h, exact counting by finalizer.
#pragma once

#include "kube/reconciler.h"

namespace tau::controllers {

class JobController : public kube::Reconciler {
 public:
  std::string_view name() const override { return "job"; }
  std::span<const kube::Kind> watches() const override;
  void keys_of(const kube::Stores& stores, const kube::AnyChange& change,
               const std::function<void(kube::ObjectKey)>& add) override;
  kube::Actions reconcile(const kube::Stores& stores, const kube::ObjectKey& key, Time now,
                          Rng& rng) override;

  // A pod that was asked for and has not been seen yet. It counts as there, and is asked for again
  // by the same name, so that a slow watch never makes a second one.
  struct Expected {
    std::string body;
    std::optional<int64_t> index;
    Time since{};
  };
  using ExpectedPods = std::map<std::string, Expected>;  // by pod name

 private:
  std::map<std::string, ExpectedPods> expected_;  // by Job uid
};

}  // namespace tau::controllers
