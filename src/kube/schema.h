// The field table of each kind, by Kind; and the builder for top-level tables.
#pragma once

#include <vector>

#include "kube/resources.h"
#include "meta/type_info.h"

namespace tau::kube {
// The stored form's table: every field that a server knows, held in a member or not.
const meta::TypeInfo& schema_of(Kind kind);
}  // namespace tau::kube

namespace tau::meta {
// A table with apiVersion and kind in front.
TypeInfo object_table(std::string_view name, std::string_view description, std::vector<Field> fields);
}  // namespace tau::meta
