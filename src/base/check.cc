#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace tau {
void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "CHECK failed: %s (%s:%d)\n", condition, file, line);
  std::abort();
}
}  // namespace tau
