// The ledger once more, from scratch, from what pods and admissions say; every kept total must
// agree.
#include <fmt/format.h>

#include "engine/state.h"

namespace tau::engine {
namespace {

using State = Engine::State;

std::string check_nodes(const State& state) {
  std::map<std::pair<NodeId, ResourceId>, int64_t> used;
  std::map<NodeId, GpuMask> devices;
  std::map<NodeId, size_t> pods_there;
  for (uint32_t p = 0; p < state.pods.size(); ++p) {
    const PodState& pod = state.pods[p];
    if (pod.is_live() != (pod.node.is_some() || state.unbound.contains(PodId(p))))
      return fmt::format("pod {}: neither bound nor waiting", p);
    if (!pod.node.is_some()) continue;
    const NodeState& node = state.nodes[pod.node];
    ++pods_there[pod.node];
    devices[pod.node] |= pod.gpus;
    for (const Amount& amount : state.amounts(pod.shape)) {
      const bool is_masked = amount.resource == gpu && pod.gpus != 0;
      used[{pod.node, amount.resource}] +=
          is_masked ? std::popcount(pod.gpus & node.spec.healthy_gpus) : amount.value;
    }
  }
  for (uint32_t w = 0; w < state.workloads.size(); ++w) {
    const WorkloadState& workload = state.workloads[w];
    for (size_t set = 0; set < workload.hold.size(); ++set) {
      for (const auto& [node, count] : workload.hold[set].nodes) {
        for (const Amount& amount : state.amounts(workload.shapes[set]))
          used[{node, amount.resource}] += amount.value * count;
      }
    }
    if (workload.phase != Phase::admitted) continue;
    for (size_t set = 0; set < workload.shapes.size(); ++set) {
      for (const auto& [node, count] : workload.admission[set].nodes) {
        int32_t left = count;
        for (const PodId id : workload.pods) {
          const PodState& pod = state.pods[id.index()];
          left -= pod.is_live() && pod.node == node && pod.pod_set == set ? 1 : 0;
        }
        for (const Amount& amount : state.amounts(workload.shapes[set]))
          used[{node, amount.resource}] += amount.value * std::max(0, left);
      }
    }
  }
  for (uint32_t n = 0; n < state.nodes.size(); ++n) {
    const NodeId id(n);
    const NodeState& node = state.nodes[id];
    if (node.gpus_used != devices[id])
      return fmt::format("node {}: devices in use are {:x}, {:x} kept", n, devices[id],
                         node.gpus_used);
    if (node.pods.size() != pods_there[id])
      return fmt::format("node {}: has {} pods, {} kept", n, pods_there[id], node.pods.size());
    std::set<ResourceId> resources{cpu, memory, pods, gpu};
    for (const Amount& amount : node.spec.allocatable) resources.insert(amount.resource);
    for (const auto& [at, value] : used) resources.insert(at.second);
    for (const ResourceId resource : resources) {
      const int64_t free = NodeTable::capacity(node, resource) - used[{id, resource}];
      if (free != state.nodes.free(id, resource))
        return fmt::format("node {}: resource {} has {} free, {} kept", n, resource.value, free,
                           state.nodes.free(id, resource));
    }
    const int64_t score = free_score({std::max<int64_t>(0, state.nodes.free(id, gpu)),
                                      std::max<int64_t>(0, state.nodes.free(id, cpu)),
                                      std::max<int64_t>(0, state.nodes.free(id, memory))});
    if (score != state.nodes.score(id))
      return fmt::format("node {}: score is {}, {} kept", n, score, state.nodes.score(id));
  }
  return {};
}

// What two pods were given that the engine itself chose; what the API shows may contradict itself.
std::string check_devices(const State& state) {
  for (uint32_t n = 0; n < state.nodes.size(); ++n) {
    GpuMask seen = 0;
    for (const PodId id : state.nodes[NodeId(n)].pods) {
      const PodState& pod = state.pods[id.index()];
      if (pod.assumed_until && (pod.gpus & seen) != 0)
        return fmt::format("node {}: a device is given twice (pod {})", n, id.value);
      seen |= pod.gpus;
    }
  }
  return {};
}

std::string check_shapes(const State& state) {
  std::map<ShapeId, int64_t> uses;
  for (const PodState& pod : state.pods) {
    if (pod.is_known) ++uses[pod.shape];
  }
  for (const WorkloadState& workload : state.workloads) {
    for (const ShapeId shape : workload.shapes) ++uses[shape];
  }
  for (uint32_t s = 0; s < state.shapes.size(); ++s) {
    const Shape& shape = state.shapes[s];
    if (shape.uses != uses[ShapeId(s)])
      return fmt::format("shape {}: used {} times, {} kept", s, uses[ShapeId(s)], shape.uses);
    if (shape.uses == 0) continue;
    for (uint32_t n = 0; n < state.nodes.size(); ++n) {
      const NodeFacts facts = state.nodes.facts(NodeId(n));
      if (shape.fits.test(n) != (static_misfit(shape.request, facts) == Misfit::fits))
        return fmt::format("shape {}: node {} is wrongly kept as {}", s, n,
                           shape.fits.test(n) ? "fitting" : "not fitting");
    }
  }
  return {};
}

std::string check_queues(const State& state) {
  if (state.is_quota_stale) return {};
  State fresh = state;
  fresh.is_quota_stale = true;
  fresh.refresh_quota();
  std::map<WorkloadId, size_t> seen;
  size_t holders = 0;
  for (uint32_t q = 0; q < state.queues.size(); ++q) {
    const QueueState& queue = state.queues[q];
    for (const WorkloadId id : queue.admitted) {
      const Phase phase = state.workloads[id.index()].phase;
      if (phase != Phase::admitted && phase != Phase::evicting)
        return fmt::format("queue {}: workload {} is kept as admitted", q, id.value);
    }
    holders += queue.holders.size();
    for (const OrderKey& key : queue.holders) {
      ++seen[key.id];
      if (state.workloads[key.id.index()].hold.empty())
        return fmt::format("queue {}: workload {} holds nothing", q, key.id.value);
    }
    if (!queue.is_known) continue;
    for (const auto& [key, bucket] : queue.book.in_order()) ++seen[key.id];
    for (const ResourceGroup& group : queue.spec.groups) {
      for (const FlavorQuota& flavor : group.flavors) {
        for (const Quota& amount : flavor.quotas) {
          const FlavorResource at{flavor.flavor, amount.resource};
          const int64_t kept = state.quota.usage(queue.quota, at),
                        right = fresh.quota.usage(fresh.queues[q].quota, at);
          if (kept != right)
            return fmt::format("queue {}: flavor {}, resource {}: usage is {}, {} kept", q,
                               flavor.flavor.value, amount.resource.value, right, kept);
          const int64_t left = state.quota.available(queue.quota, at),
                        right_left = fresh.quota.available(fresh.queues[q].quota, at);
          if (left != right_left)
            return fmt::format("queue {}: flavor {}, resource {}: available is {}, {} kept", q,
                               flavor.flavor.value, amount.resource.value, right_left, left);
        }
      }
    }
  }
  for (uint32_t w = 0; w < state.workloads.size(); ++w) {
    const WorkloadId id(w);
    if ((state.workloads[w].phase == Phase::evicting) != state.leaving.contains(id))
      return fmt::format("workload {}: wrongly kept among those who leave", w);
    holders -= state.workloads[w].hold.empty() ? 0 : 1;
    const size_t places = seen[id] + (state.homeless.contains(id) ? 1 : 0);
    if (places != (state.workloads[w].phase == Phase::waiting ? 1u : 0u))
      return fmt::format("workload {}: waits in {} places", w, places);
  }
  if (holders != 0) return "room is held by nobody";
  if (state.quota.is_split() != (!state.leaving.empty() || state.holder_count > 0))
    return "the quota looked ahead to is kept without need, or not kept";
  return {};
}

}  // namespace

std::string Engine::State::check() const {
  if (!trail.is_empty()) return "tentative writes were left";
  for (const auto part : {check_nodes, check_devices, check_shapes, check_queues}) {
    if (std::string wrong = part(*this); !wrong.empty()) return wrong;
  }
  return {};
}

}  // namespace tau::engine
