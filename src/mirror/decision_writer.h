// Decisions and verdicts as requests. One write per pod: the binding, which carries the devices. A
// write that fails names the delta that takes the decision back.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/rng.h"
#include "engine/values.h"
#include "kube/request.h"
#include "kube/store.h"
#include "mirror/names.h"

namespace tau::mirror {

struct Write {
  kube::ApiRequest request;
  // Takes the decision back if the server refuses; none for a verdict.
  std::optional<engine::Delta> on_failure;
  // Of the pod or Workload: by the time of the answer its id may name another.
  std::string uid;
  // What to say on the Job and the Workload once it is done.
  std::vector<kube::ApiRequest> events;
};

// Nothing, if what it speaks of is gone already: its own delta is on the way.
std::optional<Write> write_of(const Names& names, const kube::Stores& stores,
                              const engine::Decision& decision, Time now, Rng& rng);
// Condition QuotaReserved=False with the first blocker; nothing while the reason stays the same.
std::optional<Write> write_of(const Names& names, const kube::Stores& stores,
                              const engine::Verdict& verdict, Time now, Rng& rng);

}  // namespace tau::mirror
