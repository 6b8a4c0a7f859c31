// Short texts: selectors, whose operators divide all labels between them, and kubeconfig files.
#include "client/kubeconfig.h"
#include "fuzz/fuzz.h"
#include "kube/selector.h"

namespace {

using namespace tau;

// An operator or its opposite.
void either(const kube::LabelRequirement& requirement, const kube::StringMap& labels) {
  kube::LabelRequirement opposite = requirement;
  for (const auto& [one, other] : {std::pair("In", "NotIn"),
                                   {"NotIn", "In"},
                                   {"Exists", "DoesNotExist"},
                                   {"DoesNotExist", "Exists"}}) {
    if (requirement.operator_ != one) continue;
    opposite.operator_ = other;
    REQUIRE(kube::matches(requirement, labels) != kube::matches(opposite, labels));
  }
}

void selector(std::string_view text) {
  const auto parsed = kube::Selector::parse(text);
  const kube::StringMap none, some{{"app", "x"}, {"tier", "b"}};
  if (parsed) {
    bool all = true;
    for (const auto& requirement : parsed->requirements()) {
      all &= kube::matches(requirement, some);
      either(requirement, some);
      either(requirement, none);
    }
    REQUIRE(parsed->matches(some) == all);
    REQUIRE(!parsed->is_empty() || (parsed->matches(none) && parsed->matches(some)));
  }
  if (const auto fields = kube::parse_field_selector(text)) {
    for (const auto& field : *fields) REQUIRE(!field.path.empty());
  }
}

void kubeconfig(std::string_view text) {
  const auto access = client::parse_kubeconfig(text, "");
  if (access) REQUIRE(!access->server.empty() && !access->ns.empty());
  if (!access) REQUIRE(!access.error().message.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Input input(data, size);
  if (input.byte() % 4 < 3) {
    selector(input.rest());
  } else {
    kubeconfig(input.rest());
  }
  return 0;
}
