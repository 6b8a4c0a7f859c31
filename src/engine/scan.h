// The inner loop of placement: one pass over columns, eight nodes at a time, in the widest vectors
// that the machine has. Knows numbers only.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

// One body, compiled for several vector widths and chosen once at load time. Sanitizers cannot run
// before main, where that choice is made, so they get the plain one.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__x86_64__)
#define TAU_WIDEST
#elif defined(__clang__)
#define TAU_WIDEST
#else
#define TAU_WIDEST __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#endif

namespace tau::engine {

// Columns are padded to whole blocks, so that the last one can be read.
constexpr size_t nodes_per_block = 64;

// A column of free amounts and what one pod takes of it.
struct Demand {
  const int64_t* free = nullptr;
  int64_t want = 0;
};
constexpr size_t most_demands = 16;
struct Scan {
  std::span<const Demand> demands;        // at most most_demands
  std::span<const uint64_t> eligible;     // a bit per node; clear beyond the last
  const int64_t* score = nullptr;         // higher is better
  const int64_t* object_score = nullptr;  // added to it; null = 0 for all
};

constexpr uint32_t no_node = UINT32_MAX;
// The node with the best score among those that are eligible and have what is wanted; the lowest of
// equals.
uint32_t best_node(const Scan& scan);

// The yardstick of the bench: the least that any scan of five columns does, compiled the same way.
uint32_t bare_best(std::array<const int64_t*, 4> free, std::array<int64_t, 4> want,
                   const int64_t* score, size_t nodes);

}  // namespace tau::engine
