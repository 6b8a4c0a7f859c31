#include <gtest/gtest.h>

#include "base/rng.h"
#include "kube/index_ranges.h"
#include "kube/quantity.h"
#include "kube/resources.h"
#include "kube/selector.h"

namespace tau::kube {
namespace {

TEST(IndexRanges, AreASetThatIsNeverSpelledOut) {
  IndexRanges set = parse_index_ranges("0-2,5,7-2147483645", 2'147'483'646);
  EXPECT_TRUE(set.is_whole);
  EXPECT_EQ(set.count(), 2'147'483'643);
  EXPECT_EQ(set.first_absent(0), 3);
  EXPECT_EQ(set.first_absent(5), 6);
  EXPECT_TRUE(set.contains(2'147'483'645));
  EXPECT_FALSE(set.insert(1));
  EXPECT_TRUE(set.insert(4));
  EXPECT_EQ(set.text(), "0-2,4,5,7-2147483645");
  EXPECT_TRUE(set.insert(6));
  EXPECT_TRUE(set.insert(3));
  EXPECT_EQ(set.text(), "0-2147483645");
  EXPECT_EQ(set.count_common(parse_index_ranges("1-3,9", 10)), 4);
  // The Job has become smaller: what is done of the rest stays done.
  const IndexRanges cut = parse_index_ranges("0-9,12", 5);
  EXPECT_FALSE(cut.is_whole);
  EXPECT_EQ(cut.text(), "0-4");

  Rng rng(1);
  for (int round = 0; round < 200; ++round) {
    IndexRanges ranges;
    std::set<int64_t> plain;
    for (int i = 0; i < 40; ++i) {
      const int64_t index = rng.between(0, 30);
      EXPECT_EQ(ranges.insert(index), plain.insert(index).second);
    }
    EXPECT_EQ(ranges.count(), static_cast<int64_t>(plain.size()));
    for (int64_t i = 0; i < 32; ++i) EXPECT_EQ(ranges.contains(i), plain.contains(i)) << i;
    EXPECT_EQ(parse_index_ranges(ranges.text(), 31).text(), ranges.text());
  }
}

TEST(Quantity, ParsesRoundingUp) {
  struct Case {
    const char* text;
    int64_t milli, whole;
  };
  for (const Case& c : std::vector<Case>{{"250m", 250, 1},
                                         {"1", 1000, 1},
                                         {"1500m", 1500, 2},
                                         {"1Gi", 1073741824000, 1073741824},
                                         {"0.5", 500, 1},
                                         {"1e3", 1'000'000, 1000},
                                         {"100u", 1, 1},
                                         {"0", 0, 0},
                                         {"2k", 2'000'000, 2000},
                                         {"-1", -1000, -1},
                                         {"9Ei", INT64_MAX, INT64_MAX},
                                         {"1E", INT64_MAX, 1'000'000'000'000'000'000}}) {
    EXPECT_EQ(parse_quantity_milli(c.text).value_or(-7), c.milli) << c.text;
    EXPECT_EQ(parse_quantity(c.text).value_or(-7), c.whole) << c.text;
  }
  for (const char* text :
       {"", "x", "1Q", "1.2.3", "Gi", "1 Gi", "--1", "1e", "9999999999999999999999999999999999"}) {
    EXPECT_FALSE(parse_quantity(text)) << text;
  }
}

TEST(Quantity, CanonicalTextIsWhatTheServerReturns) {
  struct Case {
    const char* text;
    const char* want;
  };
  for (const Case& c : std::vector<Case>{{"1000m", "1"},
                                         {"250m", "250m"},
                                         {"0.25", "250m"},
                                         {"1024Mi", "1Gi"},
                                         {"1536Mi", "1536Mi"},
                                         {"1.5Gi", "1536Mi"},
                                         {"8", "8"},
                                         {"1000", "1k"},
                                         {"0", "0"},
                                         {"1e3", "1e3"},
                                         {"0.5Gi", "512Mi"},
                                         {"0.9765625Ki", "1k"},
                                         {"3E52", "9223372036854775807"},
                                         {"100Ei", "9223372036854775807"},
                                         {"9999999999999999999", "9223372036854775807"},
                                         {"9223372036854775806.9", "9223372036854775806900m"},
                                         {"0.0000000001", "1n"},
                                         {"0.1Ki", "102400m"},
                                         {"1e-3", "1e-3"},
                                         {"1.5e3", "1500"},
                                         {"-2", "-2"}}) {
    EXPECT_EQ(canonical_quantity(c.text).value_or("?"), c.want) << c.text;
  }
}

TEST(Selector, MatchesAsKubernetesDoes) {
  const StringMap labels{{"app", "x"}, {"tier", "a"}, {"n", "5"}};
  struct Case {
    const char* text;
    bool want;
  };
  for (const Case& c : std::vector<Case>{{"", true},
                                         {"app=x", true},
                                         {"app==x,tier in (a, b)", true},
                                         {"app!=x", false},
                                         {"gone!=x", true},
                                         {"tier notin (a)", false},
                                         {"app", true},
                                         {"!app", false},
                                         {"!gone", true},
                                         {"n>4", true},
                                         {"n<4", false},
                                         {"app=", false}}) {
    const auto selector = Selector::parse(c.text);
    ASSERT_TRUE(selector) << c.text;
    EXPECT_EQ(selector->matches(labels), c.want) << c.text;
  }
  for (const char* text : {"=x", "app in a", "app in (a", "app~x", ",", "app=x,"})
    EXPECT_FALSE(Selector::parse(text)) << text;
}

TEST(Selector, FieldSelectors) {
  const auto parsed = parse_field_selector("spec.nodeName=n,status.phase!=Failed");
  ASSERT_TRUE(parsed);
  ASSERT_EQ(parsed->size(), 2u);
  EXPECT_EQ((*parsed)[1].path, "status.phase");
  EXPECT_FALSE((*parsed)[1].is_equal);
  EXPECT_FALSE(parse_field_selector("nonsense"));
  EXPECT_FALSE(parse_field_selector("!=x"));
  EXPECT_FALSE(parse_field_selector(" =x"));
}

TEST(Resources, AreFoundByEveryName) {
  for (const char* word : {"pod", "pods", "po", "Pod"})
    EXPECT_EQ(find_resource_by_word(word)->kind, Kind::pod) << word;
  EXPECT_EQ(find_resource_by_word("jobs.batch")->kind, Kind::job);
  EXPECT_EQ(find_resource_by_word("nonsense"), nullptr);
  EXPECT_EQ(find_kind("kueue.x-k8s.io/v1beta1", "Workload")->kind, Kind::workload);
  EXPECT_EQ(api_version(info(Kind::job)), "batch/v1");
  EXPECT_EQ(api_version(info(Kind::pod)), "v1");
}

}  // namespace
}  // namespace tau::kube
