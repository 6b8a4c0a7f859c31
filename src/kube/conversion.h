// Kueue's objects between v1beta1 and v1beta2. Inside, only v1beta2 exists; v1beta1 is read and
// answered at the server's door. Kinds and versions with one form pass unchanged.
#pragma once

#include <boost/json/fwd.hpp>
#include <string_view>

#include "base/result.h"
#include "kube/resources.h"

namespace tau::kube {

// Rewrites the fields that differ, and apiVersion. Fields that the target does not have are
// dropped.
Result<void> convert(Kind kind, boost::json::object& object, std::string_view from_version,
                     std::string_view to_version);

}  // namespace tau::kube
