// Kubernetes and Kueue objects, as far as TauGrid reads or writes them.
#pragma once

#include "kube/types_core.h"
#include "kube/types_kueue.h"
