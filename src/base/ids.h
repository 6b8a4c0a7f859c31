// Id<Tag>: a dense typed index. NodeId and PodId do not mix, and both index a vector.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace tau {

template <class Tag>
struct Id {
  static constexpr uint32_t none_value = UINT32_MAX;
  uint32_t value = none_value;

  constexpr Id() = default;
  constexpr explicit Id(uint32_t v) : value(v) {}
  constexpr bool is_some() const { return value != none_value; }
  constexpr size_t index() const { return value; }
  constexpr auto operator<=>(const Id&) const = default;
};

}  // namespace tau

template <class Tag>
struct std::hash<tau::Id<Tag>> {
  size_t operator()(tau::Id<Tag> id) const noexcept { return std::hash<uint32_t>{}(id.value); }
};
