// The schema texts, by topic; read once by schema.cc.
#pragma once

#include <string_view>

namespace tau::kube::schema_texts {
extern const std::string_view meta, pod, container, volume, status, node, job, small;
}  // namespace tau::kube::schema_texts
