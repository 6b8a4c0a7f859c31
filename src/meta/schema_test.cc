#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "meta/fields.h"
#include "meta/json.h"
#include "meta/openapi.h"
#include "meta/schema_check.h"
#include "meta/schema_text.h"

namespace tau::meta {
namespace {

constexpr std::string_view text = R"(
package io.k8s.api.batch.v1
type Job | Work.
  metadata any
  spec JobSpec | What is wanted.
type JobSpec
  backoffLimit int32 default=6 | Retries.
  suspend boolean
  cpu quantity
  since time
  steps []Step merge=name retain | In order.
  labels map:string
type Step
  name* string enum=a,b
  children []Step
)";

const SchemaText& schemas() {
  static const SchemaText all(std::array{text}, {});
  return all;
}

TEST(SchemaText, ReadsTypesAndFields) {
  const TypeInfo& spec = *schemas().find("JobSpec");
  EXPECT_EQ(spec.name, "io.k8s.api.batch.v1.JobSpec");
  const Field& steps = *spec.find("steps");
  EXPECT_EQ(steps.merge_key, "name");
  EXPECT_TRUE(steps.retains_keys);
  EXPECT_EQ(steps.description, "In order.");
  EXPECT_EQ(&steps.type().element().find("children")->type().element(), &steps.type().element());
  EXPECT_TRUE(steps.type().element().find("name")->is_required);
  EXPECT_EQ(schemas().find("Nope"), nullptr);
}

TEST(SchemaText, CompletesATable) {
  const TypeInfo table_ =
      schemas().complete(table("io.k8s.api.batch.v1.JobSpec", "Mine.",
                               {schema_only("backoffLimit", "My words.", integer_type)}));
  EXPECT_EQ(table_.fields.size(), 6u);
  EXPECT_EQ(table_.fields[0].description, "My words.");
  EXPECT_TRUE(table_.fields[0].type().is_int32);
  EXPECT_EQ(table_.fields[0].default_json, "6");
  EXPECT_EQ(table_.description, "Mine.");
}

TEST(SchemaCheck, SaysWhatTheApiServerSays) {
  struct Case {
    const char* json;
    std::vector<std::string> want;
  };
  const std::vector<Case> cases{
      {R"({"spec":{"backoffLimit":6,"suspend":null,"cpu":1,"labels":{"a":"b"}}})", {}},
      {R"({"spec":{"backoffLimits":6}})", {"unknown field \"spec.backoffLimits\" (backoffLimit)"}},
      {R"({"spec":{"steps":[{"name":"a"},{"nam":"b","children":[{"zzzz":1}]}]}})",
       {"unknown field \"spec.steps[1].nam\" (name)",
        "unknown field \"spec.steps[1].children[0].zzzz\" ()"}},
      {R"({"spec":{"backoffLimit":"6"}})",
       {"json: cannot unmarshal string into Go struct field JobSpec.spec.backoffLimit of type "
        "int32 ()"}},
      {R"({"spec":{"backoffLimit":5000000000}})",
       {"json: cannot unmarshal number 5000000000 into Go struct field JobSpec.spec.backoffLimit "
        "of type int32 ()"}},
      {R"({"spec":{"labels":{"a":1}}})",
       {"json: cannot unmarshal number into Go struct field JobSpec.spec.labels of type string "
        "()"}},
      {R"({"spec":[]})",
       {"json: cannot unmarshal array into Go struct field Job.spec of type v1.JobSpec ()"}},
      {R"([])", {"json: cannot unmarshal array into Go value of type v1.Job ()"}},
      {R"({"spec":{"steps":{}}})",
       {"json: cannot unmarshal object into Go struct field JobSpec.spec.steps of type []v1.Step "
        "()"}},
      {R"({"spec":{"cpu":"x"}})",
       {"quantities must match the regular expression "
        "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$' ()"}},
      {R"({"spec":{"since":"now"}})",
       {"parsing time \"now\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"now\" as \"2006\" "
        "()"}},
  };
  for (const Case& c : cases) {
    std::vector<std::string> got;
    for (const SchemaIssue& issue : check(*parse_json(c.json), *schemas().find("Job"))) {
      got.push_back(issue.message + " (" + issue.nearest + ")");
    }
    EXPECT_EQ(got, c.want) << c.json;
  }
}

TEST(OpenApi, DescribesKindsAndWhatTheyReferTo) {
  const std::array kinds{OpenApiKind{schemas().find("Job"), "batch", "v1", "Job"}};
  const boost::json::object v3 = openapi_v3_schemas(kinds);
  EXPECT_EQ(to_text(v3.at("io.k8s.api.batch.v1.Job").at("x-kubernetes-group-version-kind")),
            R"([{"group":"batch","kind":"Job","version":"v1"}])");
  EXPECT_EQ(
      to_text(v3.at("io.k8s.api.batch.v1.Job").at("properties").at("spec")),
      R"({"description":"What is wanted.","allOf":[{"$ref":"#/components/schemas/io.k8s.api.batch.v1.JobSpec"}]})");
  EXPECT_EQ(
      to_text(v3.at("io.k8s.api.batch.v1.JobSpec").at("properties").at("steps")),
      R"({"description":"In order.","type":"array","items":{"$ref":"#/components/schemas/io.k8s.api.batch.v1.Step"},)"
      R"("x-kubernetes-patch-merge-key":"name","x-kubernetes-patch-strategy":"merge,retainKeys"})");
  EXPECT_EQ(
      to_text(v3.at("io.k8s.api.batch.v1.Step")),
      R"({"type":"object","required":["name"],"properties":{"name":{"type":"string","enum":["a","b"]},)"
      R"("children":{"type":"array","items":{"$ref":"#/components/schemas/io.k8s.api.batch.v1.Step"}}}})");
  EXPECT_TRUE(v3.contains("io.k8s.api.batch.v1.JobList"));
  const boost::json::object v2 = openapi_v2_definitions(kinds);
  EXPECT_EQ(
      to_text(v2.at("io.k8s.api.batch.v1.Job").at("properties").at("spec")),
      R"({"$ref":"#/definitions/io.k8s.api.batch.v1.JobSpec","description":"What is wanted."})");
}

}  // namespace
}  // namespace tau::meta
