// `tau doctor`: what may stand in the way, each with what to do about it.
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <cstdlib>

#include "base/text.h"
#include "cmd/verbs.h"
#include "host/files.h"
#include "host/nvml_gpu_source.h"
#include "host/process_runtime.h"
#include "meta/json.h"

namespace tau::cmd {
namespace json = boost::json;

namespace {

struct Check {
  std::string name;
  enum class Result { ok, warning, failed };
  Result result = Result::ok;
  std::string detail;
};
using Grade = Check::Result;
using Checks = std::vector<Check>;

void check_state(Checks& checks, const std::string& folder) {
  const bool exists = host::file_exists(folder);
  const std::string parent = folder.substr(0, std::max<size_t>(1, folder.rfind('/')));
  const std::string& at = exists ? folder : parent;
  const bool is_writable = access(at.c_str(), W_OK | X_OK) == 0;
  checks.push_back({"state folder", is_writable || !exists ? Grade::ok : Grade::failed,
                    !is_writable ? fmt::format("{} cannot be written: use --state DIR", at)
                    : exists     ? folder
                                 : folder + " is made at the first start"});
  struct statvfs disk{};
  if (statvfs(host::file_exists(at) ? at.c_str() : "/", &disk) != 0) return;
  const int64_t free_mib =
      (static_cast<int64_t>(disk.f_bavail) * static_cast<int64_t>(disk.f_frsize)) >> 20;
  checks.push_back({"disk space",
                    free_mib > 1024  ? Grade::ok
                    : free_mib > 100 ? Grade::warning
                                     : Grade::failed,
                    fmt::format("{} MiB free at {}", free_mib, at)});
}

void check_clock(Checks& checks, const http::Response& answer) {
  // RFC 9110 form: "Tue, 01 Dec 2026 05:37:43 GMT".
  const std::string date(http::find_header(answer.headers, "Date"));
  struct tm parts{};
  if (date.empty() || strptime(date.c_str(), "%a, %d %b %Y %H:%M:%S", &parts) == nullptr) return;
  const Time server = Time(seconds(timegm(&parts)));
  const int64_t skew_s = std::chrono::duration_cast<seconds>(host::system_now() - server).count();
  checks.push_back(
      {"clock", std::abs(skew_s) <= 5 ? Grade::ok : Grade::warning,
       fmt::format("{} s {} the server's", std::abs(skew_s), skew_s < 0 ? "behind" : "ahead of")});
}

void check_server(Checks& checks, const GlobalOptions& options) {
  auto session = Session::open(options);
  if (!session)
    return checks.push_back({"server", Grade::failed,
                             fmt::format("{} ({}); {}", session.error().what, session.error().where,
                                         session.error().fix)});
  const auto answer = (*session)->raw({.target = "/readyz"}, seconds(5));
  if (!answer)
    return checks.push_back(
        {"server", Grade::failed,
         fmt::format("{}: {}; {}", answer.error().what, answer.error().cause, answer.error().fix)});
  checks.push_back({"server", answer->status == 200 ? Grade::ok : Grade::failed,
                    fmt::format("{} answers {}", (*session)->server(), answer->status)});
  check_clock(checks, *answer);
  const auto nodes = (*session)->get("/api/v1/nodes?limit=1");
  checks.push_back(
      {"rights", nodes ? Grade::ok : Grade::failed, nodes ? "may list nodes" : nodes.error().what});
  const auto queues = (*session)->get(
      fmt::format("/apis/kueue.x-k8s.io/v1beta2/namespaces/{}/localqueues", (*session)->ns()));
  const json::value* items = queues ? meta::find_path(*queues, "items") : nullptr;
  const size_t count = items != nullptr && items->is_array() ? items->get_array().size() : 0;
  checks.push_back({"queues", count > 0 ? Grade::ok : Grade::warning,
                    count > 0 ? fmt::format("{} in namespace {}", count, (*session)->ns())
                              : fmt::format("none in namespace {}: Jobs there are not queued",
                                            (*session)->ns())});
}

void check_host(Checks& checks) {
  const host::RuntimeCapabilities can = host::probe_capabilities();
  checks.push_back(
      {"mounts", can.has_private_mounts ? Grade::ok : Grade::warning,
       can.has_private_mounts
           ? "containers get a mount namespace: volumes and the simulated nvidia-smi work"
           : "pods cannot have volumes, and nvidia-smi is found by PATH alone: " +
                 can.mounts_reason});
  const bool is_held = can.enforces_cpu && can.enforces_memory;
  checks.push_back(
      {"limits", is_held ? Grade::ok : Grade::warning,
       is_held ? fmt::format("CPU and memory limits of pods are enforced by {}", can.limits_by)
               : fmt::format("not enforced: {}{}{}: {}", can.enforces_cpu ? "" : "CPU",
                             can.enforces_cpu || can.enforces_memory ? "" : ", ",
                             can.enforces_memory ? "" : "memory", can.limits_reason)});
  std::string kubectl;
  const char* path = std::getenv("PATH");
  for (const std::string_view folder : split(path == nullptr ? "" : path, ':')) {
    const std::string program = std::string(folder) + "/kubectl";
    if (kubectl.empty() && !folder.empty() && access(program.c_str(), X_OK) == 0) kubectl = program;
  }
  checks.push_back({"kubectl", kubectl.empty() ? Grade::warning : Grade::ok,
                    kubectl.empty() ? "not on PATH: tau works without it" : kubectl});
  host::NvmlGpuSource source;
  const auto gpus = source.read();
  checks.push_back(
      {"GPUs", gpus ? Grade::ok : Grade::failed,
       !gpus           ? gpus.error().message
       : gpus->empty() ? "none, or no NVIDIA library: simulated ones work (tau up --nodes 2x8xH100)"
                       : fmt::format("{} found", gpus->size())});
}

}  // namespace

Outcome doctor(const GlobalOptions& options, const Console& console) {
  Checks checks;
  check_state(checks, state_folder(options));
  check_server(checks, options);
  check_host(checks);
  bool has_failed = false;
  json::array items;
  Table table({{"CHECK"}, {"RESULT"}, {"DETAIL"}});
  for (const Check& check : checks) {
    has_failed |= check.result == Grade::failed;
    const char* word = check.result == Grade::ok        ? "ok"
                       : check.result == Grade::warning ? "warning"
                                                        : "failed";
    table.add({check.name,
               Cell(word, check.result == Grade::ok        ? Tone::good
                          : check.result == Grade::warning ? Tone::warning
                                                           : Tone::bad),
               check.detail});
    items.push_back(
        json::object{{"check", check.name}, {"result", word}, {"detail", check.detail}});
  }
  const json::value list = list_object("CheckList", std::move(items));
  if (options.format == Format::json)
    console.out(to_pretty_json(list));
  else if (options.format == Format::yaml)
    console.out(to_yaml(list));
  else
    console.out(table.text(true, console.has_colour));
  return has_failed ? ExitCode::partial : ExitCode::ok;
}

}  // namespace tau::cmd
