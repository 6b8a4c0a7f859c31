// Placement policy: two ordered lists, filters and scores. policy.cc is the documentation of where
// pods go.
#pragma once

#include <span>
#include <string_view>

#include "engine/values.h"

namespace tau::engine {

// What a filter or a score sees of a node's object; it stays true until the object changes.
struct NodeFacts {
  NodeId id;
  bool is_known = false, is_ready = false, is_cordoned = false;
  std::span<const Label> labels;
  std::span<const Taint> taints;
};

// Filters on the object; their result is kept per shape and node. What is short (pods, CPU, memory,
// GPUs) is looked up in the columns of free amounts, in the order of Misfit.
struct Filter {
  std::string_view name;
  Misfit misfit;
  bool (*passes)(const Request&, const NodeFacts&);
};
std::span<const Filter> filters();
// The first filter that fails, or fits.
Misfit static_misfit(const Request& request, const NodeFacts& node);

// What is free on a node; the scores that follow free amounts see no more.
struct FreeAmounts {
  int64_t gpus = 0, cpu_milli = 0, memory_bytes = 0;
};
// Higher is better. A score has its own bits of one number, the most important first, so that a
// later one decides only between equals. A score looks at the object or at what is free, never at
// both.
struct Score {
  std::string_view name;
  int64_t (*of_object)(const Request&, const NodeFacts&);  // within [-cap, cap]
  int64_t (*of_free)(const FreeAmounts&);                  // within [-cap, 0]
  int64_t cap;
  int shift;
};
std::span<const Score> scores();
// The sum of the scores of one kind, each at its place: object_score + free_score orders nodes.
int64_t object_score(const Request& request, const NodeFacts& node);
int64_t free_score(const FreeAmounts& free);

bool matches(const Requirement& requirement, std::span<const Label> labels);
bool matches_any(std::span<const Term> terms, std::span<const Label> labels);
bool tolerates(std::span<const Toleration> tolerations, const Taint& taint);

}  // namespace tau::engine
