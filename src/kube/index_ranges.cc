#include "kube/index_ranges.h"

#include "base/text.h"

namespace tau::kube {

int64_t IndexRanges::count() const {
  int64_t sum = 0;
  for (const IndexRange& range : ranges) sum += range.last - range.first + 1;
  return sum;
}

IndexRanges parse_index_ranges(std::string_view text, int64_t completions) {
  IndexRanges read;
  if (text.empty()) return read;
  int64_t from = 0;
  for (const std::string_view part : split(text, ',')) {
    const size_t dash = part.find('-');
    const auto first = parse_int(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_int(part.substr(dash + 1));
    if (!first || !last || *first < from || *last < *first || *last >= completions) {
      read.is_whole = false;
      continue;
    }
    read.ranges.push_back({*first, *last});
    from = *last + 1;
  }
  return read;
}

}  // namespace tau::kube
