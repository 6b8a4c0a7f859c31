#include "engine/policy.h"

#include <algorithm>
#include <array>

namespace tau::engine {

bool matches(const Requirement& requirement, std::span<const Label> labels) {
  const auto found = std::ranges::find(labels, requirement.key, &Label::key);
  const bool has = found != labels.end();
  switch (requirement.op) {
    case Operator::exists: return has;
    case Operator::does_not_exist: return !has;
    case Operator::in: return has && std::ranges::find(requirement.values, found->value) != requirement.values.end();
    case Operator::not_in: return !has || std::ranges::find(requirement.values, found->value) == requirement.values.end();
    case Operator::greater: return has && found->number && *found->number > requirement.bound;
    case Operator::less: return has && found->number && *found->number < requirement.bound;
  }
  return false;
}

bool matches_any(std::span<const Term> terms, std::span<const Label> labels) {
  if (terms.empty()) return true;
  return std::ranges::any_of(terms, [&](const Term& term) {
    return std::ranges::all_of(term, [&](const Requirement& r) { return matches(r, labels); });
  });
}

bool tolerates(std::span<const Toleration> tolerations, const Taint& taint) {
  return std::ranges::any_of(tolerations, [&](const Toleration& t) {
    return (!t.key.is_some() || t.key == taint.key) && (!t.value.is_some() || t.value == taint.value) &&
           (!t.effect || *t.effect == taint.effect);
  });
}

namespace {

bool is_ready(const Request&, const NodeFacts& node) { return node.is_known && node.is_ready; }
bool is_open(const Request&, const NodeFacts& node) { return !node.is_cordoned; }
bool bears_taints(const Request& request, const NodeFacts& node) {
  return std::ranges::all_of(node.taints, [&](const Taint& taint) {
    return taint.effect == Effect::prefer_no_schedule || tolerates(request.tolerations, taint);
  });
}
bool has_labels(const Request& request, const NodeFacts& node) { return matches_any(request.terms, node.labels); }
bool is_named(const Request& request, const NodeFacts& node) {
  return !request.only_node.is_some() || request.only_node == node.id;
}

int64_t wishes(const Request& request, const Candidate& c) {
  int64_t sum = 0;
  for (const Preference& wish : request.preferences) {
    if (std::ranges::all_of(wish.term, [&](const Requirement& r) { return matches(r, c.node.labels); })) sum += wish.weight;
  }
  return sum;
}
int64_t unwanted_taints(const Request& request, const Candidate& c) {
  return -std::ranges::count_if(c.node.taints, [&](const Taint& taint) {
    return taint.effect == Effect::prefer_no_schedule && !tolerates(request.tolerations, taint);
  });
}
int64_t takes_all(const Request&, const Candidate& c) { return c.room >= c.pods_to_place ? 1 : 0; }
int64_t stays_together(const Request&, const Candidate& c) { return c.is_used_by_gang ? 1 : 0; }
// The tightest node that takes all that is left; if none does, the roomiest.
int64_t packs_gpus(const Request&, const Candidate& c) { return c.room >= c.pods_to_place ? -c.gpus_left : c.room; }
int64_t packs_cpu(const Request&, const Candidate& c) { return -c.cpu_left; }

// In this order; the first that fails names the misfit.
constexpr std::array<StaticFilter, 5> filter_list{{
    {"node is ready", Misfit::node_not_ready, is_ready},
    {"node is not cordoned", Misfit::cordoned, is_open},
    {"taints are borne", Misfit::taint, bears_taints},
    {"labels match", Misfit::selector, has_labels},
    {"node is the one named", Misfit::other_node, is_named},
}};

// In this order; a later one decides only between equals; the lower id decides last.
constexpr std::array<Score, 6> score_list{{
    {"preferred labels", wishes},
    {"fewest unwanted taints", unwanted_taints},
    {"takes the rest of the gang", takes_all},
    {"already holds part of the gang", stays_together},
    {"packs GPUs", packs_gpus},
    {"packs CPU", packs_cpu},
}};

}  // namespace

std::span<const StaticFilter> static_filters() { return filter_list; }
std::span<const Score> scores() { return score_list; }

Misfit static_misfit(const Request& request, const NodeFacts& node) {
  for (const StaticFilter& filter : filter_list) {
    if (!filter.passes(request, node)) return filter.misfit;
  }
  return Misfit::fits;
}

}  // namespace tau::engine
