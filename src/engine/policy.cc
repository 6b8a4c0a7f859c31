#include "engine/policy.h"

#include <algorithm>
#include <array>

namespace tau::engine {

bool matches(const Requirement& requirement, std::span<const Label> labels) {
  const auto found = std::ranges::find(labels, requirement.key, &Label::key);
  const bool has = found != labels.end();
  switch (requirement.op) {
    case Operator::exists:
      return has;
    case Operator::does_not_exist:
      return !has;
    case Operator::in:
      return has && std::ranges::find(requirement.values, found->value) != requirement.values.end();
    case Operator::not_in:
      return !has ||
             std::ranges::find(requirement.values, found->value) == requirement.values.end();
    case Operator::greater:
      return has && found->number && *found->number > requirement.bound;
    case Operator::less:
      return has && found->number && *found->number < requirement.bound;
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
    return (!t.key.is_some() || t.key == taint.key) &&
           (!t.value.is_some() || t.value == taint.value) &&
           (!t.effect || *t.effect == taint.effect);
  });
}

namespace {

bool is_ready(const Request&, const NodeFacts& node) {
  return node.is_known && node.is_ready;
}
bool is_open(const Request&, const NodeFacts& node) {
  return !node.is_cordoned;
}
bool bears_taints(const Request& request, const NodeFacts& node) {
  return std::ranges::all_of(node.taints, [&](const Taint& taint) {
    return taint.effect == Effect::prefer_no_schedule || tolerates(request.tolerations, taint);
  });
}
bool has_labels(const Request& request, const NodeFacts& node) {
  return matches_any(request.terms, node.labels);
}
bool is_named(const Request& request, const NodeFacts& node) {
  return !request.only_node.is_some() || request.only_node == node.id;
}

int64_t wishes(const Request& request, const NodeFacts& node) {
  int64_t sum = 0;
  for (const Preference& wish : request.preferences) {
    if (std::ranges::all_of(wish.term,
                            [&](const Requirement& r) { return matches(r, node.labels); }))
      sum += wish.weight;
  }
  return sum;
}
int64_t unwanted_taints(const Request& request, const NodeFacts& node) {
  return -std::ranges::count_if(node.taints, [&](const Taint& taint) {
    return taint.effect == Effect::prefer_no_schedule && !tolerates(request.tolerations, taint);
  });
}
// The fullest node first: whole nodes stay free for those who need them. Pods without GPUs go to
// nodes without.
int64_t packs_gpus(const FreeAmounts& free) {
  return -free.gpus;
}
int64_t packs_cpu(const FreeAmounts& free) {
  return -free.cpu_milli;
}
int64_t packs_memory(const FreeAmounts& free) {
  return -(free.memory_bytes >> 26);
}  // in steps of 64 MiB

// The first that fails names the misfit.
constexpr std::array<Filter, 5> filter_list{{
    {"node is ready", Misfit::node_not_ready, is_ready},
    {"node is not cordoned", Misfit::cordoned, is_open},
    {"taints are borne", Misfit::taint, bears_taints},
    {"labels match", Misfit::selector, has_labels},
    {"node is the one named", Misfit::other_node, is_named},
}};

// A later one decides only between equals; the lower id decides last. For a gang, place.cc puts
// "takes all that is left" and "already holds a part" between the scores of the object and those of
// what is free.
constexpr std::array<Score, 5> score_list{{
    {"preferred labels", wishes, nullptr, 2047, 52},
    {"fewest unwanted taints", unwanted_taints, nullptr, 7, 48},
    {"packs GPUs", nullptr, packs_gpus, 255, 40},
    {"packs CPU", nullptr, packs_cpu, (1 << 20) - 1, 20},
    {"packs memory", nullptr, packs_memory, (1 << 20) - 1, 0},
}};

}  // namespace

std::span<const Filter> filters() {
  return filter_list;
}
std::span<const Score> scores() {
  return score_list;
}

Misfit static_misfit(const Request& request, const NodeFacts& node) {
  for (const Filter& filter : filter_list) {
    if (!filter.passes(request, node)) return filter.misfit;
  }
  return Misfit::fits;
}

int64_t object_score(const Request& request, const NodeFacts& node) {
  int64_t sum = 0;
  for (const Score& score : score_list) {
    if (score.of_object != nullptr)
      sum += std::clamp(score.of_object(request, node), -score.cap, score.cap) *
             (int64_t{1} << score.shift);
  }
  return sum;
}

int64_t free_score(const FreeAmounts& free) {
  int64_t sum = 0;
  for (const Score& score : score_list) {
    if (score.of_free != nullptr)
      sum += std::clamp<int64_t>(score.of_free(free), -score.cap, 0) * (int64_t{1} << score.shift);
  }
  return sum;
}

}  // namespace tau::engine
