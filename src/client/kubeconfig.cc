#include "client/kubeconfig.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/text.h"
#include "meta/json.h"
#include "meta/yaml.h"

namespace tau::client {
namespace json = boost::json;

namespace {

// The entry of a named list: clusters[], users[], contexts[].
const json::value* find_named(const json::value& config, std::string_view list,
                              std::string_view name) {
  const json::value* found = meta::find_path(config, list);
  if (found == nullptr || !found->is_array()) return nullptr;
  for (const json::value& entry : found->get_array()) {
    if (meta::string_at(entry, "name") == name) return &entry;
  }
  return nullptr;
}

Result<std::string> data_at(const json::value& entry, std::string_view path) {
  const std::string_view text = meta::string_at(entry, path);
  if (text.empty()) return std::string();
  auto decoded = base64_decode(text);
  if (!decoded) return fail(ErrorCode::invalid, fmt::format("kubeconfig: {} is not base64", path));
  return *decoded;
}

}  // namespace

Result<ClusterAccess> parse_kubeconfig(std::string_view text, std::string_view context) {
  const auto documents = TRY(meta::parse_yaml(text));
  if (documents.empty()) return fail(ErrorCode::invalid, "the kubeconfig is empty");
  const json::value& config = documents[0];
  const std::string_view wanted =
      context.empty() ? meta::string_at(config, "current-context") : context;
  const json::value* chosen = find_named(config, "contexts", wanted);
  if (chosen == nullptr)
    return fail(ErrorCode::not_found, fmt::format("the kubeconfig has no context \"{}\"", wanted));
  const json::value* cluster =
      find_named(config, "clusters", meta::string_at(*chosen, "context.cluster"));
  const json::value* user = find_named(config, "users", meta::string_at(*chosen, "context.user"));
  if (cluster == nullptr)
    return fail(ErrorCode::not_found,
                fmt::format("context \"{}\" names a cluster that the kubeconfig lacks", wanted));
  ClusterAccess access{.server = std::string(meta::string_at(*cluster, "cluster.server"))};
  if (access.server.empty())
    return fail(ErrorCode::invalid, fmt::format("cluster \"{}\" of the kubeconfig has no server",
                                                meta::string_at(*cluster, "name")));
  if (const auto ns = meta::string_at(*chosen, "context.namespace"); !ns.empty()) access.ns = ns;
  access.ca_pem = TRY(data_at(*cluster, "cluster.certificate-authority-data"));
  access.ca_file = meta::string_at(*cluster, "cluster.certificate-authority");
  const json::value* skips = meta::find_path(*cluster, "cluster.insecure-skip-tls-verify");
  access.skips_verification = skips != nullptr && skips->is_bool() && skips->get_bool();
  if (user == nullptr) return access;
  if (meta::find_path(*user, "user.exec") != nullptr ||
      meta::find_path(*user, "user.auth-provider") != nullptr) {
    return fail(ErrorCode::unsupported,
                "users with exec or auth-provider plugins are not supported; use a token or a "
                "client certificate");
  }
  access.token = meta::string_at(*user, "user.token");
  access.token_file = meta::string_at(*user, "user.tokenFile");
  access.client_certificate_pem = TRY(data_at(*user, "user.client-certificate-data"));
  access.client_key_pem = TRY(data_at(*user, "user.client-key-data"));
  access.client_certificate_file = meta::string_at(*user, "user.client-certificate");
  access.client_key_file = meta::string_at(*user, "user.client-key");
  return access;
}

std::string kubeconfig_text(const std::string& server, const std::string& ca_pem,
                            const std::string& token) {
  return fmt::format(
      "apiVersion: v1\nkind: Config\ncurrent-context: taugrid\nclusters:\n- name: taugrid\n  "
      "cluster:\n    server: {}\n    certificate-authority-data: {}\n"
      "users:\n- name: admin\n  user:\n    token: {}\ncontexts:\n- name: taugrid\n  context:\n    "
      "cluster: taugrid\n    user: admin\n    namespace: default\n",
      server, base64_encode(ca_pem), token);
}

}  // namespace tau::client
