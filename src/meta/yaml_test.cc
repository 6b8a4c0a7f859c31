#include "meta/yaml.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "meta/json.h"

namespace tau::meta {
namespace {

std::string as_json(std::string_view yaml) {
  const auto documents = parse_yaml(yaml);
  if (!documents) return documents.error().message;
  std::string out;
  for (const auto& document : *documents) out += (out.empty() ? "" : " --- ") + to_text(document);
  return out;
}

TEST(Yaml, ReadsAsKubectlDoes) {
  struct Case {
    const char* yaml;
    const char* want;
  };
  const std::vector<Case> cases{
      {"a: 1\nb: [x, 'y', \"1\", 1.5, true, yes, off, ~, null, 2026-12-01]",
       R"({"a":1,"b":["x","y","1",1.5E0,true,true,false,null,null,"2026-12-01"]})"},
      {"a: 0x10\nb: 010\nc: 0o17\nd: 1_000\ne: -5\nf: +3\ng: 1e3\nh: 1Gi\ni: 500m\nj: 1.2.3\nk: "
       "'010'\nl: 08",
       R"({"a":16,"b":8,"c":15,"d":1000,"e":-5,"f":3,"g":1E3,"h":"1Gi","i":"500m","j":"1.2.3","k":"010","l":8E0})"},
      {"a: 1\n---\n---\nb: 2\n...\n---\n# only a comment\n", R"({"a":1} --- {"b":2})"},
      {"x: &x {a: 1, b: 2}\ny: {<<: *x, b: 3}", R"({"x":{"a":1,"b":2},"y":{"b":3,"a":1}})"},
      {"t: |\n  one\n  two\nf: >\n  one\n  two\n", R"({"t":"one\ntwo\n","f":"one two\n"})"},
      {"1: a\ntrue: b", R"({"1":"a","true":"b"})"},
      {"", ""},
      {"a: !!str 5", R"({"a":"5"})"},
      {"big: 18446744073709551615\nbigger: 99999999999999999999",
       R"({"big":18446744073709551615,"bigger":1E20})"},
      {"a: 1\na: 2", "invalid YAML: line 2: key \"a\" already set in map"},
      {"a: .inf", "invalid YAML: line 1: .inf has no form in JSON"},
      {"{\"a\": [1, {\"b\": null}]}", R"({"a":[1,{"b":null}]})"},
      {"\"k\\N\": \"\\Nx\\_\\L\\P\"",
       "{\"k\xc2\x85\":\"\xc2\x85x\xc2\xa0\xe2\x80\xa8\xe2\x80\xa9\"}"},
  };
  for (const Case& c : cases) EXPECT_EQ(as_json(c.yaml), c.want) << c.yaml;
}

TEST(Yaml, BadTextIsAnErrorWithALine) {
  for (const char* text : {"a: [1", "a:\n\t- b", "a: b: c", "*nope", "? [a]\n: b", "- &a [*a]\n"}) {
    const auto parsed = parse_yaml(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, ErrorCode::bad_request);
    EXPECT_TRUE(parsed.error().message.starts_with("invalid YAML: ")) << parsed.error().message;
  }
  EXPECT_FALSE(parse_yaml(std::string(100, '[') + std::string(100, ']')));
  EXPECT_FALSE(parse_yaml(std::string(100'000, '[')));
}

// Each of these once made the parser read for ever.
TEST(Yaml, EndsOnTextThatYamlForbids) {
  const std::pair<std::string, std::string> cases[] = {
      {"{a: \xc3}", "invalid YAML: line 1: the text is not UTF-8"},
      {"a: 1\nb: \x04", "invalid YAML: line 2: control characters are not allowed"},
      {"{\"a\":1},\"b\":2", "invalid YAML: line 1: text that begins no document"},
      {"a: &x [*x]\n<<: &y [*y]", "invalid YAML: line 1: nested deeper than 64 levels"},
      {"<<: &y [*y]", "invalid YAML: line 1: merge keys nested too deep"},
  };
  for (const auto& [given, want] : cases) {
    const auto parsed = parse_yaml(given);
    EXPECT_EQ(parsed ? "parsed" : parsed.error().message, want) << given;
  }
}

TEST(Yaml, WhatNestsWithoutEndIsSaidToDoSo) {
  const auto refused = parse_yaml(std::string(100'000, '['));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("nested too deep"), std::string::npos)
      << refused.error().message;
}

TEST(Yaml, AliasesCannotBlowUp) {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 9; ++i) {
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 10; ++j) text += (j > 0 ? ", *a" : "*a") + std::to_string(i - 1);
    text += "]\n";
  }
  EXPECT_FALSE(parse_yaml(text));
}

TEST(Yaml, WritesWhatItReads) {
  struct Case {
    const char* json;
    const char* want;
  };
  const std::vector<Case> cases{
      {R"({"a":1,"b":{"c":[],"d":{},"e":[{"f":1,"g":[2,[3,4]]},"x"]},"h":null,"i":true,"j":1.5})",
       "a: 1\nb:\n  c: []\n  d: {}\n  e:\n  - f: 1\n    g:\n    - 2\n    -\n      - 3\n      - 4\n "
       " - x\nh: null\ni: true\nj: 1.5E0\n"},
      {R"({"a":"yes","b":"1","c":"","d":"a: b","e":"- x","f":"it's","g":"#x","h":"-c","i":"2026-12-01T05:37:43Z","j":"null"})",
       "a: \"yes\"\nb: \"1\"\nc: \"\"\nd: \"a: b\"\ne: \"- x\"\nf: it's\ng: \"#x\"\nh: -c\ni: "
       "\"2026-12-01T05:37:43Z\"\nj: \"null\"\n"},
      {R"({"s":"one\ntwo\n","t":"one\n\n  two","u":"a\u0007b"})",
       "s: |\n  one\n  two\nt: |-\n  one\n\n    two\nu: \"a\\u0007b\"\n"},
      {R"(["a",{"b":"c"}])", "- a\n- b: c\n"},
      {R"({})", "{}\n"},
      {R"("x")", "x\n"},
      {R"("2b:s\nb2s")", "|-\n  2b:s\n  b2s\n"},
  };
  for (const Case& c : cases) {
    const auto value = *parse_json(c.json);
    EXPECT_EQ(to_yaml(value), c.want);
    const auto back = parse_yaml(c.want);
    ASSERT_TRUE(back) << back.error().message << c.want;
    EXPECT_EQ(back->at(0), value) << c.want;
  }
}

}  // namespace
}  // namespace tau::meta
