// The kinds' own cells, for table.cc.
#pragma once

#include <boost/json/fwd.hpp>
#include <string>
#include <string_view>

#include "base/time.h"

namespace tau::kube {
// "3m12s", or "<unknown>" when the time is absent or no time.
std::string age_since(std::string_view time, Time now);
boost::json::array pod_cells(const boost::json::object& pod, Time now);
boost::json::array job_cells(const boost::json::object& job, Time now);
}  // namespace tau::kube
