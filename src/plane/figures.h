// Figures: what the stores and the engine's last view say, as gauges. Series of what is gone are
// dropped.
#pragma once

#include <set>
#include <string>

#include "base/metrics.h"
#include "engine/engine.h"
#include "kube/store.h"
#include "mirror/names.h"

namespace tau::plane {

class Figures {
 public:
  void update(Metrics& metrics, const mirror::Names& names, const kube::Stores& stores,
              const engine::View& view);

 private:
  using Series = std::pair<std::string, MetricLabels>;
  std::set<Series> shown_;
};

}  // namespace tau::plane
