// Events as requests.
#pragma once

#include "base/rng.h"
#include "kube/request.h"
#include "kube/types.h"

namespace tau::controllers {

kube::ApiRequest event_on(kube::Kind kind, const kube::ObjectMeta& metadata, std::string_view type, std::string_view reason,
                          std::string message, std::string_view component, Time now, Rng& rng);

}  // namespace tau::controllers
