// Verdicts in words: the reason vocabulary, one line with numbers, and Kueue's own words for the
// same.
#pragma once

#include <string>
#include <string_view>

#include "engine/values.h"
#include "kube/views.h"
#include "mirror/names.h"

namespace tau::mirror {

// CAPACITY_SHORT, WAITING_QUOTA, ...
std::string_view reason_word(engine::Reason reason);
// The reason of Workload condition QuotaReserved=False.
std::string_view kueue_reason(engine::Reason reason);
std::string_view misfit_word(engine::Misfit misfit);
kube::BlockerView blocker_view(const Names& names, const engine::Blocker& blocker);

}  // namespace tau::mirror
