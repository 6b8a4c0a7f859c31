#include "engine/nodes.h"

#include <limits>

#include "base/check.h"

namespace tau::engine {

int64_t amount_of(const Amounts& amounts, ResourceId resource) {
  for (const Amount& amount : amounts) {
    if (amount.resource == resource) return amount.value;
  }
  return 0;
}

void NodeTable::grow(NodeId id) {
  if (id.index() < nodes_.size()) return;
  nodes_.resize(id.index() + 1);
  const size_t padded = (nodes_.size() + nodes_per_block - 1) / nodes_per_block * nodes_per_block;
  for (auto& column : free_) column.resize(padded);
  score_.resize(padded);
}

void NodeTable::ensure_columns(const Amounts& amounts) {
  size_t wanted = free_.size();
  for (const Amount& amount : amounts) {
    CHECK(amount.resource.value < most_resources);
    wanted = std::max(wanted, amount.resource.index() + 1);
  }
  if (wanted > free_.size()) free_.resize(wanted, std::vector<int64_t>(score_.size()));
}

NodeFacts NodeTable::facts(NodeId id) const {
  const NodeState& node = nodes_[id.index()];
  return {.id = id,
          .is_known = node.is_known,
          .is_ready = node.spec.is_ready,
          .is_cordoned = node.spec.is_cordoned,
          .labels = node.spec.labels,
          .taints = node.spec.taints};
}

int64_t NodeTable::score_of(size_t node) const {
  const auto value = [&](ResourceId resource) {
    return resource.index() < free_.size() ? std::max<int64_t>(0, free_[resource.index()][node])
                                           : 0;
  };
  return free_score({.gpus = value(gpu), .cpu_milli = value(cpu), .memory_bytes = value(memory)});
}

void NodeTable::add(NodeId id, const Amounts& amounts, int64_t times) {
  for (const Amount& amount : amounts)
    free_[amount.resource.index()][id.index()] += amount.value * times;
  score_[id.index()] = score_of(id.index());
}

void NodeTable::add(NodeId id, ResourceId resource, int64_t amount) {
  free_[resource.index()][id.index()] += amount;
  score_[id.index()] = score_of(id.index());
}

void NodeTable::take(NodeId id, const Amounts& amounts, int64_t times, Trail& trail) {
  for (const Amount& amount : amounts)
    trail.add(free_[amount.resource.index()][id.index()], -amount.value * times);
  trail.set(score_[id.index()], score_of(id.index()));
}

int64_t NodeTable::capacity(const NodeState& node, ResourceId resource) {
  if (!node.is_known) return 0;
  const int64_t amount = amount_of(node.spec.allocatable, resource);
  return resource == gpu ? std::min<int64_t>(amount, std::popcount(node.spec.healthy_gpus))
                         : amount;
}

bool NodeTable::has(NodeId id, const Amounts& request) const {
  for (const Amount& amount : request) {
    if (free_[amount.resource.index()][id.index()] < amount.value) return false;
  }
  return true;
}

int64_t NodeTable::room(NodeId id, const Amounts& request) const {
  int64_t most = std::numeric_limits<int32_t>::max();
  // From the last, where devices are: they are the scarcest, and a product is cheaper than a
  // division.
  for (auto amount = request.rbegin(); amount != request.rend(); ++amount) {
    const int64_t free = free_[amount->resource.index()][id.index()];
    if (free < amount->value) return 0;
    int64_t needed = 0;
    if (__builtin_mul_overflow(most, amount->value, &needed) || free < needed)
      most = free / amount->value;
  }
  return most;
}

GpuMask NodeTable::pick_gpus(NodeId id, int64_t count) const {
  const NodeState& node = nodes_[id.index()];
  const GpuMask open = node.spec.healthy_gpus & ~node.gpus_used;
  if (count <= 0 || std::popcount(open) < count) return 0;
  // The shortest run of neighbours that is long enough; the lowest of equals.
  int best_start = -1, best_length = 65;
  for (int at = 0; at < 64;) {
    if ((open >> at & 1) == 0) {
      ++at;
      continue;
    }
    const int length = std::countr_one(open >> at);
    if (length >= count && length < best_length) {
      best_start = at;
      best_length = length;
    }
    at += length;
  }
  if (best_start >= 0) return (count >= 64 ? ~GpuMask{0} : (GpuMask{1} << count) - 1) << best_start;
  GpuMask left = open, picked = 0;
  for (; count > 0; --count) {
    const GpuMask lowest = left & -left;
    picked |= lowest;
    left ^= lowest;
  }
  return picked;
}

}  // namespace tau::engine
