#include "sim/policy_math.h"

#include <gtest/gtest.h>

#include <array>

#include "sim/experiments.h"
#include "sim/gunzip.h"

namespace tau::sim {
namespace {

TEST(PolicyMath, DrfGivesTheExampleOfThePaper) {
  const std::array capacity{9.0, 18.0};
  const std::array demand{std::vector{1.0, 4.0}, std::vector{3.0, 1.0}};
  EXPECT_EQ(drf_fill(capacity, demand), (std::vector<DrfShare>{{3, 2.0 / 3}, {2, 2.0 / 3}}));
  const std::array nothing{std::vector{0.0, 0.0}};
  EXPECT_EQ(drf_fill(capacity, nothing), (std::vector<DrfShare>{{0, 0}}));
}

TEST(PolicyMath, FairTreeMergesTheChildrenOfEqualSiblings) {
  const auto user = [](const char* name, double usage) {
    return FairTreeNode{.name = name, .usage = usage};
  };
  FairTreeNode root{
      .children = {{.name = "A", .usage = 4, .children = {user("a1", 3), user("a2", 1)}},
                   {.name = "B", .usage = 4, .children = {user("b1", 2), user("b2", 2)}}}};
  EXPECT_EQ(fair_tree_order(root), (std::vector<std::string>{"a2", "b1", "b2", "a1"}));
  root.children[0].usage = 5;  // not equal any more: all of B first
  EXPECT_EQ(fair_tree_order(root), (std::vector<std::string>{"b1", "b2", "a2", "a1"}));
}

TEST(PolicyMath, GittinsPrefersTheQuantumThatEndsJobsSoon) {
  const std::array samples{1.0, 10.0};
  EXPECT_DOUBLE_EQ(gittins(samples, 0, 1), 0.5);
  EXPECT_DOUBLE_EQ(gittins(samples, 0, 10), 1 / 5.5);
  EXPECT_DOUBLE_EQ(gittins(samples, 1, 9), 1 / 9.0);  // the short one is over
  EXPECT_EQ(gittins(samples, 10, 1), 0);              // nobody lives that long
}

TEST(PolicyMath, SlowdownIsBoundedBelowByOneAndByTheThreshold) {
  EXPECT_DOUBLE_EQ(bounded_slowdown(90, 1), 9.1);
  EXPECT_DOUBLE_EQ(bounded_slowdown(90, 10), 10);
  EXPECT_DOUBLE_EQ(bounded_slowdown(0, 1), 1);
}

TEST(PolicyMath, JainIsOneForEqualsAndOneOverNForAMonopoly) {
  EXPECT_DOUBLE_EQ(jain_index(std::array{2.0, 2.0, 2.0}), 1);
  EXPECT_DOUBLE_EQ(jain_index(std::array{3.0, 0.0, 0.0}), 1.0 / 3);
  EXPECT_DOUBLE_EQ(jain_index({}), 1);
}

TEST(Experiments, SmallChecksHold) {
  const auto report = experiment_small_checks({});
  ASSERT_TRUE(report);
  for (const ExperimentRow& row : report->rows) EXPECT_TRUE(row.is_passed()) << row.name;
}

TEST(Experiments, ARowIsJudgedByItsRule) {
  using Rule = ExperimentRow::Rule;
  struct Case {
    ExperimentRow row;
    bool want;
  };
  for (const auto& [row, want] : std::vector<Case>{
           {{.published = 10, .ours = 10.5, .rule = Rule::within, .band = 0.5}, true},
           {{.published = 10, .ours = 10.6, .rule = Rule::within, .band = 0.5}, false},
           {{.published = 200, .ours = 202, .rule = Rule::within_share, .band = 0.01}, true},
           {{.published = 200, .ours = 203, .rule = Rule::within_share, .band = 0.01}, false},
           {{.published = 5, .ours = 5, .rule = Rule::at_least}, true},
           {{.published = 5, .ours = 4.9, .rule = Rule::at_least}, false},
           {{.published = 5, .ours = 5.1, .rule = Rule::at_most}, false},
           {{.ours = 5, .rule = Rule::within, .band = 1}, false},  // nothing to compare with
           {{.ours = 5}, true},
       })
    EXPECT_EQ(row.is_passed(), want) << row.ours;
}

// "tau\n", packed.
constexpr char packed[] =
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x2b\x49\x2c\xe5\x02\x00\x6d\x2d\x91\x3e\x04\x00\x00"
    "\x00";

TEST(Gunzip, UnpacksAndRefusesWhatIsNotWhole) {
  const std::string bytes(packed, sizeof packed - 1);
  EXPECT_TRUE(is_gzip(bytes));
  EXPECT_EQ(gunzip(bytes).value_or("failed"), "tau\n");
  EXPECT_EQ(gunzip(bytes + bytes).value_or("failed"), "tau\ntau\n");
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(gunzip(bytes.substr(0, size))) << size;
  std::string wrong = bytes;
  wrong[17] ^= 1;  // the checksum
  EXPECT_FALSE(gunzip(wrong));
  EXPECT_FALSE(gunzip("plain"));
}

}  // namespace
}  // namespace tau::sim
