// Objects of every kind: what was read is written and reads back the same, unknown fields change
// nothing, no value upsets the schema check; what has the right shape is defaulted once, holds to
// its schema after that, and converts between its versions.
#include <boost/json.hpp>

#include "base/text.h"
#include "fuzz/fuzz.h"
#include "kube/codec.h"
#include "kube/conversion.h"
#include "kube/schema.h"
#include "kube/types.h"
#include "kube/validation.h"
#include "meta/json.h"
#include "meta/schema_check.h"

namespace {

using namespace tau;
namespace json = boost::json;

template <class T>
void round_trip(const json::value& value) {
  const auto first = meta::decode<T>(value);
  if (!first) {
    REQUIRE(!first.error().message.empty());
    return;
  }
  const json::object written = kube::encode_object(*first);
  const auto second = meta::decode<T>(written);
  REQUIRE(second && *second == *first);
  REQUIRE(kube::encode_object(*second) == written);
  json::value with_unknown = value;
  with_unknown.as_object()["x-unknown"] = json::array{1, "a", nullptr};
  const auto third = meta::decode<T>(with_unknown);
  REQUIRE(third && *third == *first);
}

template <class... T>
void any_kind(kube::Kind kind, const json::value& value) {
  ((kube::kind_of<T> == kind ? round_trip<T>(value) : void()), ...);
}

// What the server does with an object whose shape it has accepted.
void admit(kube::Kind kind, json::object object) {
  if (!meta::check(object, kube::schema_of(kind)).empty()) return;
  kube::apply_defaults(kind, object);
  const json::object once = object;
  kube::apply_defaults(kind, object);
  REQUIRE(object == once);
  REQUIRE(meta::check(object, kube::schema_of(kind)).empty());
  kube::prepare_create(kind, object, "0b9c3f0e-6d1c-4a51-9d5b-3c6f2f5a1d11");
  REQUIRE(meta::check(object, kube::schema_of(kind)).empty());
  const bool is_valid = kube::validate_create(kind, object).empty();
  const bool may_stay = kube::validate_update(kind, object, object, "").empty();
  REQUIRE(!is_valid || may_stay);
}

void versions(kube::Kind kind, const json::object& object) {
  const kube::ResourceInfo& resource = kube::info(kind);
  for (const std::string_view version : split(resource.other_versions, ',')) {
    json::object stored = object;
    if (version.empty() || !kube::convert(kind, stored, version, resource.version)) continue;
    admit(kind, stored);
    REQUIRE(kube::convert(kind, stored, resource.version, version));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Input input(data, size);
  const auto kind = static_cast<kube::Kind>(input.byte() % kube::kind_count);
  const auto value = meta::parse_json(input.rest());
  if (!value) return 0;
  for (const meta::SchemaIssue& issue : meta::check(*value, kube::schema_of(kind)))
    REQUIRE(!issue.message.empty());  // the path of a field with an empty name is empty
  any_kind<kube::Namespace, kube::Node, kube::Pod, kube::Event, kube::ConfigMap, kube::Secret,
           kube::ServiceAccount, kube::PriorityClass, kube::Lease, kube::Job, kube::ResourceFlavor,
           kube::ClusterQueue, kube::LocalQueue, kube::Cohort, kube::WorkloadPriorityClass,
           kube::Topology, kube::Workload>(kind, *value);
  if (!value->is_object()) return 0;
  admit(kind, value->get_object());
  versions(kind, value->get_object());
  return 0;
}
