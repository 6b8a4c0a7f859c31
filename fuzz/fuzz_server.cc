// Whole requests to the embedded API server: each gets exactly one answer of a known form, and what
// it answered survives a restart.
#include <boost/json.hpp>

#include "base/fake_loop.h"
#include "embedded/apiserver/memory_journal.h"
#include "embedded/apiserver/server.h"
#include "fuzz/fuzz.h"
#include "http/direct_transport.h"
#include "kube/resources.h"
#include "meta/json.h"

namespace {

using namespace tau;

constexpr const char* methods[] = {"GET", "POST", "PUT", "PATCH", "DELETE"};
constexpr const char* types[] = {"application/json",
                                 "application/yaml",
                                 "application/json-patch+json",
                                 "application/merge-patch+json",
                                 "application/strategic-merge-patch+json",
                                 "application/apply-patch+yaml",
                                 "application/vnd.kubernetes.protobuf",
                                 ""};

struct World {
  World() { begin(); }
  void begin() {
    server.emplace(loop, journal, Rng(7), Log(), apiserver::Options{});
    REQUIRE(server->start());
    transport.emplace(loop, *server);
    loop.run_ready();
  }
  // The server must be taken down in the other order.
  void restart() {
    transport.reset();
    server.reset();
    begin();
  }
  http::Response call(http::Request request) {
    http::Response answer;
    int answers = 0;
    const bool is_watch = request.target.find("watch") != std::string::npos ||
                          request.target.find("follow") != std::string::npos;
    const http::CallId id = http::send_whole(*transport, std::move(request), Duration(0),
                                             [&](Result<http::Response> response) {
                                               ++answers;
                                               if (response) answer = std::move(*response);
                                             });
    loop.run_ready();
    if (is_watch && answers == 0) transport->cancel(id);
    REQUIRE(answers == (is_watch ? answers : 1));
    return answer;
  }
  // Every object there is.
  std::string all() {
    std::string text;
    for (const kube::ResourceInfo& resource : kube::all_resources()) {
      const std::string path = (resource.group.empty() ? "/api/" : "/apis/") +
                               kube::api_version(resource) + "/" + std::string(resource.resource);
      const http::Response answer = call({.target = path});
      REQUIRE(answer.status == 200 && meta::parse_json(answer.body));
      text += answer.body;
    }
    return text;
  }

  FakeLoop loop;
  apiserver::MemoryJournal journal{loop};
  std::optional<apiserver::Server> server;
  std::optional<http::DirectTransport> transport;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  World world;
  fuzz::Input input(data, size);
  for (int i = 0; i < 8 && !input.is_empty(); ++i) {
    const uint8_t how = input.byte();
    http::Request request{.method = methods[how % 5], .target = std::string(input.text())};
    if (!request.target.starts_with('/')) request.target.insert(0, "/");
    const std::string type = types[how / 5 % 8];
    if (!type.empty()) request.headers.emplace_back("content-type", type);
    request.body = input.text();
    const http::Response answer = world.call(std::move(request));
    if (answer.status == 0) continue;  // a watch
    REQUIRE(answer.status >= 200 && answer.status < 600 && answer.status != 500);
    if (http::find_header(answer.headers, "content-type").starts_with("application/json") &&
        !answer.body.empty())
      REQUIRE(meta::parse_json(answer.body).has_value());
  }
  const std::string before = world.all();
  world.restart();
  const std::string after = world.all();
  REQUIRE(before == after);
  return 0;
}
