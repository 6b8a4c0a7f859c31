#include "embedded/apiserver/select.h"

#include <fmt/format.h>

namespace tau::apiserver {

bool Filter::matches(const StoredObject& object) const {
  if (!ns.empty() && object.key.ns != ns) return false;
  if (!name.empty() && object.key.name != name) return false;
  if (!labels.is_empty() && !labels.matches(object.labels)) return false;
  for (const FieldTest& test : fields) {
    const std::string& value = test.what == FieldTest::What::name ? object.key.name
                               : test.what == FieldTest::What::ns ? object.key.ns
                                                                  : object.fields[test.index];
    if ((value == test.value) != test.is_equal) return false;
  }
  return true;
}

Answer<Filter> parse_filter(const Route& route, const http::Url& url) {
  Filter filter{.ns = route.ns, .name = route.name};
  if (const auto text = url.find("labelSelector"); text && !text->empty()) {
    auto selector = kube::Selector::parse(*text);
    if (!selector)
      return refuse(bad_request("unable to parse requirement: " + selector.error().message));
    filter.labels = std::move(*selector);
  }
  const auto text = url.find("fieldSelector");
  if (!text || text->empty()) return filter;
  auto requirements = kube::parse_field_selector(*text);
  if (!requirements) return refuse(bad_request(requirements.error().message));
  const auto known = selectable_fields(route.resource->kind);
  for (kube::FieldRequirement& requirement : *requirements) {
    FieldTest test{.value = std::move(requirement.value), .is_equal = requirement.is_equal};
    const auto found = std::find(known.begin(), known.end(), requirement.path);
    if (requirement.path == "metadata.name") {
      test.what = FieldTest::What::name;
      if (test.is_equal && filter.name.empty()) filter.name = test.value;
    } else if (requirement.path == "metadata.namespace" && route.resource->is_namespaced) {
      test.what = FieldTest::What::ns;
    } else if (found != known.end()) {
      test.what = FieldTest::What::indexed;
      test.index = static_cast<size_t>(found - known.begin());
    } else {
      return refuse(bad_request(fmt::format("field label not supported: {}", requirement.path)));
    }
    filter.fields.push_back(std::move(test));
  }
  return filter;
}

}  // namespace tau::apiserver
