// Completion indexes as text, "0,2-4": ascending and apart. Read as ranges and never spelled out,
// since "0-2147483646" is short to write.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace tau::kube {

struct IndexRange {
  int64_t first = 0, last = 0;  // both in it
};
struct IndexRanges {
  std::vector<IndexRange> ranges;
  bool is_whole = true;  // no part of the text was passed over
  int64_t count() const;
};

// What is no index below `completions`, or not above all before it, is passed over.
IndexRanges parse_index_ranges(std::string_view text, int64_t completions);

}  // namespace tau::kube
