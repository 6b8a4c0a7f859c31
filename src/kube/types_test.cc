// Every kind: JSON to struct and back gives the JSON again.
#include "kube/types.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <boost/json.hpp>

#include "kube/codec.h"
#include "kube/schema.h"
#include "kube/views.h"
#include "meta/json.h"
#include "meta/schema_check.h"
#include "meta/yaml.h"

namespace tau::kube {
namespace {

template <class T>
void expect_round_trip(std::string_view yaml) {
  boost::json::value wanted = meta::parse_yaml(yaml).value().at(0);
  EXPECT_EQ(meta::check(wanted, schema_of(kind_of<T>)), std::vector<meta::SchemaIssue>{});
  const Result<T> object = meta::decode<T>(wanted);
  ASSERT_TRUE(object) << object.error().message;
  wanted.as_object()["apiVersion"] = api_version(info(kind_of<T>));
  wanted.as_object()["kind"] = info(kind_of<T>).kind_name;
  const boost::json::object got = encode_object(*object);
  EXPECT_EQ(boost::json::value(got), wanted);
}

TEST(Types, CoreKindsSurviveTheRoundTrip) {
  expect_round_trip<Namespace>(
      "{metadata: {name: a, labels: {b: c}}, spec: {finalizers: [kubernetes]}, status: {phase: "
      "Active, "
      "conditions: [{type: X, status: 'True'}]}}");
  expect_round_trip<Node>(
      "{metadata: {name: a}, spec: {unschedulable: true, providerID: x, taints: [{key: a, value: "
      "b, "
      "effect: NoSchedule}]}, status: {capacity: {cpu: '8'}, allocatable: {cpu: '8'}, conditions: "
      "[{type: Ready, "
      "status: 'True', lastHeartbeatTime: '2026-12-01T00:00:00Z', lastTransitionTime: "
      "'2026-12-01T00:00:00Z'}], "
      "addresses: [{type: Hostname, address: a}], nodeInfo: {machineID: a, systemUUID: b, bootID: "
      "c, "
      "kernelVersion: d, osImage: e, containerRuntimeVersion: f, kubeletVersion: g, "
      "kubeProxyVersion: h, "
      "operatingSystem: i, architecture: j}}}");
  expect_round_trip<ConfigMap>(
      "{metadata: {name: a}, data: {a: b}, binaryData: {c: eA==}, immutable: true}");
  expect_round_trip<Secret>("{metadata: {name: a}, type: Opaque, data: {a: eA==}}");
  expect_round_trip<ServiceAccount>("{metadata: {name: a, namespace: b}}");
  expect_round_trip<PriorityClass>(
      "{metadata: {name: a}, value: 0, description: d, preemptionPolicy: Never}");
  expect_round_trip<Lease>(
      "{metadata: {name: a}, spec: {holderIdentity: me, leaseDurationSeconds: 15, "
      "leaseTransitions: 2, "
      "acquireTime: '2026-12-01T00:00:00.000001Z', renewTime: '2026-12-01T00:00:01.000000Z'}}");
  expect_round_trip<Event>(
      "{metadata: {name: a}, involvedObject: {apiVersion: v1, kind: Pod, name: p, namespace: nn, "
      "uid: u}, "
      "reason: R, message: m, type: Normal, source: {component: c, host: h}, count: 2, action: A, "
      "reportingComponent: r, reportingInstance: i, firstTimestamp: '2026-12-01T00:00:00Z', "
      "lastTimestamp: '2026-12-01T00:00:00Z', eventTime: '2026-12-01T00:00:00.000005Z'}");
}

TEST(Types, APodSurvivesTheRoundTrip) {
  expect_round_trip<Pod>(R"(
metadata:
  name: p
  generateName: p-
  uid: u
  resourceVersion: "5"
  generation: 2
  creationTimestamp: "2026-12-01T00:00:00Z"
  deletionTimestamp: "2026-12-01T00:00:30Z"
  deletionGracePeriodSeconds: 30
  finalizers: [a/b]
  ownerReferences: [{apiVersion: batch/v1, kind: Job, name: j, uid: v, controller: true, blockOwnerDeletion: true}]
spec:
  nodeName: nn
  schedulerName: s
  restartPolicy: Never
  serviceAccountName: default
  priorityClassName: high
  priority: 5
  terminationGracePeriodSeconds: 30
  activeDeadlineSeconds: 9
  hostname: h
  subdomain: d
  hostNetwork: true
  nodeSelector: {a: b}
  overhead: {cpu: 10m}
  schedulingGates: [{name: g}]
  tolerations: [{key: k, operator: Exists, effect: NoExecute, tolerationSeconds: 300}]
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms: [{matchExpressions: [{key: k, operator: In, values: [v]}]}]
      preferredDuringSchedulingIgnoredDuringExecution:
      - {weight: 3, preference: {matchFields: [{key: metadata.name, operator: In, values: [v]}]}}
  initContainers: [{name: i, image: x, restartPolicy: Always, resources: {}}]
  containers:
  - name: c
    image: x
    imagePullPolicy: Always
    command: [a]
    args: [b]
    workingDir: /w
    terminationMessagePath: /t
    ports: [{name: http, containerPort: 80, hostPort: 81, protocol: TCP}]
    env:
    - {name: A, value: b}
    - {name: B, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
    - {name: C, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}
    - {name: D, valueFrom: {configMapKeyRef: {name: m, key: k, optional: true}}}
    - {name: E, valueFrom: {secretKeyRef: {name: m, key: k}}}
    envFrom: [{prefix: p, configMapRef: {name: m}}, {secretRef: {name: s, optional: true}}]
    resources: {requests: {cpu: "1"}, limits: {nvidia.com/gpu: "8"}}
    volumeMounts: [{name: v, mountPath: /v, subPath: s, readOnly: true}]
  volumes:
  - {name: a, emptyDir: {medium: Memory}}
  - {name: b, configMap: {name: m, items: [{key: k, path: p, mode: 420}], optional: true}}
  - {name: c, secret: {secretName: s}}
  - {name: d, hostPath: {path: /h, type: Directory}}
status:
  phase: Running
  reason: R
  message: m
  hostIP: 10.0.0.1
  podIP: 10.0.0.2
  qosClass: Burstable
  nominatedNodeName: nn
  startTime: "2026-12-01T00:00:00Z"
  conditions: [{type: Ready, status: "True", lastProbeTime: "2026-12-01T00:00:00Z"}]
  containerStatuses:
  - name: c
    image: x
    imageID: yy
    containerID: z
    ready: true
    started: true
    restartCount: 1
    state: {running: {startedAt: "2026-12-01T00:00:00Z"}}
    lastState: {terminated: {exitCode: 0, signal: 9, reason: Error, message: m, containerID: q, startedAt: "2026-12-01T00:00:00Z", finishedAt: "2026-12-01T00:00:01Z"}}
  initContainerStatuses:
  - {name: i, image: x, imageID: "", ready: false, restartCount: 0, lastState: {}, state: {waiting: {reason: W, message: m}}}
)");
}

TEST(Types, AJobSurvivesTheRoundTrip) {
  expect_round_trip<Job>(
      "{metadata: {name: j}, spec: {parallelism: 0, completions: 2, backoffLimit: 0, "
      "activeDeadlineSeconds: 5, "
      "ttlSecondsAfterFinished: 0, completionMode: Indexed, suspend: false, manualSelector: true, "
      "selector: {matchLabels: {a: b}, matchExpressions: [{key: k, operator: Exists}]}, "
      "podReplacementPolicy: Failed, managedBy: x/y, template: {metadata: {labels: {a: b}}, "
      "spec: {restartPolicy: Never, containers: [{name: c, image: x, resources: {}}]}}}, status: "
      "{active: 1, succeeded: 2, "
      "failed: 3, ready: 0, terminating: 0, completedIndexes: 0-1, startTime: "
      "'2026-12-01T00:00:00Z', "
      "completionTime: '2026-12-01T00:00:01Z', conditions: [{type: Complete, status: 'True'}], "
      "uncountedTerminatedPods: {succeeded: [a], failed: [b]}}}");
}

TEST(Types, KueuesKindsSurviveTheRoundTrip) {
  expect_round_trip<ResourceFlavor>(
      "{metadata: {name: f}, spec: {nodeLabels: {a: b}, nodeTaints: [{key: a, effect: "
      "NoSchedule}], "
      "tolerations: [{key: a, operator: Exists}], topologyName: t}}");
  expect_round_trip<ClusterQueue>(
      "{metadata: {name: q}, spec: {cohortName: c, queueingStrategy: StrictFIFO, stopPolicy: Hold, "
      "namespaceSelector: {}, fairSharing: {weight: '2'}, resourceGroups: [{coveredResources: "
      "[cpu], "
      "flavors: [{name: f, resources: [{name: cpu, nominalQuota: '0', borrowingLimit: '1', "
      "lendingLimit: '0'}]}]}], "
      "preemption: {withinClusterQueue: LowerPriority, reclaimWithinCohort: Any, "
      "borrowWithinCohort: "
      "{policy: LowerPriority, maxPriorityThreshold: 5}}, flavorFungibility: {whenCanBorrow: "
      "TryNextFlavor, "
      "whenCanPreempt: MayStopSearch}}, status: {pendingWorkloads: 1, reservingWorkloads: 2, "
      "admittedWorkloads: 3, flavorsReservation: [{name: f, resources: [{name: cpu, total: '1', "
      "borrowed: '0'}]}], "
      "flavorsUsage: [{name: f, resources: [{name: cpu, total: '1', borrowed: '0'}]}], "
      "conditions: [{type: Active, status: 'True', reason: Ready}]}}");
  expect_round_trip<LocalQueue>(
      "{metadata: {name: q}, spec: {clusterQueue: c, stopPolicy: None}, status: {pendingWorkloads: "
      "1, "
      "reservingWorkloads: 2, admittedWorkloads: 3}}");
  expect_round_trip<Cohort>(
      "{metadata: {name: c}, spec: {parentName: p, fairSharing: {weight: '2'}}}");
  expect_round_trip<WorkloadPriorityClass>("{metadata: {name: c}, value: 5, description: d}");
  expect_round_trip<Topology>(
      "{metadata: {name: t}, spec: {levels: [{nodeLabel: rack}, {nodeLabel: host}]}}");
  expect_round_trip<Workload>(
      "{metadata: {name: w}, spec: {podSets: [{name: main, count: 2, minCount: 1, template: "
      "{metadata: {}, spec: {containers: "
      "[{name: c, image: x, resources: {}}]}}, topologyRequest: {required: rack}}], queueName: q, "
      "priorityClassRef: "
      "{group: kueue.x-k8s.io, kind: WorkloadPriorityClass, name: p}, priority: 5, active: true, "
      "maximumExecutionTimeSeconds: 60}, status: {admission: {clusterQueue: c, podSetAssignments: "
      "[{name: main, "
      "flavors: {cpu: f}, resourceUsage: {cpu: '2'}, count: 2, topologyAssignment: {levels: "
      "[host], slices: "
      "[{domainCount: 2, valuesPerLevel: [{individual: {roots: [a, b]}}], podCounts: {individual: "
      "[1, 1]}}]}}]}, "
      "conditions: [{type: QuotaReserved, status: 'True', observedGeneration: 1}], requeueState: "
      "{count: 1, "
      "requeueAt: '2026-12-01T00:00:00Z'}, accumulatedPastExecutionTimeSeconds: 5}}");
}

TEST(Types, ATopologyAssignmentHoldsAValueForEachLevelAndABoundedNumberOfDomains) {
  const auto read = [](std::string_view slices) {
    const std::string text = fmt::format(
        "{{status: {{admission: {{podSetAssignments: [{{topologyAssignment: {{levels: [rack, "
        "host], "
        "slices: [{}]}}}}]}}}}}}",
        slices);
    return meta::decode<Workload>(meta::parse_yaml(text)->front());
  };
  const auto none = read("{domainCount: 1, valuesPerLevel: [{universal: r}]}");
  ASSERT_TRUE(none);
  EXPECT_EQ(none->status.admission->pod_set_assignments[0].topology_assignment->domains,
            (std::vector<TopologyDomain>{{.values = {"r", ""}}}));
  const auto many = read("{domainCount: 60000}, {domainCount: 60000}");
  ASSERT_FALSE(many);
  EXPECT_TRUE(
      many.error().message.ends_with("domainCount must be 0 to 100000, all slices together"));
}

TEST(Types, ConditionsMoveTheirTimeOnlyWithTheStatus) {
  const Time first = *parse_rfc3339("2026-12-01T00:00:00Z"), later = first + seconds(60);
  std::vector<Condition> conditions;
  EXPECT_TRUE(
      set_condition(conditions, {.type = "Ready", .status = "False", .reason = "A"}, first));
  EXPECT_FALSE(
      set_condition(conditions, {.type = "Ready", .status = "False", .reason = "A"}, later));
  EXPECT_TRUE(
      set_condition(conditions, {.type = "Ready", .status = "False", .reason = "B"}, later));
  EXPECT_EQ(find_condition(conditions, "Ready")->last_transition_time, first);
  EXPECT_FALSE(is_true(conditions, "Ready"));
  EXPECT_TRUE(set_condition(conditions, {.type = "Ready", .status = "True"}, later));
  EXPECT_EQ(find_condition(conditions, "Ready")->last_transition_time, later);
  EXPECT_TRUE(is_true(conditions, "Ready"));
  EXPECT_EQ(find_condition(conditions, "Other"), nullptr);
}

TEST(Types, AViewLeavesOutWhatIsNotKnown) {
  RunView run{.id = "r-1", .phase = "Queued"};
  run.gpus = 0;
  const auto value = meta::encode(run);
  EXPECT_EQ(meta::string_at(value, "id"), "r-1");
  EXPECT_TRUE(meta::find_path(value, "gpus") != nullptr);  // known to be 0
  EXPECT_TRUE(meta::find_path(value, "pods") == nullptr);  // not known
  const auto back = meta::decode<RunView>(value);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->gpus, 0);
  EXPECT_EQ(back->pods, std::nullopt);
}

}  // namespace
}  // namespace tau::kube
