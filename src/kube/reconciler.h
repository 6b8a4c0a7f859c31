// Reconciler: one controller's rule, pure: what is cached and the time in, requests out. `client`
// runs them (watches, queue of keys, retry with back-off, sending). Used by `control` and
// `embedded/controllers` alike.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/rng.h"
#include "base/time.h"
#include "kube/request.h"
#include "kube/store.h"

namespace tau::kube {

struct Actions {
  std::vector<ApiRequest>
      requests;  // sent in order; one that fails stops the rest, and the key is retried
  std::optional<Duration> again_after;  // look at the key again then, if nothing changes before
};

// An object that came, changed (old and now set) or went (now null).
template <class T>
struct Change {
  std::shared_ptr<const T> old, now;
  const T& latest() const { return now ? *now : *old; }
};
using AnyChange =
    std::variant<Change<Namespace>, Change<Node>, Change<Pod>, Change<Event>, Change<ConfigMap>,
                 Change<Secret>, Change<ServiceAccount>, Change<PriorityClass>, Change<Lease>,
                 Change<Job>, Change<ResourceFlavor>, Change<ClusterQueue>, Change<LocalQueue>,
                 Change<Cohort>, Change<WorkloadPriorityClass>, Change<Topology>, Change<Workload>>;

class Reconciler {
 public:
  virtual ~Reconciler() = default;
  virtual std::string_view name() const = 0;
  // The kinds whose changes it must hear of; their stores are synced before the first reconcile.
  virtual std::span<const Kind> watches() const = 0;
  // Keys to look at once at the start, whether or not an object exists (a node to register).
  virtual std::vector<ObjectKey> initial_keys() const { return {}; }
  // Which of its own keys a change concerns; calls `add` for each.
  virtual void keys_of(const Stores& stores, const AnyChange& change,
                       const std::function<void(ObjectKey)>& add) = 0;
  // Idempotent. `rng` only for names.
  virtual Actions reconcile(const Stores& stores, const ObjectKey& key, Time now, Rng& rng) = 0;
};

}  // namespace tau::kube
