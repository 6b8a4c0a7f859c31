#include "sim/csv.h"

#include <gtest/gtest.h>

#include "sim/muri.h"

namespace tau::sim {
namespace {

TEST(Csv, ReadsCellsAndSaysWhereSomethingIsWrong) {
  const auto table = CsvTable::parse("a,b\r\n1, x \n\n2.5,\"y, z\"\n");
  ASSERT_TRUE(table);
  EXPECT_EQ(table->rows(), 2u);
  EXPECT_EQ(table->cell(0, 1), "x");
  EXPECT_EQ(table->cell(1, 1), "y, z");
  EXPECT_EQ(*table->whole(0, 0), 1);
  EXPECT_EQ(table->number(1, 1).error().message,
            "line 4, column \"b\": want a number, not \"y, z\"");
  EXPECT_EQ(table->whole(1, 0).error().message,
            "line 4, column \"a\": want a whole number, not \"2.5\"");
  EXPECT_EQ(table->need("c").error().message, "line 1: no column \"c\" among a, b");
  EXPECT_EQ(CsvTable::parse("a,b\n1\n").error().message, "line 2: 1 cells where the header has 2");
  EXPECT_EQ(CsvTable::parse("a\n\"x\n").error().message, "line 2: a quote is out of place");
  EXPECT_EQ(CsvTable::parse("").error().message, "line 1: no header line");
}

// Two jobs on one GPU: 10 s from 0, 4 s from 2. Shortest first stops the long one at 2.
TEST(Muri, SmallCasesByHand) {
  const std::vector<MuriJob> jobs{
      {.gpus = 1, .submit_s = 0, .iterations = 10, .iteration_s = 1, .overhead_s = 1},
      {.gpus = 1, .submit_s = 2, .iterations = 4, .iteration_s = 1, .overhead_s = 1}};
  struct Case {
    const char* name;
    MuriPolicy policy;
    MuriCharge charge;
    double mean, makespan;
  };
  for (const auto& [name, policy, charge, mean, makespan] : std::vector<Case>{
           // The long one: 2 s, stopped, goes on at 6, ends at 14.
           {"free", MuriPolicy::srtf, MuriCharge::none, (4 + 14) / 2.0, 14},
           // 1 s of its first 2 s is lost; ends are predicted without the cost: 6, then 6 + 9.
           {"every event", MuriPolicy::srtf, MuriCharge::every_event, (4 + 15) / 2.0, 15},
           // Each start costs 1 s: the short one runs 2..7, the long one 0..2 and 7..(7 + 1 + 9).
           {"at start", MuriPolicy::srtf, MuriCharge::at_start, (5 + 17) / 2.0, 17},
           // Neither reaches 3,250 GPU-seconds: first come, first served, without preemption.
           {"las", MuriPolicy::las, MuriCharge::none, (10 + 12) / 2.0, 14}}) {
    const MuriResult got = run_muri(jobs, policy, charge, 1, 1);
    EXPECT_DOUBLE_EQ(got.mean_jct_s, mean) << name;
    EXPECT_DOUBLE_EQ(got.makespan_s, makespan) << name;
  }
}

// A job of 12 GPUs needs a free node of 8 and 4 more; what does not fit is passed over.
TEST(Muri, WideJobsTakeWholeNodesFirst) {
  const std::vector<MuriJob> jobs{{.gpus = 6, .submit_s = 0, .iterations = 5, .iteration_s = 1},
                                  {.gpus = 12, .submit_s = 0, .iterations = 6, .iteration_s = 1},
                                  {.gpus = 2, .submit_s = 0, .iterations = 7, .iteration_s = 1}};
  const MuriResult got = run_muri(jobs, MuriPolicy::srtf, MuriCharge::none, 2, 8);
  EXPECT_DOUBLE_EQ(got.makespan_s, 11);  // the wide one starts at 5, beside the narrow one
  EXPECT_DOUBLE_EQ(got.mean_jct_s, (5 + 11 + 7) / 3.0);
}

}  // namespace
}  // namespace tau::sim
