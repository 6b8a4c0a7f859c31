// version, status, doctor, completion.
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <filesystem>

#include "cmd/verbs.h"
#include "host/files.h"
#include "host/nvml_gpu_source.h"
#include "host/process_runtime.h"
#include "meta/json.h"

namespace tau::cmd {
namespace json = boost::json;

Outcome version(const GlobalOptions& options, bool is_short, bool asks_server, const Console& console) {
  json::object made{{"apiVersion", "taugrid.io/v1alpha1"}, {"kind", "Version"}, {"client", json::object{{"version", version_text}}}};
  if (asks_server) {
    auto session = Session::open(options);
    if (!session) return std::unexpected(session.error());
    auto answer = (*session)->get("/version");
    if (!answer) return std::unexpected(answer.error());
    made["server"] = *answer;
  }
  if (options.format == Format::json) console.out(to_pretty_json(made));
  else if (options.format == Format::yaml) console.out(to_yaml(made));
  else if (is_short) console.out(std::string(version_text) + "\n");
  else {
    console.out(fmt::format("tau {}\n", version_text));
    if (asks_server) console.out(fmt::format("server {}\n", meta::string_at(made["server"], "gitVersion")));
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
  json::object made{{"apiVersion", std::string(view_api_version)}, {"kind", "Status"}, {"server", (*session)->server()}, {"version", std::string(meta::string_at(*version_answer, "gitVersion"))}};
  std::map<std::string, int64_t> phases;
  if (runs) {
    for (const json::value& run : meta::find_path(*runs, "items")->get_array()) ++phases[std::string(meta::string_at(run, "phase"))];
  }
  int64_t ready = 0, gpus = 0, gpus_used = 0, all = 0;
  if (nodes) {
    for (const json::value& node : meta::find_path(*nodes, "items")->get_array()) {
      ++all;
      ready += meta::string_at(node, "state") == "Ready" ? 1 : 0;
      const auto number = [&](const char* key) { const json::value* v = meta::find_path(node, key); return v != nullptr && v->is_int64() ? v->get_int64() : 0; };
      gpus += number("gpus");
      gpus_used += number("gpusUsed");
    }
  }
  json::object counts;
  for (const auto& [phase, count] : phases) counts[phase] = count;
  made["runs"] = counts;
  if (nodes) made["nodes"] = json::object{{"total", all}, {"ready", ready}, {"gpus", gpus}, {"gpusUsed", gpus_used}};
  if (options.format == Format::json || options.format == Format::yaml) {
    console.out(options.format == Format::json ? to_pretty_json(made) : to_yaml(made));
    return ExitCode::ok;
  }
  std::string out = fmt::format("server  {}  {}\n", (*session)->server(), meta::string_at(*version_answer, "gitVersion"));
  if (nodes) out += fmt::format("nodes   {} of {} ready, {} of {} GPUs in use\n", ready, all, gpus_used, gpus);
  else out += "nodes   unknown: this cluster does not serve view.taugrid.io\n";
  out += "runs   ";
  for (const auto& [phase, count] : phases) out += fmt::format(" {} {}", count, phase);
  console.out(out + (phases.empty() ? " none\n" : "\n"));
  return ExitCode::ok;
}

Outcome doctor(const GlobalOptions& options, const Console& console) {
  struct Check {
    std::string name;
    enum class Result { ok, warning, failed } result;
    std::string detail;
  };
  using enum Check::Result;
  std::vector<Check> checks;
  const std::string folder = state_folder(options);
  struct statvfs disk {};
  if (statvfs(host::file_exists(folder) ? folder.c_str() : "/", &disk) == 0) {
    const int64_t free_mib = static_cast<int64_t>(disk.f_bavail) * static_cast<int64_t>(disk.f_frsize) >> 20;
    checks.push_back({"disk space", free_mib > 1024 ? ok : free_mib > 100 ? warning : failed, fmt::format("{} MiB free at {}", free_mib, folder)});
  }
  auto session = Session::open(options);
  if (!session) {
    checks.push_back({"server", failed, session.error().what});
  } else {
    auto answer = (*session)->raw({.target = "/readyz"}, seconds(5));
    checks.push_back({"server", answer && answer->status == 200 ? ok : failed, answer ? fmt::format("{} answers {}", (*session)->server(), answer->status) : answer.error().what});
    if (answer) {
      auto nodes = (*session)->get("/api/v1/nodes?limit=1");
      checks.push_back({"rights", nodes ? ok : failed, nodes ? "may list nodes" : nodes.error().what});
    }
  }
  const host::RuntimeCapabilities can = host::probe_capabilities();
  checks.push_back({"mounts", can.has_private_mounts ? ok : warning, can.has_private_mounts ? "containers get a mount namespace: volumes and the simulated nvidia-smi work" : "pods cannot have volumes, and nvidia-smi is found by PATH alone: " + can.mounts_reason});
  const bool is_held = can.enforces_cpu && can.enforces_memory;
  checks.push_back({"limits", is_held ? ok : warning, is_held ? fmt::format("CPU and memory limits of pods are enforced by {}", can.limits_by) : fmt::format("not enforced: {}{}{}: {}", can.enforces_cpu ? "" : "CPU", can.enforces_cpu || can.enforces_memory ? "" : ", ", can.enforces_memory ? "" : "memory", can.limits_reason)});
  host::NvmlGpuSource gpu_source;
  const auto gpus = gpu_source.read();
  checks.push_back({"GPUs", gpus ? ok : failed, gpus ? (gpus->empty() ? "no NVIDIA library: this machine offers none" : fmt::format("{} found", gpus->size())) : gpus.error().message});
  bool has_failed = false;
  json::array items;
  Table table({{"CHECK"}, {"RESULT"}, {"DETAIL"}});
  for (const Check& check : checks) {
    has_failed |= check.result == failed;
    const char* word = check.result == ok ? "ok" : check.result == warning ? "warning" : "failed";
    table.add({check.name, Cell(word, check.result == ok ? Tone::good : check.result == warning ? Tone::warning : Tone::bad), check.detail});
    items.push_back(json::object{{"check", check.name}, {"result", word}, {"detail", check.detail}});
  }
  if (options.format == Format::json) console.out(to_pretty_json(list_object("CheckList", std::move(items))));
  else console.out(table.text(true, console.has_colour));
  return has_failed ? ExitCode::partial : ExitCode::ok;
}

Outcome completion(const std::string& shell, const Console& console) {
  const std::string verbs = "up down status controller run ps show why logs cancel queue node apply doctor version completion scenario simulate bench";
  if (shell == "bash") {
    console.out(fmt::format(
        "_tau() {{\n  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}}\n  case $prev in\n"
        "    show|why|logs|cancel) COMPREPLY=($(compgen -W \"$(tau ps --history -o name 2>/dev/null | cut -d/ -f2)\" -- \"$cur\")); return ;;\n"
        "    -o|--output) COMPREPLY=($(compgen -W 'table wide json jsonl yaml name' -- \"$cur\")); return ;;\n    queue|node) COMPREPLY=($(compgen -W list -- \"$cur\")); return ;;\n  esac\n"
        "  COMPREPLY=($(compgen -W '{}' -- \"$cur\"))\n}}\ncomplete -F _tau tau\n", verbs));
  } else if (shell == "zsh") {
    console.out(fmt::format("#compdef tau\n_tau() {{\n  case $words[CURRENT-1] in\n    show|why|logs|cancel) compadd -- ${{(f)\"$(tau ps --history -o name 2>/dev/null | cut -d/ -f2)\"}} ;;\n    *) compadd -- {} ;;\n  esac\n}}\ncompdef _tau tau\n", verbs));
  } else if (shell == "fish") {
    console.out(fmt::format("complete -c tau -f -n __fish_use_subcommand -a '{}'\ncomplete -c tau -f -n '__fish_seen_subcommand_from show why logs cancel' -a '(tau ps --history -o name 2>/dev/null | cut -d/ -f2)'\n", verbs));
  } else {
    const std::vector<std::string> known{"bash", "zsh", "fish"};
    return failed(Failure("TG-CLI-003", ExitCode::usage, fmt::format("no completion for \"{}\"", shell)).because(did_you_mean(shell, known)).fixed_by("tau completion bash|zsh|fish"));
  }
  return ExitCode::ok;
}

}  // namespace tau::cmd
