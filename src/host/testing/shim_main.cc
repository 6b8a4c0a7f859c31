// The hidden verbs of `tau` that containers need, as a program of their own for tests.
#include <cstdio>
#include <string_view>

#include "host/shim.h"

int main(int argc, char** argv) {
  const std::string_view verb = argc > 1 ? argv[1] : "";
  if (verb == "shim") return tau::host::shim_main(argc - 2, argv + 2);
  if (verb == "nvidia-smi") return tau::host::nvidia_smi_main(argc - 2, argv + 2);
  std::fprintf(stderr, "usage: %s shim FOLDER | nvidia-smi ...\n", argv[0]);
  return 2;
}
