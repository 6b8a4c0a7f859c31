// What `kubectl get` shows: columns and cells of each kind, as the API server's Table answer has
// them.
#pragma once

#include <boost/json/fwd.hpp>
#include <span>
#include <string_view>

#include "base/time.h"
#include "kube/resources.h"

namespace tau::kube {

struct Column {
  std::string_view name, type, format, description;
  int priority = 0;  // above 0: only with -o wide
};
std::span<const Column> columns(Kind kind);
// One cell per column.
boost::json::array cells(Kind kind, const boost::json::object& object, Time now);

// The STATUS of a pod as kubectl users know it: Running, Completed, Init:0/1, CrashLoopBackOff,
// Terminating, ...
std::string pod_status_word(const boost::json::object& pod);

}  // namespace tau::kube
