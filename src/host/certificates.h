// Certificates of the embedded server: an EC CA and a server certificate for this machine's
// loopback names.
#pragma once

#include <string>

#include "base/result.h"
#include "base/time.h"

namespace tau::host {

struct Certificates {
  std::string ca_pem, ca_key_pem, server_pem, server_key_pem;
};
// A CA for ten years, and a server certificate for localhost, 127.0.0.1 and ::1 for one.
Result<Certificates> make_certificates(Time now);
// A new server certificate of the same CA.
Result<void> renew_server_certificate(Certificates& certificates, Time now);
// Whether the server certificate ends within 30 days.
bool ends_soon(const std::string& certificate_pem, Time now);

}  // namespace tau::host
