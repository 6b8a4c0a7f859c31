// A server's watch and list bytes: the watcher stays in a known state whatever comes, and lines do
// not depend on how the bytes are cut.
#include <boost/json.hpp>

#include "fuzz/fuzz.h"
#include "http/codec.h"
#include "kube/watcher.h"

namespace {

using namespace tau;

std::vector<std::string> lines_of(std::string_view bytes, size_t piece) {
  http::LineSplitter splitter(512);
  std::vector<std::string> lines;
  while (!bytes.empty()) {
    const auto fed = splitter.feed(bytes.substr(0, piece), [&](std::string_view line) {
      REQUIRE(!line.empty() && line.find('\n') == std::string_view::npos);
      lines.emplace_back(line);
    });
    if (!fed) return {"refused"};
    bytes.remove_prefix(std::min(piece, bytes.size()));
  }
  return lines;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Input input(data, size);
  const size_t piece = 1 + input.byte() % 7;
  int64_t objects = 0, open_lists = 0;
  kube::Watcher watcher(kube::Kind::pod, "",
                        {.object =
                             [&](kube::Watcher::Event, const boost::json::value& object) {
                               REQUIRE(object.is_object());
                               ++objects;
                             },
                         // An expired page begins the list anew.
                         .list_began = [&] { open_lists = 1; },
                         .list_ended = [&] { REQUIRE(--open_lists == 0); },
                         .complaint = [](const std::string& what) { REQUIRE(!what.empty()); }});
  Rng rng(1);
  Time now{};
  while (!input.is_empty()) {
    now += seconds(1);
    const std::string_view body = input.text();
    switch (watcher.state()) {
      case kube::Watcher::State::listing:
        watcher.on_sent(now);
        if (body == "!") {
          watcher.on_failure({ErrorCode::gone, "gone"}, now, rng);
        } else {
          watcher.on_list(body, now, rng);
        }
        break;
      case kube::Watcher::State::watching: {
        watcher.on_sent(now);
        const auto lines = lines_of(body, piece);
        REQUIRE(lines == lines_of(body, body.size()) || lines.empty() || lines[0] == "refused");
        for (const std::string& line : lines) {
          if (watcher.state() == kube::Watcher::State::watching) watcher.on_line(line, now, rng);
        }
        if (watcher.state() == kube::Watcher::State::watching) watcher.on_watch_end(now, rng);
        break;
      }
      case kube::Watcher::State::backing_off:
        REQUIRE(watcher.resume_at() >= now - seconds(1));
        now = std::max(now, watcher.resume_at());
        watcher.resume();
    }
    // It always says how to go on.
    REQUIRE(watcher.request().has_value() ==
            (watcher.state() != kube::Watcher::State::backing_off));
  }
  return 0;
}
