// Field tables: the answers of view.taugrid.io.
#include "kube/schema.h"
#include "kube/views.h"
#include "meta/fields.h"

namespace tau::meta {
using namespace tau::kube;
namespace json = boost::json;

namespace {
bool encode_counts(const BlockerView& from, json::value& to) {
  json::object object;
  for (const auto& [misfit, nodes] : from.nodes_by_misfit) object[misfit] = nodes;
  to = std::move(object);
  return !from.nodes_by_misfit.empty();
}
Result<void> decode_counts(BlockerView& to, const json::value& from) {
  const json::object* object = from.if_object();
  if (object == nullptr) return std::unexpected(wrong_type("object", from));
  for (const auto& [key, value] : *object) {
    int64_t count = 0;
    TRY_VOID(Codec<int64_t>::decode(count, value));
    to.nodes_by_misfit.emplace_back(key, count);
  }
  return {};
}
}  // namespace

template <>
const TypeInfo& type_of<BlockerView>() {
  using V = BlockerView;
  static const TypeInfo type =
      table("io.taugrid.view.v1alpha1.Blocker", "One true cause of waiting.",
            {field<&V::reason>("reason", "Word of the reason vocabulary."),
             field<&V::message>("message", "One line with numbers."),
             field<&V::wanted>("wanted", "Amount asked for."),
             field<&V::free>("free", "Amount free."), field<&V::total>("total", "Amount there is."),
             field<&V::position>("position", "Place in the queue, from 1."),
             field<&V::ahead>("ahead", "Workloads ahead."),
             field<&V::pods_wanted>("podsWanted", "Pods of the gang."),
             field<&V::pods_placed>("podsPlaced", "Pods that fit now."),
             custom<V>("nodesByMisfit", "Nodes by why they do not fit.", map_of<integer_type>,
                       decode_counts, encode_counts),
             field<&V::free_gpus_by_node>("freeGpusByNode", "Free GPUs per node, most first.")});
  return type;
}
template <>
const TypeInfo& type_of<PodView>() {
  using V = PodView;
  static const TypeInfo type = table(
      "io.taugrid.view.v1alpha1.Pod", "One pod of a run.",
      {field<&V::name>("name", "Its name."), field<&V::uid>("uid", "Its UID."),
       field<&V::node>("node", "Its node."), field<&V::phase>("phase", "Its phase."),
       field<&V::reason>("reason", "How it ended."),
       field<&V::attempt>("attempt", "Of which attempt."),
       field<&V::gpus>("gpus", "UUIDs of its GPUs."),
       field<&V::gpu_product>("gpuProduct", "Their model."), field<&V::created>("created", "Made."),
       field<&V::bound>("bound", "Bound."), field<&V::started>("started", "Started."),
       field<&V::ended>("ended", "Ended."), field<&V::exit_code>("exitCode", "Exit code."),
       field<&V::signal>("signal", "Signal.")});
  return type;
}
template <>
const TypeInfo& type_of<AttemptView>() {
  using V = AttemptView;
  static const TypeInfo type =
      table("io.taugrid.view.v1alpha1.Attempt", "One try of a run.",
            {field<&V::number>("number", "From 1."), field<&V::outcome>("outcome", "How it ended."),
             field<&V::reason>("reason", "Why."), field<&V::message>("message", "Why, in words."),
             field<&V::admitted>("admitted", "Admitted."),
             field<&V::started>("started", "Started."), field<&V::ended>("ended", "Ended.")});
  return type;
}
template <>
const TypeInfo& type_of<RunView>() {
  using V = RunView;
  static const TypeInfo type = object_table(
      "io.taugrid.view.v1alpha1.Run", "One logical job of a user.",
      {field<&V::id>("id", "Stable short id."),
       field<&V::uid>("uid", "UID of the root object."),
       field<&V::kind>("rootKind", "Kind of the root object."),
       field<&V::ns>("namespace", "Namespace."),
       field<&V::name>("name", "Name."),
       field<&V::queue>("queue", "LocalQueue."),
       field<&V::cluster_queue>("clusterQueue", "ClusterQueue."),
       field<&V::workload>("workload", "Workload."),
       field<&V::phase>("phase", "Queued, Starting, Running, Succeeded, Failed, Cancelled."),
       field<&V::health>("health", "How it does while it runs."),
       field<&V::reason>("reason", "First blocker, or how it ended."),
       field<&V::note>("note", "The same in words."),
       field<&V::priority>("priority", "Priority."),
       field<&V::gpus>("gpus", "GPUs asked for."),
       field<&V::pods>("pods", "Pods asked for."),
       field<&V::pods_running>("podsRunning", "Pods that run."),
       field<&V::position>("position", "Place in the queue, from 1."),
       field<&V::gpu_product>("gpuProduct", "Model of its GPUs."),
       field<&V::nodes>("nodes", "Its nodes."),
       field<&V::created>("created", "Submitted."),
       field<&V::admitted>("admitted", "Admitted."),
       field<&V::started>("started", "Started."),
       field<&V::ended>("ended", "Ended."),
       field<&V::deleted>("deleted", "Deleted."),
       field<&V::evaluated>("evaluated", "When the answer was made."),
       field<&V::attempts>("attempts", "Its tries."),
       field<&V::pod_list>("podList", "Its pods."),
       field<&V::blockers>("blockers", "Why it waits, first cause first.")});
  return type;
}
template <>
const TypeInfo& type_of<QueueResourceView>() {
  using V = QueueResourceView;
  static const TypeInfo type =
      table("io.taugrid.view.v1alpha1.QueueResource", "Use of one resource.",
            {field<&V::flavor>("flavor", "Flavor."), field<&V::resource>("resource", "Resource."),
             field<&V::used>("used", "In use (cpu in thousandths).", {.is_always = true}),
             field<&V::nominal>("nominal", "Owned (cpu in thousandths).", {.is_always = true})});
  return type;
}
template <>
const TypeInfo& type_of<QueueView>() {
  using V = QueueView;
  static const TypeInfo type = object_table(
      "io.taugrid.view.v1alpha1.Queue", "A queue and its use.",
      {field<&V::ns>("namespace", "Namespace of a LocalQueue."), field<&V::name>("name", "Name."),
       field<&V::cluster_queue>("clusterQueue", "ClusterQueue behind it."),
       field<&V::strategy>("strategy", "Order."),
       field<&V::pending>("pending", "Workloads that wait.", {.is_always = true}),
       field<&V::admitted>("admitted", "Workloads admitted.", {.is_always = true}),
       field<&V::is_stopped>("stopped", "Held by its operator."),
       field<&V::resources>("resources", "Use by resource.")});
  return type;
}
template <>
const TypeInfo& type_of<NodeView>() {
  using V = NodeView;
  static const TypeInfo type = object_table(
      "io.taugrid.view.v1alpha1.Node", "A node and its use.",
      {field<&V::name>("name", "Name."), field<&V::state>("state", "Ready, NotReady, Cordoned."),
       field<&V::gpu_product>("gpuProduct", "Model of its GPUs."),
       field<&V::is_simulated>("simulated", "Not a real machine."),
       field<&V::gpus>("gpus", "GPUs."), field<&V::gpus_used>("gpusUsed", "GPUs given out."),
       field<&V::cpu_milli>("cpuMilli", "CPU, thousandths."),
       field<&V::cpu_milli_used>("cpuMilliUsed", "CPU requested."),
       field<&V::memory_bytes>("memoryBytes", "Memory."),
       field<&V::memory_bytes_used>("memoryBytesUsed", "Memory requested."),
       field<&V::pods>("pods", "Live pods."), field<&V::runs>("runs", "Runs on it.")});
  return type;
}

}  // namespace tau::meta
