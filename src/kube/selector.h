// Label selectors ("app=x,tier in (a,b),!gone") and field selectors
// ("spec.nodeName=n,status.phase!=Failed").
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kube/types.h"

namespace tau::kube {

class Selector {
 public:
  Selector() = default;  // matches everything
  static Result<Selector> parse(std::string_view text);
  static Result<Selector> from(const LabelSelector& selector);
  bool matches(const StringMap& labels) const;
  bool is_empty() const { return requirements_.empty(); }
  const std::vector<LabelRequirement>& requirements() const { return requirements_; }

 private:
  std::vector<LabelRequirement> requirements_;
};

bool matches(const LabelRequirement& requirement, const StringMap& labels);

struct FieldRequirement {
  std::string path, value;
  bool is_equal = true;
};
Result<std::vector<FieldRequirement>> parse_field_selector(std::string_view text);

}  // namespace tau::kube
