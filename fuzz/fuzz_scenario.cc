// Scenario files: any text is played or refused, and the same text gives the same report.
#include "fuzz/fuzz.h"
#include "sim/scenario.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tau;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto first = sim::run_scenarios(text), second = sim::run_scenarios(text);
  REQUIRE(first.has_value() == second.has_value());
  if (!first) {
    REQUIRE(!first.error().message.empty());
    return 0;
  }
  REQUIRE(sim::to_text(*first) == sim::to_text(*second));
  REQUIRE(first->passed + first->failed + first->skipped ==
          static_cast<int64_t>(first->scenarios.size()));
  return 0;
}
