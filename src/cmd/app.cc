#include "cmd/app.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cmd/tools.h"
#include "cmd/verbs.h"

namespace tau::cmd {
namespace {

// Everything that flags fill in.
struct Flags {
  GlobalOptions global;
  UpOptions up;
  RunOptions run;
  LogsOptions logs;
  ControllerOptions controller;
  ToolOptions tools;
  bool ends_pods = false, is_all = false, is_watch = false, has_history = false, is_yes = false, is_short = false, asks_server = false;
  int64_t tail = -1;
  std::string name, shell;
  std::vector<std::string> files;
};

using Verb = std::function<Outcome()>;

struct Builder {
  CLI::App& app;
  Flags& flags;
  const Console& console;
  std::vector<std::pair<CLI::App*, Verb>> verbs;

  CLI::App* verb(CLI::App& parent, const char* name, const char* what, const char* examples, Verb action) {
    CLI::App* sub = parent.add_subcommand(name, what);
    sub->footer(std::string("Examples:\n") + examples);
    sub->add_option("-o,--output", flags.global.output, "table, wide, json, jsonl, yaml or name");
    sub->add_option("-n,--namespace,--workspace", flags.global.ns, "namespace (a workspace is a namespace)");
    sub->add_option("--kubeconfig", flags.global.kubeconfig, "kubeconfig file (default: KUBECONFIG, ~/.tau/kubeconfig, ~/.kube/config)");
    sub->add_option("--context", flags.global.context, "context of the kubeconfig");
    sub->add_option("--state", flags.global.state, "state folder of the platform (default ~/.tau)");
    verbs.emplace_back(sub, std::move(action));
    return sub;
  }

  void platform_verbs() {
    Flags& f = flags;
    CLI::App* up_verb = verb(app, "up", "Start the whole platform on this machine: API server, queues, scheduler, nodes.",
        "  tau up --detach --nodes 2x8xH100   in the background, with two simulated 8-GPU nodes\n  tau up --state /srv/tau            in the foreground, state elsewhere\n  tau up --nodes fleet.yaml          nodes from a file\n", [&] { return up(f.global, f.up, console); });
    up_verb->add_flag("-d,--detach", f.up.is_detached, "go on in the background once ready");
    up_verb->add_option("--nodes", f.up.nodes, "simulated nodes: COUNTxGPUSxMODEL[,...] or a YAML file; remembered");
    up_verb->add_option("--port", f.up.port, "port on 127.0.0.1 (default: the one used before, else a free one)");
    up_verb->add_option("--durability", f.up.durability, "full survives power loss; normal survives kill -9");
    up_verb->add_option("--log-level", f.up.log_level, "debug, info, warn or error");
    verb(app, "down", "Stop the platform; running containers are left running unless --pods.", "  tau down          stop; work goes on and is found again at the next start\n  tau down --pods   stop and end all work\n", [&] { return down(f.global, f.ends_pods, console); })
        ->add_flag("--pods", f.ends_pods, "end running containers too");
    verb(app, "status", "Server, nodes and runs at a glance.", "  tau status\n  tau status -o json\n", [&] { return status(f.global, console); });
    verb(app, "controller", "Run the scheduler and controllers against an API server.", "  tau controller --kubeconfig ~/.kube/config\n", [&] { return controller(f.global, f.controller, console); })
        ->add_option("--scheduler-name", f.controller.scheduler_name, "pods with this schedulerName are placed");
    verb(app, "doctor", "Check this machine and the way to the server. Exit 10 if some check failed.", "  tau doctor\n", [&] { return doctor(f.global, console); });
    CLI::App* version_verb = verb(app, "version", "Version of this program, and of the server.", "  tau version --server\n", [&] { return version(f.global, f.is_short, f.asks_server, console); });
    version_verb->add_flag("--short", f.is_short, "just the number");
    version_verb->add_flag("--server", f.asks_server, "ask the server too");
    verb(app, "completion", "Print completion for a shell.", "  source <(tau completion bash)\n", [&] { return completion(f.shell, console); })->add_option("shell", f.shell, "bash, zsh or fish")->required();
  }

  void run_verbs() {
    Flags& f = flags;
    CLI::App* run_verb = verb(app, "run", "Queue a command as a run.",
        "  tau run --gpus 1 -- nvidia-smi\n  tau run --gpus 8 --nodes 4 --name train --wait -- python train.py\n  tau run -f job.yaml\n", [&] { return run(f.global, f.run, console); });
    run_verb->add_option("--gpus", f.run.gpus, "GPUs per node");
    run_verb->add_option("--nodes", f.run.nodes, "nodes; all are placed together or not at all");
    run_verb->add_option("--queue", f.run.queue, "LocalQueue (default: default)");
    run_verb->add_option("--name", f.run.name, "name (default: from the command)");
    run_verb->add_option("--cpu", f.run.cpu, "CPU per node, such as 4 or 500m");
    run_verb->add_option("--memory", f.run.memory, "memory per node, such as 16Gi");
    run_verb->add_option("--env", f.run.env, "NAME=VALUE, may be given again")->allow_extra_args(false);
    run_verb->add_option("--priority", f.run.priority, "WorkloadPriorityClass");
    run_verb->add_option("-f,--filename", f.run.manifest, "manifest with a Job instead of a command");
    run_verb->add_flag("--wait", f.run.waits, "wait for the end; exit 8 if the command failed, 9 if the platform did");
    run_verb->add_option("command", f.run.command, "after --: the command");
    CLI::App* ps_verb = verb(app, "ps", "Runs and their state.", "  tau ps\n  tau ps -A --history\n  tau ps -w          run, Job and pods together, as they change\n", [&] { return ps(f.global, f.is_all, f.is_watch, f.has_history, console); });
    ps_verb->add_flag("-A,--all-namespaces", f.is_all, "all namespaces");
    ps_verb->add_flag("-w,--watch", f.is_watch, "print changes until interrupted");
    ps_verb->add_flag("--history", f.has_history, "runs whose objects are gone too");
    for (const auto& [name, what, example, action] : std::initializer_list<std::tuple<const char*, const char*, const char*, Verb>>{
             {"show", "Everything known about a run, also after its objects are gone.", "  tau show r-8f31a2\n", [&] { return show(f.global, f.name, console); }},
             {"why", "Why a run waits: all causes in order, with numbers.", "  tau why train\n", [&] { return why(f.global, f.name, console); }}}) {
      verb(app, name, what, example, action)->add_option("run", f.name, "name, id or unique prefix of an id")->required();
    }
    CLI::App* logs_verb = verb(app, "logs", "Logs of a run or pod.", "  tau logs -f train\n  tau logs train --tail 20\n", [&] {
      if (f.tail >= 0) f.logs.tail = f.tail;
      return logs(f.global, f.logs, console);
    });
    logs_verb->add_option("run", f.logs.name, "run or pod")->required();
    logs_verb->add_flag("-f,--follow", f.logs.follow, "go on until it ends");
    logs_verb->add_flag("--timestamps", f.logs.timestamps, "time before each line");
    logs_verb->add_option("--tail", f.tail, "only the last lines");
    logs_verb->add_option("--since", f.logs.since, "only newer than, such as 5m");
    CLI::App* cancel_verb = verb(app, "cancel", "End a run.", "  tau cancel train --yes\n", [&] { return cancel(f.global, f.name, f.is_yes, console); });
    cancel_verb->add_option("run", f.name, "name or id")->required();
    cancel_verb->add_flag("--yes", f.is_yes, "do it");
    verb(app, "apply", "Create or change objects from manifests.", "  tau apply -f queues.yaml\n", [&] { return apply(f.global, f.files, console); })->add_option("-f,--filename", f.files, "file, or - for standard input")->required();
  }

  void noun_verbs() {
    Flags& f = flags;
    CLI::App* queue = app.add_subcommand("queue", "Queues.");
    queue->require_subcommand(1);
    verb(*queue, "list", "Queues and their use.", "  tau queue list\n", [&] { return queue_list(f.global, console); });
    CLI::App* node = app.add_subcommand("node", "Nodes.");
    node->require_subcommand(1);
    verb(*node, "list", "Nodes and their use.", "  tau node list -o wide\n", [&] { return node_list(f.global, console); });
    CLI::App* bench = app.add_subcommand("bench", "Measure this build on this machine.");
    bench->require_subcommand(1);
    verb(*bench, "engine", "Time the scheduling engine; medians.", "  tau bench engine -o json\n", [&] { return bench_engine(f.global, f.tools, console); })->add_option("--runs", f.tools.runs, "runs of each row");
    CLI::App* simulate_verb = verb(app, "simulate", "Run the whole platform in virtual time with faults, and check it. Exit 10 if a check failed.", "  tau simulate --seed 1..100\n  tau simulate --seed 7 --log\n", [&] { return simulate(f.tools, console); });
    simulate_verb->add_option("--seed", f.tools.seeds, "one seed or a range A..B");
    simulate_verb->add_flag("--log", f.tools.prints_log, "print the log of each seed");
  }
};

Failure usage_failure(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) names.push_back(sub->get_name());
  const std::string_view word = argc > 1 ? argv[1] : "";
  if (word.empty() || word.starts_with('-')) return Failure("TG-CLI-001", ExitCode::usage, error.what()).fixed_by("tau --help");
  if (std::ranges::find(names, word) == names.end()) {
    return Failure("TG-CLI-001", ExitCode::usage, fmt::format("unknown command \"{}\"", word)).because(did_you_mean(word, names)).fixed_by("tau --help");
  }
  return Failure("TG-CLI-001", ExitCode::usage, error.what()).fixed_by(fmt::format("tau {} --help", word));
}

}  // namespace

int app(int argc, char** argv, const Console& console) {
  Flags flags;
  CLI::App root("TauGrid: queues, schedules and explains AI work on GPU clusters.", "tau");
  root.footer("Start here:\n  tau up --detach --nodes 2x8xH100\n  tau run --gpus 1 -- nvidia-smi\n  tau ps");
  root.add_option("--state", flags.global.state, "state folder of the platform (default ~/.tau)");
  root.add_option("--kubeconfig", flags.global.kubeconfig, "kubeconfig file");
  root.add_option("-n,--namespace", flags.global.ns, "namespace");
  root.require_subcommand(1);
  Builder builder{root, flags, console, {}};
  builder.platform_verbs();
  builder.run_verbs();
  builder.noun_verbs();
  try {
    root.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    const CLI::App* shown = &root;
    while (!shown->get_subcommands().empty()) shown = shown->get_subcommands()[0];
    console.out(shown->help());
    return 0;
  } catch (const CLI::ParseError& error) {
    console.err(render(usage_failure(root, error, argc, argv), console.err_has_colour));
    return static_cast<int>(ExitCode::usage);
  }
  const auto format = parse_format(flags.global.output);
  if (!format) {
    console.err(render(Failure("TG-CLI-002", ExitCode::usage, format.error().message).at("-o"), console.err_has_colour));
    return static_cast<int>(ExitCode::usage);
  }
  flags.global.format = *format;
  for (const auto& [sub, verb] : builder.verbs) {
    if (!sub->parsed()) continue;
    const Outcome outcome = verb();
    if (outcome) return static_cast<int>(*outcome);
    console.err(render(outcome.error(), console.err_has_colour));
    return static_cast<int>(outcome.error().exit);
  }
  return static_cast<int>(ExitCode::internal);
}

}  // namespace tau::cmd
