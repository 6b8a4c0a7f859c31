// Totals kept true: free amounts per node, used devices, the quota tree.
#include <fmt/format.h>

#include "engine/state.h"

namespace tau::engine {

NodeFacts Engine::State::facts(NodeId id) const {
  const NodeState& node = nodes[id.index()];
  return {.id = id, .is_known = node.is_known, .is_ready = node.spec.is_ready, .is_cordoned = node.spec.is_cordoned,
          .labels = node.spec.labels, .taints = node.spec.taints};
}

int32_t Engine::State::held(const WorkloadState& workload, size_t set, NodeId node) const {
  int32_t places = 0;
  for (const auto& [at, count] : workload.admission[set].nodes) {
    if (at == node) places += count;
  }
  if (places == 0) return 0;
  for (const PodId pod_id : workload.pods) {
    const PodState& pod = pods[pod_id.index()];
    if (pod.is_live() && pod.node == node && pod.spec.pod_set == set) --places;
  }
  return std::max(places, 0);
}

void Engine::State::recompute_node(NodeId id) {
  NodeState& node = nodes[id.index()];
  const size_t n = id.index();
  for (auto& values : free) values[n] = 0;
  if (node.is_known) {
    for (const Amount& amount : node.spec.allocatable) {
      if (amount.resource.value < 4096) column(amount.resource)[n] = amount.value;
    }
    // An unhealthy device counts for nobody: not free, and not against the healthy ones if it is in use.
    const int64_t devices = amount_of(node.spec.allocatable, gpu);
    if (devices > 0) column(gpu)[n] = std::min<int64_t>(devices, std::popcount(node.spec.healthy_gpus));
  }
  node.gpus_used = 0;
  for (const PodId pod_id : node.pods) {
    const PodState& pod = pods[pod_id.index()];
    node.gpus_used |= pod.gpus;
    for (const Amount& amount : shapes[pod.shape.index()].request.amounts) {
      const bool is_masked = amount.resource == gpu && pod.gpus != 0;
      column(amount.resource)[n] -= is_masked ? std::popcount(pod.gpus & node.spec.healthy_gpus) : amount.value;
    }
  }
  for (const WorkloadId holder : node.holders) {
    const WorkloadState& workload = workloads[holder.index()];
    for (size_t set = 0; set < workload.admission.size(); ++set) {
      const int32_t places = held(workload, set, id);
      if (places == 0) continue;
      for (const Amount& amount : shapes[workload.shapes[set].index()].request.amounts) {
        column(amount.resource)[n] -= amount.value * places;
      }
    }
  }
}

bool Engine::State::flavor_has(FlavorId flavor, NodeId node) const {
  if (flavor.index() >= flavors.size() || !nodes[node.index()].is_known) return false;
  const auto& labels = nodes[node.index()].spec.labels;
  return std::ranges::all_of(flavors[flavor.index()].spec.node_labels, [&](const Label& wanted) {
    return std::ranges::any_of(labels, [&](const Label& has) { return has.key == wanted.key && has.value == wanted.value; });
  });
}

void Engine::State::charge(WorkloadId id, int64_t sign) {
  const WorkloadState& workload = workloads[id.index()];
  const QueueId queue = workload.spec.queue;
  if (!queue.is_some() || queue.index() >= queues.size()) return;
  const QuotaTree::NodeIndex at = queues[queue.index()].quota;
  if (at == QuotaTree::none) return;
  for (size_t set = 0; set < workload.admission.size(); ++set) {
    const Request& request = shapes[workload.shapes[set].index()].request;
    for (const auto& [resource, flavor] : workload.admission[set].flavors) {
      const int64_t amount = amount_of(request.amounts, resource) * workload.admission[set].count;
      quota.charge(at, {flavor, resource}, sign * amount, nullptr);
    }
  }
}

void Engine::State::rebuild_quota() {
  quota.clear();
  for (QueueState& queue : queues) queue.quota = queue.is_known ? quota.add_node() : QuotaTree::none;
  // A cohort exists as soon as a queue or another cohort names it.
  size_t cohort_count = cohorts.size();
  for (const QueueState& queue : queues) {
    if (queue.is_known && queue.spec.cohort.is_some()) cohort_count = std::max<size_t>(cohort_count, queue.spec.cohort.index() + 1);
  }
  for (const CohortState& cohort : cohorts) {
    if (cohort.is_known && cohort.spec.parent.is_some()) cohort_count = std::max<size_t>(cohort_count, cohort.spec.parent.index() + 1);
  }
  cohorts.resize(cohort_count);
  for (CohortState& cohort : cohorts) cohort.quota = quota.add_node();
  const auto set_groups = [this](QuotaTree::NodeIndex at, const std::vector<ResourceGroup>& groups, bool follows_nodes) {
    for (const ResourceGroup& group : groups) {
      for (const FlavorQuota& flavor : group.flavors) {
        for (Quota amount : flavor.quotas) {
          if (follows_nodes) {
            amount.nominal = 0;
            for (size_t n = 0; n < nodes.size(); ++n) {
              if (flavor_has(flavor.flavor, NodeId(static_cast<uint32_t>(n)))) amount.nominal += amount_of(nodes[n].spec.allocatable, amount.resource);
            }
          }
          quota.set_quota(at, {flavor.flavor, amount.resource}, amount);
        }
      }
    }
  };
  for (const QueueState& queue : queues) {
    if (!queue.is_known) continue;
    set_groups(queue.quota, queue.spec.groups, queue.spec.follows_nodes);
    if (queue.spec.cohort.is_some()) quota.set_parent(queue.quota, cohorts[queue.spec.cohort.index()].quota);
  }
  for (const CohortState& cohort : cohorts) {
    if (!cohort.is_known) continue;
    set_groups(cohort.quota, cohort.spec.groups, false);
    if (cohort.spec.parent.is_some()) quota.set_parent(cohort.quota, cohorts[cohort.spec.parent.index()].quota);
  }
  quota.seal();
  for (const QueueState& queue : queues) {
    for (const WorkloadId id : queue.admitted) charge(id, 1);
  }
}

void Engine::State::refresh() {
  for (const NodeId id : std::exchange(dirty_nodes, {})) recompute_node(id);
  if (std::exchange(is_quota_dirty, false)) rebuild_quota();
}

std::string Engine::State::check() const {
  State fresh = *this;
  fresh.trail.commit();
  for (size_t n = 0; n < nodes.size(); ++n) {
    const NodeId id(static_cast<uint32_t>(n));
    fresh.recompute_node(id);
    for (size_t r = 0; r < free.size() && !dirty_nodes.contains(id); ++r) {
      if (fresh.free[r][n] != free[r][n]) return fmt::format("node {}: resource {} has {} free, {} kept", n, r, fresh.free[r][n], free[r][n]);
    }
    GpuMask seen = 0;
    for (const PodId pod : nodes[n].pods) {
      if ((seen & pods[pod.index()].gpus) != 0) return fmt::format("node {}: a device is given twice (pod {})", n, pod.value);
      seen |= pods[pod.index()].gpus;
    }
  }
  if (!is_quota_dirty) {
    fresh.rebuild_quota();
    for (size_t q = 0; q < queues.size(); ++q) {
      if (!queues[q].is_known) continue;
      for (const ResourceGroup& group : queues[q].spec.groups) {
        for (const FlavorQuota& flavor : group.flavors) {
          for (const Quota& amount : flavor.quotas) {
            const FlavorResource at{flavor.flavor, amount.resource};
            const int64_t kept = quota.usage(queues[q].quota, at), right = fresh.quota.usage(fresh.queues[q].quota, at);
            if (kept != right) return fmt::format("queue {}: usage is {}, {} kept", q, right, kept);
          }
        }
      }
    }
  }
  return {};
}

}  // namespace tau::engine
