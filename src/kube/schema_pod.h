// Schema-only parts of a pod: known, described and checked, but read by nobody here.
#pragma once

#include <vector>

#include "meta/type_info.h"

namespace tau::meta {
const TypeInfo& probe_type();
const TypeInfo& security_context_type();
const TypeInfo& pod_security_context_type();
const TypeInfo& empty_dir_type();
const TypeInfo& host_path_type();
const TypeInfo& config_map_volume_type();
const TypeInfo& secret_volume_type();
std::vector<Field> pod_spec_schema_only();
}  // namespace tau::meta
