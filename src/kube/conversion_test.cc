#include "kube/conversion.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <set>

#include "kube/reasons.h"
#include "meta/json.h"
#include "meta/yaml.h"

namespace tau::kube {
namespace {

boost::json::value read(std::string_view yaml) {
  return meta::parse_yaml(yaml).value().at(0);
}

TEST(Conversion, KueueObjectsBothWays) {
  struct Case {
    Kind kind;
    const char* old_form;
    const char* new_form;
  };
  for (const Case& c : std::vector<Case>{
           {Kind::cluster_queue,
            "{apiVersion: kueue.x-k8s.io/v1beta1, spec: {cohort: all, stopPolicy: None}}",
            "{apiVersion: kueue.x-k8s.io/v1beta2, spec: {cohortName: all, stopPolicy: None}}"},
           {Kind::local_queue,
            "{apiVersion: kueue.x-k8s.io/v1beta1, status: {flavorUsage: [{name: f}]}}",
            "{apiVersion: kueue.x-k8s.io/v1beta2, status: {flavorsUsage: [{name: f}]}}"},
           {Kind::workload,
            "{apiVersion: kueue.x-k8s.io/v1beta1, spec: {priorityClassSource: "
            "kueue.x-k8s.io/workloadpriorityclass, priorityClassName: p}, status: "
            "{accumulatedPastExexcutionTimeSeconds: 5, "
            "admission: {podSetAssignments: [{topologyAssignment: {levels: [rack, host], domains: "
            "[{values: [r, a], count: 1}, {values: [r, b], count: 2}]}}]}}}",
            "{apiVersion: kueue.x-k8s.io/v1beta2, spec: {priorityClassRef: {group: kueue.x-k8s.io, "
            "kind: WorkloadPriorityClass, name: p}}, status: {accumulatedPastExecutionTimeSeconds: "
            "5, "
            "admission: {podSetAssignments: [{topologyAssignment: {levels: [rack, host], slices: "
            "[{domainCount: 2, valuesPerLevel: [{individual: {roots: [r, r]}}, {individual: "
            "{roots: [a, b]}}], "
            "podCounts: {individual: [1, 2]}}]}}]}}}"},
           {Kind::resource_flavor,
            "{apiVersion: kueue.x-k8s.io/v1beta1, spec: {nodeLabels: {a: b}}}",
            "{apiVersion: kueue.x-k8s.io/v1beta2, spec: {nodeLabels: {a: b}}}"}}) {
    boost::json::value object = read(c.old_form);
    ASSERT_TRUE(convert(c.kind, object.as_object(), "v1beta1", "v1beta2"));
    EXPECT_EQ(object, read(c.new_form)) << meta::to_text(object);
    ASSERT_TRUE(convert(c.kind, object.as_object(), "v1beta2", "v1beta1"));
    EXPECT_EQ(object, read(c.old_form)) << meta::to_text(object);
  }
}

TEST(Conversion, OneWayParts) {
  boost::json::value queue = read(
      "{spec: {admissionChecks: [a], flavorFungibility: {whenCanBorrow: Borrow, whenCanPreempt: "
      "Preempt}}}");
  ASSERT_TRUE(convert(Kind::cluster_queue, queue.as_object(), "v1beta1", "v1beta2"));
  EXPECT_EQ(queue.at("spec"),
            read("{admissionChecksStrategy: {admissionChecks: [{name: a}]}, flavorFungibility: "
                 "{whenCanBorrow: MayStopSearch, whenCanPreempt: MayStopSearch}}"));
  boost::json::value workload = read(
      "{status: {admission: {podSetAssignments: [{topologyAssignment: {levels: [h], slices: "
      "[{domainCount: 2, valuesPerLevel: [{individual: {prefix: n-, suffix: .x, roots: ['1', "
      "'2']}}], podCounts: {universal: 3}}]}}]}}}");
  ASSERT_TRUE(convert(Kind::workload, workload.as_object(), "v1beta2", "v1beta1"));
  EXPECT_EQ(workload.at_pointer("/status/admission/podSetAssignments/0/topologyAssignment/domains"),
            read("[{values: [n-1.x], count: 3}, {values: [n-2.x], count: 3}]"));
  boost::json::value huge = read(
      "{status: {admission: {podSetAssignments: [{topologyAssignment: {slices: [{domainCount: "
      "9000000000000}]}}]}}}");
  EXPECT_TRUE(convert(Kind::workload, huge.as_object(), "v1beta2", "v1beta1"));
}

TEST(Conversion, RefusesWhatIsNotServed) {
  boost::json::object object;
  EXPECT_FALSE(convert(Kind::pod, object, "v1beta1", "v1"));
  EXPECT_FALSE(convert(Kind::workload, object, "v1alpha1", "v1beta2"));
  EXPECT_TRUE(convert(Kind::pod, object, "v1", "v1"));
  object = read("{spec: {priorityClassSource: x}}").as_object();
  EXPECT_EQ(convert(Kind::workload, object, "v1beta1", "v1beta2").error().code, ErrorCode::invalid);
}

TEST(Reasons, MapBothWays) {
  std::set<std::string_view> words;
  for (const ReasonInfo& reason : all_reasons()) {
    EXPECT_TRUE(words.insert(reason.word).second) << reason.word;
    EXPECT_EQ(find_reason(reason.word), &reason);
    const ReasonInfo* back = reason_from_kueue(reason.kueue_reason);
    ASSERT_NE(back, nullptr) << reason.word;
    EXPECT_EQ(back->kueue_reason, reason.kueue_reason);
  }
  struct Case {
    const char* kueue;
    const char* word;
  };
  for (const Case& c : std::vector<Case>{{"WaitingForQuota", "WAITING_QUOTA"},
                                         {"TopologyPlacementFailed", "CAPACITY_SHORT"},
                                         {"Misconfigured", "INVALID_SPEC"},
                                         {"PendingEvaluation", "NOT_EVALUATED"},
                                         {"Pending", "NOT_EVALUATED"},
                                         {"Suspended", "QUEUE_STOPPED"}}) {
    ASSERT_NE(reason_from_kueue(c.kueue), nullptr) << c.kueue;
    EXPECT_EQ(reason_from_kueue(c.kueue)->word, c.word) << c.kueue;
  }
  EXPECT_EQ(find_reason("NOPE"), nullptr);
  EXPECT_EQ(reason_from_kueue("Nope"), nullptr);
}

}  // namespace
}  // namespace tau::kube
