#include "kube/index_ranges.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/text.h"

namespace tau::kube {

int64_t IndexRanges::count() const {
  int64_t sum = 0;
  for (const IndexRange& range : ranges) sum += range.last - range.first + 1;
  return sum;
}

int64_t IndexRanges::count_common(const IndexRanges& other) const {
  int64_t sum = 0;
  for (auto a = ranges.begin(), b = other.ranges.begin();
       a != ranges.end() && b != other.ranges.end();) {
    sum += std::max<int64_t>(0, std::min(a->last, b->last) - std::max(a->first, b->first) + 1);
    if (a->last < b->last)
      ++a;
    else
      ++b;
  }
  return sum;
}

int64_t IndexRanges::first_absent(int64_t from) const {
  auto at = std::ranges::lower_bound(ranges, from, {}, &IndexRange::last);
  for (; at != ranges.end() && at->first <= from; ++at) from = at->last + 1;
  return from;
}

bool IndexRanges::insert(int64_t index) {
  const auto at = std::ranges::lower_bound(ranges, index, {}, &IndexRange::last);
  if (at != ranges.end() && at->first <= index) return false;
  const bool meets_next = at != ranges.end() && at->first == index + 1;
  const bool meets_last = at != ranges.begin() && std::prev(at)->last == index - 1;
  if (meets_next && meets_last) {
    std::prev(at)->last = at->last;
    ranges.erase(at);
  } else if (meets_next) {
    at->first = index;
  } else if (meets_last) {
    std::prev(at)->last = index;
  } else {
    ranges.insert(at, {index, index});
  }
  return true;
}

std::string IndexRanges::text() const {
  std::string out;
  for (size_t i = 0; i < ranges.size();) {
    const int64_t first = ranges[i].first;
    int64_t last = ranges[i].last;
    // What was read may have been written apart.
    while (++i < ranges.size() && ranges[i].first == last + 1) last = ranges[i].last;
    if (!out.empty()) out += ',';
    out += std::to_string(first);
    if (last > first) out += fmt::format("{}{}", last == first + 1 ? ',' : '-', last);
  }
  return out;
}

IndexRanges parse_index_ranges(std::string_view text, int64_t completions) {
  IndexRanges read;
  if (text.empty()) return read;
  int64_t from = 0;
  for (const std::string_view part : split(text, ',')) {
    const size_t dash = part.find('-');
    const auto first = parse_int(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_int(part.substr(dash + 1));
    if (!first || !last || *first < from || *last < *first || *first >= completions) {
      read.is_whole = false;
      continue;
    }
    if (*last >= completions) read.is_whole = false;
    read.ranges.push_back({*first, std::min(*last, completions - 1)});
    from = read.ranges.back().last + 1;
  }
  return read;
}

}  // namespace tau::kube
