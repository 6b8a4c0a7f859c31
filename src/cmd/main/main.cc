// The one program. Hidden verbs that a container or the platform itself starts come first: they
// must be quick.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "cmd/app.h"
#include "host/shim.h"

int main(int argc, char** argv) {
  const std::string_view verb = argc > 1 ? argv[1] : "";
  if (verb == "shim") return tau::host::shim_main(argc - 2, argv + 2);
  if (verb == "nvidia-smi") return tau::host::nvidia_smi_main(argc - 2, argv + 2);
  tau::cmd::Console console;
  const auto write_to = [](FILE* stream) {
    return [stream](std::string_view text) {
      std::fwrite(text.data(), 1, text.size(), stream);
      std::fflush(stream);
    };
  };
  console.out = write_to(stdout);
  console.err = write_to(stderr);
  const char* no_colour = std::getenv("NO_COLOR");
  const bool may_colour = no_colour == nullptr || *no_colour == '\0';
  console.out_is_terminal = isatty(1) != 0;
  if (isatty(0) != 0 && isatty(2) != 0) {
    console.ask = [](std::string_view question) {
      std::fwrite(question.data(), 1, question.size(), stderr);
      const int answer = std::getchar();
      return answer == 'y' || answer == 'Y';
    };
  }
  console.has_colour = may_colour && console.out_is_terminal;
  console.err_has_colour = may_colour && isatty(2) != 0;
  return tau::cmd::app(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc),
                       std::move(console));
}
