// Call: one request under way, with what was read from it and where its answer goes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "embedded/apiserver/route.h"
#include "embedded/apiserver/status.h"
#include "http/message.h"
#include "http/url.h"

namespace tau::apiserver {

struct Call {
  http::Peer peer;
  http::Request request;
  http::Url url;
  std::unique_ptr<http::ResponseSink> sink;
  Route route;
  Format format;
  std::vector<std::string> warnings;  // sent as Warning headers

  std::string_view query(std::string_view key) const { return url.find(key).value_or(""); }
  // Exactly one answer per call.
  void answer(int status, std::string_view json);
  void answer(const StatusError& error);
};
using CallPointer = std::shared_ptr<Call>;  // held by the continuations of a write

// The text of a boolean query value; absent = false.
bool is_true(std::string_view text);

}  // namespace tau::apiserver
