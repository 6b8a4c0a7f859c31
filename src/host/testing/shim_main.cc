// The hidden verbs of `tau` that containers need, as a program of their own for tests.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <string_view>

#include "host/asio_loop.h"
#include "host/shim.h"
#include "host/sqlite_journal.h"

namespace {

// Appends for ever, eight at a time under way, each of two keys; says each revision once it is
// durable. For a test that ends it by force.
int write_journal(const char* path) {
  using namespace tau;
  host::AsioLoop loop;
  auto journal = host::SqliteJournal::open(loop, path, host::Durability::normal);
  if (!journal) return 1;
  int64_t revision = 0;
  std::function<void()> append = [&] {
    const int64_t mine = ++revision;
    const std::string value = fmt::format("{}:{}", mine, std::string(300, 'v'));
    (*journal)->append({{fmt::format("a/{}", mine % 50), mine, value},
                        {fmt::format("b/{}", mine % 50), mine, value}},
                       [&, mine](Result<void> done) {
                         if (!done) _exit(1);
                         const std::string line = fmt::format("{}\n", mine);
                         (void)!write(STDOUT_FILENO, line.data(), line.size());
                         append();
                       });
  };
  for (int i = 0; i < 8; ++i) append();
  loop.run();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view verb = argc > 1 ? argv[1] : "";
  if (verb == "shim") return tau::host::shim_main(argc - 2, argv + 2);
  if (verb == "nvidia-smi") return tau::host::nvidia_smi_main(argc - 2, argv + 2);
  if (verb == "journal" && argc == 3) return write_journal(argv[2]);
  std::fprintf(stderr, "usage: %s shim FOLDER | nvidia-smi ...\n", argv[0]);
  return 2;
}
