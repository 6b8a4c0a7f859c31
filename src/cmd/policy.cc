#include "cmd/policy.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/text.h"
#include "kube/request.h"
#include "meta/json.h"
#include "meta/yaml.h"

namespace tau::cmd {
namespace json = boost::json;

namespace {

std::string policy_for(const std::string& scheduler_name) {
  constexpr std::string_view old = "schedulerName: \"taugrid\"";
  const std::string now = fmt::format("schedulerName: \"{}\"", scheduler_name);
  std::string text = policy_text;
  for (size_t at = 0; (at = text.find(old, at)) != std::string::npos; at += now.size())
    text.replace(at, old.size(), now);
  return text;
}

// These kinds are not among ours: their paths are made here.
std::string target_of(const json::value& object) {
  const std::string kind = to_lower(meta::string_at(object, "kind"));
  return fmt::format("/apis/{}/{}/{}?fieldManager=taugrid&force=true",
                     meta::string_at(object, "apiVersion"),
                     kind.ends_with('y') ? kind.substr(0, kind.size() - 1) + "ies" : kind + "s",
                     meta::string_at(object, "metadata.name"));
}

}  // namespace

Outcome install_policy(const GlobalOptions& options, const std::string& scheduler_name,
                       const Console& console) {
  auto opened = Session::open(options);
  if (!opened) return std::unexpected(opened.error());
  const auto objects = meta::parse_yaml(policy_for(scheduler_name));
  if (!objects) return failed(Failure(objects.error()));
  for (const json::value& object : *objects) {
    const std::string name(meta::string_at(object, "metadata.name"));
    auto answer = (*opened)->raw({.method = "PATCH",
                                  .target = target_of(object),
                                  .headers = {{"content-type", "application/apply-patch+yaml"}},
                                  .body = json::serialize(object)});
    if (!answer) return std::unexpected(answer.error());
    if (answer->status == 404)
      return failed(
          Failure("TG-CTL-006", ExitCode::not_found, "the cluster has no admission policies of v1")
              .fixed_by("create Jobs of queues suspended and with the scheduler's name, as tau run "
                        "does; Kubernetes has such policies from 1.36 on"));
    if (answer->status >= 300)
      return failed(Failure(kube::to_error(answer->status, answer->body)).at(name));
    console.say(fmt::format("{} {} applied", meta::string_at(object, "kind"), name));
  }
  console.say("Opt a namespace in: kubectl label namespace NAME taugrid.io/managed=true");
  return ExitCode::ok;
}

}  // namespace tau::cmd
