// Why work does not fit, with numbers: quota, flavor by flavor, and nodes, misfit by misfit.
#include "engine/cycle.h"

namespace tau::engine {
namespace {

constexpr int64_t most_wanted = int64_t{1} << 58;
constexpr size_t most_choices = 16;     // of flavors over groups, looked at for one pod set
constexpr size_t most_nodes_told = 64;  // in free_gpus_by_node

int64_t times(int64_t value, int64_t count) {
  int64_t product = 0;
  return __builtin_mul_overflow(value, count, &product) ? most_wanted
                                                        : std::min(product, most_wanted);
}

// The most severe first; one blocker per reason, all its resources together.
std::vector<Blocker> merged(std::vector<Blocker> found) {
  std::map<Reason, Blocker> by_reason;
  for (Blocker& blocker : found) {
    auto [at, is_new] = by_reason.try_emplace(blocker.reason, blocker);
    if (!is_new)
      at->second.quota.insert(at->second.quota.end(), blocker.quota.begin(), blocker.quota.end());
  }
  std::vector<Blocker> all;
  for (auto& [reason, blocker] : by_reason) all.push_back(std::move(blocker));
  return all;
}

}  // namespace

// Within a group the least severe flavor counts; over groups and pod sets the most severe.
// `choices` gets, per pod set, the flavors whose nodes are worth a look: those with quota, or where
// none has any, all that are open.
std::vector<Blocker> Cycle::quota_blockers(const WorkloadState& workload,
                                           std::vector<FlavorChoices>& choices) {
  const QueueState& queue = state.queues[workload.queue.index()];
  std::vector<Blocker> found;
  std::map<FlavorResource, int64_t> before;  // what earlier pod sets of this workload take
  for (uint32_t set = 0; set < workload.shapes.size(); ++set) {
    const Request& request = state.shapes[workload.shapes[set].index()].request;
    FlavorChoices& of_set = choices.emplace_back(1);
    size_t covered = 0;
    for (const ResourceGroup& group : queue.spec.groups) {
      Amounts wants;
      for (const Amount& amount : request.amounts) {
        if (std::ranges::find(group.resources, amount.resource) != group.resources.end())
          wants.push_back({amount.resource, times(amount.value, workload.counts[set])});
      }
      covered += wants.size();
      if (wants.empty()) continue;
      std::vector<FlavorId> with_quota, open;
      Blocker nearest{.reason = Reason::no_matching_flavor,
                      .quota = {},
                      .pod_set = set,
                      .free_gpus_by_node = {}};
      for (const FlavorQuota& flavor : group.flavors) {
        if (!is_flavor_open(flavor.flavor, workload, set)) continue;
        open.push_back(flavor.flavor);
        Blocker blocker{
            .reason = Reason::none, .quota = {}, .pod_set = set, .free_gpus_by_node = {}};
        for (const Amount& want : wants) {
          const FlavorResource at{flavor.flavor, want.resource};
          const int64_t taken = before.contains(at) ? before[at] : 0;
          const int64_t free = state.quota.available(queue.quota, at) - taken,
                        most = state.quota.potential(queue.quota, at);
          if (free >= want.value) continue;
          const Reason reason =
              most < want.value + taken ? Reason::exceeds_max_quota : Reason::waiting_quota;
          if (blocker.reason != Reason::exceeds_max_quota) blocker.reason = reason;
          blocker.quota.push_back(
              {flavor.flavor, want.resource, want.value, std::max<int64_t>(0, free), most});
        }
        if (blocker.reason == Reason::none) with_quota.push_back(flavor.flavor);
        // Least severe: the order of the reasons is from grave to slight.
        else if (blocker.reason > nearest.reason)
          nearest = std::move(blocker);
      }
      if (with_quota.empty())
        found.push_back(std::move(nearest));
      else
        for (const Amount& want : wants) before[{with_quota[0], want.resource}] += want.value;
      FlavorChoices more;
      for (const auto& choice : of_set) {
        for (const FlavorId flavor : with_quota.empty() ? open : with_quota) {
          more.push_back(choice);
          if (std::ranges::find(choice, flavor) == choice.end()) more.back().push_back(flavor);
        }
      }
      if (more.size() > most_choices) more.resize(most_choices);
      of_set = std::move(more);
    }
    if (covered == request.amounts.size() || queue.spec.follows_nodes) continue;
    for (const Amount& amount : request.amounts) {
      if (amount.resource == pods ||
          std::ranges::any_of(queue.spec.groups, [&](const ResourceGroup& group) {
            return std::ranges::find(group.resources, amount.resource) != group.resources.end();
          }))
        continue;
      found.push_back({.reason = Reason::no_matching_flavor,
                       .quota = {{.flavor = {}, .resource = amount.resource, .want = amount.value}},
                       .pod_set = set,
                       .free_gpus_by_node = {}});
    }
  }
  return merged(std::move(found));
}

// After `placed` pods of it are on the trail.
Blocker Cycle::explain_nodes(const Candidates& where, std::span<const FlavorId> flavors,
                             int32_t count, int32_t placed) {
  Shape& shape = state.shapes[where.shape.index()];
  if (shape.misfits.empty()) {
    shape.misfits.resize(state.nodes.size(), Misfit::node_not_ready);
    for (uint32_t n = 0; n < state.nodes.size(); ++n)
      shape.misfits[n] = static_misfit(shape.request, state.nodes.facts(NodeId(n)));
  }
  const Amounts& wants = shape.request.amounts;
  const int64_t gpus_each = amount_of(wants, gpu);
  const auto short_of = [&](NodeId node) {
    const auto is_short = [&](ResourceId resource) {
      const int64_t want = amount_of(wants, resource);
      return want > 0 && state.nodes.free(node, resource) < want;
    };
    if (is_short(engine::pods)) return Misfit::pods_full;
    if (is_short(cpu)) return Misfit::cpu_short;
    if (is_short(memory)) return Misfit::memory_short;
    if (is_short(gpu)) return Misfit::gpu_short;
    return state.nodes.has(node, wants) ? Misfit::fits : Misfit::other_resource_short;
  };
  // How many would fit if the node, its devices included, were well.
  const auto room_if_well = [&](NodeId node) {
    NodeFacts facts = state.nodes.facts(node);
    facts.is_ready = true;
    facts.is_cordoned = false;
    if (static_misfit(shape.request, facts) != Misfit::fits) return int64_t{0};
    const NodeUpsert& spec = state.nodes[node].spec;
    const int64_t devices = amount_of(spec.allocatable, gpu),
                  sick = std::max<int64_t>(0, devices - std::popcount(spec.healthy_gpus));
    int64_t most = count;
    for (const Amount& amount : wants) {
      const int64_t free =
          state.nodes.free(node, amount.resource) + (amount.resource == gpu ? sick : 0);
      most = std::min(most, std::max<int64_t>(0, free) / amount.value);
    }
    return most;
  };
  Blocker blocker{.quota = {}, .free_gpus_by_node = {}};
  int64_t room = placed;
  for (uint32_t n = 0; n < state.nodes.size(); ++n) {
    const NodeId node(n);
    if (!state.nodes[node].is_known) continue;
    if (!std::ranges::all_of(flavors, [&](FlavorId flavor) {
          return flavor.index() < state.flavors.size() &&
                 state.flavors[flavor.index()].nodes.test(n);
        }))
      continue;
    const Misfit fixed = shape.misfits[n], why = fixed == Misfit::fits ? short_of(node) : fixed;
    ++blocker.nodes_by_misfit[static_cast<size_t>(why)];
    if (why == Misfit::node_not_ready || why == Misfit::cordoned || why == Misfit::gpu_short)
      room += room_if_well(node);
  }
  const bool is_gpu_short = blocker.nodes_by_misfit[static_cast<size_t>(Misfit::gpu_short)] > 0;
  // What is free before the gang's own pods are put down.
  int64_t gpus_free = 0;
  for (const int32_t free : free_gpus_before_) gpus_free += free;
  blocker.gpus_free = gpus_free;
  if (room >= count)
    blocker.reason = Reason::capacity_unhealthy;
  else if (is_gpu_short && gpus_free >= gpus_each * count)
    blocker.reason = Reason::capacity_fragmented;
  else
    blocker.reason = Reason::capacity_short;
  return blocker;
}

// Places what it can, set by set, each where most of it fits; tells of the first set that does not
// fit whole.
std::optional<Blocker> Cycle::capacity_blocker(const CapacityKey& key) {
  const auto [known, is_new] = known_capacity.try_emplace(key);
  if (!is_new) return known->second;
  const auto& [sets, choices] = key;
  std::optional<Blocker> told;
  int32_t pods_wanted = 0, pods_placed = 0;
  int64_t gpus_wanted = 0;
  Places used;
  for (uint32_t set = 0; set < sets.size(); ++set) {
    const auto& [shape, count] = sets[set];
    pods_wanted += count;
    gpus_wanted += amount_of(state.amounts(shape), gpu) * count;
    if (told || choices[set].empty()) continue;
    const std::vector<FlavorId>* best = nullptr;
    int32_t most = -1;
    const auto try_choice = [&](const std::vector<FlavorId>& flavors) {
      int32_t placed = 0;
      const auto is_empty = [&](FlavorId flavor) {
        return flavor.index() >= state.flavors.size() || !state.flavors[flavor.index()].nodes.any();
      };
      if (std::ranges::any_of(flavors, is_empty) || state.nodes.size() == 0)
        return count;  // quota alone
      for (const auto& [node, pods_there] : place(candidates(shape, flavors), count, used)) {
        used.emplace_back(node, pods_there);
        placed += pods_there;
      }
      return placed;
    };
    for (const auto& flavors : choices[set]) {
      const Trail::Mark mark = state.trail.mark();
      const size_t had = used.size();
      const int32_t placed = try_choice(flavors);
      state.trail.undo_to(mark);
      used.resize(had);
      if (placed > most) {
        most = placed;
        best = &flavors;
      }
    }
    const Candidates where = candidates(shape, *best);
    free_gpus_before_.clear();
    if (state.nodes.size() > 0) {
      where.nodes.for_each([&](size_t n) {
        free_gpus_before_.push_back(static_cast<int32_t>(
            std::max<int64_t>(0, state.nodes.free(NodeId(static_cast<uint32_t>(n)), gpu))));
      });
    }
    const int32_t placed = try_choice(*best);
    pods_placed += placed;
    if (placed == count) continue;
    told = explain_nodes(where, *best, count, placed);
    told->pod_set = set;
    std::ranges::sort(free_gpus_before_, std::greater());
    free_gpus_before_.resize(std::min(free_gpus_before_.size(), most_nodes_told));
    told->free_gpus_by_node = free_gpus_before_;
  }
  state.trail.undo_to(0);
  if (told) {
    told->pods_wanted = pods_wanted;
    told->pods_placed = pods_placed;
    told->gpus_wanted = gpus_wanted;
  }
  known_capacity[key] = told;
  return told;
}

// Each pod set has quota somewhere and room somewhere, but not all together: a flavor that has the
// nodes lacks the quota, or the other way round.
Blocker Cycle::joint_blocker(const WorkloadState& workload) {
  const QueueState& queue = state.queues[workload.queue.index()];
  std::map<ResourceId, int64_t> wanted;
  Blocker blocker{.reason = Reason::capacity_fragmented, .quota = {}, .free_gpus_by_node = {}};
  for (size_t set = 0; set < workload.shapes.size(); ++set) {
    for (const Amount& amount : state.amounts(workload.shapes[set]))
      wanted[amount.resource] += times(amount.value, workload.counts[set]);
    blocker.pods_wanted += workload.counts[set];
  }
  blocker.gpus_wanted = wanted.contains(gpu) ? wanted[gpu] : 0;
  for (uint32_t n = 0; n < state.nodes.size(); ++n) {
    const NodeState& node = state.nodes[NodeId(n)];
    if (node.is_known && node.spec.is_ready && !node.spec.is_cordoned)
      blocker.gpus_free += std::max<int64_t>(0, state.nodes.free(NodeId(n), gpu));
  }
  for (const ResourceGroup& group : queue.spec.groups) {
    for (const FlavorQuota& flavor : group.flavors) {
      for (const auto& [resource, want] : wanted) {
        const FlavorResource at{flavor.flavor, resource};
        if (!state.quota.has(queue.quota, at) || state.quota.available(queue.quota, at) >= want)
          continue;
        blocker.reason = Reason::waiting_quota;
        blocker.quota.push_back({flavor.flavor, resource, want,
                                 std::max<int64_t>(0, state.quota.available(queue.quota, at)),
                                 state.quota.potential(queue.quota, at)});
      }
    }
  }
  return blocker;
}

std::vector<Blocker> Cycle::blockers_of(const WorkloadState& workload) {
  std::vector<FlavorChoices> choices;
  std::vector<Blocker> blockers = quota_blockers(workload, choices);
  CapacityKey key;
  key.second = std::move(choices);
  for (size_t set = 0; set < workload.shapes.size(); ++set)
    key.first.emplace_back(workload.shapes[set], workload.counts[set]);
  if (auto capacity = capacity_blocker(key)) blockers.push_back(std::move(*capacity));
  return blockers;
}

}  // namespace tau::engine
