#include "engine/scan.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace tau::engine {
namespace {

constexpr size_t lanes = 8;
typedef int64_t Lanes __attribute__((vector_size(lanes * sizeof(int64_t))));

#define LOAD(pointer)                                  \
  ({                                                   \
    Lanes loaded_;                                     \
    std::memcpy(&loaded_, (pointer), sizeof(loaded_)); \
    loaded_;                                           \
  })

}  // namespace

// What is short shows as the sign of free - want, and signs are gathered by OR: subtractions are
// the same in every vector width, while GCC falls back to single numbers where it sees several
// comparisons combined.
TAU_WIDEST uint32_t best_node(const Scan& scan) {
  constexpr int64_t worst = std::numeric_limits<int64_t>::min();
  const Lanes bit = {1, 2, 4, 8, 16, 32, 64, 128};
  const Lanes none = {worst, worst, worst, worst, worst, worst, worst, worst};
  Lanes best = none, best_index = none - none, index = {0, 1, 2, 3, 4, 5, 6, 7};
  // Four at a time, the last one repeated: the inner loop is straight.
  std::array<Demand, most_demands> demands{};
  const size_t demand_count = scan.demands.size(), words = scan.eligible.size();
  const size_t padded = demand_count == 0 ? 0 : (demand_count + 3) / 4 * 4;
  for (size_t d = 0; d < padded; ++d) demands[d] = scan.demands[std::min(d, demand_count - 1)];
  for (size_t w = 0; w < words; ++w) {
    const uint64_t word = scan.eligible[w];
    if (word == 0) {
      index += 64;
      continue;
    }
    for (size_t part = 0; part < 64; part += lanes, index += static_cast<int64_t>(lanes)) {
      const size_t n = w * 64 + part;
      Lanes lacks =
          (bit & static_cast<int64_t>(word >> part & 0xff)) - 1;  // negative: not eligible
      for (size_t d = 0; d < padded; d += 4) {
        lacks |= LOAD(demands[d].free + n) - demands[d].want;
        lacks |= LOAD(demands[d + 1].free + n) - demands[d + 1].want;
        lacks |= LOAD(demands[d + 2].free + n) - demands[d + 2].want;
        lacks |= LOAD(demands[d + 3].free + n) - demands[d + 3].want;
      }
      Lanes score = LOAD(scan.score + n);
      if (scan.object_score != nullptr) score += LOAD(scan.object_score + n);
      const Lanes is_short = (lacks < 0);
      score = (score & ~is_short) | (none & is_short);
      const Lanes better = (score > best);  // strictly: the first of equals stays
      best = (score & better) | (best & ~better);
      best_index = (index & better) | (best_index & ~better);
    }
  }
  int64_t top = worst;
  uint32_t node = no_node;
  for (size_t lane = 0; lane < lanes; ++lane) {
    const auto at = static_cast<uint32_t>(best_index[lane]);
    if (best[lane] > top || (best[lane] == top && top != worst && at < node)) {
      top = best[lane];
      node = at;
    }
  }
  return node;
}

TAU_WIDEST uint32_t bare_best(std::array<const int64_t*, 4> free, std::array<int64_t, 4> want,
                              const int64_t* score_column, size_t nodes) {
  constexpr int64_t worst = std::numeric_limits<int64_t>::min();
  const Lanes none = {worst, worst, worst, worst, worst, worst, worst, worst};
  Lanes best = none, best_index = none - none, index = {0, 1, 2, 3, 4, 5, 6, 7};
  for (size_t n = 0; n < nodes; n += lanes, index += static_cast<int64_t>(lanes)) {
    Lanes lacks = LOAD(free[0] + n) - want[0];
    lacks |= LOAD(free[1] + n) - want[1];
    lacks |= LOAD(free[2] + n) - want[2];
    lacks |= LOAD(free[3] + n) - want[3];
    Lanes score = LOAD(score_column + n);
    const Lanes is_short = (lacks < 0);
    score = (score & ~is_short) | (none & is_short);
    const Lanes better = (score > best);
    best = (score & better) | (best & ~better);
    best_index = (index & better) | (best_index & ~better);
  }
  size_t top = 0;
  for (size_t lane = 1; lane < lanes; ++lane) {
    if (best[lane] > best[top]) top = lane;
  }
  return static_cast<uint32_t>(best_index[top]);
}

#undef LOAD

}  // namespace tau::engine
