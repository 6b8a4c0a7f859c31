// HttpServer: serves a Handler over TLS on loopback. One session per connection: an explicit state,
// one deadline, bounded buffers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "host/asio_loop.h"
#include "http/message.h"

namespace tau::host {

struct ServerTls {
  std::string certificate_pem, key_pem;
};

class HttpServer {
 public:
  HttpServer(AsioLoop& loop, http::Handler& handler, const ServerTls& tls);
  ~HttpServer();
  // Port 0 lets the kernel choose. Only loopback addresses are bound unless told otherwise.
  Result<uint16_t> listen(const std::string& address, uint16_t port);
  void close();
  size_t connection_count() const;

 private:
  struct Impl;
  class Session;
  class Sink;
  std::shared_ptr<Impl> impl_;
};

}  // namespace tau::host
