// Bodies in protobuf form: what is taken from them can be written as JSON and read again, and holds
// to the schema of its kind.
#include <boost/json.hpp>

#include "embedded/apiserver/protobuf.h"
#include "fuzz/fuzz.h"
#include "kube/schema.h"
#include "meta/json.h"
#include "meta/schema_check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tau;
  const auto value = apiserver::parse_protobuf({reinterpret_cast<const char*>(data), size});
  if (!value) {
    REQUIRE(!value.error().message.empty());
    return 0;
  }
  REQUIRE(value->is_object());
  const std::string text = meta::to_text(*value);
  const auto again = meta::parse_json(text);
  REQUIRE(again && meta::to_text(*again) == text);
  const auto* resource =
      kube::find_kind(meta::string_at(*value, "apiVersion"), meta::string_at(*value, "kind"));
  if (resource != nullptr) REQUIRE(meta::check(*value, kube::schema_of(resource->kind)).empty());
  return 0;
}
