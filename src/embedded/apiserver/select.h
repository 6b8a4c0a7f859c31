// Filter: which objects of a kind a list, a watch or a collection's deletion means.
#pragma once

#include <string>
#include <vector>

#include "embedded/apiserver/route.h"
#include "embedded/apiserver/store.h"
#include "kube/selector.h"

namespace tau::apiserver {

struct FieldTest {
  enum class What { name, ns, indexed };
  What what = What::name;
  size_t index = 0;  // into StoredObject::fields
  std::string value;
  bool is_equal = true;
};

struct Filter {
  std::string ns;    // "" = all
  std::string name;  // "" = all; from the path, or metadata.name=... alone
  kube::Selector labels;
  std::vector<FieldTest> fields;

  bool matches(const StoredObject& object) const;
  bool is_whole() const { return name.empty() && labels.is_empty() && fields.empty(); }
};
// From the path and the queries labelSelector and fieldSelector.
Answer<Filter> parse_filter(const Route& route, const http::Url& url);

}  // namespace tau::apiserver
