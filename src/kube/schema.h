// The field table of each kind, by Kind; and the builders of the tables: what structs hold is
// completed by the schema texts (schema_text_*.cc), so that every field of the API is known.
#pragma once

#include <vector>

#include "kube/resources.h"
#include "meta/type_info.h"

namespace tau::kube {
// The stored form's table: every field that a server knows, held in a member or not.
const meta::TypeInfo& schema_of(Kind kind);
// A type that only the schema texts know, by the last part of its name ("Binding",
// "DeleteOptions"), or null.
const meta::TypeInfo* schema_named(std::string_view name);
}  // namespace tau::kube

namespace tau::meta {
// A table, with the fields that the schema texts add to it.
TypeInfo full_table(std::string_view name, std::string_view description, std::vector<Field> fields);
// The same with apiVersion and kind in front.
TypeInfo object_table(std::string_view name, std::string_view description,
                      std::vector<Field> fields);
}  // namespace tau::meta
