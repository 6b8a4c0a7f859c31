// Events as requests.
#pragma once

#include "base/rng.h"
#include "kube/request.h"
#include "kube/types.h"

namespace tau::kube {

ApiRequest event_on(Kind kind, const ObjectMeta& metadata, std::string_view type,
                    std::string_view reason, std::string message, std::string_view component,
                    Time now, Rng& rng);

}  // namespace tau::kube
