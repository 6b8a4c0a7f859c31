// Bits: one bit per node, in words of 64, so that filters are a handful of ANDs.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace tau::engine {

class Bits {
 public:
  void resize(size_t bits) { words_.resize((bits + 63) / 64); }
  void set(size_t i, bool on) {
    if (on)
      words_[i / 64] |= uint64_t{1} << (i % 64);
    else
      words_[i / 64] &= ~(uint64_t{1} << (i % 64));
  }
  bool test(size_t i) const {
    return i / 64 < words_.size() && (words_[i / 64] >> (i % 64) & 1) != 0;
  }
  bool any() const {
    for (const uint64_t word : words_) {
      if (word != 0) return true;
    }
    return false;
  }
  void clear() { words_.assign(words_.size(), 0); }
  // Both have the same length.
  void operator&=(const Bits& other) {
    for (size_t w = 0; w < words_.size(); ++w)
      words_[w] &= w < other.words_.size() ? other.words_[w] : 0;
  }
  void operator|=(const Bits& other) {
    for (size_t w = 0; w < words_.size() && w < other.words_.size(); ++w)
      words_[w] |= other.words_[w];
  }
  std::span<const uint64_t> words() const { return words_; }
  std::span<uint64_t> words() { return words_; }
  template <class Visit>
  void for_each(Visit visit) const {
    for (size_t w = 0; w < words_.size(); ++w) {
      for (uint64_t bits = words_[w]; bits != 0; bits &= bits - 1)
        visit(w * 64 + static_cast<size_t>(std::countr_zero(bits)));
    }
  }

 private:
  std::vector<uint64_t> words_;
};

}  // namespace tau::engine
