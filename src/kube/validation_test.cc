#include "kube/validation.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "kube/schema.h"
#include "kube/types.h"
#include "meta/json.h"
#include "meta/schema_check.h"
#include "meta/yaml.h"

namespace tau::kube {
namespace {

namespace json = boost::json;

json::object object(std::string_view yaml) {
  return meta::parse_yaml(yaml).value().at(0).get_object();
}
std::string defaulted(Kind kind, std::string_view yaml) {
  json::object value = object(yaml);
  apply_defaults(kind, value);
  json::object again = value;
  apply_defaults(kind, again);
  EXPECT_EQ(again, value) << "defaulting is not idempotent";
  EXPECT_EQ(meta::check(value, schema_of(kind)), std::vector<meta::SchemaIssue>{});
  return meta::to_yaml(value);
}

TEST(Defaults, Job) {
  EXPECT_EQ(defaulted(Kind::job, R"(
metadata: {name: j, creationTimestamp: null}
spec:
  template:
    metadata: {labels: {a: b}}
    spec:
      restartPolicy: Never
      containers:
      - {name: c, image: x, resources: {limits: {nvidia.com/gpu: 1, memory: 1024Mi}}}
)"),
            R"(metadata:
  name: j
  labels:
    a: b
spec:
  template:
    metadata:
      labels:
        a: b
    spec:
      restartPolicy: Never
      containers:
      - name: c
        image: x
        resources:
          limits:
            nvidia.com/gpu: "1"
            memory: 1Gi
        imagePullPolicy: Always
        terminationMessagePath: /dev/termination-log
        terminationMessagePolicy: File
      dnsPolicy: ClusterFirst
      schedulerName: default-scheduler
      terminationGracePeriodSeconds: 30
      securityContext: {}
  completions: 1
  parallelism: 1
  backoffLimit: 6
  completionMode: NonIndexed
  suspend: false
  manualSelector: false
  podReplacementPolicy: TerminatingOrFailed
)");
}

TEST(Defaults, Pod) {
  EXPECT_EQ(defaulted(Kind::pod, R"(
metadata: {name: p}
spec:
  containers:
  - {name: c, image: "r:5000/x:1.2", ports: [{containerPort: 80}], resources: {limits: {cpu: 1000m}}, livenessProbe: {httpGet: {port: 80}}}
  volumes: [{name: v}, {name: w, secret: {secretName: s}}]
)"),
            R"(metadata:
  name: p
spec:
  containers:
  - name: c
    image: r:5000/x:1.2
    ports:
    - containerPort: 80
      protocol: TCP
    resources:
      limits:
        cpu: "1"
      requests:
        cpu: "1"
    livenessProbe:
      httpGet:
        port: 80
        path: /
        scheme: HTTP
      timeoutSeconds: 1
      periodSeconds: 10
      successThreshold: 1
      failureThreshold: 3
    imagePullPolicy: IfNotPresent
    terminationMessagePath: /dev/termination-log
    terminationMessagePolicy: File
  volumes:
  - name: v
    emptyDir: {}
  - name: w
    secret:
      secretName: s
      defaultMode: 420
  restartPolicy: Always
  dnsPolicy: ClusterFirst
  schedulerName: default-scheduler
  terminationGracePeriodSeconds: 30
  securityContext: {}
  enableServiceLinks: true
)");
}

TEST(Defaults, SmallKinds) {
  struct Case {
    Kind kind;
    const char* yaml;
    const char* want;
  };
  for (
      const Case& c : std::vector<Case>{
          {Kind::secret, "{stringData: {a: hi}, data: {b: eA==}}",
           R"({"type":"Opaque","data":{"b":"eA==","a":"aGk="}})"},
          {Kind::namespace_, "{metadata: {name: nn}}",
           R"({"metadata":{"name":"nn","labels":{"kubernetes.io/metadata.name":"nn"}},"spec":{},"status":{"phase":"Active"}})"},
          {Kind::priority_class, "{value: 1}",
           R"({"value":1,"preemptionPolicy":"PreemptLowerPriority"})"},
          {Kind::cluster_queue,
           "{spec: {resourceGroups: [{flavors: [{resources: [{nominalQuota: 1000m}]}]}]}}",
           R"({"spec":{"resourceGroups":[{"flavors":[{"resources":[{"nominalQuota":"1"}]}]}],"queueingStrategy":"BestEffortFIFO","stopPolicy":"None",)"
           R"("preemption":{"withinClusterQueue":"Never","reclaimWithinCohort":"Never","borrowWithinCohort":{"policy":"Never"}},)"
           R"("flavorFungibility":{"whenCanBorrow":"MayStopSearch","whenCanPreempt":"TryNextFlavor"}}})"}}) {
    json::object value = object(c.yaml);
    apply_defaults(c.kind, value);
    EXPECT_EQ(meta::to_text(value), c.want);
  }
}

json::object ready(Kind kind, std::string_view yaml) {
  json::object value = object(yaml);
  apply_defaults(kind, value);
  prepare_create(kind, value, "u-1");
  return value;
}

constexpr std::string_view small_job =
    "{metadata: {name: j}, spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, "
    "image: x}]}}}}";

TEST(Prepare, AJobGetsItsSelectorAndLabels) {
  const auto job = meta::decode<Job>(ready(Kind::job, small_job));
  ASSERT_TRUE(job);
  EXPECT_EQ(job->spec.selector->match_labels,
            (StringMap{{"batch.kubernetes.io/controller-uid", "u-1"}}));
  EXPECT_EQ(job->spec.template_.metadata.labels,
            (StringMap{{"batch.kubernetes.io/controller-uid", "u-1"},
                       {"batch.kubernetes.io/job-name", "j"},
                       {"controller-uid", "u-1"},
                       {"job-name", "j"}}));
  EXPECT_EQ(job->metadata.generation, 1);
}

TEST(Prepare, APodGetsItsQosClass) {
  struct Case {
    const char* resources;
    const char* want;
  };
  for (const Case& c :
       std::vector<Case>{{"{}", "BestEffort"},
                         {"{requests: {cpu: 1}}", "Burstable"},
                         {"{limits: {nvidia.com/gpu: 1}}", "BestEffort"},
                         {"{limits: {cpu: 1, memory: 1Gi}}", "Guaranteed"},
                         {"{limits: {cpu: 1, memory: 1Gi}, requests: {cpu: 500m}}", "Burstable"}}) {
    const json::object pod = ready(
        Kind::pod,
        std::string("{metadata: {name: p}, spec: {containers: [{name: c, image: x, resources: ") +
            c.resources + "}]}}");
    EXPECT_EQ(pod.at("status").at("qosClass").as_string(), c.want) << c.resources;
    EXPECT_EQ(pod.at("status").at("phase").as_string(), "Pending");
  }
}

std::string create_errors(Kind kind, std::string_view yaml) {
  return to_text(validate_create(kind, ready(kind, yaml)));
}
std::string pod_errors(std::string_view container, std::string_view rest = "") {
  return create_errors(Kind::pod, "{metadata: {name: p}, spec: {containers: [" +
                                      std::string(container) + "]" + std::string(rest) + "}}");
}

TEST(Validation, Creation) {
  struct Case {
    std::string got;
    const char* want;
  };
  for (const Case& c : std::vector<Case>{
           {create_errors(Kind::job, small_job), ""},
           {create_errors(Kind::job,
                          "{metadata: {name: j}, spec: {parallelism: -1, template: {spec: "
                          "{containers: [{name: c, image: x}]}}}}"),
            "[spec.parallelism: Invalid value: -1: must be greater than or equal to 0, "
            "spec.template.spec.restartPolicy: Required value: valid values: \"OnFailure\", "
            "\"Never\"]"},
           {create_errors(
                Kind::job,
                "{metadata: {name: j}, spec: {completionMode: Indexed, parallelism: 1, template: "
                "{spec: {restartPolicy: Never, containers: [{name: c, image: x}]}}}}"),
            "spec.completions: Required value: when completion mode is Indexed"},
           {create_errors(
                Kind::job,
                "{metadata: {name: j}, spec: {template: {spec: {restartPolicy: Never}}}}"),
            "spec.template.spec.containers: Required value"},
           {create_errors(Kind::config_map, "{metadata: {}}"),
            "metadata.name: Required value: name or generateName is required"},
           {create_errors(Kind::config_map, "{metadata: {name: a_b}}"),
            "metadata.name: Invalid value: \"a_b\": a lowercase RFC 1123 subdomain must consist of "
            "lower case alphanumeric characters, '-' or '.', and must start and end "
            "with an alphanumeric character (e.g. 'example.com', regex used for validation is "
            "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"},
           {create_errors(Kind::config_map, "{metadata: {name: a, labels: {a: b c}}}"),
            "metadata.labels: Invalid value: \"b c\": a valid label must be an empty string or "
            "consist of alphanumeric characters, '-', '_' or '.', and must start and end "
            "with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex "
            "used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"},
           {pod_errors("{name: c, image: x}"), ""},
           {pod_errors("{name: c}"), "spec.containers[0].image: Required value"},
           {pod_errors("{name: c, image: x, resources: {requests: {cpu: 2}, limits: {cpu: 1}}}"),
            "spec.containers[0].resources.requests: Invalid value: \"2\": must be less than or "
            "equal to cpu limit of 1"},
           {pod_errors("{name: c, image: x, resources: {requests: {nvidia.com/gpu: 1}, limits: "
                       "{nvidia.com/gpu: 2}}}"),
            "spec.containers[0].resources.requests: Invalid value: \"1\": must be equal to "
            "nvidia.com/gpu limit of 2"},
           {pod_errors("{name: c, image: x, resources: {requests: {nvidia.com/gpu: 1}}}"),
            "spec.containers[0].resources.limits: Required value: Limit must be set for non "
            "overcommitable resources"},
           {pod_errors("{name: c, image: x, resources: {limits: {nvidia.com/gpu: 500m}}}"),
            "[spec.containers[0].resources.limits[nvidia.com/gpu]: Invalid value: \"500m\": must "
            "be an integer, "
            "spec.containers[0].resources.requests[nvidia.com/gpu]: Invalid value: \"500m\": must "
            "be an integer]"},
           {pod_errors("{name: c, image: x}, {name: c, image: z}"),
            "spec.containers[1].name: Duplicate value: \"c\""},
           {pod_errors("{name: c, image: x, volumeMounts: [{name: v, mountPath: /v}]}"),
            "spec.containers[0].volumeMounts[0].name: Not found: \"v\""},
           {pod_errors("{name: c, image: x}", ", restartPolicy: Sometimes"),
            "spec.restartPolicy: Unsupported value: \"Sometimes\": supported values: \"Always\", "
            "\"OnFailure\", \"Never\""},
           {pod_errors("{name: c, image: x}", ", tolerations: [{operator: Equal}]"),
            "spec.tolerations[0].operator: Invalid value: \"Equal\": operator must be Exists when "
            "`key` is empty, which means \"match all values and all keys\""},
           {create_errors(
                Kind::cluster_queue,
                "{metadata: {name: q}, spec: {resourceGroups: [{coveredResources: [cpu], flavors: "
                "[{name: f, resources: [{name: cpu, nominalQuota: 1, borrowingLimit: 1}]}]}]}}"),
            "spec.resourceGroups[0].flavors[0].resources[0].borrowingLimit: Invalid value: \"1\": "
            "must be nil when cohort is empty"},
           {create_errors(Kind::local_queue, "{metadata: {name: q}, spec: {}}"),
            "spec.clusterQueue: Required value"},
           {create_errors(Kind::topology,
                          "{metadata: {name: t}, spec: {levels: [{nodeLabel: "
                          "kubernetes.io/hostname}, {nodeLabel: rack}]}}"),
            "spec.levels[0].nodeLabel: Invalid value: \"kubernetes.io/hostname\": must only be "
            "used at the lowest level of topology"},
       }) {
    EXPECT_EQ(c.got, c.want);
  }
}

std::string update_errors(Kind kind, std::string_view old_yaml, std::string_view patch) {
  const json::object old = ready(kind, old_yaml);
  json::value now = old;
  for (const auto& [pointer, value] : object(patch)) now.at_pointer(pointer) = value;
  apply_defaults(kind, now.as_object());
  return to_text(validate_update(kind, now.as_object(), old, ""));
}

TEST(Validation, Updates) {
  const std::string suspended =
      "{metadata: {name: j}, spec: {suspend: true, template: {metadata: {annotations: {}}, spec: "
      "{restartPolicy: Never, nodeSelector: {}, containers: [{name: c, image: x}]}}}}";
  const std::string pod =
      "{metadata: {name: p}, spec: {nodeSelector: {}, tolerations: [], containers: [{name: c, "
      "image: x, command: [a]}]}}";
  struct Case {
    std::string got;
    const char* want;
  };
  for (const Case& c : std::vector<Case>{
           {update_errors(Kind::job, small_job,
                          "{/spec/parallelism: 3, /spec/suspend: true, /spec/backoffLimit: 1}"),
            ""},
           {update_errors(Kind::job, small_job, "{/spec/completions: 3}"),
            "spec.completions: Invalid value: 3: field is immutable"},
           {update_errors(Kind::job, small_job, "{/metadata/name: k}"),
            "metadata.name: Invalid value: \"k\": field is immutable"},
           {update_errors(Kind::job, suspended,
                          "{/spec/template/spec/nodeSelector: {a: b}, /spec/suspend: false}"),
            ""},
           {update_errors(
                Kind::pod, pod,
                "{/spec/containers/0/image: z, /spec/tolerations: [{key: a, operator: Exists}]}"),
            ""},
           {update_errors(Kind::priority_class, "{metadata: {name: p}, value: 1}", "{/value: 2}"),
            "value: Invalid value: 2: field is immutable"},
           {update_errors(Kind::local_queue, "{metadata: {name: p}, spec: {clusterQueue: a}}",
                          "{/spec/clusterQueue: b}"),
            "spec.clusterQueue: Invalid value: \"b\": field is immutable"},
           {update_errors(Kind::config_map, "{metadata: {name: p}, immutable: true, data: {a: b}}",
                          "{/data/a: c}"),
            "data: Forbidden: field is immutable when `immutable` is set"},
       }) {
    EXPECT_EQ(c.got, c.want);
  }
  EXPECT_TRUE(update_errors(Kind::job, small_job, "{/spec/template/spec/containers/0/image: z}")
                  .starts_with("spec.template: Invalid value: {"));
  EXPECT_TRUE(update_errors(Kind::job, suspended, "{/spec/template/spec/containers/0/image: z}")
                  .ends_with("field is immutable"));
  EXPECT_TRUE(update_errors(Kind::pod, pod, "{/spec/containers/0/command: [b]}")
                  .starts_with("spec: Forbidden: pod updates may not change fields other than "
                               "`spec.containers[*].image`"));
  EXPECT_TRUE(update_errors(Kind::pod, pod, "{/spec/nodeSelector: {a: b}}")
                  .starts_with("spec: Forbidden: "));
}

}  // namespace
}  // namespace tau::kube
