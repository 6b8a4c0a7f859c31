// Rng: the one source of chance below `host`, seeded by its owner. Same seed, same run, on every
// machine.
#pragma once

#include <cstdint>
#include <string>

namespace tau {

// xoshiro256** (Blackman and Vigna, 2018), seeded by splitmix64.
class Rng {
 public:
  explicit Rng(uint64_t seed);
  uint64_t next();
  // Uniform in [0, bound); bound > 0. Lemire's method with rejection, so there is no bias.
  uint64_t below(uint64_t bound);
  // Uniform in [low, high], both ends included.
  int64_t between(int64_t low, int64_t high);
  // Uniform in [0, 1).
  double unit();
  // True with the given probability.
  bool chance(double probability);
  // An independent stream, so that one part's draws do not shift another's.
  Rng fork();

 private:
  uint64_t state_[4];
};

// A random (version 4) UUID in the usual text form.
std::string make_uuid(Rng& rng);
// Kubernetes' generateName suffix: `length` letters and digits without vowels or look-alikes.
std::string make_name_suffix(Rng& rng, int length = 5);

}  // namespace tau
