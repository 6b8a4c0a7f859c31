// Placement of equal pods on nodes, on the trail.
#include <limits>

#include "engine/state.h"

namespace tau::engine {

int64_t Engine::State::room(const Shape& shape, NodeId node) const {
  int64_t most = std::numeric_limits<int32_t>::max();
  for (const Amount& amount : shape.request.amounts) {
    most = std::min(most, std::max<int64_t>(0, free[amount.resource.index()][node.index()]) / amount.value);
  }
  return most;
}

// The order of the reasons is the order of the enum: the first that holds is told.
Misfit Engine::State::misfit(const Shape& shape, NodeId node) const {
  if (const Misfit fixed = static_misfit(shape.request, facts(node)); fixed != Misfit::fits) return fixed;
  const auto is_short = [&](ResourceId resource) {
    const int64_t wants = amount_of(shape.request.amounts, resource);
    return wants > 0 && free[resource.index()][node.index()] < wants;
  };
  if (is_short(engine::pods)) return Misfit::pods_full;
  if (is_short(cpu)) return Misfit::cpu_short;
  if (is_short(memory)) return Misfit::memory_short;
  if (is_short(gpu)) return Misfit::gpu_short;
  for (const Amount& amount : shape.request.amounts) {
    if (is_short(amount.resource)) return Misfit::other_resource_short;
  }
  return Misfit::fits;
}

bool Engine::State::is_in_flavors(std::span<const FlavorId> wanted, NodeId node) const {
  return std::ranges::all_of(wanted, [&](FlavorId flavor) { return flavor_has(flavor, node); });
}

NodeId Engine::State::best_node(const Shape& shape, std::span<const FlavorId> wanted, const Places& own, int64_t pods_to_place, CycleStats& stats) const {
  NodeId best;
  std::array<int64_t, 16> best_scores{};
  const auto all = scores();
  CHECK(all.size() <= best_scores.size());
  const int64_t gpu_wants = amount_of(shape.request.amounts, gpu), cpu_wants = amount_of(shape.request.amounts, cpu);
  shape.fits.for_each([&](size_t n) {
    const NodeId id(static_cast<uint32_t>(n));
    ++stats.nodes_scanned;
    const int64_t has_room = room(shape, id);
    if (has_room == 0 || !is_in_flavors(wanted, id)) return;
    Candidate candidate{.node = facts(id), .room = has_room, .pods_to_place = pods_to_place};
    candidate.gpus_left = gpu.index() < free.size() ? free[gpu.index()][n] - gpu_wants : 0;
    candidate.cpu_left = cpu.index() < free.size() ? free[cpu.index()][n] - cpu_wants : 0;
    candidate.is_used_by_gang = std::ranges::any_of(own, [&](const auto& place) { return place.first == id; });
    // Compare score by score; an equal node with a higher id is never better.
    for (size_t s = 0; s < all.size(); ++s) {
      const int64_t value = all[s].value(shape.request, candidate);
      if (best.is_some()) {
        if (value < best_scores[s]) return;
        if (value == best_scores[s]) {
          if (s + 1 == all.size()) return;
          continue;
        }
      }
      best = id;
      best_scores[s] = value;
      for (size_t rest = s + 1; rest < all.size(); ++rest) best_scores[rest] = all[rest].value(shape.request, candidate);
      return;
    }
  });
  ++stats.steps;
  return best;
}

void Engine::State::take(const Shape& shape, NodeId node, int64_t count) {
  for (const Amount& amount : shape.request.amounts) {
    trail.add(free[amount.resource.index()][node.index()], -amount.value * count);
  }
}

Places Engine::State::place(const Shape& shape, int32_t count, std::span<const FlavorId> wanted, CycleStats& stats) {
  Places places;
  int32_t left = count;
  while (left > 0) {
    const NodeId node = best_node(shape, wanted, places, left, stats);
    if (!node.is_some()) break;
    const auto taken = static_cast<int32_t>(std::min<int64_t>(left, room(shape, node)));
    take(shape, node, taken);
    places.emplace_back(node, taken);
    left -= taken;
  }
  std::ranges::sort(places);
  return places;
}

GpuMask Engine::State::pick_gpus(NodeId node, int64_t count) const {
  const NodeState& at = nodes[node.index()];
  GpuMask free_bits = at.spec.healthy_gpus & ~at.gpus_used, picked = 0;
  for (; count > 0 && free_bits != 0; --count) {
    const GpuMask lowest = free_bits & -free_bits;
    picked |= lowest;
    free_bits ^= lowest;
  }
  return count == 0 ? picked : 0;
}

}  // namespace tau::engine
