// The ledger check: what the engine counts as used against the pods that the API shows. A
// difference is named, counted and healed.
#pragma once

#include <string>
#include <vector>

#include "engine/engine.h"
#include "kube/store.h"
#include "mirror/names.h"

namespace tau::plane {

struct Drift {
  std::string node, what;
  bool operator==(const Drift&) const = default;
};

// At most one finding per node. `view` must have been made from these very stores. The engine may
// count more than the pods show (places held, binds on their way), never less.
std::vector<Drift> check_ledger(const mirror::Names& names, const kube::Stores& stores,
                                const engine::View& view);

}  // namespace tau::plane
