// Flavors, quota and nodes for a whole workload, decided together: pod set by pod set, group by group, flavor by
// flavor in the queue's order, each step on the trail and undone when what follows does not fit.
#include "engine/state.h"

namespace tau::engine {

// A pod may use a flavor if it bears the flavor's taints and its selector does not speak against the labels.
bool Cycle::is_flavor_open(const QueueState&, FlavorId id, const Request& request) const {
  if (id.index() >= state.flavors.size() || !state.flavors[id.index()].is_known) return false;
  const FlavorUpsert& flavor = state.flavors[id.index()].spec;
  for (const Taint& taint : flavor.node_taints) {
    if (taint.effect == Effect::prefer_no_schedule) continue;
    if (!tolerates(request.tolerations, taint) && !tolerates(flavor.tolerations, taint)) return false;
  }
  // Only keys that the flavor sets can speak against it.
  const auto is_against = [&](const Requirement& r) {
    const bool is_set = std::ranges::any_of(flavor.node_labels, [&](const Label& label) { return label.key == r.key; });
    return is_set && !matches(r, flavor.node_labels);
  };
  if (request.terms.empty()) return true;
  return std::ranges::any_of(request.terms, [&](const Term& term) { return std::ranges::none_of(term, is_against); });
}

struct Cycle::Search {
  Cycle& cycle;
  const WorkloadState& workload;
  const QueueState& queue;
  std::vector<PodSetAdmission> chosen;

  bool set(size_t index) {
    if (index == workload.spec.pod_sets.size()) return true;
    chosen[index].count = workload.spec.pod_sets[index].count;
    if (!covers_all(shape(index).request)) return false;
    return group(index, 0);
  }

 private:
  const Shape& shape(size_t set) const { return cycle.state.shapes[workload.shapes[set].index()]; }

  // A resource that no group covers cannot be charged, so it cannot be admitted; pods are charged if covered.
  bool covers_all(const Request& request) const {
    if (queue.spec.follows_nodes) return true;
    return std::ranges::all_of(request.amounts, [&](const Amount& amount) {
      if (amount.resource == pods) return true;
      return std::ranges::any_of(queue.spec.groups, [&](const ResourceGroup& g) {
        return std::ranges::find(g.resources, amount.resource) != g.resources.end();
      });
    });
  }

  bool group(size_t set_index, size_t group_index) {
    State& state = cycle.state;
    if (group_index == queue.spec.groups.size()) return nodes(set_index);
    const ResourceGroup& g = queue.spec.groups[group_index];
    const Request& request = shape(set_index).request;
    std::vector<Amount> wants;
    for (const Amount& amount : request.amounts) {
      if (std::ranges::find(g.resources, amount.resource) == g.resources.end()) continue;
      wants.push_back({amount.resource, amount.value * workload.spec.pod_sets[set_index].count});
    }
    if (wants.empty()) return group(set_index, group_index + 1);
    for (const FlavorQuota& flavor : g.flavors) {
      if (cycle.result.stats.steps >= cycle.options.step_budget) {
        cycle.result.stats.is_budget_spent = true;
        return false;
      }
      ++cycle.result.stats.steps;
      if (!cycle.is_flavor_open(queue, flavor.flavor, request)) continue;
      const bool has_quota = std::ranges::all_of(wants, [&](const Amount& want) {
        return state.quota.has(queue.quota, {flavor.flavor, want.resource}) &&
               state.quota.available(queue.quota, {flavor.flavor, want.resource}) >= want.value;
      });
      if (!has_quota) continue;
      const Trail::Mark mark = state.trail.mark();
      auto& flavors = chosen[set_index].flavors;
      const size_t had = flavors.size();
      for (const Amount& want : wants) {
        state.quota.charge(queue.quota, {flavor.flavor, want.resource}, want.value, &state.trail);
        flavors.emplace_back(want.resource, flavor.flavor);
      }
      if (group(set_index, group_index + 1)) return true;
      flavors.resize(had);
      state.trail.undo_to(mark);
    }
    return false;
  }

  bool nodes(size_t set_index) {
    State& state = cycle.state;
    PodSetAdmission& admission = chosen[set_index];
    std::vector<FlavorId> flavors;
    for (const auto& [resource, flavor] : admission.flavors) {
      if (std::ranges::find(flavors, flavor) == flavors.end()) flavors.push_back(flavor);
    }
    bool has_nodes = false;
    for (size_t n = 0; n < state.nodes.size() && !has_nodes; ++n) {
      has_nodes = state.nodes[n].is_known && state.is_in_flavors(flavors, NodeId(static_cast<uint32_t>(n)));
    }
    const Trail::Mark mark = state.trail.mark();
    admission.nodes.clear();
    if (has_nodes) {  // a flavor without known nodes is quota alone: others place its pods
      admission.nodes = state.place(shape(set_index), admission.count, flavors, cycle.result.stats);
      int32_t placed = 0;
      for (const auto& [node, count] : admission.nodes) placed += count;
      if (placed < admission.count) {
        state.trail.undo_to(mark);
        return false;
      }
    }
    if (set(set_index + 1)) return true;
    state.trail.undo_to(mark);
    return false;
  }

  using State = Engine::State;
};

std::optional<std::vector<PodSetAdmission>> Cycle::find_admission(const WorkloadState& workload) {
  const QueueState& queue = state.queues[workload.spec.queue.index()];
  Search search{*this, workload, queue, std::vector<PodSetAdmission>(workload.spec.pod_sets.size())};
  const Trail::Mark mark = state.trail.mark();
  if (search.set(0)) return std::move(search.chosen);
  state.trail.undo_to(mark);
  return std::nullopt;
}

}  // namespace tau::engine
