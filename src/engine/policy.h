// Placement policy: two ordered lists, filters and scores. policy.cc is the documentation of where pods go.
#pragma once

#include <span>
#include <string_view>

#include "engine/values.h"

namespace tau::engine {

// What a filter or score sees of one node.
struct NodeFacts {
  NodeId id;
  bool is_known = false, is_ready = false, is_cordoned = false;
  std::span<const Label> labels;
  std::span<const Taint> taints;
};

// Filters that hold as long as the node's object is the same; their result is kept per shape.
struct StaticFilter {
  std::string_view name;
  Misfit misfit;
  bool (*passes)(const Request&, const NodeFacts&);
};
std::span<const StaticFilter> static_filters();
// The first static filter that fails, or fits.
Misfit static_misfit(const Request& request, const NodeFacts& node);

// What a score sees: the node, how many more pods of the shape it can take, and how many GPUs would be left.
struct Candidate {
  NodeFacts node;
  int64_t room = 0;        // pods of this shape that fit
  int64_t gpus_left = 0;   // after one more
  int64_t cpu_left = 0;    // thousandths, after one more
  bool is_used_by_gang = false;
  int64_t pods_to_place = 1;
};
struct Score {
  std::string_view name;
  // Higher is better. Compared in the order of the list: a later score decides only between equals.
  int64_t (*value)(const Request&, const Candidate&);
};
std::span<const Score> scores();

bool matches(const Requirement& requirement, std::span<const Label> labels);
bool matches_any(std::span<const Term> terms, std::span<const Label> labels);
bool tolerates(std::span<const Toleration> tolerations, const Taint& taint);

}  // namespace tau::engine
