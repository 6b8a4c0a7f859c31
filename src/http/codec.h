// HTTP/1.1 on bytes, without I/O: incremental parsers for a server's requests and a client's
// responses, and the encoders of both. Strict where leniency would let two readers see different
// messages (RFC 9112): conflicting lengths, unknown transfer codings and bare line feeds are
// errors. Memory is bounded by the limits given.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/limits.h"
#include "base/result.h"
#include "http/message.h"

namespace tau::http {

// Why a peer's bytes were refused, with the status that a server answers before it closes.
struct ParseError {
  int status = 400;
  std::string message;
};

// One connection's requests, one after the other:
//   auto ready = parser.feed(bytes); while (*ready) { handle(parser.take()); ready =
//   parser.feed(""); }
// After an error nothing more can be parsed; answer error.status and close.
class RequestParser {
 public:
  struct Limits {
    size_t head_bytes = limits::request_head_bytes;
    size_t body_bytes = limits::request_body_bytes;
  };
  RequestParser();
  explicit RequestParser(Limits limits);
  ~RequestParser();
  RequestParser(RequestParser&&) noexcept;
  RequestParser& operator=(RequestParser&&) noexcept;

  // Takes all bytes, parses up to the end of one request; true = take() it now. Bytes of later
  // requests (pipelining) are kept: a caller stops reading while a request is ready, so they stay
  // within one read.
  std::expected<bool, ParseError> feed(std::string_view bytes);
  // The ready request. The parser then stands at the next one.
  Request take();

  bool is_head_done() const;  // of the request that is being read
  // The peer waits for "100 Continue" before it sends the body; true once per request.
  bool take_expects_continue();
  // Of the request last taken: may the connection serve another one; was it HTTP/1.0 (no chunked
  // answers).
  bool keeps_alive() const;
  bool is_http_1_0() const;
  // No byte of a next request has come: an idle connection may be closed without loss.
  bool is_idle() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// One response at a time, streamed to callbacks. 1xx answers are skipped.
class ResponseParser {
 public:
  struct Events {
    std::move_only_function<void(ResponseHead)> on_head;
    std::move_only_function<void(std::string_view)> on_body;
  };
  ResponseParser();
  ~ResponseParser();
  ResponseParser(ResponseParser&&) noexcept;
  ResponseParser& operator=(ResponseParser&&) noexcept;

  // Begins a new response; `is_head_request`: its answer has no body.
  void start(Events events, bool is_head_request);
  // Returns how many bytes were used; fewer than given only if the response is done.
  Result<size_t> feed(std::string_view bytes);
  // The peer closed: whole for an answer without a length, else an error.
  Result<void> feed_end();
  bool is_done() const;
  bool keeps_alive() const;  // of the response that is done

 private:
  struct State;
  std::unique_ptr<State> state_;
};

enum class BodyFraming {
  as_given,
  chunked
};  // as_given: the head carries Content-Length, or has no body
// Bytes that cannot stand in a header are replaced by spaces, so that no value can split a message.
std::string encode_response_head(const ResponseHead& head, BodyFraming framing, bool keep_alive);
// With Host and Content-Length added where they are missing; the body follows.
std::string encode_request(const Request& request, std::string_view host);
void append_chunk(std::string& out, std::string_view bytes);  // nothing for no bytes
std::string_view last_chunk();
std::string_view status_text(int status);

// Lines of a watch stream, however the bytes are cut.
class LineSplitter {
 public:
  explicit LineSplitter(size_t line_bytes = 2 * limits::object_bytes) : limit_(line_bytes) {}
  // Calls `on_line` for each whole, non-empty line, without its end. A longer line than the limit
  // is an error.
  Result<void> feed(std::string_view bytes, const std::function<void(std::string_view)>& on_line);

 private:
  std::string rest_;
  size_t limit_;
};

}  // namespace tau::http
