#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/asio.hpp>
#include <boost/asio/ssl.hpp>

#include "host/certificates.h"
#include "host/http_server.h"
#include "host/http_transport.h"
#include "host/testing/test_world.h"

namespace tau::host {
namespace {

using http::Request;
using http::Response;
using http::ResponseSink;

// Answers by path; keeps what it was asked.
class Paths : public http::Handler {
 public:
  void handle(const http::Peer& peer, Request request,
              std::unique_ptr<ResponseSink> sink) override {
    last = request;
    last_peer = peer;
    ++count;
    if (request.target == "/echo") return http::respond(*sink, 200, "text/plain", request.body);
    if (request.target == "/big")
      return http::respond(*sink, 200, "text/plain", std::string(20'000'000, 'x'));
    if (request.target == "/reset") {
      sink->head({200, {}});
      sink->body("half");
      return;  // the sink goes without end()
    }
    if (request.target == "/never" || request.target == "/watch") {
      if (request.target == "/watch") sink->head({200, {{"Content-Type", "application/json"}}});
      sink->on_closed([this] { has_left = true; });
      kept = std::move(sink);
      return;
    }
    http::respond(*sink, 404, "text/plain", "not here");
  }
  Request last;
  http::Peer last_peer;
  int count = 0;
  bool has_left = false;
  std::unique_ptr<ResponseSink> kept;
};

class Http : public ::testing::Test {
 protected:
  static const Certificates& certificates() {
    static const Certificates made = make_certificates(system_now()).value();
    return made;
  }
  Http() {
    open();
    transport_ = client({.ca_pem = certificates().ca_pem, .token = "secret"});
  }
  void open(uint16_t port = 0) {
    server_ = std::make_unique<HttpServer>(
        loop_, handler_, ServerTls{certificates().server_pem, certificates().server_key_pem});
    port_ = server_->listen("127.0.0.1", port).value();
  }
  std::unique_ptr<HttpTransport> client(Endpoint endpoint) {
    endpoint.port = port_;
    return HttpTransport::make(loop_, std::move(endpoint)).value();
  }
  Result<Response> ask(Request request, Duration timeout = patience,
                       HttpTransport* transport = nullptr) {
    std::optional<Result<Response>> answer;
    http::send_whole(transport != nullptr ? *transport : *transport_, std::move(request), timeout,
                     [&](Result<Response> got) { answer = std::move(got); });
    EXPECT_TRUE(wait_for(loop_, [&] { return answer.has_value(); }));
    return answer ? std::move(*answer)
                  : Result<Response>(fail(ErrorCode::timeout, "no answer in the test's time"));
  }

  AsioLoop loop_;
  Paths handler_;
  std::unique_ptr<HttpServer> server_;
  uint16_t port_ = 0;
  std::unique_ptr<HttpTransport> transport_;
};

TEST_F(Http, CarriesRequestsAndAnswers) {
  const auto answer = ask({.method = "POST", .target = "/echo", .body = "hello"});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->body, "hello");
  EXPECT_EQ(http::find_header(answer->headers, "Content-Type"), "text/plain");
  EXPECT_EQ(http::find_header(handler_.last.headers, "Authorization"), "Bearer secret");
  EXPECT_TRUE(handler_.last_peer.address.starts_with("127.0.0.1:"));
  EXPECT_FALSE(handler_.last_peer.is_in_process);
  EXPECT_EQ(ask({.target = "/nothing"})->status, 404);
}

TEST_F(Http, KeepsConnections) {
  for (int i = 0; i < 5; ++i)
    ASSERT_EQ(ask({.method = "POST", .target = "/echo", .body = "x"})->body, "x");
  EXPECT_EQ(server_->connection_count(), 1u);
  EXPECT_EQ(ask({.method = "HEAD", .target = "/echo"})->body, "");
  EXPECT_EQ(server_->connection_count(), 1u);
}

TEST_F(Http, CarriesLongBodies) {
  EXPECT_EQ(ask({.target = "/big"})->body.size(), 20'000'000u);
  const std::string body(2'000'000, 'y');
  EXPECT_EQ(ask({.method = "POST", .target = "/echo", .body = body})->body, body);
  EXPECT_EQ(ask({.method = "POST", .target = "/echo", .body = std::string(4'000'000, 'y')})->status,
            413);
}

TEST_F(Http, StreamsAnswers) {
  std::string text;
  std::optional<Result<void>> ended;
  transport_->send({.target = "/watch"}, Duration(0),
                   {.on_head = [](const http::ResponseHead& head) { EXPECT_EQ(head.status, 200); },
                    .on_body = [&](std::string_view bytes) { text += bytes; },
                    .on_end = [&](Result<void> end) { ended = std::move(end); }});
  ASSERT_TRUE(wait_for(loop_, [&] { return handler_.kept != nullptr; }));
  handler_.kept->body("one\n");
  ASSERT_TRUE(wait_for(loop_, [&] { return text == "one\n"; }));
  EXPECT_FALSE(ended);
  handler_.kept->body("two\n");
  handler_.kept->end();
  ASSERT_TRUE(wait_for(loop_, [&] { return ended.has_value(); }));
  EXPECT_TRUE(*ended);
  EXPECT_EQ(text, "one\ntwo\n");
  EXPECT_FALSE(handler_.has_left);
}

TEST_F(Http, TellsTheHandlerWhenThePeerLeaves) {
  const auto call =
      transport_->send({.target = "/watch"}, Duration(0),
                       {.on_end = [](Result<void>) { FAIL() << "heard after cancel"; }});
  ASSERT_TRUE(wait_for(loop_, [&] { return handler_.kept != nullptr; }));
  transport_->cancel(call);
  EXPECT_TRUE(wait_for(loop_, [&] { return handler_.has_left; }));
  EXPECT_EQ(ask({.method = "POST", .target = "/echo", .body = "on"})->body, "on");
}

TEST_F(Http, MayBeCancelledFromItsOwnCallback) {
  http::CallId call;
  int pieces = 0;
  call = transport_->send({.target = "/big"}, Duration(0),
                          {.on_body =
                               [&, keep = std::string(64, 'k')](std::string_view) {
                                 ++pieces;
                                 transport_->cancel(call);
                                 EXPECT_EQ(keep, std::string(64, 'k'));
                               },
                           .on_end = [](Result<void>) { FAIL() << "heard after cancel"; }});
  ASSERT_TRUE(wait_for(loop_, [&] { return pieces > 0; }));
  EXPECT_EQ(ask({.method = "POST", .target = "/echo", .body = "on"})->body, "on");
  EXPECT_EQ(pieces, 1);
}

TEST_F(Http, DoesNotSendWhatWasCancelledBefore) {
  transport_->cancel(transport_->send({.method = "POST", .target = "/echo"}, Duration(0), {}));
  EXPECT_EQ(ask({.target = "/nothing"})->status, 404);
  EXPECT_EQ(handler_.count, 1);
}

TEST_F(Http, IsAnErrorWhenTheAnswerIsNotWhole) {
  const auto answer = ask({.target = "/reset"});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::unavailable);
}

TEST_F(Http, EndsACallThatTakesTooLong) {
  const auto answer = ask({.target = "/never"}, milliseconds(50));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::timeout);
  EXPECT_TRUE(wait_for(loop_, [&] { return handler_.has_left; }));
}

TEST_F(Http, AsksAgainOnAKeptConnectionThatTheServerClosed) {
  ASSERT_EQ(ask({.method = "POST", .target = "/echo", .body = "x"})->body, "x");
  server_->close();
  open(port_);
  const auto answer = ask({.target = "/nothing"});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 404);
}

TEST_F(Http, SaysWhomItCouldNotReach) {
  const uint16_t port = port_;
  server_->close();
  const auto answer = ask({.target = "/nothing"});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::unavailable);
  EXPECT_NE(answer.error().message.find(fmt::format("127.0.0.1:{}", port)), std::string::npos)
      << answer.error().message;
}

TEST_F(Http, TrustsOnlyItsOwnCa) {
  const Certificates others = make_certificates(system_now()).value();
  const auto stranger = client({.ca_pem = others.ca_pem});
  const auto answer = ask({.target = "/nothing"}, patience, stranger.get());
  ASSERT_FALSE(answer);
  EXPECT_NE(answer.error().message.find("certificate verify failed"), std::string::npos)
      << answer.error().message;
  EXPECT_EQ(handler_.count, 0);
  EXPECT_TRUE(ask({.target = "/nothing"}, patience,
                  client({.host = "localhost", .ca_pem = certificates().ca_pem}).get()));
  EXPECT_TRUE(ask({.target = "/nothing"}, patience, client({.skips_verification = true}).get()));
}

TEST_F(Http, RefusesABrokenCertificate) {
  HttpServer broken(loop_, handler_, {"no certificate", "no key"});
  const auto port = broken.listen("127.0.0.1", 0);
  ASSERT_FALSE(port);
  EXPECT_EQ(port.error().code, ErrorCode::invalid);
}

TEST_F(Http, SaysWhenAPortIsTaken) {
  HttpServer second(loop_, handler_, {certificates().server_pem, certificates().server_key_pem});
  ASSERT_FALSE(second.listen("127.0.0.1", port_));
  EXPECT_TRUE(second.listen("127.0.0.1", 0));  // and may then try another
}

TEST_F(Http, BoundsNothingButKeepsCountOfAWatchersBacklog) {
  // A client that does not read: bytes gather, and the handler can see how many.
  namespace asio = boost::asio;
  asio::ssl::context tls(asio::ssl::context::tls_client);
  asio::ssl::stream<asio::ip::tcp::socket> raw(loop_.context(), tls);
  bool is_sent = false;
  const std::string request = "GET /watch HTTP/1.1\r\nHost: x\r\n\r\n";
  raw.next_layer().connect({asio::ip::make_address("127.0.0.1"), port_});
  raw.async_handshake(asio::ssl::stream_base::client, [&](boost::system::error_code) {
    asio::async_write(raw, asio::buffer(request),
                      [&](boost::system::error_code, size_t) { is_sent = true; });
  });
  ASSERT_TRUE(wait_for(loop_, [&] { return is_sent && handler_.kept; }));
  for (int i = 0; i < 64; ++i) handler_.kept->body(std::string(1 << 20, 'z'));
  EXPECT_GT(handler_.kept->backlog_bytes(), 32u << 20);
  handler_.kept.reset();  // the handler ends a watcher that is too slow
  EXPECT_TRUE(wait_for(loop_, [&] { return server_->connection_count() == 0; }));
  EXPECT_FALSE(handler_.has_left);
}

// What a peer gets that speaks in bytes, until the server closes or `enough` stands at the end.
class Raw : public Http {
 protected:
  std::string exchange(std::string bytes, std::string_view enough) {
    namespace asio = boost::asio;
    asio::ssl::context tls(asio::ssl::context::tls_client);
    asio::ssl::stream<asio::ip::tcp::socket> raw(loop_.context(), tls);
    std::string got;
    bool is_over = false;
    std::array<char, 4096> buffer;
    std::function<void()> read = [&] {
      raw.async_read_some(asio::buffer(buffer), [&](boost::system::error_code error, size_t size) {
        got.append(buffer.data(), size);
        is_over = error || got.ends_with(enough);
        if (!is_over) read();
      });
    };
    raw.next_layer().connect({asio::ip::make_address("127.0.0.1"), port_});
    raw.async_handshake(asio::ssl::stream_base::client, [&](boost::system::error_code) {
      asio::async_write(raw, asio::buffer(bytes),
                        [&](boost::system::error_code, size_t) { read(); });
    });
    EXPECT_TRUE(wait_for(loop_, [&] { return is_over; })) << got;
    return got;
  }
};

TEST_F(Raw, AnswersPipelinedRequestsInOrder) {
  const std::string got = exchange(
      "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nabPOST /echo HTTP/1.1\r\nHost: "
      "x\r\nContent-Length: 2\r\n\r\ncd",
      "cd");
  EXPECT_NE(got.find("ab"), std::string::npos) << got;
  EXPECT_EQ(handler_.count, 2);
}

TEST_F(Raw, ClosesWhenAsked) {
  const std::string got =
      exchange("POST /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2\r\n\r\nab",
               "never");
  EXPECT_NE(got.find("Connection: close\r\n"), std::string::npos) << got;
  EXPECT_TRUE(got.ends_with("ab"));
}

TEST_F(Raw, SaysWhatWasMalformedAndCloses) {
  const std::string got = exchange("GET /echo HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", "never");
  EXPECT_TRUE(got.starts_with("HTTP/1.1 400 ")) << got;
  EXPECT_EQ(handler_.count, 0);
}

TEST_F(Raw, TellsAPeerThatWaitsToGoOn) {
  const std::string got = exchange(
      "POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n",
      "100 Continue\r\n\r\n");
  EXPECT_EQ(got, "HTTP/1.1 100 Continue\r\n\r\n");
}

TEST(ServerUrl, IsRead) {
  struct Case {
    std::string url, host;
    int port;  // 0 = refused
  };
  for (const Case& one : {Case{"https://127.0.0.1:6443", "127.0.0.1", 6443},
                          {"https://[::1]:6443/", "::1", 6443},
                          {"https://example.org", "example.org", 443},
                          {"https://example.org/k8s", "example.org", 443},
                          {"ftp://x", "", 0},
                          {"https://", "", 0},
                          {"https://x:0", "", 0},
                          {"https://x:99999", "", 0},
                          {"https://x:a", "", 0}}) {
    const auto endpoint = parse_server_url(one.url);
    EXPECT_EQ(endpoint.has_value(), one.port != 0) << one.url;
    if (!endpoint) continue;
    EXPECT_EQ(endpoint->host, one.host);
    EXPECT_EQ(endpoint->port, one.port);
  }
}

}  // namespace
}  // namespace tau::host
