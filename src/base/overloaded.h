// Overloaded: lambdas as one visitor for std::visit.
#pragma once

namespace tau {
template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
}  // namespace tau
