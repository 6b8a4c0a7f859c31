// Objects of every kind: what was read is written and reads back the same; no value upsets the
// schema check.
#include <boost/json.hpp>

#include "fuzz/fuzz.h"
#include "kube/codec.h"
#include "kube/schema.h"
#include "kube/types.h"
#include "meta/json.h"
#include "meta/schema_check.h"

namespace {

using namespace tau;

template <class T>
void round_trip(const boost::json::value& value) {
  const auto first = meta::decode<T>(value);
  if (!first) {
    REQUIRE(!first.error().message.empty());
    return;
  }
  const boost::json::object written = kube::encode_object(*first);
  const auto second = meta::decode<T>(written);
  REQUIRE(second);
  REQUIRE(kube::encode_object(*second) == written);
}

template <class... T>
void any_kind(kube::Kind kind, const boost::json::value& value) {
  ((kube::kind_of<T> == kind ? round_trip<T>(value) : void()), ...);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Input input(data, size);
  const auto kind = static_cast<kube::Kind>(input.byte() % kube::kind_count);
  const auto value = meta::parse_json(input.rest());
  if (!value) return 0;
  for (const meta::SchemaIssue& issue : meta::check(*value, kube::schema_of(kind)))
    REQUIRE(!issue.path.empty() || value->is_object() == false);
  any_kind<kube::Namespace, kube::Node, kube::Pod, kube::Event, kube::ConfigMap, kube::Secret,
           kube::ServiceAccount, kube::PriorityClass, kube::Lease, kube::Job, kube::ResourceFlavor,
           kube::ClusterQueue, kube::LocalQueue, kube::Cohort, kube::WorkloadPriorityClass,
           kube::Topology, kube::Workload>(kind, *value);
  return 0;
}
