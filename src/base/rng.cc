#include "base/rng.h"

#include <fmt/format.h>

#include <bit>

#include "base/check.h"

namespace tau {

Rng::Rng(uint64_t seed) {
  for (uint64_t& word : state_) {
    seed += 0x9e3779b97f4a7c15;
    uint64_t z = seed;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    word = z ^ (z >> 31);
  }
}

uint64_t Rng::next() {
  const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

uint64_t Rng::below(uint64_t bound) {
  CHECK(bound > 0);
  auto product = static_cast<unsigned __int128>(next()) * bound;
  if (static_cast<uint64_t>(product) < bound) {
    const uint64_t threshold = -bound % bound;
    while (static_cast<uint64_t>(product) < threshold) {
      product = static_cast<unsigned __int128>(next()) * bound;
    }
  }
  return static_cast<uint64_t>(product >> 64);
}

int64_t Rng::between(int64_t low, int64_t high) {
  CHECK(low <= high);
  const uint64_t span = static_cast<uint64_t>(high) - static_cast<uint64_t>(low) + 1;
  const uint64_t offset = span == 0 ? next() : below(span);
  return static_cast<int64_t>(static_cast<uint64_t>(low) + offset);
}

double Rng::unit() {
  return static_cast<double>(next() >> 11) * 0x1.0p-53;
}

bool Rng::chance(double probability) {
  return unit() < probability;
}

Rng Rng::fork() {
  return Rng(next());
}

std::string make_uuid(Rng& rng) {
  const uint64_t high = (rng.next() & ~0xf000ULL) | 0x4000ULL;
  const uint64_t low = (rng.next() & ~(0xc0ULL << 56)) | (0x80ULL << 56);
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32, (high >> 16) & 0xffff,
                     high & 0xffff, low >> 48, low & 0xffffffffffffULL);
}

std::string make_name_suffix(Rng& rng, int length) {
  constexpr std::string_view alphabet = "bcdfghjklmnpqrstvwxz2456789";
  std::string suffix;
  for (int i = 0; i < length; ++i) suffix += alphabet[rng.below(alphabet.size())];
  return suffix;
}

}  // namespace tau
