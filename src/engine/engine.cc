#include "engine/engine.h"

#include "engine/cycle.h"

namespace tau::engine {

Engine::Engine() : state_(std::make_unique<State>()) {}
Engine::~Engine() = default;
Engine::Engine(const Engine& other) : state_(std::make_unique<State>(*other.state_)) {}
Engine& Engine::operator=(Engine&&) noexcept = default;

void Engine::apply(std::span<const Delta> deltas) {
  for (const Delta& delta : deltas) state_->apply(delta);
  state_->refresh_quota();
}

std::string Engine::check_invariants() const {
  return state_->check();
}

std::vector<PendingView> Engine::pending(QueueId id) const {
  std::vector<PendingView> waiting;
  if (!state_->is_queue(id)) return waiting;
  const QueueState& queue = state_->queues[id.index()];
  for (const OrderKey& key : queue.holders) waiting.push_back({key.id, PendingState::sticky});
  for (const auto& [key, bucket] : queue.book.in_order()) {
    const WorkloadState& workload = state_->workloads[key.id.index()];
    PendingState is = workload.was_tried ? PendingState::retry : PendingState::untried;
    if (bucket == nullptr || queue.spec.stop != StopPolicy::none)
      is = PendingState::held_back;
    else if (bucket->parked_until != wake_none)
      is = PendingState::parked;
    waiting.push_back({key.id, is});
  }
  return waiting;
}

namespace {

NodeView view_of(const Engine::State& state, const NodeState& node) {
  NodeView seen{.id = node.spec.id,
                .allocatable = node.spec.allocatable,
                .used = {},
                .gpus_used = node.gpus_used};
  for (const PodId pod : node.pods) {
    for (const Amount& amount : state.amounts(state.pods[pod.index()].shape)) {
      const auto at = std::ranges::find(seen.used, amount.resource, &Amount::resource);
      if (at == seen.used.end())
        seen.used.push_back(amount);
      else
        at->value += amount.value;
    }
  }
  std::ranges::sort(seen.used);
  return seen;
}

std::optional<int64_t> share_of(const Engine::State& state, QuotaTree::NodeIndex node) {
  if (node == QuotaTree::none) return 0;
  const QuotaTree::Share share = state.quota.share(node);
  return share.is_unbounded ? std::nullopt : std::optional(share.value);
}

QueueView view_of(const Engine::State& state, const QueueState& queue) {
  QueueView seen{.id = queue.spec.id,
                 .pending = static_cast<int32_t>(queue.book.size() + queue.holders.size()),
                 .admitted = static_cast<int32_t>(queue.admitted.size()),
                 .used = {},
                 .nominal = {},
                 .available = {},
                 .potential = {}};
  for (const ResourceGroup& group : queue.spec.groups) {
    for (const FlavorQuota& flavor : group.flavors) {
      Amounts used, nominal, available, potential;
      for (const Quota& quota : flavor.quotas) {
        const FlavorResource at{flavor.flavor, quota.resource};
        used.push_back({quota.resource, state.quota.usage(queue.quota, at)});
        nominal.push_back({quota.resource, state.quota.nominal(queue.quota, at)});
        available.push_back(
            {quota.resource, std::max<int64_t>(0, state.quota.available(queue.quota, at))});
        potential.push_back({quota.resource, state.quota.potential(queue.quota, at)});
      }
      seen.used.emplace_back(flavor.flavor, std::move(used));
      seen.nominal.emplace_back(flavor.flavor, std::move(nominal));
      seen.available.emplace_back(flavor.flavor, std::move(available));
      seen.potential.emplace_back(flavor.flavor, std::move(potential));
    }
  }
  seen.share = share_of(state, queue.quota);
  return seen;
}

void add_verdicts(const Engine::State& state, const QueueState& queue,
                  std::vector<Verdict>& verdicts) {
  int32_t ahead = 0;
  for (const OrderKey& key : queue.holders)
    verdicts.push_back(
        {.workload = key.id,
         .pod = {},
         .blockers = {
             {.reason = Reason::waiting_preemption, .quota = {}, .free_gpus_by_node = {}}}});
  for (const auto& [key, bucket] : queue.book.in_order()) {
    const WorkloadState& workload = state.workloads[key.id.index()];
    Verdict verdict{.workload = key.id, .pod = {}, .blockers = {}};
    if (bucket == nullptr)
      verdict.blockers.push_back(
          {.reason = held_back_reason(workload), .quota = {}, .free_gpus_by_node = {}});
    else if (queue.spec.stop != StopPolicy::none)
      verdict.blockers.push_back(
          {.reason = Reason::queue_stopped, .quota = {}, .free_gpus_by_node = {}});
    else
      verdict.blockers = blockers_in_queue(bucket->blockers, ahead++);
    verdicts.push_back(std::move(verdict));
  }
}

}  // namespace

View Engine::view() const {
  View view;
  for (uint32_t n = 0; n < state_->nodes.size(); ++n) {
    if (const NodeState& node = state_->nodes[NodeId(n)]; node.is_known)
      view.nodes.push_back(view_of(*state_, node));
  }
  for (const QueueState& queue : state_->queues) {
    if (!queue.is_known) continue;
    view.queues.push_back(view_of(*state_, queue));
    add_verdicts(*state_, queue, view.verdicts);
  }
  for (uint32_t c = 0; c < state_->cohorts.size(); ++c)
    view.cohorts.push_back({CohortId(c), share_of(*state_, state_->cohorts[c].quota)});
  for (const WorkloadId id : state_->homeless) {
    const Reason reason =
        state_->workloads[id.index()].is_active ? Reason::queue_not_found : Reason::user_hold;
    view.verdicts.push_back(
        {.workload = id,
         .pod = {},
         .blockers = {{.reason = reason, .quota = {}, .free_gpus_by_node = {}}}});
  }
  for (const auto& [id, verdict] : state_->told_pods) {
    if (state_->pods[id.index()].has_verdict) view.verdicts.push_back(verdict);
  }
  return view;
}

}  // namespace tau::engine
