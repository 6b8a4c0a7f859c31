// Patches of the three forms: a merge patch done twice is as done once, a JSON patch done operation
// by operation is as done whole, a strategic patch leaves no directives behind; failures say why.
#include <boost/json.hpp>

#include "fuzz/fuzz.h"
#include "kube/patch.h"
#include "kube/schema.h"
#include "meta/json.h"

namespace {

using namespace tau;
namespace json = boost::json;

bool has_key_like(const json::value& value, std::string_view prefix) {
  if (const json::array* array = value.if_array())
    return std::ranges::any_of(*array, [&](const auto& e) { return has_key_like(e, prefix); });
  const json::object* object = value.if_object();
  return object != nullptr && std::ranges::any_of(*object, [&](const auto& member) {
           return std::string_view(member.key()).starts_with(prefix) ||
                  has_key_like(member.value(), prefix);
         });
}

json::value json_patch(const json::value& target, const json::value& patch) {
  json::value whole = target;
  const auto done = kube::apply_json_patch(whole, patch);
  if (!done) {
    REQUIRE(!done.error().message.empty());
    return target;
  }
  json::value stepwise = target;
  for (const json::value& operation : patch.as_array())
    REQUIRE(kube::apply_json_patch(stepwise, json::array{operation}));
  REQUIRE(stepwise == whole);
  return whole;
}

json::value merge_patch(const json::value& target, const json::value& patch) {
  json::value once = target;
  kube::apply_merge_patch(once, patch);
  json::value twice = once;
  kube::apply_merge_patch(twice, patch);
  REQUIRE(twice == once);
  return once;
}

json::value strategic_patch(const json::value& target, const json::value& patch, kube::Kind kind) {
  json::value once = target;
  const auto done = kube::apply_strategic_patch(once, patch, &kube::schema_of(kind));
  if (!done) {
    REQUIRE(!done.error().message.empty());
    return target;
  }
  REQUIRE(once.is_object());
  REQUIRE(has_key_like(target, "$") || !has_key_like(once, "$"));
  json::value twice = once;
  // What is put in as new need not have the merge keys that a second merge looks for.
  if (!has_key_like(patch, "$") &&
      kube::apply_strategic_patch(twice, patch, &kube::schema_of(kind)))
    REQUIRE(twice == once);
  return once;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Input input(data, size);
  const uint8_t how = input.byte();
  const auto target = meta::parse_json(input.text());
  const auto patch = meta::parse_json(input.rest());
  if (!target || !patch) return 0;
  const auto kind = static_cast<kube::Kind>(how / 3 % kube::kind_count);
  const json::value patched = how % 3 == 0   ? json_patch(*target, *patch)
                              : how % 3 == 1 ? merge_patch(*target, *patch)
                                             : strategic_patch(*target, *patch, kind);
  REQUIRE(meta::parse_json(meta::to_text(patched)).has_value() ||
          meta::to_text(patched).size() > 64);  // a patch may nest deeper than a text may
  return 0;
}
