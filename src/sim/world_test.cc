// Through the whole platform: urgent jobs push out others, whose jobs come to their end later.
#include <gtest/gtest.h>

#include "sim/world.h"

namespace tau::sim {
namespace {

TEST(World, UrgentJobsPushOthersOutAndAllComeToTheirEnd) {
  int64_t preemptions = 0;
  for (uint64_t seed = 101; seed <= 103; ++seed) {
    const Report report = simulate({.seed = seed});
    EXPECT_TRUE(report.violations.empty()) << "seed " << seed << ": " << report.violations[0];
    preemptions += report.preemptions;
  }
  EXPECT_GT(preemptions, 0);
}

}  // namespace
}  // namespace tau::sim
