// The ledger: what pods use and what admissions hold, on nodes and in the quota tree.
#include "base/check.h"
#include "engine/state.h"

namespace tau::engine {
namespace {

constexpr int64_t most_quota = int64_t{1} << 58;

int64_t times(int64_t value, int64_t count) {
  int64_t product = 0;
  return __builtin_mul_overflow(value, count, &product) ? most_quota
                                                        : std::min(product, most_quota);
}

// Nodes in order, each once; what makes no sense is left out.
void tidy(PodSetAdmission& set) {
  std::map<NodeId, int32_t> places;
  for (const auto& [node, count] : set.nodes) {
    if (is_sane(node) && count > 0)
      places[node] = std::min(1 << 20, places[node] + std::min(count, 1 << 20));
  }
  set.nodes.assign(places.begin(), places.end());
  set.count = std::clamp(set.count, 0, 1 << 20);
  std::ranges::sort(set.flavors);
}

}  // namespace

// An unhealthy device counts for nobody: not free, and not against the healthy ones if it is in
// use.
void Engine::State::charge_pod(const PodState& pod, int64_t sign) {
  const Amounts& wants = amounts(pod.shape);
  nodes.add(pod.node, wants, -sign);
  if (pod.gpus == 0) return;
  const int64_t masked = std::popcount(pod.gpus & nodes[pod.node].spec.healthy_gpus);
  if (const int64_t counted = amount_of(wants, gpu); counted > 0)
    nodes.add(pod.node, gpu, sign * (counted - masked));
}

void Engine::State::count_taken(const PodState& pod, int32_t delta) {
  if (!pod.workload.is_some() || pod.workload.index() >= workloads.size()) return;
  WorkloadState& workload = workloads[pod.workload.index()];
  if (pod.pod_set < workload.places.size()) change_place(workload, pod.pod_set, pod.node, 0, delta);
}

// Where a live pod is, or nowhere; takes it away from where it was.
void Engine::State::set_pod_node(PodId id, NodeId node, GpuMask gpus) {
  PodState& pod = pods[id.index()];
  if (pod.node.is_some()) {
    charge_pod(pod, -1);
    count_taken(pod, -1);
    NodeState& old = nodes.at(pod.node);
    const auto place = std::ranges::find(old.pods, id);
    CHECK(place != old.pods.end());
    *place = old.pods.back();
    old.pods.pop_back();
    if (pod.gpus != 0) {
      old.gpus_used = 0;
      for (const PodId other : old.pods) old.gpus_used |= pods[other.index()].gpus;
    }
    note_freed_capacity();
  }
  pod.node = pod.is_live() && is_sane(node) ? node : NodeId{};
  pod.gpus = pod.node.is_some() ? gpus : 0;
  if (pod.node.is_some()) {
    nodes.grow(pod.node);
    charge_pod(pod, 1);
    count_taken(pod, 1);
    nodes.at(pod.node).pods.push_back(id);
    nodes.at(pod.node).gpus_used |= pod.gpus;
  }
  if (pod.is_live() && !pod.node.is_some()) {
    unbound.insert(id);
  } else {
    unbound.erase(id);
    pod.has_verdict = false;
  }
  ++generation;
}

void Engine::State::change_place(WorkloadState& workload, size_t set, NodeId node, int32_t given,
                                 int32_t taken) {
  std::vector<Place>& places = workload.places[set];
  auto at = std::ranges::lower_bound(places, node, {}, &Place::node);
  if (at == places.end() || at->node != node) at = places.insert(at, {.node = node});
  const int32_t before = at->left();
  at->given += given;
  at->taken += taken;
  const int32_t after = at->left();
  if (at->given == 0 && at->taken == 0) places.erase(at);
  if (before == after) return;
  nodes.add(node, amounts(workload.shapes[set]), before - after);
  if (after < before && taken == 0) note_freed_capacity();
}

void Engine::State::give_up_places(WorkloadState& workload) {
  for (size_t set = 0; set < workload.places.size(); ++set) {
    for (const Place& place : std::vector(workload.places[set])) {
      if (place.given > 0) change_place(workload, set, place.node, -place.given, 0);
    }
  }
}

void Engine::State::charge_quota(const WorkloadState& workload,
                                 const std::vector<PodSetAdmission>& admission, int64_t sign,
                                 QuotaTree::Usage which) {
  if (!is_queue(workload.queue)) return;
  const QuotaTree::NodeIndex at = queues[workload.queue.index()].quota;
  if (at == QuotaTree::none) return;
  for (size_t set = 0; set < admission.size(); ++set) {
    for (const auto& [resource, flavor] : admission[set].flavors) {
      const int64_t amount =
          times(amount_of(amounts(workload.shapes[set]), resource), admission[set].count);
      quota.charge(at, {flavor, resource}, sign * amount, nullptr, which);
    }
  }
}

// What is looked ahead to is the same as what is, as soon as nobody leaves and nothing is held.
void Engine::State::join_quota() {
  if (leaving.empty() && holder_count == 0) quota.join();
}

void Engine::State::start_leaving(WorkloadId id) {
  WorkloadState& workload = workloads[id.index()];
  CHECK(workload.phase == Phase::admitted);
  give_up_places(workload);
  workload.phase = Phase::evicting;
  leaving.insert(id);
  if (is_quota_stale) return;
  quota.split();
  charge_quota(workload, workload.admission, -1, QuotaTree::Usage::later);
}

void Engine::State::charge_hold(const WorkloadState& workload, int64_t sign) {
  for (size_t set = 0; set < workload.hold.size(); ++set) {
    for (const auto& [node, count] : workload.hold[set].nodes)
      nodes.add(node, amounts(workload.shapes[set]), -sign * count);
  }
  if (is_quota_stale) return;
  quota.split();
  charge_quota(workload, workload.hold, sign, QuotaTree::Usage::later);
}

int64_t Engine::State::held_on(NodeId node, ResourceId resource) const {
  if (holder_count == 0) return 0;
  int64_t held = 0;
  for (const QueueState& queue : queues) {
    for (const OrderKey& key : queue.holders) {
      const WorkloadState& workload = workloads[key.id.index()];
      for (size_t set = 0; set < workload.hold.size(); ++set) {
        for (const auto& [at, count] : workload.hold[set].nodes) {
          if (at == node) held += count * amount_of(amounts(workload.shapes[set]), resource);
        }
      }
    }
  }
  return held;
}

// Takes it out of its queue's book. The room counts besides what still fills it.
void Engine::State::set_hold(WorkloadId id, std::vector<PodSetAdmission> admission) {
  CHECK(trail.is_empty());
  WorkloadState& workload = workloads[id.index()];
  CHECK(workload.phase == Phase::waiting && is_queue(workload.queue));
  dequeue(id);
  workload.hold = std::move(admission);
  charge_hold(workload, 1);
  QueueState& queue = queues[workload.queue.index()];
  queue.holders.insert(workload.key(id));
  queue.has_news = true;
  ++holder_count;
  ++generation;
}

// It then waits nowhere.
void Engine::State::release_hold(WorkloadId id) {
  WorkloadState& workload = workloads[id.index()];
  if (workload.hold.empty()) return;
  charge_hold(workload, -1);
  workload.hold.clear();
  if (workload.queue.index() < queues.size()) {
    queues[workload.queue.index()].holders.erase(workload.key(id));
    note_freed_quota(queues[workload.queue.index()]);
  }
  note_freed_capacity();
  --holder_count;
  join_quota();
  ++generation;
}

void Engine::State::set_admission(WorkloadId id, std::vector<PodSetAdmission> admission) {
  CHECK(trail.is_empty());
  WorkloadState& workload = workloads[id.index()];
  CHECK(workload.phase == Phase::waiting);
  dequeue(id);
  workload.phase = Phase::admitted;
  workload.admission = std::move(admission);
  workload.admission.resize(workload.shapes.size());
  for (size_t set = 0; set < workload.admission.size(); ++set) {
    tidy(workload.admission[set]);
    for (const auto& [node, count] : workload.admission[set].nodes) {
      nodes.grow(node);
      change_place(workload, set, node, count, 0);
    }
  }
  if (is_sane(workload.queue)) grow(queues, workload.queue).admitted.insert(id);
  if (!is_quota_stale) charge_quota(workload, workload.admission, 1, QuotaTree::Usage::both);
  ++generation;
}

void Engine::State::clear_admission(WorkloadId id) {
  CHECK(trail.is_empty());
  WorkloadState& workload = workloads[id.index()];
  if (workload.phase != Phase::admitted && workload.phase != Phase::evicting) return;
  give_up_places(workload);
  const bool was_leaving = leaving.erase(id) > 0;
  if (!is_quota_stale)
    charge_quota(workload, workload.admission, -1,
                 was_leaving ? QuotaTree::Usage::now : QuotaTree::Usage::both);
  if (was_leaving) join_quota();
  workload.preemptor = {};
  if (is_sane(workload.queue) && workload.queue.index() < queues.size()) {
    queues[workload.queue.index()].admitted.erase(id);
    note_freed_quota(queues[workload.queue.index()]);
  }
  workload.phase = Phase::waiting;
  workload.admission.clear();
  workload.assumed_until.reset();
  workload.evicting_until.reset();
  workload.partial_since.reset();
  ++generation;
}

void Engine::State::note_freed_quota(const QueueState& queue) {
  if (!is_quota_stale && queue.quota != QuotaTree::none)
    freed_quota.insert(quota.root(queue.quota));
}

void Engine::State::refresh_quota() {
  if (!is_quota_stale) return;
  is_quota_stale = false;
  has_freed_all_quota = true;
  freed_quota.clear();
  ++generation;
  quota.clear();
  // A cohort exists as soon as a queue or another cohort names it.
  size_t cohort_count = cohorts.size();
  const auto name = [&](CohortId id) {
    if (is_sane(id)) cohort_count = std::max(cohort_count, id.index() + 1);
  };
  for (const QueueState& queue : queues) {
    if (queue.is_known) name(queue.spec.cohort);
  }
  for (const CohortState& cohort : cohorts) {
    if (cohort.is_known) name(cohort.spec.parent);
  }
  cohorts.resize(cohort_count);
  queue_at.clear();
  for (QueueState& queue : queues) {
    queue.quota = queue.is_known ? quota.add_node() : QuotaTree::none;
    if (queue.is_known) queue_at.push_back(queue.spec.id);
  }
  queue_at.resize(queue_at.size() + cohorts.size());
  for (CohortState& cohort : cohorts) cohort.quota = quota.add_node();
  const auto set_groups = [this](QuotaTree::NodeIndex at, const std::vector<ResourceGroup>& groups,
                                 bool follows_nodes) {
    for (const ResourceGroup& group : groups) {
      for (const FlavorQuota& flavor : group.flavors) {
        for (Quota amount : flavor.quotas) {
          if (follows_nodes) {
            amount.nominal = 0;
            if (flavor.flavor.index() >= flavors.size()) continue;
            flavors[flavor.flavor.index()].nodes.for_each([&](size_t n) {
              amount.nominal += std::min(
                  most_quota, amount_of(nodes[NodeId(static_cast<uint32_t>(n))].spec.allocatable,
                                        amount.resource));
            });
          }
          amount.nominal = std::clamp<int64_t>(amount.nominal, 0, most_quota);
          for (auto* limit : {&amount.borrowing_limit, &amount.lending_limit}) {
            if (*limit) *limit = std::clamp<int64_t>(**limit, 0, most_quota);
          }
          quota.set_quota(at, {flavor.flavor, amount.resource}, amount);
        }
      }
    }
  };
  for (const QueueState& queue : queues) {
    if (!queue.is_known) continue;
    set_groups(queue.quota, queue.spec.groups, queue.spec.follows_nodes);
    quota.set_weight(queue.quota, queue.spec.weight);
    if (is_sane(queue.spec.cohort))
      quota.set_parent(queue.quota, cohorts[queue.spec.cohort.index()].quota);
  }
  for (const CohortState& cohort : cohorts) {
    if (!cohort.is_known) continue;
    set_groups(cohort.quota, cohort.spec.groups, false);
    quota.set_weight(cohort.quota, cohort.spec.weight);
    if (is_sane(cohort.spec.parent))
      quota.set_parent(cohort.quota, cohorts[cohort.spec.parent.index()].quota);
  }
  quota.seal();
  const auto charge = [this](WorkloadId id, const std::vector<PodSetAdmission>& admission,
                             int64_t sign, QuotaTree::Usage which) {
    charge_quota(workloads[id.index()], admission, sign, which);
  };
  for (const QueueState& queue : queues) {
    for (const WorkloadId id : queue.admitted)
      charge(id, workloads[id.index()].admission, 1, QuotaTree::Usage::both);
  }
  if (leaving.empty() && holder_count == 0) return;
  quota.split();
  for (const WorkloadId id : leaving)
    charge(id, workloads[id.index()].admission, -1, QuotaTree::Usage::later);
  for (const QueueState& queue : queues) {
    for (const OrderKey& key : queue.holders)
      charge(key.id, workloads[key.id.index()].hold, 1, QuotaTree::Usage::later);
  }
}

}  // namespace tau::engine
