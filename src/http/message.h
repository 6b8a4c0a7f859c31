// HTTP/1.1 messages as values, and the two roles that speak in them: Handler (a server's inside)
// and Transport (a client's way out). No sockets here: `host` has them; DirectTransport joins the
// two in process.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace tau::http {

// In order of arrival; names compare without case.
using Headers = std::vector<std::pair<std::string, std::string>>;
// The first header of that name, or "".
std::string_view find_header(const Headers& headers, std::string_view name);

struct Request {
  std::string method = "GET";
  std::string target;  // path and query, percent-encoded: "/api/v1/pods?limit=500"
  Headers headers;
  std::string body;
};

struct ResponseHead {
  int status = 200;
  Headers headers;
};

// Where a Handler writes its answer: head once, body any number of times, end once. A whole answer
// may be given in one go (`respond`). The Handler may keep the sink for a long answer (a watch);
// dropping it without end() resets the connection. All calls on the loop.
class ResponseSink {
 public:
  virtual ~ResponseSink() = default;
  virtual void head(ResponseHead head) = 0;
  virtual void body(std::string_view bytes) = 0;
  virtual void end() = 0;
  // Bytes accepted but not yet handed to the peer; the Handler ends a stream that grows too far.
  virtual size_t backlog_bytes() const = 0;
  // Called at most once, if the peer leaves before end(). Nothing may be written after it.
  virtual void on_closed(std::move_only_function<void()> callback) = 0;
};
void respond(ResponseSink& sink, int status, std::string_view content_type, std::string_view body,
             Headers more = {});

// What the server knows of the peer, beside the bytes.
struct Peer {
  std::string address;         // "127.0.0.1:51234"; "" in process
  bool is_in_process = false;  // trusted: a part of this platform, no credentials needed
};

class Handler {
 public:
  virtual ~Handler() = default;
  virtual void handle(const Peer& peer, Request request, std::unique_ptr<ResponseSink> sink) = 0;
};

struct CallId {
  uint64_t value = 0;
  bool operator==(const CallId&) const = default;
};

// The answer to one call. on_end comes exactly once and last, with an error if the answer is not
// whole (refused, reset, timed out); never after cancel(), and never from inside send().
struct ResponseCallbacks {
  std::move_only_function<void(const ResponseHead&)> on_head;
  std::move_only_function<void(std::string_view)> on_body;
  std::move_only_function<void(Result<void>)> on_end;
};

class Transport {
 public:
  virtual ~Transport() = default;
  // `timeout` bounds the whole call; zero means none (a watch).
  virtual CallId send(Request request, Duration timeout, ResponseCallbacks callbacks) = 0;
  virtual void cancel(CallId call) = 0;
};

// A whole answer, for callers that do not stream.
struct Response {
  int status = 0;
  Headers headers;
  std::string body;
};
CallId send_whole(Transport& transport, Request request, Duration timeout,
                  std::move_only_function<void(Result<Response>)> done);

}  // namespace tau::http
