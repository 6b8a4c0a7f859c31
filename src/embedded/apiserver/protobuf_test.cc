#include "embedded/apiserver/protobuf.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace tau::apiserver {
namespace {

// Length-delimited field.
std::string bytes(int number, std::string_view content) {
  std::string out(1, static_cast<char>(number << 3 | 2));
  for (size_t n = content.size();; n >>= 7) {
    out.push_back(static_cast<char>(n > 0x7f ? (n & 0x7f) | 0x80 : n));
    if (n <= 0x7f) break;
  }
  return out + std::string(content);
}
std::string number(int field, int value) {
  return {static_cast<char>(field << 3), static_cast<char>(value)};
}
std::string body(std::string_view kind, std::string_view message) {
  return std::string("k8s\0", 4) + bytes(1, bytes(1, "v1") + bytes(2, kind)) + bytes(2, message) +
         bytes(3, "") + bytes(4, "");
}
std::string read(std::string_view text) {
  const auto value = parse_protobuf(text);
  return value ? boost::json::serialize(*value) : "error: " + value.error().message;
}

TEST(Protobuf, ReadsAnObject) {
  // Fields without pointers are written even when empty, and then count as absent; pointers to zero
  // count.
  const std::string metadata = bytes(1, "a") + bytes(2, "") + number(7, 0) + bytes(8, "") +
                               bytes(11, bytes(1, "k") + bytes(2, "v"));
  EXPECT_EQ(
      read(body("ConfigMap", bytes(1, metadata) + bytes(2, bytes(1, "x") + bytes(2, "y")))),
      R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","labels":{"k":"v"}},"data":{"x":"y"}})");
  EXPECT_EQ(read(body("Secret", bytes(2, bytes(1, "p") + bytes(2, std::string("\0\xff", 2))))),
            R"({"kind":"Secret","apiVersion":"v1","data":{"p":"AP8="}})");
  EXPECT_EQ(read(body("Job", bytes(2, number(7, 0)))),
            R"({"kind":"Job","apiVersion":"v1","spec":{"backoffLimit":0}})");
  const std::string limits = bytes(1, bytes(1, "cpu") + bytes(2, bytes(1, "250m")));
  EXPECT_EQ(
      read(body("Pod", bytes(2, bytes(2, bytes(1, "c") + bytes(8, limits)) +
                                    bytes(1, bytes(1, "v") + bytes(2, bytes(2, "")))))),
      R"({"kind":"Pod","apiVersion":"v1","spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":"250m"}}}],"volumes":[{"name":"v","emptyDir":{}}]}})");
}

TEST(Protobuf, RefusesWhatIsMalformed) {
  EXPECT_EQ(read("{}"), "error: the protobuf body lacks its leading k8s\\0");
  EXPECT_EQ(read(body("Service", "")),
            "error: no protobuf form of kind \"Service\" is known: send JSON");
  EXPECT_EQ(read(body("ConfigMap", number(1, 1))),
            "error: protobuf: field metadata has the wrong wire type");
  const std::string good =
      body("ConfigMap", bytes(1, bytes(1, "a") + bytes(11, bytes(1, "k") + bytes(2, "v"))));
  for (size_t at = 0; at < good.size(); ++at) {
    read(good.substr(0, at));
    for (const char with : {'\0', '\xff', '\x0a', '\x12'}) {
      std::string bad = good;
      bad[at] = with;
      read(bad);
    }
  }
  // A text that is no UTF-8 would be stored and could not be read again.
  EXPECT_EQ(read(body("ConfigMap", bytes(1, bytes(1, "a\xff")))),
            "error: protobuf: a text is not UTF-8");
  EXPECT_EQ(read(body("ConfigMap", bytes(2, bytes(1, "\xc3") + bytes(2, "v")))),
            "error: protobuf: a text is not UTF-8");
  // Nesting is bounded: managed raw JSON and selectors are the only ways down.
  EXPECT_TRUE(read(body("Pod", bytes(1, bytes(17, bytes(7, bytes(1, std::string(1000, '[')))))))
                  .starts_with("error"));
}

}  // namespace
}  // namespace tau::apiserver
