#include "cmd/run_views.h"

#include <fmt/format.h>

#include "http/url.h"
#include "meta/fields.h"

namespace tau::cmd {

Try<kube::RunView> find_run(Session& session, const std::string& given, boost::json::value* raw) {
  // What `-o name` prints is taken back.
  const std::string name = given.starts_with("run/") ? given.substr(4) : given;
  const std::string path = fmt::format("/namespaces/{}/runs", http::percent_encode(session.ns()));
  auto answer = session.get(fmt::format("{}{}/{}", view_root, path, http::percent_encode(name)));
  if (!answer) {
    if (answer.error().exit != ExitCode::not_found) return std::unexpected(answer.error());
    std::vector<std::string> names;
    const auto runs = list_views<kube::RunView>(session, path + "?history=true");
    for (const kube::RunView& run : runs.value_or(std::vector<kube::RunView>{})) {
      names.push_back(run.name);
      names.push_back(run.id);
    }
    return failed(Failure("TG-RUN-404", ExitCode::not_found,
                          fmt::format("no run \"{}\" in namespace {}", name, session.ns()))
                      .because(did_you_mean(name, names))
                      .fixed_by("see what there is: tau ps -A --history"));
  }
  auto run = meta::decode<kube::RunView>(*answer);
  if (!run)
    return failed(Failure("TG-VIEW-002", ExitCode::version_skew,
                          "the server's answer is of another version: " + run.error().message)
                      .fixed_by("tau version --server"));
  if (raw != nullptr) *raw = std::move(*answer);
  return std::move(*run);
}

bool is_over(const kube::RunView& run) {
  return run.phase == "Succeeded" || run.phase == "Failed" || run.phase == "Cancelled";
}

ExitCode exit_of(const kube::RunView& run) {
  if (run.phase == "Succeeded") return ExitCode::ok;
  if (run.phase != "Failed") return ExitCode::run_failed_infra;
  // Its code failed if a container ended by itself with a code other than 0, or of its own memory.
  const bool is_own = std::ranges::any_of(run.pod_list, [](const kube::PodView& pod) {
    return pod.reason == "OOMKilled" || (pod.exit_code.value_or(0) != 0 &&
                                         pod.reason != "NodeLost" && pod.reason != "StartError");
  });
  const bool is_deadline = run.reason == "DeadlineExceeded";
  return is_own || is_deadline ? ExitCode::run_failed : ExitCode::run_failed_infra;
}

}  // namespace tau::cmd
