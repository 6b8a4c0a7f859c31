// resource.Quantity: "250m", "1Gi", "8". Exact in integers, or refused.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tau::kube {

// In thousandths, rounded up: "250m" -> 250, "1" -> 1000 (cpu). Out of range saturates at
// INT64_MAX.
Result<int64_t> parse_quantity_milli(std::string_view text);
// In whole units, rounded up: "1Gi" -> 1073741824, "8" -> 8, "1500m" -> 2.
Result<int64_t> parse_quantity(std::string_view text);
// The canonical text ("1000m" -> "1", "1024Mi" -> "1Gi"), as the API server would return it.
Result<std::string> canonical_quantity(std::string_view text);
// Shortest text of a cpu amount ("250m", "2") and of bytes ("1Gi", "1500").
std::string format_milli(int64_t milli);
std::string format_bytes(int64_t bytes);

}  // namespace tau::kube
