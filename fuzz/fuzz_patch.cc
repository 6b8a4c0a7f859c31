// Patches of the three forms: a merge patch done twice is as done once; none upsets the target's
// form.
#include <boost/json.hpp>

#include "fuzz/fuzz.h"
#include "kube/patch.h"
#include "kube/schema.h"
#include "meta/json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tau;
  fuzz::Input input(data, size);
  const uint8_t how = input.byte();
  const auto target = meta::parse_json(input.text());
  const auto patch = meta::parse_json(input.rest());
  if (!target || !patch) return 0;
  boost::json::value once = *target;
  switch (how % 3) {
    case 0: {
      const auto done = kube::apply_json_patch(once, *patch);
      if (!done) REQUIRE(!done.error().message.empty());
      break;
    }
    case 1: {
      kube::apply_merge_patch(once, *patch);
      boost::json::value twice = once;
      kube::apply_merge_patch(twice, *patch);
      REQUIRE(twice == once);
      break;
    }
    default: {
      const auto kind = static_cast<kube::Kind>(how / 3 % kube::kind_count);
      const auto done = kube::apply_strategic_patch(once, *patch, &kube::schema_of(kind));
      if (!done) REQUIRE(!done.error().message.empty());
    }
  }
  REQUIRE(meta::parse_json(meta::to_text(once)).has_value() ||
          meta::to_text(once).size() > 64);  // a patch may nest deeper than a text may
  return 0;
}
