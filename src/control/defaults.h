// defaults: what `tau up` makes at its first start, once: a flavor, a ClusterQueue whose quota
// follows the nodes, and a LocalQueue `default`. A marker remembers it, so what the user deletes is
// not made again.
#pragma once

#include "kube/reconciler.h"

namespace tau::control {

class Defaults : public kube::Reconciler {
 public:
  std::string_view name() const override { return "defaults"; }
  std::span<const kube::Kind> watches() const override;
  std::vector<kube::ObjectKey> initial_keys() const override {
    return {{"kube-system", "taugrid-defaults"}};
  }
  void keys_of(const kube::Stores&, const kube::AnyChange&,
               const std::function<void(kube::ObjectKey)>&) override {}
  kube::Actions reconcile(const kube::Stores& stores, const kube::ObjectKey& key, Time now,
                          Rng& rng) override;
};

}  // namespace tau::control
