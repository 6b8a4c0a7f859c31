// TestServer: a Server over a MemoryJournal in virtual time, for tests: calls are whole, watches
// are kept open.
#pragma once

#include <boost/json.hpp>
#include <memory>
#include <string>
#include <vector>

#include "base/fake_loop.h"
#include "embedded/apiserver/memory_journal.h"
#include "embedded/apiserver/server.h"
#include "http/direct_transport.h"

namespace tau::apiserver {

struct OpenWatch {
  int status = 0;
  std::string text;
  bool is_ended = false;
  http::CallId call;
  // "ADDED a@5" for each event so far, in order; forgets them.
  std::vector<std::string> take_events();
};

class TestServer {
 public:
  explicit TestServer(Options options = {});
  http::Response call(std::string method, std::string target, std::string body = "",
                      http::Headers headers = {});
  // The answer's JSON; the status must be `want`.
  boost::json::value json(int want, std::string method, std::string target, std::string body = "",
                          http::Headers headers = {});
  std::shared_ptr<OpenWatch> watch(std::string target, http::Headers headers = {});
  void cancel(const OpenWatch& watch) {
    transport_->cancel(watch.call);
    loop.run_ready();
  }
  // A new Server over the same journal.
  void restart();

  FakeLoop loop;
  MemoryJournal journal{loop};
  std::unique_ptr<Server> server;

 private:
  Options options_;
  std::unique_ptr<http::DirectTransport> transport_;
};

inline TestServer::TestServer(Options options) : options_(options) {
  restart();
}

inline void TestServer::restart() {
  transport_.reset();
  server.reset();
  server = std::make_unique<Server>(loop, journal, Rng(7), Log(), options_);
  CHECK(server->start().has_value());
  transport_ = std::make_unique<http::DirectTransport>(loop, *server);
  loop.run_ready();
}

inline http::Response TestServer::call(std::string method, std::string target, std::string body,
                                       http::Headers headers) {
  http::Response result;
  http::send_whole(*transport_,
                   {std::move(method), std::move(target), std::move(headers), std::move(body)},
                   seconds(10), [&](Result<http::Response> response) {
                     if (response) result = std::move(*response);
                   });
  loop.run_ready();
  return result;
}

inline boost::json::value TestServer::json(int want, std::string method, std::string target,
                                           std::string body, http::Headers headers) {
  const http::Response response = call(method, target, std::move(body), std::move(headers));
  if (response.status != want) {
    return boost::json::object{{"unexpected_status", response.status}, {"body", response.body}};
  }
  boost::system::error_code code;
  boost::json::value value = boost::json::parse(response.body, code);
  return code ? boost::json::value("not JSON: " + response.body) : value;
}

inline std::shared_ptr<OpenWatch> TestServer::watch(std::string target, http::Headers headers) {
  auto watch = std::make_shared<OpenWatch>();
  watch->call = transport_->send(
      {"GET", std::move(target), std::move(headers), ""}, Duration(0),
      {.on_head = [watch](const http::ResponseHead& head) { watch->status = head.status; },
       .on_body = [watch](std::string_view bytes) { watch->text += bytes; },
       .on_end = [watch](Result<void>) { watch->is_ended = true; }});
  loop.run_ready();
  return watch;
}

inline std::vector<std::string> OpenWatch::take_events() {
  std::vector<std::string> events;
  size_t at = 0;
  for (size_t end = text.find('\n'); end != std::string::npos;
       at = end + 1, end = text.find('\n', at)) {
    const boost::json::value event = boost::json::parse(text.substr(at, end - at));
    const boost::json::object& object = event.at("object").as_object();
    std::string line(event.at("type").as_string());
    if (line == "ERROR") {
      line += " " + boost::json::serialize(object.at("code"));
    } else if (object.at("kind") == "Table") {
      line += " rows " + std::to_string(object.at("rows").as_array().size()) +
              (object.at("columnDefinitions").is_null() ? "" : " with columns");
    } else {
      const boost::json::object& metadata = object.at("metadata").as_object();
      if (const auto* name = metadata.if_contains("name"))
        line += " " + std::string(name->as_string());
      if (metadata.contains("annotations") && line == "BOOKMARK") line += " initial-end";
    }
    events.push_back(line);
  }
  text.erase(0, at);
  return events;
}

}  // namespace tau::apiserver
