// Completion indexes as text, "0,2-4": ascending and apart. Read as ranges and never spelled out,
// since "0-2147483646" is short to write.
#pragma once

#include <cstdint>
#include <string>
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
  int64_t count_common(const IndexRanges& other) const;
  bool contains(int64_t index) const { return first_absent(index) != index; }
  // The first index from `from` on that is not in it.
  int64_t first_absent(int64_t from) const;
  // False if it was there.
  bool insert(int64_t index);
  // As upstream writes them: two in a row apart, three and more as a range.
  std::string text() const;
};

// What is no index below `completions`, or not above all before it, is passed over; of a range that
// goes on beyond them, the part below is read.
IndexRanges parse_index_ranges(std::string_view text, int64_t completions);

}  // namespace tau::kube
