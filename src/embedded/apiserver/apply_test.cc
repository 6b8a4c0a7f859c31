// Server-side apply over HTTP.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "embedded/apiserver/test_server.h"
#include "meta/json.h"

namespace tau::apiserver {
namespace {

namespace json = boost::json;
const http::Headers apply_type{{"Content-Type", "application/apply-patch+yaml"}};

std::string target(std::string_view path, std::string_view manager, bool is_forced = false) {
  return fmt::format("/{}?fieldManager={}{}", path, manager, is_forced ? "&force=true" : "");
}
std::string config(std::string_view data) {
  return fmt::format("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata: {}\n", data);
}
const std::string path = "api/v1/namespaces/default/configmaps/a";
std::string data_of(const json::value& object) {
  const json::value* data = meta::find_path(object, "data");
  return data ? json::serialize(*data) : json::serialize(object);
}

TEST(Apply, CreatesThenMergesAndRemovesWhatItsOwnerDrops) {
  TestServer server;
  const json::value created =
      server.json(201, "PATCH", target(path, "one"), config("{x: '1', y: '1'}"), apply_type);
  EXPECT_EQ(data_of(created), R"({"x":"1","y":"1"})");
  EXPECT_EQ(json::serialize(created.at("metadata").at("managedFields").at(0).at("fieldsV1")),
            R"({"f:data":{"f:x":{},"f:y":{}}})");
  // Another applier adds a field; the first drops one of its own.
  EXPECT_EQ(data_of(server.json(200, "PATCH", target(path, "two"), config("{z: '2', y: '1'}"),
                                apply_type)),
            R"({"x":"1","y":"1","z":"2"})");
  EXPECT_EQ(data_of(server.json(200, "PATCH", target(path, "one"), config("{x: '3'}"), apply_type)),
            R"({"x":"3","y":"1","z":"2"})");
  EXPECT_EQ(data_of(server.json(200, "PATCH", target(path, "two"), config("{z: '2'}"), apply_type)),
            R"({"x":"3","z":"2"})");
}

TEST(Apply, TheSameAgainChangesNothing) {
  TestServer server;
  const json::value first =
      server.json(201, "PATCH", target(path, "one"), config("{x: '1'}"), apply_type);
  server.loop.advance(seconds(5));
  EXPECT_EQ(server.json(200, "PATCH", target(path, "one"), config("{x: '1'}"), apply_type), first);
}

TEST(Apply, ConflictsNameOwnerAndFieldUnlessForced) {
  TestServer server;
  server.json(201, "PATCH", target(path, "one"), config("{x: '1'}"), apply_type);
  EXPECT_EQ(server.json(409, "PATCH", target(path, "two"), config("{x: '2'}"), apply_type)
                .at("message")
                .as_string(),
            "Apply failed with 1 conflict: conflict with \"one\" using v1: .data.x");
  EXPECT_EQ(
      data_of(server.json(200, "PATCH", target(path, "two", true), config("{x: '2'}"), apply_type)),
      R"({"x":"2"})");
  // The field is two's now: one may leave it out without removing it.
  EXPECT_EQ(data_of(server.json(200, "PATCH", target(path, "one"), config("{w: '1'}"), apply_type)),
            R"({"x":"2","w":"1"})");
}

TEST(Apply, MergesListsByKey) {
  TestServer server;
  const std::string pod = "api/v1/namespaces/default/pods/p";
  const auto body = [](std::string_view containers) {
    return fmt::format(
        R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"p"}},"spec":{{"containers":[{}]}}}})",
        containers);
  };
  server.json(201, "PATCH", target(pod, "one"),
              body(R"({"name":"a","image":"x"},{"name":"b","image":"x"})"), apply_type);
  const json::value changed = server.json(200, "PATCH", target(pod, "two", true),
                                          body(R"({"name":"b","image":"y"})"), apply_type);
  const json::array& containers = changed.at("spec").at("containers").as_array();
  ASSERT_EQ(containers.size(), 2u);
  EXPECT_EQ(containers[0].at("image"), "x");
  EXPECT_EQ(containers[1].at("image"), "y");
}

TEST(Apply, RefusesWhatIsNotAnApply) {
  TestServer server;
  EXPECT_EQ(server.call("PATCH", "/" + path, config("{}"), apply_type).status, 422);
  EXPECT_EQ(server.call("PATCH", target(path, "one"), "metadata: {name: other}", apply_type).status,
            400);
  EXPECT_EQ(server.call("PATCH", target(path, "one"), "metadata: {managedFields: [{}]}", apply_type)
                .status,
            400);
  EXPECT_EQ(server.call("PATCH", target(path, "one"), "a: [", apply_type).status, 400);
  EXPECT_EQ(server.call("PATCH", target(path + "s", "one"), config("{}"), apply_type).status, 400);
  EXPECT_EQ(server
                .call("PATCH", "/api/v1/namespaces/none/configmaps/a?fieldManager=x", config("{}"),
                      apply_type)
                .status,
            404);
}

// What a client put into managedFields itself is never trusted to be well formed.
TEST(Apply, SurvivesStrangeManagedFields) {
  TestServer server;
  server.json(201, "PATCH", target(path, "one"), config("{x: '1'}"), apply_type);
  const http::Headers merge_type{{"Content-Type", "application/merge-patch+json"}};
  for (
      const char* fields :
      {R"([1,"x",{}])", R"([{"manager":"m","operation":"Apply","fieldsV1":[1]}])",
       R"([{"manager":"m","operation":"Apply","fieldsV1":{"f:data":{"k:{":{"v:[":{}},"q":{},"f:x":3}}}])"}) {
    server.call("PATCH", "/" + path,
                fmt::format(R"({{"metadata":{{"managedFields":{}}}}})", fields), merge_type);
    const int status =
        server.call("PATCH", target(path, "m", true), config("{x: '2'}"), apply_type).status;
    EXPECT_TRUE(status == 200 || status == 409 || status == 400) << fields << status;
  }
}

}  // namespace
}  // namespace tau::apiserver
