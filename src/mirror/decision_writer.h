// Decisions and verdicts as requests. One write per pod: the binding, which carries the devices. A
// write that fails names the delta that takes the decision back.
#pragma once

#include <optional>
#include <vector>

#include "engine/values.h"
#include "kube/request.h"
#include "kube/store.h"
#include "mirror/names.h"

namespace tau::mirror {

struct Write {
  kube::ApiRequest request;
  std::optional<engine::Delta> on_failure;
};

// Nothing, if what it speaks of is gone already: its own delta is on the way.
std::optional<Write> write_of(const Names& names, const kube::Stores& stores,
                              const engine::Decision& decision, Time now);
// Condition QuotaReserved=False with the first blocker; nothing while the reason stays the same.
std::optional<Write> write_of(const Names& names, const kube::Stores& stores,
                              const engine::Verdict& verdict, Time now);

}  // namespace tau::mirror
