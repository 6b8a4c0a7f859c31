#include "host/http_server.h"

#include <fmt/format.h>

#include <boost/asio.hpp>
#include <boost/asio/ssl.hpp>
#include <deque>
#include <set>

#include "base/check.h"
#include "base/limits.h"
#include "http/codec.h"

namespace tau::host {
namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

namespace {
constexpr Duration body_patience = seconds(60);   // for a whole request body
constexpr Duration write_patience = seconds(60);  // for a peer that takes nothing
constexpr Duration close_patience = seconds(5);
constexpr Duration accept_pause = milliseconds(100);  // when the process has no descriptors left
}  // namespace

struct HttpServer::Impl : std::enable_shared_from_this<HttpServer::Impl> {
  Impl(AsioLoop& l, http::Handler& h)
      : loop(l), handler(h), tls(asio::ssl::context::tls_server), acceptor(l.context()) {}
  void accept();
  AsioLoop& loop;
  http::Handler& handler;
  asio::ssl::context tls;
  tcp::acceptor acceptor;
  std::set<std::shared_ptr<Session>> sessions;
  std::string tls_failure;  // why the certificate cannot be used; "" = it can
  bool is_closed = false;
};

class HttpServer::Session : public std::enable_shared_from_this<HttpServer::Session> {
 public:
  enum class State { handshaking, reading, answering, closing, closed };

  Session(std::shared_ptr<Impl> server, tcp::socket socket)
      : server_(std::move(server)),
        stream_(std::move(socket), server_->tls),
        deadline_(server_->loop.context()) {}

  void start() {
    error_code ignored;
    stream_.next_layer().set_option(tcp::no_delay(true), ignored);
    const auto remote = stream_.next_layer().remote_endpoint(ignored);
    peer_.address = fmt::format("{}:{}", remote.address().to_string(ignored), remote.port());
    arm(seconds(limits::request_head_timeout_s));
    stream_.async_handshake(asio::ssl::stream_base::server,
                            [self = shared_from_this()](error_code error) {
                              if (error) return self->close();
                              if (self->state_ == State::closed) return;
                              self->state_ = State::reading;
                              self->await(Awaited::request);
                              self->read();
                            });
  }

  void close() {
    if (state_ == State::closed) return;
    state_ = State::closed;
    deadline_.cancel();
    error_code ignored;
    stream_.next_layer().shutdown(tcp::socket::shutdown_both, ignored);
    stream_.next_layer().close(ignored);
    if (on_closed_) server_->loop.post(std::exchange(on_closed_, nullptr));
    server_->sessions.erase(shared_from_this());
  }

  // ---- what a Sink does

  void write_head(http::ResponseHead head) {
    const bool has_length = !http::find_header(head.headers, "Content-Length").empty() ||
                            head.status == 204 || head.status == 304;
    is_chunked_ = !has_length && !parser_.is_http_1_0();
    keeps_alive_ = parser_.keeps_alive() && (has_length || is_chunked_);
    out_ += http::encode_response_head(
        head, is_chunked_ ? http::BodyFraming::chunked : http::BodyFraming::as_given, keeps_alive_);
    flush();
  }
  void write_body(std::string_view bytes) {
    if (state_ == State::closed || is_head_request_) return;
    if (is_chunked_)
      http::append_chunk(out_, bytes);
    else
      out_ += bytes;
    flush();
  }
  void finish() {
    if (state_ != State::answering) return;
    if (is_chunked_ && !is_head_request_) out_ += http::last_chunk();
    on_closed_ = nullptr;
    is_answer_done_ = true;
    flush();
  }
  void abandon() {  // the handler dropped its sink in mid-answer: it wants to hear nothing more
    on_closed_ = nullptr;
    if (state_ == State::answering && !is_answer_done_) close();
  }
  size_t backlog() const { return out_.size() + in_flight_.size(); }
  void set_on_closed(std::move_only_function<void()> callback) { on_closed_ = std::move(callback); }

 private:
  enum class Awaited { request, head, body, nothing };

  // At the end of the time the connection is closed, whatever it is doing.
  void arm(Duration limit) {
    deadline_.expires_after(limit);
    deadline_.async_wait([self = shared_from_this()](error_code error) {
      if (!error) self->close();
    });
  }
  // Each part of a request has one deadline, however slowly its bytes come.
  void await(Awaited what) {
    if (what == awaited_) return;
    awaited_ = what;
    switch (what) {
      case Awaited::request:
        return arm(seconds(limits::idle_connection_s));
      case Awaited::head:
        return arm(seconds(limits::request_head_timeout_s));
      case Awaited::body:
        return arm(body_patience);
      case Awaited::nothing:
        deadline_.cancel();
        return;
    }
  }

  // A read is always under way, so that a peer that leaves is noticed also during a long answer.
  void read() {
    if (is_reading_ || state_ == State::closed || early_.size() > limits::request_head_bytes)
      return;
    is_reading_ = true;
    stream_.async_read_some(asio::buffer(buffer_),
                            [self = shared_from_this()](error_code error, size_t size) {
                              self->is_reading_ = false;
                              if (error || self->state_ == State::closed) return self->close();
                              if (self->state_ == State::answering)
                                self->early_.append(self->buffer_.data(), size);
                              else if (self->state_ == State::reading)
                                self->feed({self->buffer_.data(), size});
                              self->read();
                            });
  }

  void feed(std::string_view bytes) {
    const auto ready = parser_.feed(bytes);
    if (!ready) {
      state_ = State::answering;
      await(Awaited::nothing);
      const std::string text = ready.error().message;
      out_ += http::encode_response_head(
          {ready.error().status,
           {{"Content-Type", "text/plain"}, {"Content-Length", std::to_string(text.size())}}},
          http::BodyFraming::as_given, false);
      out_ += text;
      keeps_alive_ = false;
      is_answer_done_ = true;
      flush();
      return;
    }
    if (!*ready) {
      if (parser_.take_expects_continue()) {
        out_ += "HTTP/1.1 100 Continue\r\n\r\n";
        flush();
      }
      await(parser_.is_idle()        ? Awaited::request
            : parser_.is_head_done() ? Awaited::body
                                     : Awaited::head);
      return;
    }
    answer(parser_.take());
  }

  void answer(http::Request request);

  void flush() {
    if (!in_flight_.empty() || state_ == State::closed) return;
    if (out_.empty()) {
      if (is_answer_done_) next();
      return;
    }
    in_flight_.swap(out_);
    // A peer that takes nothing for a while is given up; one that takes a little is not.
    const auto more = [self = shared_from_this()](error_code error, size_t) -> size_t {
      if (error || self->state_ == State::closed) return 0;
      self->arm(write_patience);
      return 64 * 1024;
    };
    asio::async_write(stream_, asio::buffer(in_flight_), more,
                      [self = shared_from_this()](error_code error, size_t) {
                        self->in_flight_.clear();
                        if (error) return self->close();
                        if (self->state_ == State::answering) self->deadline_.cancel();
                        self->flush();
                      });
  }

  void next() {
    is_answer_done_ = false;
    if (!keeps_alive_) return close_softly();
    state_ = State::reading;
    await(Awaited::request);
    const std::string early = std::exchange(early_, {});
    feed(early);
    read();
  }
  // Says goodbye and takes what still comes, so that the answer is not lost to a reset.
  void close_softly() {
    state_ = State::closing;
    arm(close_patience);
    stream_.async_shutdown([self = shared_from_this()](error_code) { self->close(); });
    read();
  }

  std::shared_ptr<Impl> server_;
  asio::ssl::stream<tcp::socket> stream_;
  asio::steady_timer deadline_;
  State state_ = State::handshaking;
  Awaited awaited_ = Awaited::nothing;
  http::Peer peer_;
  http::RequestParser parser_;
  std::array<char, 16 * 1024> buffer_;
  std::string early_;  // bytes that came while an answer was under way
  std::string out_, in_flight_;
  bool is_reading_ = false, is_chunked_ = false, keeps_alive_ = true, is_answer_done_ = false,
       is_head_request_ = false;
  std::move_only_function<void()> on_closed_;
};

class HttpServer::Sink : public http::ResponseSink {
 public:
  explicit Sink(std::weak_ptr<Session> session) : session_(std::move(session)) {}
  ~Sink() override {
    if (const auto session = session_.lock(); session && !is_ended_) session->abandon();
  }
  void head(http::ResponseHead head) override {
    if (const auto session = session_.lock()) session->write_head(std::move(head));
  }
  void body(std::string_view bytes) override {
    if (const auto session = session_.lock()) session->write_body(bytes);
  }
  void end() override {
    if (std::exchange(is_ended_, true)) return;
    if (const auto session = session_.lock()) session->finish();
  }
  size_t backlog_bytes() const override {
    const auto session = session_.lock();
    return session ? session->backlog() : 0;
  }
  void on_closed(std::move_only_function<void()> callback) override {
    if (const auto session = session_.lock()) session->set_on_closed(std::move(callback));
  }

 private:
  std::weak_ptr<Session> session_;
  bool is_ended_ = false;
};

void HttpServer::Session::answer(http::Request request) {
  state_ = State::answering;
  await(Awaited::nothing);
  is_head_request_ = request.method == "HEAD";
  server_->handler.handle(peer_, std::move(request), std::make_unique<Sink>(weak_from_this()));
}

void HttpServer::Impl::accept() {
  acceptor.async_accept([self = shared_from_this()](error_code error, tcp::socket socket) {
    if (self->is_closed) return;
    if (error) {
      self->loop.after(accept_pause, [weak = std::weak_ptr(self)] {
        if (const auto server = weak.lock(); server && !server->is_closed) server->accept();
      });
      return;
    }
    if (self->sessions.size() < limits::connections) {
      auto session = std::make_shared<Session>(self, std::move(socket));
      self->sessions.insert(session);
      session->start();
    }
    self->accept();
  });
}

HttpServer::HttpServer(AsioLoop& loop, http::Handler& handler, const ServerTls& tls)
    : impl_(std::make_shared<Impl>(loop, handler)) {
  impl_->tls.set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 |
                         asio::ssl::context::no_tlsv1_1);
  error_code error;
  impl_->tls.use_certificate_chain(asio::buffer(tls.certificate_pem), error);
  if (!error) impl_->tls.use_private_key(asio::buffer(tls.key_pem), asio::ssl::context::pem, error);
  if (!error && SSL_CTX_check_private_key(impl_->tls.native_handle()) != 1)
    error = asio::error::invalid_argument;
  if (error) impl_->tls_failure = error.message();
}
HttpServer::~HttpServer() {
  close();
}

Result<uint16_t> HttpServer::listen(const std::string& address, uint16_t port) {
  if (!impl_->tls_failure.empty())
    return fail(ErrorCode::invalid,
                "the server's certificate and key cannot be used: " + impl_->tls_failure);
  error_code error;
  const auto ip = asio::ip::make_address(address, error);
  if (error) return fail(ErrorCode::invalid, fmt::format("\"{}\" is not an IP address", address));
  const tcp::endpoint endpoint(ip, port);
  impl_->acceptor.open(endpoint.protocol(), error);
  if (!error) impl_->acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) impl_->acceptor.bind(endpoint, error);
  if (!error) impl_->acceptor.listen(1024, error);
  if (error) {
    error_code ignored;
    impl_->acceptor.close(ignored);  // another port may be tried
    return fail(ErrorCode::unavailable,
                fmt::format("cannot listen on {}:{}: {}", address, port, error.message()));
  }
  impl_->accept();
  return impl_->acceptor.local_endpoint().port();
}

void HttpServer::close() {
  impl_->is_closed = true;
  error_code ignored;
  impl_->acceptor.close(ignored);
  for (const auto& session : std::vector(impl_->sessions.begin(), impl_->sessions.end()))
    session->close();
}
size_t HttpServer::connection_count() const {
  return impl_->sessions.size();
}

}  // namespace tau::host
