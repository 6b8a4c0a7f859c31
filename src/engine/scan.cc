#include "engine/scan.h"

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

TAU_WIDEST uint32_t best_node(const Scan& scan) {
  constexpr int64_t worst = std::numeric_limits<int64_t>::min();
  const Lanes bit = {1, 2, 4, 8, 16, 32, 64, 128};
  const Lanes none = {worst, worst, worst, worst, worst, worst, worst, worst};
  Lanes best = none, best_index = none - none, index = {0, 1, 2, 3, 4, 5, 6, 7};
  const Demand* demands = scan.demands.data();
  const size_t demand_count = scan.demands.size(), words = scan.eligible.size();
  for (size_t w = 0; w < words; ++w) {
    const uint64_t word = scan.eligible[w];
    if (word == 0) {
      index += 64;
      continue;
    }
    for (size_t part = 0; part < 64; part += lanes, index += static_cast<int64_t>(lanes)) {
      const size_t n = w * 64 + part;
      const int64_t byte = static_cast<int64_t>(word >> part & 0xff);
      Lanes fits = ((bit & byte) != 0);
      for (size_t d = 0; d < demand_count; ++d)
        fits &= (LOAD(demands[d].free + n) >= demands[d].want);
      Lanes score = LOAD(scan.score + n);
      if (scan.object_score != nullptr) score += LOAD(scan.object_score + n);
      // Strictly better only: the first of equals stays.
      const Lanes better = fits & (score > best);
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

#undef LOAD

}  // namespace tau::engine
