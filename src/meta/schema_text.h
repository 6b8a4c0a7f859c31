// Schema types written as text, for the many fields that no struct holds. One type per paragraph:
//   package io.k8s.api.core.v1
//   type Probe | How the health of a container is asked for.
//     httpGet HTTPGetAction | Asks by HTTP.
//     periodSeconds int32 default=10 | Seconds between two questions.
//     name* string             (* = required; further words: merge=KEY merge retain enum=A,B
//     default=JSON)
// A description may also stand on the next line, after "| ". Types: string int32 int64 number
// boolean quantity int_or_string time micro_time bytes any []T map:T, or a name. A mistake in a
// text is a bug and ends the program.
#pragma once

#include <deque>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "meta/type_info.h"

namespace tau::meta {

class SchemaText {
 public:
  struct Known {
    std::string_view short_name;
    TypeRef type;
  };
  // The texts must outlive this object. `known` are types with tables, by their last name.
  SchemaText(std::span<const std::string_view> texts, std::span<const Known> known);
  // By the last part of the name; the type as the text has it, also where a table is known for it.
  const TypeInfo* find(std::string_view short_name) const;
  // Adds to a table what the text says of the type with its name: fields that no member holds, and
  // what is required, merged or defaulted.
  TypeInfo complete(TypeInfo table) const;
  const std::deque<TypeInfo>& types() const { return types_; }

 private:
  void declare(std::string_view text);
  void fill(std::string_view text);
  Field parse_field(std::string_view line);
  TypeRef parse_type(std::string_view word);

  std::deque<std::string> names_;
  std::deque<TypeInfo> types_;
  std::deque<TypeInfo> lists_;
  std::map<std::string_view, TypeRef> known_;
  std::map<std::string_view, TypeInfo*> by_name_;
};

// "io.k8s.api.core.v1.Pod" -> "Pod"
std::string_view short_name(std::string_view type_name);

}  // namespace tau::meta
