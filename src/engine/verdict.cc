// Why work waits: all true blockers, each with its numbers.
#include "engine/state.h"

namespace tau::engine {

void Cycle::tell(std::optional<Verdict>& held, Verdict verdict) {
  if (held == verdict) return;
  held = verdict;
  result.verdicts.push_back(std::move(verdict));
}

std::vector<Blocker> Cycle::quota_blockers(const WorkloadState& workload) {
  const QueueState& queue = state.queues[workload.spec.queue.index()];
  std::vector<Blocker> found;
  std::map<FlavorResource, int64_t> wanted_before;  // by earlier pod sets of this workload
  for (size_t set = 0; set < workload.spec.pod_sets.size(); ++set) {
    const Request& request = state.shapes[workload.shapes[set].index()].request;
    for (const Amount& amount : request.amounts) {
      const auto group = std::ranges::find_if(queue.spec.groups, [&](const ResourceGroup& g) {
        return std::ranges::find(g.resources, amount.resource) != g.resources.end();
      });
      if (group == queue.spec.groups.end()) {
        if (amount.resource != pods && !queue.spec.follows_nodes) {
          found.push_back({.reason = Reason::no_matching_flavor, .quota = {{.resource = amount.resource, .want = amount.value}}, .pod_set = static_cast<uint32_t>(set)});
        }
        continue;
      }
      const int64_t want = amount.value * workload.spec.pod_sets[set].count;
      bool has_open = false, can_ever = false;
      std::optional<QuotaShort> nearest;
      bool fits = false;
      for (const FlavorQuota& flavor : group->flavors) {
        if (!is_flavor_open(queue, flavor.flavor, request)) continue;
        has_open = true;
        const FlavorResource at{flavor.flavor, amount.resource};
        const int64_t free = state.quota.available(queue.quota, at) - wanted_before[at];
        can_ever |= state.quota.potential(queue.quota, at) >= want + wanted_before[at];
        if (free >= want) {
          fits = true;
          wanted_before[at] += want;
          break;
        }
        if (!nearest || free > nearest->free) nearest = QuotaShort{flavor.flavor, amount.resource, want, std::max<int64_t>(0, free), state.quota.potential(queue.quota, at)};
      }
      if (fits) continue;
      const Reason reason = !has_open ? Reason::no_matching_flavor : can_ever ? Reason::waiting_quota : Reason::exceeds_max_quota;
      Blocker blocker{.reason = reason, .pod_set = static_cast<uint32_t>(set)};
      if (nearest) blocker.quota.push_back(*nearest);
      found.push_back(std::move(blocker));
    }
  }
  // One blocker per reason, all its resources together.
  std::vector<Blocker> merged;
  for (Blocker& blocker : found) {
    const auto same = std::ranges::find(merged, blocker.reason, &Blocker::reason);
    if (same == merged.end()) merged.push_back(std::move(blocker));
    else same->quota.insert(same->quota.end(), blocker.quota.begin(), blocker.quota.end());
  }
  return merged;
}

std::optional<Blocker> Cycle::capacity_blocker(std::span<const std::pair<ShapeId, int32_t>> sets, std::span<const FlavorId> flavors) {
  const Trail::Mark mark = state.trail.mark();
  Blocker blocker;
  bool is_blocked = false;
  for (size_t set = 0; set < sets.size(); ++set) {
    const Shape& shape = state.shapes[sets[set].first.index()];
    const int32_t count = sets[set].second;
    blocker.pods_wanted += count;
    blocker.gpus_wanted += amount_of(shape.request.amounts, gpu) * count;
    if (is_blocked) continue;
    std::vector<int64_t> free_by_node;
    shape.fits.for_each([&](size_t n) {
      if (gpu.index() >= state.free.size() || !state.is_in_flavors(flavors, NodeId(static_cast<uint32_t>(n)))) return;
      free_by_node.push_back(std::max<int64_t>(0, state.free[gpu.index()][n]));
    });
    int32_t placed = 0;
    for (const auto& [node, pods_there] : state.place(shape, count, flavors, result.stats)) placed += pods_there;
    blocker.pods_placed += placed;
    if (placed == count) continue;
    is_blocked = true;
    blocker.pod_set = static_cast<uint32_t>(set);
    int64_t room_if_healthy = placed;
    for (size_t n = 0; n < state.nodes.size(); ++n) {
      const NodeId id(static_cast<uint32_t>(n));
      if (!state.nodes[n].is_known || !state.is_in_flavors(flavors, id)) continue;
      const Misfit why = state.misfit(shape, id);
      ++blocker.nodes_by_misfit[static_cast<size_t>(why)];
      NodeFacts healed = state.facts(id);
      healed.is_ready = true;
      healed.is_cordoned = false;
      if ((why == Misfit::node_not_ready || why == Misfit::cordoned) && static_misfit(shape.request, healed) == Misfit::fits) {
        room_if_healthy += state.room(shape, id);
      }
    }
    std::ranges::sort(free_by_node, std::greater());
    for (const int64_t gpus : free_by_node) blocker.gpus_free += gpus;
    for (size_t i = 0; i < std::min<size_t>(64, free_by_node.size()); ++i) blocker.free_gpus_by_node.push_back(static_cast<int32_t>(free_by_node[i]));
    const int64_t wants = amount_of(shape.request.amounts, gpu);
    const bool is_gpu_short = wants > 0 && blocker.nodes_by_misfit[static_cast<size_t>(Misfit::gpu_short)] > 0;
    if (room_if_healthy >= count) blocker.reason = Reason::capacity_unhealthy;
    else if (is_gpu_short && blocker.gpus_free >= wants * count) blocker.reason = Reason::capacity_fragmented;
    else blocker.reason = Reason::capacity_short;
  }
  state.trail.undo_to(mark);
  if (!is_blocked) return std::nullopt;
  return blocker;
}

std::vector<Blocker> Cycle::blockers_of(const WorkloadState& workload) {
  std::vector<Blocker> blockers = quota_blockers(workload);
  std::vector<std::pair<ShapeId, int32_t>> sets;
  for (size_t set = 0; set < workload.shapes.size(); ++set) sets.emplace_back(workload.shapes[set], workload.spec.pod_sets[set].count);
  // With one flavor everywhere its nodes are the ones that count; with several, any node may.
  const QueueState& queue = state.queues[workload.spec.queue.index()];
  std::vector<FlavorId> flavors;
  for (const ResourceGroup& group : queue.spec.groups) {
    for (const FlavorQuota& flavor : group.flavors) flavors.push_back(flavor.flavor);
  }
  std::ranges::sort(flavors);
  flavors.erase(std::unique(flavors.begin(), flavors.end()), flavors.end());
  if (flavors.size() > 1) flavors.clear();
  const bool has_nodes = std::ranges::any_of(state.nodes, [&](const NodeState& node) { return node.is_known && state.is_in_flavors(flavors, node.spec.id); });
  if (has_nodes) {
    if (auto capacity = capacity_blocker(sets, flavors)) blockers.push_back(std::move(*capacity));
  }
  return blockers;
}

void Cycle::explain_what_waits() {
  for (const WorkloadId id : std::exchange(state.cleared, {})) result.cleared.push_back(id);
  for (const WorkloadId id : state.homeless) {
    WorkloadState& workload = state.workloads[id.index()];
    Verdict verdict{.workload = id, .blockers = {{.reason = workload.spec.is_active ? Reason::queue_not_found : Reason::user_hold}}};
    tell(workload.verdict, std::move(verdict));
  }
  for (const QueueState& queue : state.queues) {
    int32_t ahead = 0;
    // Equal requests wait for equal reasons; only their place differs.
    std::map<std::pair<std::vector<ShapeId>, std::vector<int32_t>>, std::vector<Blocker>> known;
    for (const OrderKey& key : queue.pending) {
      WorkloadState& workload = state.workloads[key.id.index()];
      Verdict verdict{.workload = key.id};
      Blocker place{.reason = Reason::waiting_priority, .position = ahead + 1, .ahead = ahead};
      if (!workload.spec.is_active) {
        verdict.blockers.push_back({.reason = Reason::user_hold});
      } else if (queue.spec.stop != StopPolicy::none) {
        verdict.blockers.push_back({.reason = Reason::queue_stopped});
      } else if (workload.evicting_until) {
        verdict.blockers.push_back({.reason = Reason::waiting_preemption});
      } else if (workload.spec.not_before && *workload.spec.not_before > now) {
        verdict.blockers.push_back({.reason = Reason::backoff});
      } else {
        std::pair<std::vector<ShapeId>, std::vector<int32_t>> signature{workload.shapes, {}};
        for (const PodSet& set : workload.spec.pod_sets) signature.second.push_back(set.count);
        auto [at, is_new] = known.try_emplace(std::move(signature));
        if (is_new) at->second = blockers_of(workload);
        verdict.blockers = at->second;
        if (verdict.blockers.empty() && ahead == 0) verdict.blockers.push_back({.reason = Reason::not_evaluated});
      }
      if (ahead > 0) verdict.blockers.push_back(place);
      ++ahead;
      tell(workload.verdict, std::move(verdict));
    }
  }
}

}  // namespace tau::engine
