#include "host/http_transport.h"

#include <fmt/format.h>

#include <boost/asio.hpp>
#include <boost/asio/ssl.hpp>
#include <map>
#include <vector>

#include "base/limits.h"
#include "base/text.h"
#include "http/codec.h"

namespace tau::host {
namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

namespace {
constexpr Duration connect_patience = seconds(10);  // name, TCP and TLS together
}  // namespace

Result<Endpoint> parse_server_url(const std::string& url) {
  constexpr std::string_view scheme = "https://";
  const auto bad = [&] {
    return fail(
        ErrorCode::invalid,
        fmt::format("\"{}\" is not an API server's address such as https://127.0.0.1:6443", url));
  };
  if (!url.starts_with(scheme)) return bad();
  std::string rest = url.substr(scheme.size());
  rest = rest.substr(0, rest.find('/'));
  Endpoint endpoint;
  const size_t colon = rest.starts_with('[') ? rest.find("]:") : rest.rfind(':');
  if (colon == std::string::npos) {
    endpoint.host = rest;
  } else {
    const size_t at = rest.starts_with('[') ? colon + 1 : colon;
    const auto port = parse_int(std::string_view(rest).substr(at + 1));
    if (!port || *port < 1 || *port > 65535) return bad();
    endpoint.port = static_cast<uint16_t>(*port);
    endpoint.host = rest.substr(0, at);
  }
  if (endpoint.host.starts_with('['))
    endpoint.host = endpoint.host.substr(1, endpoint.host.size() - 2);
  if (endpoint.host.empty()) return bad();
  return endpoint;
}

struct HttpTransport::Call {
  uint64_t id = 0;
  std::string bytes;  // the request
  bool is_head = false, is_get = false, is_retried = false, has_heard = false;
  bool is_over = false;  // nobody listens any more; its callbacks may be running right now
  http::ResponseCallbacks callbacks;
  TimerId timer;
  std::weak_ptr<Connection> connection;
};

struct HttpTransport::Impl : std::enable_shared_from_this<HttpTransport::Impl> {
  Impl(AsioLoop& l, Endpoint e)
      : loop(l),
        endpoint(std::move(e)),
        tls(asio::ssl::context::tls_client),
        resolver(l.context()) {}
  void start(const std::shared_ptr<Call>& call);
  // The one place where a call ends.
  void end(const std::shared_ptr<Call>& call, Result<void> outcome) {
    if (calls.erase(call->id) == 0) return;
    loop.cancel(call->timer);
    call->is_over = true;
    auto on_end = std::move(call->callbacks.on_end);
    if (on_end) on_end(std::move(outcome));
  }
  AsioLoop& loop;
  Endpoint endpoint;
  asio::ssl::context tls;
  tcp::resolver resolver;
  uint64_t next_call = 1;
  std::map<uint64_t, std::shared_ptr<Call>> calls;
  std::vector<std::shared_ptr<Connection>> idle;
};

class HttpTransport::Connection : public std::enable_shared_from_this<HttpTransport::Connection> {
 public:
  enum class State { connecting, busy, idle, closed };
  explicit Connection(std::shared_ptr<Impl> owner)
      : owner_(owner),
        stream_(owner->loop.context(), owner->tls),
        deadline_(owner->loop.context()) {}

  void connect(std::shared_ptr<Call> call) {
    call_ = std::move(call);
    const auto owner = owner_.lock();
    if (!owner) return;
    call_->connection = weak_from_this();
    deadline_.expires_after(connect_patience);
    deadline_.async_wait([self = shared_from_this()](error_code error) {
      if (!error && self->state_ == State::connecting) self->fail_with(asio::error::timed_out);
    });
    error_code not_literal;
    asio::ip::make_address(owner->endpoint.host, not_literal);
    if (not_literal)
      SSL_set_tlsext_host_name(stream_.native_handle(), owner->endpoint.host.c_str());
    owner->resolver.async_resolve(
        owner->endpoint.host, std::to_string(owner->endpoint.port),
        [self = shared_from_this()](error_code error, const tcp::resolver::results_type& found) {
          if (error) return self->fail_with(error);
          if (self->state_ == State::closed) return;
          asio::async_connect(
              self->stream_.next_layer(), found, [self](error_code e, const tcp::endpoint&) {
                if (e) return self->fail_with(e);
                if (self->state_ == State::closed) return;
                error_code ignored;
                self->stream_.next_layer().set_option(tcp::no_delay(true), ignored);
                self->stream_.async_handshake(asio::ssl::stream_base::client, [self](error_code h) {
                  if (h) return self->fail_with(h);
                  if (self->state_ == State::closed) return;
                  self->deadline_.cancel();
                  self->read();
                  self->write();
                });
              });
        });
  }
  void reuse(std::shared_ptr<Call> call) {
    call_ = std::move(call);
    is_reused_ = true;
    write();
  }
  void close() {
    if (state_ == State::closed) return;
    state_ = State::closed;
    deadline_.cancel();
    error_code ignored;
    stream_.next_layer().shutdown(tcp::socket::shutdown_both, ignored);
    stream_.next_layer().close(ignored);
  }

 private:
  void write() {
    if (!call_ || state_ == State::closed) return;
    state_ = State::busy;
    std::shared_ptr<Call> call = call_;
    parser_.start({.on_head =
                       [call](http::ResponseHead head) {
                         call->has_heard = true;
                         if (!call->is_over && call->callbacks.on_head)
                           call->callbacks.on_head(head);
                       },
                   .on_body =
                       [call](std::string_view bytes) {
                         if (!call->is_over && call->callbacks.on_body)
                           call->callbacks.on_body(bytes);
                       }},
                  call->is_head);
    call->connection = weak_from_this();
    asio::async_write(stream_, asio::buffer(call->bytes),
                      [self = shared_from_this(), call](error_code error, size_t) {
                        if (error && self->call_ == call) self->fail_with(error);
                      });
  }

  void read() {
    stream_.async_read_some(
        asio::buffer(buffer_), [self = shared_from_this()](error_code error, size_t size) {
          if (self->state_ == State::closed) return;
          if (error) return self->fail_with(error);
          if (self->state_ == State::idle)
            return self->fail_with(asio::error::connection_reset);  // bytes nobody asked for
          self->feed({self->buffer_.data(), size});
        });
  }

  void feed(std::string_view bytes) {
    const auto used = parser_.feed(bytes);
    if (state_ == State::closed) return;  // cancelled by a callback
    if (!used) {
      finish(std::unexpected(used.error()), false);
      return;
    }
    if (parser_.is_done()) finish({}, parser_.keeps_alive() && *used == bytes.size());
    if (state_ != State::closed) read();
  }

  void finish(Result<void> outcome, bool may_stay) {
    const auto owner = owner_.lock();
    std::shared_ptr<Call> call = std::exchange(call_, nullptr);
    if (may_stay && owner && owner->idle.size() < limits::kept_connections) {
      state_ = State::idle;
      owner->idle.push_back(shared_from_this());
    } else {
      close();
    }
    if (owner && call) owner->end(call, std::move(outcome));
  }

  void fail_with(error_code error) {
    if (state_ == State::closed) return;
    const auto owner = owner_.lock();
    std::shared_ptr<Call> call = std::exchange(call_, nullptr);
    Result<void> whole = std::unexpected(Error{ErrorCode::unavailable, error.message()});
    // An answer without a length ends with the connection.
    if (call && call->has_heard &&
        (error == asio::error::eof || error == asio::ssl::error::stream_truncated) &&
        parser_.feed_end())
      whole = {};
    close();
    if (!owner) return;
    std::erase(owner->idle, shared_from_this());
    if (!call) return;
    // A kept connection that the server had just closed: nothing was heard, and a GET may be asked
    // again.
    if (is_reused_ && call->is_get && !call->has_heard && !std::exchange(call->is_retried, true)) {
      owner->start(call);
      return;
    }
    if (!whole)
      whole.error().message = fmt::format("{}:{}: {}", owner->endpoint.host, owner->endpoint.port,
                                          whole.error().message);
    owner->end(call, std::move(whole));
  }

  std::weak_ptr<Impl> owner_;
  asio::ssl::stream<tcp::socket> stream_;
  asio::steady_timer deadline_;  // of connecting
  State state_ = State::connecting;
  bool is_reused_ = false;
  http::ResponseParser parser_;
  std::array<char, 64 * 1024> buffer_;
  std::shared_ptr<Call> call_;
};

void HttpTransport::Impl::start(const std::shared_ptr<Call>& call) {
  if (!idle.empty() && !call->is_retried) {
    const auto connection = idle.back();
    idle.pop_back();
    connection->reuse(call);
    return;
  }
  std::make_shared<Connection>(shared_from_this())->connect(call);
}

HttpTransport::HttpTransport(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<std::unique_ptr<HttpTransport>> HttpTransport::make(AsioLoop& loop, Endpoint endpoint) {
  auto impl = std::make_shared<Impl>(loop, std::move(endpoint));
  const Endpoint& e = impl->endpoint;
  error_code error;
  if (e.ca_pem.empty())
    impl->tls.set_default_verify_paths(error);
  else
    impl->tls.add_certificate_authority(asio::buffer(e.ca_pem), error);
  if (error)
    return fail(ErrorCode::invalid, "the CA certificate cannot be read: " + error.message());
  if (!e.client_certificate_pem.empty()) {
    impl->tls.use_certificate_chain(asio::buffer(e.client_certificate_pem), error);
    if (!error)
      impl->tls.use_private_key(asio::buffer(e.client_key_pem), asio::ssl::context::pem, error);
    if (error)
      return fail(ErrorCode::invalid, "the client certificate cannot be read: " + error.message());
  }
  impl->tls.set_verify_mode(e.skips_verification ? asio::ssl::verify_none : asio::ssl::verify_peer);
  if (!e.skips_verification)
    impl->tls.set_verify_callback(asio::ssl::host_name_verification(e.host));
  return std::unique_ptr<HttpTransport>(new HttpTransport(std::move(impl)));
}

HttpTransport::~HttpTransport() {
  for (const auto& [id, call] : std::exchange(impl_->calls, {})) {
    impl_->loop.cancel(call->timer);
    call->is_over = true;
    if (const auto connection = call->connection.lock()) connection->close();
  }
  for (const auto& connection : std::exchange(impl_->idle, {})) connection->close();
}

http::CallId HttpTransport::send(http::Request request, Duration timeout,
                                 http::ResponseCallbacks callbacks) {
  auto call = std::make_shared<Call>();
  call->id = impl_->next_call++;
  call->is_head = request.method == "HEAD";
  call->is_get = request.method == "GET";
  if (!impl_->endpoint.token.empty())
    request.headers.emplace_back("Authorization", "Bearer " + impl_->endpoint.token);
  call->bytes = http::encode_request(
      request, fmt::format("{}:{}", impl_->endpoint.host, impl_->endpoint.port));
  call->callbacks = std::move(callbacks);
  impl_->calls[call->id] = call;
  if (timeout.count() > 0) {
    call->timer = impl_->loop.after(timeout, [impl = impl_, call] {
      if (const auto connection = call->connection.lock()) connection->close();
      impl->end(call, std::unexpected(Error{ErrorCode::timeout, "no whole answer in time"}));
    });
  }
  // Started from the loop: no callback may come from inside send().
  impl_->loop.post([impl = impl_, call] {
    if (impl->calls.contains(call->id)) impl->start(call);
  });
  return http::CallId{call->id};
}

void HttpTransport::cancel(http::CallId id) {
  const auto found = impl_->calls.find(id.value);
  if (found == impl_->calls.end()) return;
  const auto call = found->second;
  impl_->calls.erase(found);
  impl_->loop.cancel(call->timer);
  call->is_over = true;
  if (const auto connection = call->connection.lock()) connection->close();
}

}  // namespace tau::host
