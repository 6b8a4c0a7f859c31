// This machine as a node of the embedded cluster.
#pragma once

#include "embedded/kubelet/node_model.h"

namespace tau::host {

kubelet::NodeModel local_node();

}  // namespace tau::host
