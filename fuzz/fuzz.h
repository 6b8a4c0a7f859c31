// What fuzz targets share: reading drawn values from the input, and saying which promise broke.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

// A promise that does not hold ends the program, so that libFuzzer keeps the input.
#define REQUIRE(...)                                                                 \
  do {                                                                               \
    if (!(__VA_ARGS__)) {                                                            \
      std::fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #__VA_ARGS__); \
      std::abort();                                                                  \
    }                                                                                \
  } while (false)

namespace tau::fuzz {

class Input {
 public:
  Input(const uint8_t* data, size_t size) : rest_(reinterpret_cast<const char*>(data), size) {}
  uint8_t byte() {
    if (rest_.empty()) return 0;
    const auto first = static_cast<uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return first;
  }
  // Up to the next NUL, which is dropped; else all that is left.
  std::string_view text() {
    const std::string_view part = rest_.substr(0, rest_.find('\0'));
    rest_.remove_prefix(std::min(rest_.size(), part.size() + 1));
    return part;
  }
  std::string_view rest() const { return rest_; }
  bool is_empty() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

}  // namespace tau::fuzz
