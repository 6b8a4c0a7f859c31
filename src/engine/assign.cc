// Flavors, quota and nodes for a whole workload, decided together: pod set by pod set, group by
// group, flavor by flavor in the queue's order, each step on the trail and undone when what follows
// does not fit.
#include "engine/cycle.h"

namespace tau::engine {
namespace {

constexpr int64_t most_wanted = int64_t{1} << 58;
// Of one workload's search over several unlike pod sets.
constexpr int64_t exact_steps = 20'000;

int64_t times(int64_t value, int64_t count) {
  int64_t product = 0;
  return __builtin_mul_overflow(value, count, &product) ? most_wanted
                                                        : std::min(product, most_wanted);
}

// Whoever asks for levels needs a flavor that has them; whoever does not is not put into a topology
// where the queue has another flavor.
bool suits_topology(const Engine::State& state, const WorkloadState& workload, size_t set,
                    const FlavorUpsert& flavor) {
  const TopologyRequest& asks = workload.topology[set];
  const auto has = [&](LabelKeyId level) {
    return std::ranges::find(flavor.levels, level) != flavor.levels.end();
  };
  if (asks.is_asked()) {
    if (flavor.levels.empty() || (asks.level.is_some() && !has(asks.level))) return false;
    return std::ranges::all_of(asks.slices, [&](const auto& slice) { return has(slice.level); });
  }
  if (flavor.levels.empty()) return true;
  for (const ResourceGroup& group : state.queues[workload.queue.index()].spec.groups) {
    for (const FlavorQuota& other : group.flavors) {
      if (other.flavor.index() < state.flavors.size() &&
          state.flavors[other.flavor.index()].spec.levels.empty())
        return false;
    }
  }
  return true;
}

}  // namespace

// A pod may use a flavor if it bears the flavor's taints and its selector does not speak against
// the labels.
bool Cycle::is_flavor_open(FlavorId id, const WorkloadState& workload, size_t set) const {
  if (id.index() >= state.flavors.size() || !state.flavors[id.index()].is_known) return false;
  const FlavorUpsert& flavor = state.flavors[id.index()].spec;
  const Request& request = state.shapes[workload.shapes[set].index()].request;
  if (!suits_topology(state, workload, set, flavor)) return false;
  for (const Taint& taint : flavor.node_taints) {
    if (taint.effect == Effect::prefer_no_schedule) continue;
    if (!tolerates(request.tolerations, taint) && !tolerates(flavor.tolerations, taint))
      return false;
  }
  // Only keys that the flavor sets can speak against it.
  const auto is_against = [&](const Requirement& r) {
    const bool is_set = std::ranges::any_of(flavor.node_labels,
                                            [&](const Label& label) { return label.key == r.key; });
    return is_set && !matches(r, flavor.node_labels);
  };
  if (request.terms.empty()) return true;
  return std::ranges::any_of(
      request.terms, [&](const Term& term) { return std::ranges::none_of(term, is_against); });
}

// How pods are put on nodes while flavors are tried. greedy: each set after the other, exact for
// one set. exact: all sets against each other, once flavors are chosen for all.
// later: in a tentative state that looks ahead; greedy, then exact.
enum class Nodes : uint8_t { none, greedy, exact };

struct Cycle::Search {
  Cycle& cycle;
  const WorkloadState& workload;
  std::span<const int32_t> counts;
  const QueueState& queue;
  Nodes nodes = Nodes::none;
  const std::vector<PodSetAdmission>* fixed = nullptr;  // flavors chosen before, looking ahead
  std::vector<PodSetAdmission> chosen = {};
  Wake blocked_by = wake_none;
  Proof proof = Proof::proved;
  int32_t borrow_level = 0;
  int64_t exact_steps_left = exact_steps;

  bool run() {
    chosen.assign(workload.shapes.size(), {});
    return choose_for_set(0);
  }

 private:
  State& state() { return cycle.state; }
  void block(Wake what) { blocked_by = static_cast<Wake>(blocked_by | what); }
  const Request& request(size_t set) {
    return state().shapes[workload.shapes[set].index()].request;
  }

  bool choose_for_set(size_t set) {
    if (set == chosen.size()) return nodes != Nodes::exact || place_exactly();
    chosen[set].count = counts[set];
    if (!covers_all(request(set))) {
      block(wake_quota);  // only a change of the queue helps
      return false;
    }
    return choose_for_group(set, 0);
  }

  // A resource that no group covers cannot be charged, so it cannot be admitted; pods are charged
  // if covered.
  bool covers_all(const Request& wanted) const {
    if (queue.spec.follows_nodes) return true;
    return std::ranges::all_of(wanted.amounts, [&](const Amount& amount) {
      return amount.resource == pods ||
             std::ranges::any_of(queue.spec.groups, [&](const ResourceGroup& group) {
               return std::ranges::find(group.resources, amount.resource) != group.resources.end();
             });
    });
  }

  bool choose_for_group(size_t set, size_t group_index) {
    if (group_index == queue.spec.groups.size()) return place_set(set);
    const ResourceGroup& group = queue.spec.groups[group_index];
    Amounts wants;
    for (const Amount& amount : request(set).amounts) {
      if (std::ranges::find(group.resources, amount.resource) == group.resources.end()) continue;
      wants.push_back({amount.resource, times(amount.value, counts[set])});
    }
    if (wants.empty()) return choose_for_group(set, group_index + 1);
    for (const auto& [level, flavor] : flavors_in_order(set, group, wants)) {
      const Trail::Mark mark = state().trail.mark();
      auto& flavors = chosen[set].flavors;
      const size_t had = flavors.size();
      const int32_t level_before = std::exchange(borrow_level, std::max(borrow_level, level));
      for (const Amount& want : wants) {
        state().quota.charge(queue.quota, {flavor, want.resource}, want.value, &state().trail);
        flavors.emplace_back(want.resource, flavor);
      }
      if (choose_for_group(set, group_index + 1)) return true;
      flavors.resize(had);
      borrow_level = level_before;
      state().trail.undo_to(mark);
    }
    return false;
  }

  int64_t quota_left(FlavorResource at) {
    return fixed == nullptr ? state().quota.available(queue.quota, at)
                            : state().quota.available_later(queue.quota, at);
  }
  bool is_fixed(size_t set, ResourceId resource, FlavorId flavor) const {
    return std::ranges::find((*fixed)[set].flavors, std::pair(resource, flavor)) !=
           (*fixed)[set].flavors.end();
  }

  // Sets of one group share the flavor.
  bool is_of_its_group(size_t set, ResourceId resource, FlavorId flavor) const {
    const uint32_t group = workload.topology[set].group;
    if (group == 0) return true;
    for (size_t other = 0; other < set; ++other) {
      if (workload.topology[other].group != group) continue;
      for (const auto& [of, chosen_flavor] : chosen[other].flavors) {
        if (of == resource && chosen_flavor != flavor) return false;
      }
    }
    return true;
  }

  // Those that the pods may use and that have the quota, with how far they would borrow. In the
  // queue's order, or, where the queue prefers the next flavor to borrowing, least borrowing first.
  std::vector<std::pair<int32_t, FlavorId>> flavors_in_order(size_t set, const ResourceGroup& group,
                                                             const Amounts& wants) {
    std::vector<std::pair<int32_t, FlavorId>> usable;
    for (const FlavorQuota& flavor : group.flavors) {
      if (fixed != nullptr && !is_fixed(set, wants[0].resource, flavor.flavor)) continue;
      ++cycle.result.stats.steps;
      if (!cycle.is_flavor_open(flavor.flavor, workload, set)) continue;
      if (!is_of_its_group(set, wants[0].resource, flavor.flavor)) continue;
      int32_t level = 0;
      const bool has_quota = std::ranges::all_of(wants, [&](const Amount& want) {
        const FlavorResource at{flavor.flavor, want.resource};
        if (!state().quota.has(queue.quota, at) || quota_left(at) < want.value) return false;
        level = std::max(level, state().quota.borrow_level(queue.quota, at, want.value));
        return true;
      });
      if (has_quota)
        usable.emplace_back(level, flavor.flavor);
      else
        block(wake_quota);
    }
    if (usable.empty()) block(wake_quota);
    if (!queue.spec.tries_next_before_borrowing) return usable;
    std::vector<std::pair<int32_t, FlavorId>> by_level;  // equals stay in the queue's order
    for (const auto& one : usable) {
      by_level.insert(
          std::ranges::upper_bound(by_level, one.first, {}, &std::pair<int32_t, FlavorId>::first),
          one);
    }
    return by_level;
  }

  std::vector<FlavorId> flavors_of(size_t set) const {
    std::vector<FlavorId> flavors;
    for (const auto& [resource, flavor] : chosen[set].flavors) flavors.push_back(flavor);
    std::ranges::sort(flavors);
    flavors.erase(std::unique(flavors.begin(), flavors.end()), flavors.end());
    return flavors;
  }

  bool place_set(size_t set) {
    chosen[set].nodes.clear();
    const std::vector<FlavorId> flavors = flavors_of(set);
    if (nodes != Nodes::greedy || !cycle.has_nodes(flavors)) return choose_for_set(set + 1);
    if (const FlavorId topology = cycle.topology_flavor(flavors); topology.is_some())
      return place_set_by_topology(set, topology, flavors);
    const int32_t count = counts[set];
    // Room only shrinks while heads are tried, so what found none finds none.
    const auto too_many = cycle.too_many.find({workload.shapes[set], flavors});
    if (fixed == nullptr && too_many != cycle.too_many.end() && count >= too_many->second) {
      block(wake_capacity);
      return false;
    }
    const Candidates where = cycle.candidates(workload.shapes[set], flavors);
    const Trail::Mark mark = state().trail.mark();
    int32_t placed = 0;
    if (count == 1 && set == 0) {
      if (const NodeId node = cycle.best_node(where); node.is_some()) {
        state().nodes.take(node, request(set).amounts, 1, state().trail);
        chosen[set].nodes = {{node, 1}};
        placed = 1;
      }
    } else {
      Places used;
      for (size_t before = 0; before < set; ++before)
        used.insert(used.end(), chosen[before].nodes.begin(), chosen[before].nodes.end());
      chosen[set].nodes = cycle.place(where, count, used);
      for (const auto& [node, pods_there] : chosen[set].nodes) placed += pods_there;
    }
    if (placed == count) {
      if (choose_for_set(set + 1)) return true;
    } else {
      block(wake_capacity);
      if (set == 0 && fixed == nullptr) cycle.too_many[{workload.shapes[set], flavors}] = count;
    }
    state().trail.undo_to(mark);
    chosen[set].nodes.clear();
    return false;
  }

  // With the others of its group, once flavors are chosen for all of them.
  bool place_set_by_topology(size_t set, FlavorId topology, const std::vector<FlavorId>& flavors) {
    const TopologyRequest& asks = workload.topology[set];
    size_t other = set;
    for (size_t s = 0; s < chosen.size() && asks.group != 0; ++s) {
      if (s != set && workload.topology[s].group == asks.group) other = s;
    }
    if (other > set) return choose_for_set(set + 1);
    const Trail::Mark mark = state().trail.mark();
    const Candidates where = cycle.candidates(workload.shapes[set], flavors);
    bool is_placed = counts[set] == 0;
    if (other == set || (counts[set] != 1 && counts[other] != 1)) {
      chosen[set].nodes = cycle.place_by_topology(where, topology, counts[set], asks);
      is_placed |= !chosen[set].nodes.empty();
    } else {
      const size_t leader = counts[other] == 1 ? other : set, workers = leader == set ? other : set;
      const Candidates theirs = cycle.candidates(workload.shapes[other], flavors_of(other));
      auto placed =
          cycle.place_group(leader == set ? where : theirs, leader == set ? theirs : where,
                            topology, counts[workers], workload.topology[workers]);
      is_placed = placed.has_value();
      if (placed) {
        chosen[leader].nodes = std::move(placed->first);
        chosen[workers].nodes = std::move(placed->second);
      }
    }
    if (!is_placed)
      block(wake_capacity);
    else if (choose_for_set(set + 1))
      return true;
    state().trail.undo_to(mark);
    chosen[set].nodes.clear();
    chosen[other].nodes.clear();
    return false;
  }

  struct Spread {
    size_t set;
    std::vector<NodeId> nodes;  // where one pod fits
  };

  bool place_exactly() {
    std::vector<Spread> spreads;
    for (size_t set = 0; set < chosen.size(); ++set) {
      chosen[set].nodes.clear();
      const std::vector<FlavorId> flavors = flavors_of(set);
      if (!cycle.has_nodes(flavors)) continue;
      Spread spread{.set = set, .nodes = {}};
      int64_t room = 0;
      cycle.candidates(workload.shapes[set], flavors).nodes.for_each([&](size_t n) {
        const NodeId node(static_cast<uint32_t>(n));
        const int64_t here = state().nodes.room(node, request(set).amounts);
        if (here > 0) spread.nodes.push_back(node);
        room += here;
      });
      if (room < counts[set]) {
        block(wake_capacity);
        return false;
      }
      spreads.push_back(std::move(spread));
    }
    // The hardest to place first: most devices per pod, then most CPU.
    std::ranges::sort(spreads, {}, [&](const Spread& spread) {
      const Amounts& wants = request(spread.set).amounts;
      return std::tuple(-amount_of(wants, gpu), -amount_of(wants, cpu), spread.set);
    });
    const Trail::Mark mark = state().trail.mark();
    if (spread_from(spreads, 0, 0, spreads.empty() ? 0 : counts[spreads[0].set])) {
      for (PodSetAdmission& set : chosen) std::ranges::sort(set.nodes);
      return true;
    }
    state().trail.undo_to(mark);
    block(wake_capacity);
    return false;
  }

  bool spread_from(const std::vector<Spread>& spreads, size_t at, size_t node_index, int32_t left) {
    if (at == spreads.size()) return true;
    if (left == 0)
      return spread_from(spreads, at + 1, 0,
                         at + 1 < spreads.size() ? counts[spreads[at + 1].set] : 0);
    const Spread& spread = spreads[at];
    if (node_index == spread.nodes.size()) return false;
    if (--exact_steps_left < 0) {
      proof = Proof::not_within_budget;
      return false;
    }
    ++cycle.result.stats.steps;
    const NodeId node = spread.nodes[node_index];
    const Amounts& wants = request(spread.set).amounts;
    auto& places = chosen[spread.set].nodes;
    for (int64_t here = std::min<int64_t>(left, state().nodes.room(node, wants)); here >= 0;
         --here) {
      const Trail::Mark mark = state().trail.mark();
      if (here > 0) {
        state().nodes.take(node, wants, here, state().trail);
        places.emplace_back(node, static_cast<int32_t>(here));
      }
      if (spread_from(spreads, at, node_index + 1, left - static_cast<int32_t>(here))) return true;
      if (here > 0) places.pop_back();
      state().trail.undo_to(mark);
      if (exact_steps_left < 0) return false;
    }
    return false;
  }
};

// Unlike pod sets, none of which is bound to the levels of a topology.
bool Cycle::may_spread(const WorkloadState& workload) const {
  return workload.shapes.size() > 1 &&
         std::ranges::none_of(workload.topology, [](const TopologyRequest& asks) {
           return asks.is_asked() || asks.group != 0;
         });
}

// A flavor without known nodes is quota alone: others place its pods.
bool Cycle::has_nodes(std::span<const FlavorId> flavors) const {
  if (flavors.empty()) return state.nodes.size() > 0;
  return std::ranges::all_of(flavors, [&](FlavorId flavor) {
    const FlavorState& one = state.flavors[flavor.index()];
    return one.nodes.any() || !one.spec.levels.empty();
  });
}

std::optional<std::vector<PodSetAdmission>> Cycle::find_later(
    const WorkloadState& workload, const std::vector<PodSetAdmission>& flavors) {
  const Trail::Mark mark = state.trail.mark();
  std::vector<int32_t> counts;
  for (const PodSetAdmission& set : flavors) counts.push_back(set.count);
  Search search{.cycle = *this,
                .workload = workload,
                .counts = counts,
                .queue = state.queues[workload.queue.index()],
                .nodes = Nodes::greedy,
                .fixed = &flavors};
  bool is_found = search.run();
  if (!is_found && may_spread(workload) && (search.blocked_by & wake_capacity) != 0) {
    state.trail.undo_to(mark);
    search.nodes = Nodes::exact;
    is_found = search.run();
  }
  state.trail.undo_to(mark);
  if (!is_found) return std::nullopt;
  return std::move(search.chosen);
}

Cycle::Outcome Cycle::find_admission(const WorkloadState& workload, std::span<const int32_t> counts,
                                     bool is_with_nodes) {
  CHECK(state.trail.is_empty());
  Search search{.cycle = *this,
                .workload = workload,
                .counts = counts,
                .queue = state.queues[workload.queue.index()],
                .nodes = is_with_nodes ? Nodes::greedy : Nodes::none};
  bool is_found = search.run();
  // One set after the other may fail where another spread of the earlier ones leaves room for the
  // later.
  if (!is_found && is_with_nodes && may_spread(workload) &&
      (search.blocked_by & wake_capacity) != 0) {
    state.trail.undo_to(0);
    search.nodes = Nodes::exact;
    search.borrow_level = 0;
    is_found = search.run();
  }
  Outcome outcome{
      .blocked_by = search.blocked_by, .borrow_level = search.borrow_level, .proof = search.proof};
  if (is_found) outcome.admission = std::move(search.chosen);
  state.trail.undo_to(0);
  return outcome;
}

}  // namespace tau::engine
