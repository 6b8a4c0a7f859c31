#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "meta/fields.h"
#include "meta/json.h"

namespace tau::meta {
namespace {

struct Inner {
  std::string name;
  int64_t count = 0;
  bool operator==(const Inner&) const = default;
};
struct Outer {
  std::optional<Inner> inner;
  std::vector<Inner> list;
  std::map<std::string, std::string> labels;
  std::optional<Time> at;
  bool is_on = false;
  bool operator==(const Outer&) const = default;
};

}  // namespace

template <>
const TypeInfo& type_of<Inner>() {
  static const TypeInfo type = table(
      "Inner", "",
      {field<&Inner::name>("name", ""), field<&Inner::count>("count", "", {.is_always = true})});
  return type;
}
template <>
const TypeInfo& type_of<Outer>() {
  static const TypeInfo type = table(
      "Outer", "",
      {field<&Outer::inner>("inner", ""), field<&Outer::list>("list", ""),
       field<&Outer::labels>("labels", ""), field<&Outer::at>("at", "", {.type = micro_time_type}),
       field<&Outer::is_on>("on", "")});
  return type;
}

namespace {

TEST(Json, RefusesNumbersThatNoDoubleHolds) {
  // They would be written as a word that is no JSON, and the state could not be read again.
  for (const char* text : {"1e999", "{\"a\":[1,-25E6376420]}"})
    EXPECT_FALSE(parse_json(text)) << text;
  EXPECT_TRUE(parse_json("1e300"));
}

TEST(Fields, RoundTrip) {
  const char* text =
      R"({"inner":{"name":"a","count":3},"list":[{"name":"b","count":0}],"labels":{"k":"v"},"at":"2026-12-01T05:37:43.000001Z","on":true})";
  const auto outer = decode<Outer>(*parse_json(text));
  ASSERT_TRUE(outer) << outer.error().message;
  EXPECT_EQ(outer->inner->count, 3);
  EXPECT_EQ(to_text(encode(*outer)), text);
  EXPECT_EQ(to_text(encode(Outer{})), "{}");
}

TEST(Fields, UnknownKeysAreIgnoredAndNullsAreAbsent) {
  const auto outer = decode<Outer>(*parse_json(R"({"nope":1,"inner":null,"on":false})"));
  ASSERT_TRUE(outer);
  EXPECT_EQ(*outer, Outer{});
}

TEST(Fields, ErrorsNameThePath) {
  struct Case {
    const char* text;
    const char* want;
  };
  for (const Case& c :
       std::vector<Case>{{R"({"list":[{"name":"a"},{"count":"x"}]})",
                          "list[1].count: expected integer, got string"},
                         {R"({"labels":{"k":{}}})", "labels.k: expected string, got object"},
                         {R"({"inner":[]})", "inner: expected object, got array"},
                         {R"({"on":"yes"})", "on: expected boolean, got string"}}) {
    const auto outer = decode<Outer>(*parse_json(c.text));
    ASSERT_FALSE(outer);
    EXPECT_EQ(outer.error().message, c.want);
  }
}

TEST(Json, ErrorsNameThePlaceAndDepthIsBounded) {
  EXPECT_EQ(parse_json("{\n  \"a\": tru\n}").error().message.substr(0, 24),
            "invalid JSON at line 2, ");
  EXPECT_FALSE(parse_json(std::string(10'000, '[')));
  EXPECT_FALSE(parse_json("{} x"));
  EXPECT_FALSE(parse_json(""));
}

TEST(Json, FindsByPath) {
  const auto value = *parse_json(R"({"metadata":{"name":"x"}})");
  EXPECT_EQ(string_at(value, "metadata.name"), "x");
  EXPECT_EQ(string_at(value, "metadata.none"), "");
  EXPECT_EQ(find_path(value, "metadata.name.deeper"), nullptr);
}

}  // namespace
}  // namespace tau::meta
