// The part of defaulting that pods and pod templates share.
#pragma once

#include <boost/json/fwd.hpp>

namespace tau::kube {
void default_pod_spec(boost::json::object& spec);
}  // namespace tau::kube
