#include "kube/table.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "meta/json.h"
#include "meta/yaml.h"

namespace tau::kube {
namespace {

const Time now = *parse_rfc3339("2026-12-01T12:00:00Z");

std::string row(Kind kind, std::string_view yaml) {
  const auto object = meta::parse_yaml(yaml).value().at(0).get_object();
  const boost::json::array got = cells(kind, object, now);
  EXPECT_EQ(got.size(), columns(kind).size());
  std::string text;
  for (const auto& cell : got)
    text += (text.empty() ? "" : "|") +
            (cell.is_string() ? std::string(cell.get_string()) : meta::to_text(cell));
  return text;
}

TEST(Table, PodStatusWords) {
  struct Case {
    const char* status;
    const char* want;
  };
  for (
      const Case& c : std::vector<Case>{
          {"{phase: Pending}", "Pending"},
          {"{phase: Pending, containerStatuses: [{state: {waiting: {reason: ContainerCreating}}}]}",
           "ContainerCreating"},
          {"{phase: Running, containerStatuses: [{ready: true, state: {running: {}}}]}", "Running"},
          {"{phase: Running, containerStatuses: [{state: {waiting: {reason: CrashLoopBackOff}}}]}",
           "CrashLoopBackOff"},
          {"{phase: Succeeded, containerStatuses: [{state: {terminated: {exitCode: 0, reason: "
           "Completed}}}]}",
           "Completed"},
          {"{phase: Failed, containerStatuses: [{state: {terminated: {exitCode: 1, reason: "
           "Error}}}]}",
           "Error"},
          {"{phase: Failed, containerStatuses: [{state: {terminated: {exitCode: 137, signal: "
           "9}}}]}",
           "Signal:9"},
          {"{phase: Failed, containerStatuses: [{state: {terminated: {exitCode: 3}}}]}",
           "ExitCode:3"},
          {"{phase: Failed, reason: Evicted}", "Evicted"},
          {"{phase: Pending, initContainerStatuses: [{name: i, state: {running: {}}}]}",
           "Init:0/1"},
          {"{phase: Pending, initContainerStatuses: [{name: i, state: {terminated: {exitCode: 1, "
           "reason: Error}}}]}",
           "Init:Error"},
          {"{phase: Pending, conditions: [{type: PodScheduled, status: 'False', reason: "
           "SchedulingGated}]}",
           "SchedulingGated"}}) {
    const auto pod =
        meta::parse_yaml("{spec: {containers: [{name: c}], initContainers: [{name: i}]}, status: " +
                         std::string(c.status) + "}");
    ASSERT_TRUE(pod) << c.status;
    EXPECT_EQ(pod_status_word(pod->at(0).get_object()), c.want) << c.status;
  }
  const auto gone = meta::parse_yaml(
      "{metadata: {deletionTimestamp: '2026-12-01T11:00:00Z'}, status: {phase: Running}}");
  EXPECT_EQ(pod_status_word(gone->at(0).get_object()), "Terminating");
}

TEST(Table, Rows) {
  struct Case {
    Kind kind;
    const char* yaml;
    const char* want;
  };
  for (const Case& c : std::vector<Case>{
           {Kind::pod,
            "{metadata: {name: p, creationTimestamp: '2026-12-01T11:00:00Z'}, spec: {nodeName: "
            "sim-0, containers: [{name: c}, {name: d}]}, status: {phase: Running, podIP: 10.0.0.1, "
            "containerStatuses: [{ready: true, restartCount: 2, state: {running: {}}, lastState: "
            "{terminated: {finishedAt: '2026-12-01T11:58:00Z'}}}, {state: {running: {}}}]}}",
            "p|1/2|Running|2 (2m ago)|60m|10.0.0.1|sim-0|<none>|<none>"},
           {Kind::job,
            "{metadata: {name: j, creationTimestamp: '2026-12-01T11:59:00Z'}, spec: {completions: "
            "2, selector: {matchLabels: {b: c, a: b}}, template: {spec: {containers: [{name: c, "
            "image: x}]}}}, "
            "status: {succeeded: 1, startTime: '2026-12-01T11:59:30Z'}}",
            "j|Running|1/2|30s|60s|c|x|a=b,b=c"},
           {Kind::job,
            "{metadata: {name: j}, spec: {parallelism: 3}, status: {conditions: [{type: Suspended, "
            "status: 'True'}]}}",
            "j|Suspended|0/1 of 3||<unknown>|||<none>"},
           {Kind::node,
            "{metadata: {name: sim-0, creationTimestamp: '2026-12-01T11:00:00Z', labels: "
            "{node-role.kubernetes.io/gpu: ''}}, spec: {unschedulable: true}, "
            "status: {conditions: [{type: Ready, status: 'True'}], nodeInfo: {kubeletVersion: v1, "
            "kernelVersion: '6.1', architecture: amd64}, addresses: [{type: InternalIP, address: "
            "10.0.0.2}]}}",
            "sim-0|Ready,SchedulingDisabled|gpu|60m|v1|10.0.0.2|<none>|<unknown>|6.1 "
            "(amd64)|<unknown>"},
           {Kind::event,
            "{metadata: {name: e}, type: Normal, reason: Scheduled, message: ' hi ', "
            "involvedObject: {kind: Pod, name: p}, source: {component: tau}, "
            "firstTimestamp: '2026-12-01T11:59:00Z', lastTimestamp: '2026-12-01T11:59:50Z', count: "
            "3}",
            "10s|Normal|Scheduled|pod/p||tau|hi|60s|3|e"},
           {Kind::config_map, "{metadata: {name: c}, data: {a: b}, binaryData: {c: eA==}}",
            "c|2|<unknown>"},
           {Kind::secret, "{metadata: {name: s}, type: Opaque, data: {a: eA==}}",
            "s|Opaque|1|<unknown>"},
           {Kind::namespace_, "{metadata: {name: default}, status: {phase: Active}}",
            "default|Active|<unknown>"},
           {Kind::priority_class, "{metadata: {name: high}, value: 5}", "high|5|false|<unknown>|"},
           {Kind::lease, "{metadata: {name: l}, spec: {holderIdentity: me}}", "l|me|<unknown>"},
           {Kind::cluster_queue,
            "{metadata: {name: q}, spec: {cohortName: all, queueingStrategy: StrictFIFO}, status: "
            "{pendingWorkloads: 2}}",
            "q|all|StrictFIFO|2|0"},
           {Kind::local_queue, "{metadata: {name: q}, spec: {clusterQueue: cq}}", "q|cq|0|0"},
           {Kind::workload,
            "{metadata: {name: w}, spec: {queueName: q}, status: {admission: {clusterQueue: cq}, "
            "conditions: [{type: Admitted, status: 'True'}]}}",
            "w|q|cq|True||<unknown>"},
           {Kind::topology, "{metadata: {name: t}}", "t|<unknown>"}}) {
    EXPECT_EQ(row(c.kind, c.yaml), c.want);
  }
}

TEST(Table, EveryKindAnswersForAnEmptyObject) {
  for (const ResourceInfo& resource : all_resources()) {
    EXPECT_EQ(cells(resource.kind, {}, now).size(), columns(resource.kind).size())
        << resource.kind_name;
  }
}

}  // namespace
}  // namespace tau::kube
