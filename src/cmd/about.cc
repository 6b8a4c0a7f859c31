// version, status, completion.
#include <fmt/format.h>

#include <boost/json.hpp>

#include "cmd/grammar.h"
#include "cmd/verbs.h"
#include "meta/json.h"

namespace tau::cmd {
namespace json = boost::json;

Outcome version(const GlobalOptions& options, bool is_short, bool asks_server,
                const Console& console) {
  json::object made{{"apiVersion", "taugrid.io/v1alpha1"},
                    {"kind", "Version"},
                    {"client", json::object{{"version", version_text}}}};
  if (asks_server) {
    auto session = Session::open(options);
    if (!session) return std::unexpected(session.error());
    auto answer = (*session)->get("/version");
    if (!answer) return std::unexpected(answer.error());
    made["server"] = *answer;
  }
  if (options.format == Format::json)
    console.out(to_pretty_json(made));
  else if (options.format == Format::yaml)
    console.out(to_yaml(made));
  else if (is_short)
    console.out(std::string(version_text) + "\n");
  else {
    console.out(fmt::format("tau {}\n", version_text));
    if (asks_server)
      console.out(fmt::format("server {}\n", meta::string_at(made["server"], "gitVersion")));
  }
  return ExitCode::ok;
}

Outcome status(const GlobalOptions& options, const Console& console) {
  auto session = Session::open(options);
  if (!session) return std::unexpected(session.error());
  auto version_answer = (*session)->get("/version");
  if (!version_answer) return std::unexpected(version_answer.error());
  auto nodes = (*session)->get("/apis/view.taugrid.io/v1alpha1/nodes");
  auto runs = (*session)->get("/apis/view.taugrid.io/v1alpha1/runs");
  json::object made{{"apiVersion", std::string(view_api_version)},
                    {"kind", "Status"},
                    {"server", (*session)->server()},
                    {"version", std::string(meta::string_at(*version_answer, "gitVersion"))}};
  std::map<std::string, int64_t> phases;
  if (runs) {
    for (const json::value& run : meta::find_path(*runs, "items")->get_array())
      ++phases[std::string(meta::string_at(run, "phase"))];
  }
  int64_t ready = 0, gpus = 0, gpus_used = 0, all = 0;
  if (nodes) {
    for (const json::value& node : meta::find_path(*nodes, "items")->get_array()) {
      ++all;
      ready += meta::string_at(node, "state") == "Ready" ? 1 : 0;
      const auto number = [&](const char* key) {
        const json::value* v = meta::find_path(node, key);
        return v != nullptr && v->is_int64() ? v->get_int64() : 0;
      };
      gpus += number("gpus");
      gpus_used += number("gpusUsed");
    }
  }
  json::object counts;
  for (const auto& [phase, count] : phases) counts[phase] = count;
  made["runs"] = counts;
  if (nodes)
    made["nodes"] =
        json::object{{"total", all}, {"ready", ready}, {"gpus", gpus}, {"gpusUsed", gpus_used}};
  if (options.format == Format::json || options.format == Format::yaml) {
    console.out(options.format == Format::json ? to_pretty_json(made) : to_yaml(made));
    return ExitCode::ok;
  }
  std::string out = fmt::format("server  {}  {}\n", (*session)->server(),
                                meta::string_at(*version_answer, "gitVersion"));
  if (nodes)
    out +=
        fmt::format("nodes   {} of {} ready, {} of {} GPUs in use\n", ready, all, gpus_used, gpus);
  else
    out += "nodes   unknown: this cluster does not serve view.taugrid.io\n";
  out += "runs   ";
  for (const auto& [phase, count] : phases) out += fmt::format(" {} {}", count, phase);
  console.out(out + (phases.empty() ? " none\n" : "\n"));
  return ExitCode::ok;
}

Outcome completion(const std::string& shell, const Console& console) {
  const std::string script = completion_script(shell);
  if (script.empty()) {
    const std::vector<std::string> known{"bash", "zsh", "fish"};
    return failed(
        Failure("TG-CLI-003", ExitCode::usage, fmt::format("no completion for \"{}\"", shell))
            .because(did_you_mean(shell, known))
            .fixed_by("tau completion bash|zsh|fish"));
  }
  console.out(script);
  return ExitCode::ok;
}

}  // namespace tau::cmd
