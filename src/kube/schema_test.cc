#include "kube/schema.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <set>

#include "kube/types.h"
#include "meta/json.h"
#include "meta/openapi.h"
#include "meta/schema_check.h"
#include "meta/yaml.h"

namespace tau::kube {
namespace {

std::vector<std::string> issues(Kind kind, std::string_view yaml) {
  std::vector<std::string> found;
  for (const meta::SchemaIssue& issue :
       meta::check(meta::parse_yaml(yaml).value().at(0), schema_of(kind))) {
    found.push_back(issue.message);
  }
  return found;
}

constexpr std::string_view full_job = R"(
apiVersion: batch/v1
kind: Job
metadata:
  name: train
  labels: {app: x}
  ownerReferences: [{apiVersion: v1, kind: Pod, name: p, uid: u, controller: true, blockOwnerDeletion: true}]
  managedFields: [{manager: kubectl, operation: Update, fieldsV1: {"f:metadata": {}}}]
spec:
  parallelism: 2
  completionMode: Indexed
  backoffLimitPerIndex: 1
  maxFailedIndexes: 1
  podFailurePolicy:
    rules:
    - {action: Ignore, onPodConditions: [{type: DisruptionTarget, status: "True"}]}
    - {action: FailJob, onExitCodes: {containerName: main, operator: In, values: [42]}}
  successPolicy: {rules: [{succeededIndexes: "0", succeededCount: 1}]}
  template:
    metadata: {annotations: {a: b}}
    spec:
      restartPolicy: Never
      affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms: [{matchExpressions: [{key: k, operator: In, values: [v]}]}]
        podAntiAffinity:
          preferredDuringSchedulingIgnoredDuringExecution:
          - weight: 1
            podAffinityTerm: {labelSelector: {matchLabels: {a: b}}, topologyKey: kubernetes.io/hostname}
      topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {}}]
      securityContext: {runAsUser: 1, fsGroup: 2, seccompProfile: {type: RuntimeDefault}, sysctls: [{name: a, value: b}]}
      dnsConfig: {nameservers: [1.1.1.1], options: [{name: ndots, value: "1"}]}
      hostAliases: [{ip: 1.1.1.1, hostnames: [a]}]
      resourceClaims: [{name: c, resourceClaimTemplateName: t}]
      initContainers: [{name: i, image: x, restartPolicy: Always}]
      ephemeralContainers: [{name: e, image: x, targetContainerName: main}]
      containers:
      - name: main
        image: x
        ports: [{containerPort: 80, hostIP: 1.1.1.1, protocol: TCP}]
        env:
        - {name: A, valueFrom: {fieldRef: {apiVersion: v1, fieldPath: metadata.name}}}
        - {name: B, valueFrom: {resourceFieldRef: {containerName: main, resource: limits.cpu, divisor: 1m}}}
        - {name: C, valueFrom: {secretKeyRef: {name: s, key: k, optional: true}}}
        envFrom: [{prefix: p, configMapRef: {name: c, optional: true}}]
        livenessProbe: {httpGet: {path: /, port: http, httpHeaders: [{name: a, value: b}]}, periodSeconds: 1}
        readinessProbe: {grpc: {port: 1, service: s}}
        startupProbe: {tcpSocket: {port: 80}}
        lifecycle: {preStop: {sleep: {seconds: 1}}, postStart: {exec: {command: [a]}}}
        resources: {limits: {nvidia.com/gpu: 1, cpu: 1.5}, requests: {memory: 1Gi}, claims: [{name: c, request: r}]}
        resizePolicy: [{resourceName: cpu, restartPolicy: NotRequired}]
        securityContext: {capabilities: {add: [NET_ADMIN]}, privileged: true, windowsOptions: {hostProcess: false}}
        volumeMounts: [{name: v, mountPath: /v, subPathExpr: x, mountPropagation: None, recursiveReadOnly: Disabled}]
        volumeDevices: [{name: v, devicePath: /dev/x}]
      volumes:
      - {name: a, emptyDir: {medium: Memory, sizeLimit: 1Gi}}
      - {name: b, projected: {defaultMode: 420, sources: [{serviceAccountToken: {path: t, audience: a}}, {downwardAPI: {items: [{path: p, fieldRef: {fieldPath: metadata.labels}}]}}]}}
      - {name: c, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}}
      - {name: d, csi: {driver: x, volumeAttributes: {a: b}}}
      - {name: e, persistentVolumeClaim: {claimName: c, readOnly: true}}
      - {name: f, nfs: {server: s, path: /}}
)";

TEST(Schema, KnowsEveryFieldOfAJob) {
  EXPECT_EQ(issues(Kind::job, full_job), std::vector<std::string>{});
}

TEST(Schema, FindsSlipsDeepInside) {
  EXPECT_EQ(issues(Kind::job,
                   "{spec: {backoffLimits: 1, template: {spec: {containers: [{nam: a, "
                   "livenessProbe: {httpGett: {}}}]}}}}"),
            (std::vector<std::string>{
                "unknown field \"spec.backoffLimits\"",
                "unknown field \"spec.template.spec.containers[0].nam\"",
                "unknown field \"spec.template.spec.containers[0].livenessProbe.httpGett\""}));
  EXPECT_EQ(issues(Kind::job, "{spec: {parallelism: two}}"),
            (std::vector<std::string>{"json: cannot unmarshal string into Go struct field "
                                      "JobSpec.spec.parallelism of type int32"}));
}

TEST(Schema, NamesAndMergeKeysAreUpstreams) {
  const meta::TypeInfo& pod = schema_of(Kind::pod);
  EXPECT_EQ(pod.name, "io.k8s.api.core.v1.Pod");
  const meta::TypeInfo& spec = pod.find("spec")->type();
  EXPECT_EQ(spec.find("containers")->merge_key, "name");
  EXPECT_EQ(spec.find("tolerations")->merge_key, "");
  EXPECT_TRUE(spec.find("volumes")->retains_keys);
  const meta::TypeInfo& container = spec.find("containers")->type().element();
  EXPECT_EQ(container.find("ports")->merge_key, "containerPort");
  EXPECT_EQ(container.find("volumeMounts")->merge_key, "mountPath");
  EXPECT_EQ(container.find("env")->type().element().find("valueFrom")->type().name,
            "io.k8s.api.core.v1.EnvVarSource");
  EXPECT_TRUE(schema_of(Kind::job).find("spec")->type().find("parallelism")->type().is_int32);
  EXPECT_EQ(pod.find("status")->type().find("conditions")->type().element().name,
            "io.k8s.api.core.v1.PodCondition");
}

// Whatever a description, an enumeration or a default says must be usable, for every kind.
TEST(Schema, EveryKindCanBeDescribed) {
  std::vector<meta::OpenApiKind> kinds;
  for (const ResourceInfo& resource : all_resources()) {
    kinds.push_back(
        {&schema_of(resource.kind), resource.group, resource.version, resource.kind_name});
  }
  const boost::json::object schemas = meta::openapi_v3_schemas(kinds);
  std::string missing;
  for (const auto& [name, schema] : schemas) {
    if (!schema.get_object().contains("description")) missing += std::string(name) + " ";
    const boost::json::value* properties = schema.get_object().if_contains("properties");
    if (properties == nullptr) continue;
    for (const auto& [field, property] : properties->get_object()) {
      if (!property.get_object().contains("description"))
        missing += std::string(name) + "." + std::string(field) + " ";
    }
  }
  EXPECT_EQ(missing, "");
}

TEST(Schema, AJobSurvivesDecodingAndEncoding) {
  const auto value = meta::parse_yaml(full_job).value().at(0);
  const auto job = meta::decode<Job>(value);
  ASSERT_TRUE(job) << job.error().message;
  EXPECT_EQ(
      job->spec.template_.spec.required_node_affinity.at(0).match_expressions.at(0).values.at(0),
      "v");
  EXPECT_EQ(job->spec.template_.spec.containers.at(0).env.at(0).field_path, "metadata.name");
  EXPECT_EQ(job->spec.template_.spec.containers.at(0).resources.limits.at("cpu"), "1.5");
  const auto again = meta::decode<Job>(meta::encode(*job));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, *job);
}

}  // namespace
}  // namespace tau::kube
