#include "engine/engine.h"

#include "engine/state.h"

namespace tau::engine {

Engine::Engine() : state_(std::make_unique<State>()) {}
Engine::~Engine() = default;
Engine::Engine(const Engine& other) : state_(std::make_unique<State>(*other.state_)) { state_->trail.commit(); }
Engine& Engine::operator=(Engine&&) noexcept = default;

void Engine::apply(std::span<const Delta> deltas) {
  for (const Delta& delta : deltas) state_->apply(delta);
}

std::string Engine::check_invariants() const { return state_->check(); }

std::vector<PendingView> Engine::pending(QueueId id) const {
  std::vector<PendingView> waiting;
  if (id.index() >= state_->queues.size()) return waiting;
  for (const OrderKey& key : state_->queues[id.index()].pending) {
    const WorkloadState& workload = state_->workloads[key.id.index()];
    const bool is_held_back = !workload.spec.is_active || workload.evicting_until || state_->queues[id.index()].spec.stop != StopPolicy::none;
    waiting.push_back({key.id, is_held_back ? PendingState::held_back : workload.is_parked ? PendingState::parked : workload.was_tried ? PendingState::retry : PendingState::untried});
  }
  return waiting;
}

View Engine::view() const {
  View view;
  for (const NodeState& node : state_->nodes) {
    if (!node.is_known) continue;
    NodeView seen{.id = node.spec.id, .allocatable = node.spec.allocatable, .gpus_used = node.gpus_used};
    std::map<ResourceId, int64_t> used;
    for (const PodId pod : node.pods) {
      for (const Amount& amount : state_->shapes[state_->pods[pod.index()].shape.index()].request.amounts) used[amount.resource] += amount.value;
    }
    for (const auto& [resource, value] : used) seen.used.push_back({resource, value});
    view.nodes.push_back(std::move(seen));
  }
  for (const QueueState& queue : state_->queues) {
    if (!queue.is_known) continue;
    QueueView seen{.id = queue.spec.id, .pending = static_cast<int32_t>(queue.pending.size()), .admitted = static_cast<int32_t>(queue.admitted.size())};
    for (const ResourceGroup& group : queue.spec.groups) {
      for (const FlavorQuota& flavor : group.flavors) {
        Amounts used, nominal, available, potential;
        for (const Quota& quota : flavor.quotas) {
          if (queue.quota == QuotaTree::none) continue;
          const FlavorResource at{flavor.flavor, quota.resource};
          used.push_back({quota.resource, state_->quota.usage(queue.quota, at)});
          nominal.push_back({quota.resource, state_->quota.nominal(queue.quota, at)});
          available.push_back({quota.resource, std::max<int64_t>(0, state_->quota.available(queue.quota, at))});
          potential.push_back({quota.resource, state_->quota.potential(queue.quota, at)});
        }
        seen.used.emplace_back(flavor.flavor, std::move(used));
        seen.nominal.emplace_back(flavor.flavor, std::move(nominal));
        seen.available.emplace_back(flavor.flavor, std::move(available));
        seen.potential.emplace_back(flavor.flavor, std::move(potential));
      }
    }
    view.queues.push_back(std::move(seen));
  }
  for (const WorkloadState& workload : state_->workloads) {
    if (workload.verdict) view.verdicts.push_back(*workload.verdict);
  }
  for (const PodState& pod : state_->pods) {
    if (pod.verdict) view.verdicts.push_back(*pod.verdict);
  }
  return view;
}

}  // namespace tau::engine
