// The one file that includes Boost.Beast: its parser is used for bytes only, never its I/O.
#include "http/codec.h"

#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/status.hpp>

#include <fmt/format.h>

#include "base/check.h"
#include "base/text.h"

namespace tau::http {
namespace {

namespace beast = boost::beast;
using beast::error_code;
using beast::http::error;

std::string to_text(beast::string_view text) {
  return {text.data(), text.size()};
}

// What both directions share. Derived directly from basic_parser, so that trailer fields can be
// told apart from header fields: a trailer must never act as a header.
template <bool is_request>
class Core final : public beast::http::basic_parser<is_request> {
 public:
  std::string method, target;
  int status = 0;
  int version = 11;
  Headers headers;
  bool is_head_done = false;
  bool has_bad_coding = false;
  std::uint64_t chunk_bytes_left = 0;
  std::move_only_function<void(std::string_view)> on_body;

 private:
  void on_request_impl(beast::http::verb, beast::string_view method_text,
                       beast::string_view target_text, int http_version, error_code&) override {
    method = to_text(method_text);
    target = to_text(target_text);
    version = http_version;
  }
  void on_response_impl(int code, beast::string_view, int http_version, error_code&) override {
    status = code;
    version = http_version;
  }
  void on_field_impl(beast::http::field name, beast::string_view name_text,
                     beast::string_view value, error_code&) override {
    if (is_head_done) return;  // a trailer
    if (name == beast::http::field::transfer_encoding && !beast::iequals(value, "chunked")) {
      has_bad_coding = true;
    }
    headers.emplace_back(to_text(name_text), to_text(value));
  }
  void on_header_impl(error_code&) override { is_head_done = true; }
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  size_t on_body_impl(beast::string_view body, error_code&) override {
    on_body({body.data(), body.size()});
    return body.size();
  }
  void on_chunk_header_impl(std::uint64_t size, beast::string_view, error_code&) override {
    chunk_bytes_left = size;
  }
  size_t on_chunk_body_impl(std::uint64_t, beast::string_view body, error_code&) override {
    chunk_bytes_left -= body.size();
    on_body({body.data(), body.size()});
    return body.size();
  }
  void on_finish_impl(error_code&) override {}
};

ParseError to_parse_error(const error_code& code, const RequestParser::Limits& limits) {
  if (code == error::header_limit) {
    return {431, fmt::format("the request head is longer than request_head_bytes = {}",
                             limits.head_bytes)};
  }
  if (code == error::body_limit) {
    return {413, fmt::format("the request body is longer than request_body_bytes = {}",
                             limits.body_bytes)};
  }
  if (code == error::bad_version) return {505, "only HTTP/1.1 and HTTP/1.0 are served"};
  return {400, "malformed HTTP request: " + code.message()};
}

// Presents `buffer` to the parser until it needs more or is done; drops what was used. Beast wants
// the bytes that it could not use yet again, together with the next ones.
template <class Parser>
error_code pump(Parser& parser, std::string& buffer) {
  // Beast 1.81 asserts that it sees five bytes where a chunk header stands, once it has seen the
  // last chunk's size. No message ends in fewer, so they are awaited; bytes inside a chunk are
  // never held back.
  constexpr size_t last_chunk_bytes = 5;
  size_t used = 0;
  error_code code;
  while (!parser.is_done() && used < buffer.size()) {
    const bool is_at_chunk_header =
        parser.is_head_done && parser.chunked() && parser.chunk_bytes_left == 0;
    if (is_at_chunk_header && buffer.size() - used < last_chunk_bytes) break;
    const size_t taken =
        parser.put(boost::asio::const_buffer(buffer.data() + used, buffer.size() - used), code);
    used += taken;
    if (code == error::need_more) {
      code = {};
      if (taken == 0) break;
    }
    if (code) break;
  }
  buffer.erase(0, used);
  return code;
}

bool is_header_byte(char c) {
  return (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) || c == '\t';
}

void append_header(std::string& out, std::string_view name, std::string_view value) {
  for (const char c : name) out.push_back(is_header_byte(c) && c != ':' && c != ' ' ? c : '_');
  out += ": ";
  for (const char c : value) out.push_back(is_header_byte(c) ? c : ' ');
  out += "\r\n";
}

// Also where it is empty: a second one would make the message another one.
bool has_header(const Headers& headers, std::string_view name) {
  return std::ranges::any_of(
      headers, [&](const auto& header) { return to_lower(header.first) == to_lower(name); });
}

}  // namespace

// ---- RequestParser

struct RequestParser::State {
  Limits limits;
  std::string buffer;  // bytes not yet used
  std::unique_ptr<Core<true>> core;
  std::string body;
  bool is_ready = false;
  bool has_failed = false;
  bool has_asked_continue = false;
  bool last_keeps_alive = false;
  bool last_is_http_1_0 = false;

  explicit State(Limits l) : limits(l) { restart(); }
  void restart() {
    core = std::make_unique<Core<true>>();
    core->eager(true);
    core->header_limit(static_cast<uint32_t>(limits.head_bytes));
    core->body_limit(limits.body_bytes);
    core->on_body = [this](std::string_view bytes) { body.append(bytes); };
    body.clear();
    is_ready = false;
    has_asked_continue = false;
  }
  std::optional<ParseError> check_head() const {
    if (core->has_bad_coding) {
      return ParseError{501, "Transfer-Encoding: only chunked is supported"};
    }
    if (core->version == 11) {
      const auto is_host = [](const auto& h) { return to_lower(h.first) == "host"; };
      if (std::count_if(core->headers.begin(), core->headers.end(), is_host) != 1) {
        return ParseError{400, "an HTTP/1.1 request needs exactly one Host header"};
      }
    } else if (core->chunked()) {
      return ParseError{400, "HTTP/1.0 has no Transfer-Encoding"};
    }
    return std::nullopt;
  }
  std::expected<bool, ParseError> failed(ParseError error) {
    has_failed = true;
    return std::unexpected(std::move(error));
  }
};

RequestParser::RequestParser() : RequestParser(Limits()) {}
RequestParser::RequestParser(Limits limits) : state_(std::make_unique<State>(limits)) {}
RequestParser::~RequestParser() = default;
RequestParser::RequestParser(RequestParser&&) noexcept = default;
RequestParser& RequestParser::operator=(RequestParser&&) noexcept = default;

std::expected<bool, ParseError> RequestParser::feed(std::string_view bytes) {
  State& s = *state_;
  if (s.has_failed) return s.failed({400, "the connection had a malformed request"});
  s.buffer.append(bytes);
  if (s.is_ready) return true;
  const bool was_head_done = s.core->is_head_done;
  const error_code code = pump(*s.core, s.buffer);
  if (code) return s.failed(to_parse_error(code, s.limits));
  if (!was_head_done && s.core->is_head_done) {
    if (auto bad = s.check_head()) return s.failed(std::move(*bad));
  }
  // What is left over is a head or a chunk header that has no end yet.
  if (!s.core->is_done() && s.buffer.size() > s.limits.head_bytes) {
    return s.failed(
        {431, fmt::format("a chunk header or trailer is longer than request_head_bytes = {}",
                          s.limits.head_bytes)});
  }
  s.is_ready = s.core->is_done();
  return s.is_ready;
}

Request RequestParser::take() {
  State& s = *state_;
  CHECK(s.is_ready);
  Request request{std::move(s.core->method), std::move(s.core->target), std::move(s.core->headers),
                  std::move(s.body)};
  s.last_keeps_alive = s.core->keep_alive();
  s.last_is_http_1_0 = s.core->version == 10;
  s.restart();
  return request;
}

bool RequestParser::is_head_done() const {
  return state_->core->is_head_done;
}
bool RequestParser::keeps_alive() const {
  return state_->last_keeps_alive;
}
bool RequestParser::is_http_1_0() const {
  return state_->last_is_http_1_0;
}
bool RequestParser::is_idle() const {
  return state_->buffer.empty() && !state_->core->got_some() && !state_->is_ready;
}

bool RequestParser::take_expects_continue() {
  State& s = *state_;
  if (s.has_asked_continue || !s.core->is_head_done || s.core->is_done() || s.core->version != 11)
    return false;
  if (to_lower(find_header(s.core->headers, "Expect")) != "100-continue") return false;
  s.has_asked_continue = true;
  return true;
}

// ---- ResponseParser

struct ResponseParser::State {
  Events events;
  std::string buffer;
  std::unique_ptr<Core<false>> core;
  bool is_head_request = false;
  bool has_told_head = false;
  bool has_failed = false;

  void restart() {
    core = std::make_unique<Core<false>>();
    core->eager(true);
    core->header_limit(limits::request_head_bytes);
    core->body_limit(boost::none);  // streamed: the reader bounds what it keeps
    if (is_head_request) core->skip(true);
    core->on_body = [this](std::string_view bytes) {
      tell_head();
      if (events.on_body) events.on_body(bytes);
    };
    has_told_head = false;
  }
  void tell_head() {
    if (has_told_head || !core->is_head_done || core->status / 100 == 1) return;
    has_told_head = true;
    if (events.on_head) events.on_head(ResponseHead{core->status, core->headers});
  }
  std::unexpected<Error> failed(const std::string& why) {
    has_failed = true;
    return fail(ErrorCode::unavailable, "malformed HTTP answer: " + why);
  }
};

ResponseParser::ResponseParser() : state_(std::make_unique<State>()) {
  state_->restart();
}
ResponseParser::~ResponseParser() = default;
ResponseParser::ResponseParser(ResponseParser&&) noexcept = default;
ResponseParser& ResponseParser::operator=(ResponseParser&&) noexcept = default;

void ResponseParser::start(Events events, bool is_head_request) {
  state_->events = std::move(events);
  state_->is_head_request = is_head_request;
  state_->has_failed = false;
  state_->buffer.clear();
  state_->restart();
}

Result<size_t> ResponseParser::feed(std::string_view bytes) {
  State& s = *state_;
  if (s.has_failed) return s.failed("the connection had a malformed answer");
  if (s.core->is_done()) return 0;
  s.buffer.append(bytes);
  for (;;) {
    const error_code code = pump(*s.core, s.buffer);
    if (code) return s.failed(code.message());
    if (s.core->has_bad_coding) return s.failed("a transfer coding other than chunked");
    s.tell_head();
    const bool is_interim = s.core->is_done() && s.core->status / 100 == 1;
    if (!is_interim) break;
    if (s.core->status == 101) return s.failed("an upgrade that nobody asked for");
    s.restart();
    if (s.buffer.empty()) break;
  }
  if (s.core->is_done()) {
    const size_t unused = s.buffer.size();
    s.buffer.clear();
    return bytes.size() - std::min(unused, bytes.size());
  }
  if (s.buffer.size() > limits::request_head_bytes)
    return s.failed("a head or chunk header without end");
  return bytes.size();
}

Result<void> ResponseParser::feed_end() {
  State& s = *state_;
  if (s.core->is_done()) return {};
  if (s.core->is_head_done && s.core->need_eof() && !s.has_failed) {
    error_code code;
    s.core->put_eof(code);
    s.tell_head();
    if (!code) return {};
  }
  s.has_failed = true;
  return fail(ErrorCode::unavailable, "the connection ended before the whole answer came");
}

bool ResponseParser::is_done() const {
  return !state_->has_failed && state_->core->is_done();
}
bool ResponseParser::keeps_alive() const {
  return is_done() && !state_->core->need_eof() && state_->core->keep_alive();
}

// ---- encoders

std::string_view status_text(int status) {
  const auto text = beast::http::obsolete_reason(static_cast<beast::http::status>(status));
  return {text.data(), text.size()};
}

std::string encode_response_head(const ResponseHead& head, BodyFraming framing, bool keep_alive) {
  std::string out = fmt::format("HTTP/1.1 {} {}\r\n", head.status, status_text(head.status));
  for (const auto& [name, value] : head.headers) append_header(out, name, value);
  if (framing == BodyFraming::chunked) out += "Transfer-Encoding: chunked\r\n";
  if (!keep_alive) out += "Connection: close\r\n";
  out += "\r\n";
  return out;
}

std::string encode_request(const Request& request, std::string_view host) {
  std::string out;
  for (const char c : request.method) out.push_back(is_header_byte(c) && c != ' ' ? c : '_');
  out.push_back(' ');
  for (const char c : request.target) {
    if (is_header_byte(c) && c != ' ' && c != '\t') {
      out.push_back(c);
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  out += " HTTP/1.1\r\n";
  if (!has_header(request.headers, "Host")) append_header(out, "Host", host);
  for (const auto& [name, value] : request.headers) append_header(out, name, value);
  const bool has_length = has_header(request.headers, "Content-Length");
  const bool may_have_body = request.method != "GET" && request.method != "HEAD";
  if (!has_length && (may_have_body || !request.body.empty())) {
    append_header(out, "Content-Length", std::to_string(request.body.size()));
  }
  out += "\r\n";
  out += request.body;
  return out;
}

void append_chunk(std::string& out, std::string_view bytes) {
  if (bytes.empty()) return;  // an empty chunk would end the body
  out += fmt::format("{:x}\r\n", bytes.size());
  out += bytes;
  out += "\r\n";
}

std::string_view last_chunk() {
  return "0\r\n\r\n";
}

// ---- LineSplitter

Result<void> LineSplitter::feed(std::string_view bytes,
                                const std::function<void(std::string_view)>& on_line) {
  const auto tell = [&](std::string_view line) {
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (!line.empty()) on_line(line);
  };
  for (size_t end = bytes.find('\n'); end != std::string_view::npos; end = bytes.find('\n')) {
    const std::string_view part = bytes.substr(0, end);
    bytes.remove_prefix(end + 1);
    if (rest_.size() + part.size() > limit_) {
      return fail(ErrorCode::too_large, fmt::format("a line is longer than {} bytes", limit_));
    }
    if (rest_.empty()) {
      tell(part);
    } else {
      std::string line = std::move(rest_);
      rest_.clear();
      line += part;
      tell(line);
    }
  }
  if (rest_.size() + bytes.size() > limit_) {
    return fail(ErrorCode::too_large, fmt::format("a line is longer than {} bytes", limit_));
  }
  rest_ += bytes;
  return {};
}

}  // namespace tau::http
