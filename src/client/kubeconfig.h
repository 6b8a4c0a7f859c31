// kubeconfig files: text in, the chosen context's server and credentials out.
#pragma once

#include <string>

#include "base/result.h"

namespace tau::client {

struct ClusterAccess {
  std::string server, ns = "default";
  std::string ca_pem, token, client_certificate_pem, client_key_pem;
  // Paths that the file names instead of data; the caller reads them.
  std::string ca_file, token_file, client_certificate_file, client_key_file;
  bool skips_verification = false;
};

// `context` empty = current-context. Users with exec or auth-provider plugins are not supported.
Result<ClusterAccess> parse_kubeconfig(std::string_view text, std::string_view context);
// What `tau up` writes.
std::string kubeconfig_text(const std::string& server, const std::string& ca_pem,
                            const std::string& token);

}  // namespace tau::client
