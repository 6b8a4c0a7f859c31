// What the server tells of itself, as kubectl reads it.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "embedded/apiserver/test_server.h"
#include "meta/json.h"

namespace tau::apiserver {
namespace {

namespace json = boost::json;
const http::Headers aggregated{
    {"Accept",
     "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"}};

std::string text(const json::value& value, std::string_view path) {
  return std::string(meta::string_at(value, path));
}

TEST(Discovery, AggregatedAndPlainNameTheSameResources) {
  TestServer server;
  std::set<std::string> from_aggregated, from_plain;
  for (const char* root : {"/api", "/apis"}) {
    const http::Response response = server.call("GET", root, "", aggregated);
    EXPECT_EQ(http::find_header(response.headers, "Content-Type"),
              "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
    const json::value list = json::parse(response.body);
    for (const json::value& group : list.at("items").as_array()) {
      for (const json::value& version : group.at("versions").as_array()) {
        for (const json::value& resource : version.at("resources").as_array()) {
          from_aggregated.insert(text(group, "metadata.name") + "/" + text(version, "version") +
                                 "/" + text(resource, "resource"));
        }
      }
    }
  }
  const auto add_plain = [&](const std::string& group, const std::string& version,
                             const std::string& path) {
    const json::value list = server.json(200, "GET", path);
    for (const json::value& resource : list.at("resources").as_array()) {
      const std::string name = text(resource, "name");
      if (name.find('/') == std::string::npos)
        from_plain.insert(group + "/" + version + "/" + name);
    }
  };
  add_plain("", "v1", "/api/v1");
  const json::value groups = server.json(200, "GET", "/apis");
  for (const json::value& group : groups.at("groups").as_array()) {
    EXPECT_EQ(text(server.json(200, "GET", "/apis/" + text(group, "name")), "kind"), "APIGroup");
    for (const json::value& version : group.at("versions").as_array()) {
      add_plain(text(group, "name"), text(version, "version"),
                "/apis/" + text(version, "groupVersion"));
    }
  }
  EXPECT_EQ(from_aggregated, from_plain);
  for (const char* wanted : {"/v1/pods", "batch/v1/jobs", "kueue.x-k8s.io/v1beta1/workloads",
                             "kueue.x-k8s.io/v1beta2/workloads"}) {
    EXPECT_TRUE(from_plain.contains(wanted)) << wanted;
  }
}

TEST(Discovery, EveryListedDocumentCanBeRead) {
  TestServer server;
  const json::value index = server.json(200, "GET", "/openapi/v3");
  ASSERT_TRUE(index.as_object().contains("paths"));
  for (const auto& [name, entry] : index.at("paths").as_object()) {
    const json::value document = server.json(200, "GET", text(entry, "serverRelativeURL"));
    ASSERT_TRUE(document.as_object().contains("components")) << name;
    // Each reference leads somewhere: a dangling one breaks `explain`.
    const std::string all = json::serialize(document);
    const json::object& schemas = document.at("components").at("schemas").as_object();
    constexpr std::string_view prefix = "#/components/schemas/";
    for (size_t at = all.find(prefix); at != std::string::npos; at = all.find(prefix, at + 1)) {
      const std::string target =
          all.substr(at + prefix.size(), all.find('"', at) - at - prefix.size());
      EXPECT_TRUE(schemas.contains(target)) << name << " " << target;
    }
  }
  EXPECT_EQ(text(server.json(200, "GET", "/openapi/v2"), "swagger"), "2.0");
}

// kubectl looks here whether the server can validate fields, and which patches a kind takes.
TEST(Discovery, PatchesAreDescribedAsTheyAreTaken) {
  TestServer server;
  const auto patch_of = [&](const char* document, std::string path) {
    return json::value(
        server.json(200, "GET", document).at("paths").as_object().at(path).at("patch"));
  };
  const json::value job =
      patch_of("/openapi/v3/apis/batch/v1", "/apis/batch/v1/namespaces/{namespace}/jobs/{name}");
  EXPECT_EQ(json::serialize(job.at("x-kubernetes-group-version-kind")),
            R"({"group":"batch","version":"v1","kind":"Job"})");
  EXPECT_NE(json::serialize(job.at("parameters")).find("fieldValidation"), std::string::npos);
  EXPECT_TRUE(job.at("requestBody")
                  .at("content")
                  .as_object()
                  .contains("application/strategic-merge-patch+json"));
  const json::value queue = patch_of("/openapi/v3/apis/kueue.x-k8s.io/v1beta2",
                                     "/apis/kueue.x-k8s.io/v1beta2/clusterqueues/{name}");
  EXPECT_FALSE(queue.at("requestBody")
                   .at("content")
                   .as_object()
                   .contains("application/strategic-merge-patch+json"));
  EXPECT_EQ(server
                .call("PATCH", "/apis/kueue.x-k8s.io/v1beta2/clusterqueues/q", "{}",
                      {{"Content-Type", "application/strategic-merge-patch+json"}})
                .status,
            415);
}

TEST(Discovery, TheOlderVersionIsServedByConversion) {
  TestServer server;
  const std::string old_path = "/apis/kueue.x-k8s.io/v1beta1/clusterqueues",
                    new_path = "/apis/kueue.x-k8s.io/v1beta2/clusterqueues";
  const json::value created = server.json(
      201, "POST", old_path,
      R"({"apiVersion":"kueue.x-k8s.io/v1beta1","kind":"ClusterQueue","metadata":{"name":"q"},"spec":{"cohort":"all"}})");
  EXPECT_EQ(text(created, "spec.cohort"), "all");
  EXPECT_EQ(text(created, "apiVersion"), "kueue.x-k8s.io/v1beta1");
  EXPECT_EQ(text(server.json(200, "GET", new_path + "/q"), "spec.cohortName"), "all");
  EXPECT_EQ(text(server.json(200, "PATCH", old_path + "/q", R"({"spec":{"cohort":"other"}})",
                             {{"Content-Type", "application/merge-patch+json"}}),
                 "spec.cohort"),
            "other");
  EXPECT_EQ(text(server.json(200, "GET", new_path).at("items").at(0), "spec.cohortName"), "other");
  EXPECT_EQ(text(server.json(200, "GET", old_path).at("items").at(0), "spec.cohort"), "other");
}

TEST(Discovery, SaysWhoAsksAndWhatIsAllowed) {
  TestServer server;
  EXPECT_EQ(
      text(server.json(201, "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", "{}"),
           "status.userInfo.username"),
      "admin");
  EXPECT_EQ(server.json(201, "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "{}")
                .at("status")
                .at("allowed"),
            true);
  EXPECT_EQ(text(server.json(200, "GET", "/version"), "minor"), "37");
}

}  // namespace
}  // namespace tau::apiserver
