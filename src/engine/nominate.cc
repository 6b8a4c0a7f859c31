// Flavors for work that does not simply fit: each is judged by whether others could be pushed out
// for it, and ranked as the queue wishes.
#include "engine/preempt.h"

namespace tau::engine {
namespace {

constexpr int most_leaves = 16;  // choices of flavors for the whole, looked at in full

int64_t times(int64_t value, int64_t count) {
  constexpr int64_t most_wanted = int64_t{1} << 58;
  int64_t product = 0;
  return __builtin_mul_overflow(value, count, &product) ? most_wanted
                                                        : std::min(product, most_wanted);
}

}  // namespace

struct Cycle::Nominator {
  Cycle& cycle;
  const WorkloadState& workload;
  std::span<const int32_t> counts;
  const QueueState& queue;
  std::vector<PodSetAdmission> chosen = {};
  Nomination now = {.mode = Mode::fit};
  int leaves_left = most_leaves;

  struct Choice {
    FlavorId flavor;
    Mode mode = Mode::fit;
    int32_t level = 0;
  };

  // Visits choices of flavors for all of it, the best first, until `leaf` says that is enough.
  template <class Leaf>
  bool walk(Leaf leaf) {
    chosen.assign(workload.shapes.size(), {});
    return walk_set(0, leaf);
  }

 private:
  Engine::State& state() { return cycle.state; }
  const Request& request(size_t set) {
    return state().shapes[workload.shapes[set].index()].request;
  }
  template <class Leaf>
  bool walk_set(size_t set, Leaf& leaf) {
    if (set == chosen.size()) return --leaves_left < 0 || leaf(*this);
    chosen[set].count = counts[set];
    return walk_group(set, 0, leaf);
  }
  template <class Leaf>
  bool walk_group(size_t set, size_t index, Leaf& leaf) {
    if (index == queue.spec.groups.size()) return walk_set(set + 1, leaf);
    const ResourceGroup& group = queue.spec.groups[index];
    Amounts wants;
    for (const Amount& amount : request(set).amounts) {
      if (std::ranges::find(group.resources, amount.resource) != group.resources.end())
        wants.push_back({amount.resource, times(amount.value, counts[set])});
    }
    if (wants.empty()) return walk_group(set, index + 1, leaf);
    for (const Choice& choice : ranked(set, group, wants)) {
      const Nomination before = now;
      const size_t had = chosen[set].flavors.size();
      now.mode = std::min(now.mode, choice.mode);
      now.borrow_level = std::max(now.borrow_level, choice.level);
      for (const Amount& want : wants) {
        now.wants[{choice.flavor, want.resource}] += want.value;
        chosen[set].flavors.emplace_back(want.resource, choice.flavor);
      }
      if (walk_group(set, index + 1, leaf)) return true;
      chosen[set].flavors.resize(had);
      now = before;
    }
    return false;
  }

  std::vector<Choice> ranked(size_t set, const ResourceGroup& group, const Amounts& wants) {
    std::vector<Choice> choices;
    for (const FlavorQuota& flavor : group.flavors) {
      ++cycle.result.stats.steps;
      if (!cycle.is_flavor_open(flavor.flavor, workload, set)) continue;
      Choice choice{.flavor = flavor.flavor};
      for (const Amount& want : wants) {
        const Choice one = judge({flavor.flavor, want.resource}, want.value);
        choice.mode = std::min(choice.mode, one.mode);
        choice.level = std::max(choice.level, one.level);
      }
      if (choice.mode == Mode::none) continue;
      choices.push_back(choice);
      const bool goes_on = choice.mode == Mode::no_candidates ||
                           (choice.mode != Mode::fit && !queue.spec.stops_at_preemption) ||
                           (choice.level > 0 && queue.spec.tries_next_before_borrowing);
      if (goes_on) continue;
      std::ranges::rotate(choices, choices.end() - 1);
      return choices;
    }
    std::ranges::stable_sort(choices, {}, [&](const Choice& choice) {
      const auto grade = -static_cast<int>(choice.mode);
      const int has_none = choice.mode == Mode::no_candidates ? 1 : 0;
      return queue.spec.prefers_preemption_to_borrowing ? std::tuple(has_none, choice.level, grade)
                                                        : std::tuple(has_none, grade, choice.level);
    });
    return choices;
  }

  // One flavor for one resource, what is chosen so far counted in.
  Choice judge(FlavorResource at, int64_t value) {
    const QuotaTree& quota = state().quota;
    Choice choice{.flavor = at.first, .mode = Mode::none};
    if (!quota.has(queue.quota, at)) return choice;
    if (const auto before = now.wants.find(at); before != now.wants.end()) value += before->second;
    if (value > quota.potential(queue.quota, at)) return choice;
    const QuotaTree::Reach reach = quota.reach(queue.quota, at, value);
    choice.level = reach.level;
    if (value <= quota.available(queue.quota, at)) {
      choice.mode = Mode::fit;
      return choice;
    }
    const Preemption& policy = queue.spec.preemption;
    if (value > quota.nominal(queue.quota, at) && !reach.is_below_root && !policy.may_borrow &&
        !(state().fair.is_on && policy.reclaim != Reclaim::never))
      return choice;
    const std::map<FlavorResource, int64_t> wants{{at, value}};
    const Trail::Mark mark = state().trail.mark();
    Targets targets{
        .cycle = cycle, .workload = workload, .queue = queue, .wants = wants, .contested = {at}};
    const auto victims = targets.find();
    state().trail.undo_to(mark);
    if (!victims) {
      choice.mode = Mode::no_candidates;
      return choice;
    }
    choice.level = targets.borrow_level;
    choice.mode = Mode::reclaim;
    for (const Victim& victim : *victims) {
      if (victim.cause == PreemptCause::in_queue) choice.mode = Mode::preempt;
    }
    return choice;
  }
};

// How it would do by quota alone.
Cycle::Nomination Cycle::nominate(const WorkloadState& workload, std::span<const int32_t> counts) {
  Nomination best;
  Nominator{.cycle = *this,
            .workload = workload,
            .counts = counts,
            .queue = state.queues[workload.queue.index()]}
      .walk([&](const Nominator& leaf) {
        best = leaf.now;
        return true;
      });
  state.join_quota();
  return best;
}

std::optional<Cycle::Taking> Cycle::find_taking(const WorkloadState& workload,
                                                std::span<const int32_t> counts,
                                                bool is_only_if_nominated) {
  CHECK(state.trail.is_empty());
  std::optional<Taking> found;
  const QueueState& queue = state.queues[workload.queue.index()];
  const auto look = [&](const Nominator& leaf) {
    if (leaf.now.mode == Mode::none || leaf.now.mode == Mode::no_candidates) return false;
    const bool is_fit = leaf.now.mode == Mode::fit;
    if (is_only_if_nominated && is_fit) return true;
    Targets targets{.cycle = *this,
                    .workload = workload,
                    .queue = queue,
                    .wants = leaf.now.wants,
                    .contested = {}};
    for (const auto& [at, amount] : leaf.now.wants) {
      if (is_fit || state.quota.available(queue.quota, at) < amount)
        targets.contested.push_back(at);
    }
    NodeProbe probe(*this, workload, leaf.chosen);
    if (probe.is_needed()) targets.nodes = &probe;
    // Quota fits, and no nodes are asked for: it was only the order of the round that kept it out.
    if (is_fit && targets.nodes == nullptr) return false;
    if (auto victims = targets.find()) {
      if (auto admission = find_later(workload, leaf.chosen))
        found = {std::move(*admission), std::move(*victims)};
    }
    state.trail.undo_to(0);
    return found.has_value();
  };
  Nominator{.cycle = *this, .workload = workload, .counts = counts, .queue = queue}.walk(look);
  state.trail.undo_to(0);
  state.join_quota();
  return found;
}

void Cycle::set_aside(const QueueState& queue, const Nomination& nomination) {
  for (const auto& [at, amount] : nomination.wants) {
    const int64_t nominal = state.quota.nominal(queue.quota, at),
                  used = state.quota.usage(queue.quota, at);
    int64_t kept = std::max<int64_t>(0, std::min(amount, nominal - used));
    if (nomination.borrow_level > 0) {
      const auto limit = state.quota.borrowing_limit(queue.quota, at);
      kept = limit ? std::max<int64_t>(0, std::min(amount, nominal + *limit - used)) : amount;
    }
    if (kept == 0) continue;
    state.quota.charge(queue.quota, at, kept, nullptr);
    aside.push_back({queue.quota, at, kept});
  }
}

void Cycle::put_back_aside() {
  for (const Aside& one : std::exchange(aside, {}))
    state.quota.charge(one.node, one.at, -one.amount, nullptr);
}

}  // namespace tau::engine
