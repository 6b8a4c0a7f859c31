#include <gtest/gtest.h>

#include "base/ids.h"
#include "base/interner.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/rng.h"
#include "base/text.h"
#include "base/time.h"

namespace tau {
namespace {

TEST(Time, RoundTripsRfc3339) {
  const Time t = *parse_rfc3339("2026-12-01T05:37:43.123456Z");
  EXPECT_EQ(format_rfc3339(t), "2026-12-01T05:37:43Z");
  EXPECT_EQ(format_rfc3339_micros(t), "2026-12-01T05:37:43.123456Z");
  EXPECT_EQ(*parse_rfc3339("2026-12-01T07:37:43+02:00"), *parse_rfc3339("2026-12-01T05:37:43Z"));
  for (const char* bad :
       {"", "2026-12-01", "2026-13-01T00:00:00Z", "2026-12-01T00:00:00", "2026-12-01T00:00:00Zx",
        "2026-12-01T25:00:00Z", "2026-12-01T00:00:00.Z"}) {
    EXPECT_FALSE(parse_rfc3339(bad)) << bad;
  }
}

TEST(Time, AgesReadLikeKubectls) {
  struct Case {
    Duration age;
    const char* want;
  };
  for (const Case& c : std::vector<Case>{{seconds(0), "0s"},
                                         {seconds(119), "119s"},
                                         {seconds(120), "2m"},
                                         {seconds(192), "3m12s"},
                                         {minutes(125), "125m"},
                                         {minutes(185), "3h5m"},
                                         {hours(9), "9h"},
                                         {hours(50), "2d2h"},
                                         {hours(24 * 45), "45d"}}) {
    EXPECT_EQ(format_age(c.age), c.want);
  }
}

TEST(Time, ParsesDurations) {
  EXPECT_EQ(*parse_duration("90s"), seconds(90));
  EXPECT_EQ(*parse_duration("1h30m"), minutes(90));
  EXPECT_EQ(*parse_duration("250ms"), milliseconds(250));
  EXPECT_EQ(*parse_duration("1.5s"), milliseconds(1500));
  EXPECT_EQ(*parse_duration("2d"), hours(48));
  EXPECT_EQ(*parse_duration("0"), Duration(0));
  for (const char* bad : {"", "5", "s", "1x", "-", "1h3"}) EXPECT_FALSE(parse_duration(bad)) << bad;
}

TEST(Rng, SameSeedSameDraws) {
  Rng a(7), b(7);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(a.next(), b.next());
  for (int i = 0; i < 1000; ++i) EXPECT_LT(a.below(10), 10u);
  EXPECT_EQ(make_uuid(a).size(), 36u);
  EXPECT_EQ(make_uuid(a)[14], '4');
}

TEST(Text, WholeNumbersHaveOneSign) {
  const std::pair<const char*, std::optional<int64_t>> cases[] = {
      {"5", 5}, {"+5", 5}, {"-5", -5}, {"+-5", {}}, {"--5", {}}, {"+", {}}, {"", {}}, {"5x", {}}};
  for (const auto& [text, want] : cases) {
    const auto parsed = parse_int(text);
    EXPECT_EQ(parsed ? std::optional(*parsed) : std::nullopt, want) << text;
  }
}

TEST(Text, KnowsUtf8) {
  EXPECT_TRUE(is_utf8("a\u00e9\U0001F600"));
  EXPECT_TRUE(is_utf8(""));
  EXPECT_FALSE(is_utf8("a\xff"));
  EXPECT_FALSE(is_utf8("a\xc3"));
}

TEST(Text, WhatIsNotUtf8IsReplaced) {
  EXPECT_EQ(to_utf8("a\u00e9\U0001F600"), "a\u00e9\U0001F600");
  EXPECT_EQ(to_utf8("a\xff\xc3(\xed\xa0\x80"), "a\ufffd\ufffd(\ufffd\ufffd\ufffd");
  EXPECT_EQ(to_utf8(std::string_view("\0\xe2\x82", 3)), std::string("\0\ufffd\ufffd", 7));
}

TEST(Text, Base64RoundTrips) {
  for (const std::string text : {"", "a", "ab", "abc", "abcd", "hello world"}) {
    EXPECT_EQ(*base64_decode(base64_encode(text)), text);
  }
  EXPECT_EQ(base64_encode("hello"), "aGVsbG8=");
  for (const char* bad : {"a", "a===", "aGVsbG8", "!!!!", "aG=s"})
    EXPECT_FALSE(base64_decode(bad)) << bad;
}

TEST(Text, NearestNamesATypingSlip) {
  const std::vector<std::string_view> words{"queue", "node", "logs", "cancel"};
  EXPECT_EQ(nearest("quue", words), "queue");
  EXPECT_EQ(nearest("lgos", words), std::nullopt);
  EXPECT_EQ(nearest("log", words), "logs");
  EXPECT_EQ(nearest("completely-else", words), std::nullopt);
}

TEST(Metrics, RendersPrometheusText) {
  Metrics metrics;
  metrics.add("taugrid_a_total", "A.", {{"q", "x\"y"}}, 2);
  metrics.set("taugrid_b", "B.", {}, 1.5);
  const double bounds[] = {0.1, 1};
  metrics.observe("taugrid_c_seconds", "C.", {}, bounds, 0.5);
  EXPECT_EQ(
      metrics.text(),
      "# HELP taugrid_a_total A.\n# TYPE taugrid_a_total counter\ntaugrid_a_total{q=\"x\\\"y\"} 2\n"
      "# HELP taugrid_b B.\n# TYPE taugrid_b gauge\ntaugrid_b 1.5\n"
      "# HELP taugrid_c_seconds C.\n# TYPE taugrid_c_seconds histogram\n"
      "taugrid_c_seconds_bucket{le=\"0.1\"} 0\ntaugrid_c_seconds_bucket{le=\"1\"} 1\n"
      "taugrid_c_seconds_bucket{le=\"+Inf\"} 1\ntaugrid_c_seconds_sum 0.5\ntaugrid_c_seconds_count "
      "1\n");
}

TEST(Log, QuotesWhatNeedsIt) {
  EXPECT_EQ(to_logfmt({LogLevel::warn, "journal compacted", {{"rows", "12"}, {"path", "a\nb"}}}),
            "level=warn msg=\"journal compacted\" rows=12 path=\"a\\nb\"");
}

TEST(Interner, ReusesReleasedIds) {
  struct Tag;
  Interner<Id<Tag>> names;
  const auto a = names.intern("a"), b = names.intern("b");
  EXPECT_EQ(names.intern("a"), a);
  names.release(a);
  EXPECT_FALSE(names.find("a").is_some());
  EXPECT_EQ(names.intern("c"), a);
  EXPECT_EQ(names.name(b), "b");
}

}  // namespace
}  // namespace tau
