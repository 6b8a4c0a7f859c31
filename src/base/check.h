// CHECK: states what must hold. Always on; a failure is a bug of ours, so it prints where and ends.
#pragma once

namespace tau {
// Prints "CHECK failed: <condition> (<file>:<line>)" to standard error and aborts.
[[noreturn]] void check_failed(const char* condition, const char* file, int line);
}  // namespace tau

#define CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::tau::check_failed(#condition, __FILE__, __LINE__))
