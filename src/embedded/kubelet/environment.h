// What a container is started with: environment, volumes, devices, from the pod and the objects
// that it names.
#pragma once

#include "embedded/kubelet/container_runtime.h"
#include "embedded/kubelet/node_model.h"
#include "kube/store.h"

namespace tau::kubelet {

// An error is a reason to wait, not to fail: a ConfigMap that is not there yet may come. Its
// message is what the container's status says.
Result<ContainerSpec> container_spec(const kube::Stores& stores, const kube::Pod& pod,
                                     const kube::Container& container, int restart,
                                     const NodeModel& node);

}  // namespace tau::kubelet
