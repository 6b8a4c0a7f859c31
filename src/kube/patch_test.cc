#include "kube/patch.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "meta/json.h"
#include "meta/schema_text.h"

namespace tau::kube {
namespace {

struct Case {
  const char* name;
  const char* target;
  const char* patch;
  const char* want;  // the result, or the error's message
};

template <class Apply>
void run(const std::vector<Case>& cases, Apply apply) {
  for (const Case& c : cases) {
    boost::json::value target = *meta::parse_json(c.target);
    const Result<void> done = apply(target, *meta::parse_json(c.patch));
    if (done) {
      EXPECT_EQ(target, *meta::parse_json(c.want)) << c.name << ": " << meta::to_text(target);
      EXPECT_EQ(meta::to_text(target), meta::to_text(*meta::parse_json(c.want))) << c.name;
    } else {
      EXPECT_EQ(done.error().message, c.want) << c.name;
    }
  }
}

TEST(JsonPatch, FollowsRfc6902) {
  run({{"add a member", R"({"a":1})", R"([{"op":"add","path":"/b","value":2}])",
        R"({"a":1,"b":2})"},
       {"insert", R"({"a":[1,3]})", R"([{"op":"add","path":"/a/1","value":2}])",
        R"({"a":[1,2,3]})"},
       {"append", R"({"a":[1]})", R"([{"op":"add","path":"/a/-","value":2}])", R"({"a":[1,2]})"},
       {"remove", R"({"a":[1,2],"b":1})",
        R"([{"op":"remove","path":"/a/0"},{"op":"remove","path":"/b"}])", R"({"a":[2]})"},
       {"replace", R"({"a":1})", R"([{"op":"replace","path":"/a","value":{"x":null}}])",
        R"({"a":{"x":null}})"},
       {"escapes", R"({"a/b":{"m~n":1}})", R"([{"op":"replace","path":"/a~1b/m~0n","value":2}])",
        R"({"a/b":{"m~n":2}})"},
       {"move", R"({"a":{"b":1},"c":{}})", R"([{"op":"move","from":"/a/b","path":"/c/d"}])",
        R"({"a":{},"c":{"d":1}})"},
       {"copy", R"({"a":[1]})", R"([{"op":"copy","from":"/a/0","path":"/a/-"}])", R"({"a":[1,1]})"},
       {"whole", R"({"a":1})", R"([{"op":"add","path":"","value":[]}])", R"([])"},
       {"test holds", R"({"a":1})", R"([{"op":"test","path":"/a","value":1}])", R"({"a":1})"},
       {"test fails", R"({"a":1})", R"([{"op":"test","path":"/a","value":2}])",
        R"(operation 0 ("/a"): test failed: the value is another one)"},
       {"no member", R"({"a":1})", R"([{"op":"remove","path":"/x"}])",
        R"(operation 0 ("/x"): there is no 'x')"},
       {"no parent", R"({"a":1})", R"([{"op":"add","path":"/x/y","value":1}])",
        R"(operation 0 ("/x/y"): there is no 'x')"},
       {"bad index", R"({"a":[1]})", R"([{"op":"replace","path":"/a/01","value":1}])",
        R"(operation 0 ("/a/01"): '01' is not an index)"},
       {"far index", R"({"a":[1]})", R"([{"op":"add","path":"/a/3","value":1}])",
        R"(operation 0 ("/a/3"): index 3 is out of range)"},
       {"into itself", R"({"a":{}})", R"([{"op":"move","from":"/a","path":"/a/b"}])",
        R"(operation 0 ("/a/b"): cannot move a value into itself)"},
       {"no value", R"({})", R"([{"op":"add","path":"/a"}])",
        R"(operation 0 ("/a"): 'value' is missing)"},
       {"unknown", R"({})", R"([{"op":"put","path":"/a"}])",
        R"(operation 0 ("/a"): unknown operation 'put' (known: add, remove, replace, move, copy, test))"},
       {"not a list", R"({})", R"({})", "a JSON patch must be a list of operations"}},
      apply_json_patch);
}

TEST(MergePatch, FollowsRfc7386) {
  run({{"merge", R"({"a":{"b":1,"c":2},"d":[1]})", R"({"a":{"b":null,"e":3},"d":[2]})",
        R"({"a":{"c":2,"e":3},"d":[2]})"},
       {"nulls of new objects go", R"({})", R"({"a":{"b":null,"c":1}})", R"({"a":{"c":1}})"},
       {"replace a scalar", R"({"a":1})", R"({"a":{"b":1}})", R"({"a":{"b":1}})"}},
      [](boost::json::value& target, const boost::json::value& patch) -> Result<void> {
        apply_merge_patch(target, patch);
        return {};
      });
}

constexpr std::string_view schema_text = R"(
package test
type Pod
  spec PodSpec
  finalizers []string merge
  labels map:string
type PodSpec
  containers []Container merge=name
  tolerations []any
  volumes []Volume merge=name retain
type Container
  name* string
  image string
  env []Env merge=name
type Env
  name* string
  value string
type Volume
  name* string
  emptyDir any
  hostPath any
)";

TEST(StrategicPatch, MergesListsByKey) {
  static const meta::SchemaText schemas(std::array{schema_text}, {});
  const char* two =
      R"({"spec":{"containers":[{"name":"a","image":"x","env":[{"name":"E","value":"1"}]},{"name":"b","image":"y"}]}})";
  run({{"by key", two, R"({"spec":{"containers":[{"name":"b","image":"z"},{"name":"c"}]}})",
        R"({"spec":{"containers":[{"name":"a","image":"x","env":[{"name":"E","value":"1"}]},{"name":"b","image":"z"},{"name":"c"}]}})"},
       {"nested", two,
        R"({"spec":{"containers":[{"name":"a","image":null,"env":[{"name":"F","value":"2"}]}]}})",
        R"({"spec":{"containers":[{"name":"a","env":[{"name":"F","value":"2"},{"name":"E","value":"1"}]},{"name":"b","image":"y"}]}})"},
       {"delete", two, R"({"spec":{"containers":[{"name":"a","$patch":"delete"}]}})",
        R"({"spec":{"containers":[{"name":"b","image":"y"}]}})"},
       {"replace a list", two, R"({"spec":{"containers":[{"name":"n"},{"$patch":"replace"}]}})",
        R"({"spec":{"containers":[{"name":"n"}]}})"},
       {"replace an object", two, R"({"spec":{"$patch":"replace","tolerations":[1]}})",
        R"({"spec":{"tolerations":[1]}})"},
       {"order", two,
        R"({"spec":{"$setElementOrder/containers":[{"name":"b"},{"name":"a"}],"containers":[{"name":"b","image":"q"}]}})",
        R"({"spec":{"containers":[{"name":"b","image":"q"},{"name":"a","image":"x","env":[{"name":"E","value":"1"}]}]}})"},
       {"atomic lists", R"({"spec":{"tolerations":[1,2]}})", R"({"spec":{"tolerations":[3]}})",
        R"({"spec":{"tolerations":[3]}})"},
       {"primitives", R"({"finalizers":["a","b"]})",
        R"({"finalizers":["c","a"],"$deleteFromPrimitiveList/finalizers":["b"]})",
        R"({"finalizers":["c","a"]})"},
       {"retain keys", R"({"spec":{"volumes":[{"name":"v","emptyDir":{}}]}})",
        R"({"spec":{"volumes":[{"$retainKeys":["name","hostPath"],"name":"v","hostPath":{"path":"/"}}]}})",
        R"({"spec":{"volumes":[{"name":"v","hostPath":{"path":"/"}}]}})"},
       {"maps", R"({"labels":{"a":"1","b":"2"}})", R"({"labels":{"a":null,"c":"3"}})",
        R"({"labels":{"b":"2","c":"3"}})"},
       {"new values drop directives", R"({})",
        R"({"spec":{"$retainKeys":["x"],"containers":[{"name":"a","image":null}]}})",
        R"({"spec":{"containers":[{"name":"a"}]}})"},
       {"no key", two, R"({"spec":{"containers":[{"image":"z"}]}})",
        "containers: map: {\"image\":\"z\"} does not contain declared merge key: name"},
       {"bad directive", two, R"({"spec":{"$patch":"x"}})",
        "unknown patch directive 'x' (known: merge, replace, delete)"}},
      [](boost::json::value& target, const boost::json::value& patch) {
        return apply_strategic_patch(target, patch, schemas.find("Pod"));
      });
}

}  // namespace
}  // namespace tau::kube
