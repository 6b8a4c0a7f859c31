// HttpTransport: a Transport over TLS, HTTP/1.1 with kept connections.
#pragma once

#include <memory>
#include <string>

#include "host/asio_loop.h"
#include "http/message.h"

namespace tau::host {

struct Endpoint {
  std::string host = "127.0.0.1";
  uint16_t port = 443;
  std::string ca_pem;  // "" = the system's own
  std::string token;   // bearer; "" = none
  std::string client_certificate_pem, client_key_pem;
  bool skips_verification = false;
};
// "https://127.0.0.1:6443"
Result<Endpoint> parse_server_url(const std::string& url);

class HttpTransport : public http::Transport {
 public:
  static Result<std::unique_ptr<HttpTransport>> make(AsioLoop& loop, Endpoint endpoint);
  ~HttpTransport() override;
  http::CallId send(http::Request request, Duration timeout,
                    http::ResponseCallbacks callbacks) override;
  void cancel(http::CallId call) override;

 private:
  struct Impl;
  class Connection;
  struct Call;
  explicit HttpTransport(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace tau::host
