// local_views: the answers of view.taugrid.io made here, from the cluster's own objects, for
// clusters where nobody serves them. What only the scheduler knows (numbers of a verdict, history)
// is then absent; the reason to wait comes from the Workload's conditions.
#pragma once

#include <boost/json/fwd.hpp>
#include <functional>
#include <string>

#include "cmd/errors.h"
#include "kube/store.h"

namespace tau::cmd {

// `get` fetches a target and gives its JSON; one that cannot be had leaves its part unknown.
using Getter = std::function<Try<boost::json::value>(const std::string& target)>;

// Answers a target below /apis/view.taugrid.io/v1alpha1/.
Try<boost::json::value> local_view(const std::string& target, const Getter& get, Time now);

}  // namespace tau::cmd
