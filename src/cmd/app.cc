// The command line's grammar and its dispatch. The only file that includes CLI11; what help and
// completion need of it is taken out as plain data (grammar.h).
#include "cmd/app.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "base/text.h"
#include "cmd/grammar.h"
#include "cmd/live_names.h"
#include "cmd/tools.h"
#include "cmd/verbs.h"

namespace tau::cmd {
namespace {

// Everything that flags fill in.
struct Flags {
  GlobalOptions global;
  UpOptions up;
  RunOptions run;
  PsOptions ps;
  LogsOptions logs;
  ControllerOptions controller;
  ToolOptions tools;
  SimulateOptions simulate;
  bool ends_pods = false, is_yes = false, is_short = false, asks_server = false;
  bool is_quiet = false, has_no_colour = false;
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

  void common_flags(CLI::App& to) {
    const auto option = [&](const char* names, std::string& value, const char* type,
                            const char* what) {
      to.add_option(names, value, what)->type_name(type)->group("common");
    };
    GlobalOptions& g = flags.global;
    option("-n,--namespace,--workspace", g.ns, "NAMESPACE",
           "namespace (a workspace is a namespace)");
    option("-o,--output", g.output, "FORMAT", "table, wide, json, jsonl, yaml or name");
    option("--kubeconfig", g.kubeconfig, "FILE", "which API server and as whom");
    option("--context", g.context, "CONTEXT", "context of the kubeconfig");
    option("--state", g.state, "DIR", "state folder of the platform (default ~/.tau)");
    to.add_flag("-q,--quiet", flags.is_quiet, "no hints on standard error")->group("common");
    to.add_flag("--no-color", flags.has_no_colour, "no colour on a terminal either")
        ->group("common");
  }
  CLI::App* verb(CLI::App& parent, const char* name, Verb action) {
    const std::string path = parent.get_parent() == nullptr ? name : parent.get_name() + " " + name;
    CLI::App* sub = parent.add_subcommand(name, std::string(text_of(path).summary));
    common_flags(*sub);
    verbs.emplace_back(sub, std::move(action));
    return sub;
  }
  CLI::App* noun(const char* name) {
    CLI::App* sub = app.add_subcommand(name, std::string(text_of(name).summary));
    sub->require_subcommand(1);
    return sub;
  }

  void platform_verbs() {
    Flags& f = flags;
    CLI::App* up_verb = verb(app, "up", [&] { return up(f.global, f.up, console); });
    up_verb->add_flag("-d,--detach", f.up.is_detached, "go on in the background once ready");
    up_verb
        ->add_option("--nodes", f.up.nodes,
                     "simulated nodes: COUNTxGPUSxMODEL[,...] or a YAML file; remembered")
        ->type_name("SPEC");
    up_verb
        ->add_option("--port", f.up.port,
                     "port on 127.0.0.1 (default: the one used before, else a free one)")
        ->type_name("PORT");
    up_verb
        ->add_option("--durability", f.up.durability,
                     "full survives power loss; normal survives kill -9")
        ->type_name("DURABILITY");
    up_verb->add_option("--log-level", f.up.log_level, "debug, info, warn or error")
        ->type_name("LEVEL");
    up_verb
        ->add_option("--config", f.up.config,
                     "YAML file with nodes, port, durability, logLevel; flags win")
        ->type_name("FILE");
    up_verb->add_flag("--check-config", f.up.checks_config,
                      "check the configuration and start nothing");
    up_verb->add_flag("--print-config", f.up.prints_config,
                      "print the configuration and start nothing");
    verb(app, "down", [&] {
      return down(f.global, f.ends_pods, console);
    })->add_flag("--pods", f.ends_pods, "end running containers too");
    verb(app, "status", [&] { return status(f.global, console); });
    CLI::App* controller_verb =
        verb(app, "controller", [&] { return controller(f.global, f.controller, console); });
    controller_verb
        ->add_option("--scheduler-name", f.controller.scheduler_name,
                     "pods with this schedulerName are placed")
        ->type_name("NAME");
    controller_verb
        ->add_option("--metrics-port", f.controller.metrics_port,
                     "serve /metrics, /healthz, /readyz on 127.0.0.1 (TLS)")
        ->type_name("PORT");
    controller_verb->add_flag("--once-ready", f.controller.ends_when_ready,
                              "end as soon as everything is in");
    controller_verb->add_flag("--install-policy", f.controller.installs_policy,
                              "create the admission policy for opted-in namespaces, and end");
  }

  void run_verbs() {
    Flags& f = flags;
    CLI::App* run_verb = verb(app, "run", [&] { return run(f.global, f.run, console); });
    run_verb->add_option("--gpus", f.run.gpus, "GPUs per node")->type_name("N");
    run_verb->add_option("--nodes", f.run.nodes, "nodes; all are placed together or not at all")
        ->type_name("N");
    run_verb->add_option("--queue", f.run.queue, "LocalQueue (default: default)")
        ->type_name("QUEUE");
    run_verb->add_option("--name", f.run.name, "name (default: from the command)")
        ->type_name("NAME");
    run_verb->add_option("--cpu", f.run.cpu, "CPU per node, such as 4 or 500m")
        ->type_name("AMOUNT");
    run_verb->add_option("--memory", f.run.memory, "memory per node, such as 16Gi")
        ->type_name("AMOUNT");
    run_verb->add_option("--env", f.run.env, "environment; may be given again")
        ->type_name("KEY=VALUE")
        ->allow_extra_args(false);
    run_verb->add_option("--priority", f.run.priority, "WorkloadPriorityClass")->type_name("CLASS");
    run_verb
        ->add_option("-f,--filename", f.run.manifest, "manifest with a Job instead of a command")
        ->type_name("FILE");
    run_verb->add_flag("--wait", f.run.waits, "wait for the end and say each change of state");
    run_verb->add_option("command", f.run.command, "what to run; all after -- belongs to it")
        ->type_name("COMMAND");
    CLI::App* cancel_verb =
        verb(app, "cancel", [&] { return cancel(f.global, f.name, f.is_yes, console); });
    run_argument(*cancel_verb);
    cancel_verb->add_flag("--yes", f.is_yes, "do not ask");
    verb(app, "apply", [&] { return apply(f.global, f.files, console); })
        ->add_option("-f,--filename", f.files, "file, or - for standard input; may be given again")
        ->type_name("FILE")
        ->required();
  }
  void run_argument(CLI::App& to) {
    to.add_option("run", flags.name, "name, run id, or unique start of an id")
        ->type_name("RUN")
        ->required();
  }

  void look_verbs() {
    Flags& f = flags;
    CLI::App* ps_verb = verb(app, "ps", [&] { return ps(f.global, f.ps, console); });
    ps_verb->add_flag("-A,--all-namespaces", f.ps.is_all, "all namespaces");
    ps_verb->add_flag("-w,--watch", f.ps.is_watch, "print changes until interrupted");
    ps_verb->add_flag("--history", f.ps.has_history, "runs whose objects are gone too");
    ps_verb->add_option("--queue", f.ps.queue, "only of this LocalQueue")->type_name("QUEUE");
    ps_verb->add_option("--phase", f.ps.phase, "only in this state")->type_name("PHASE");
    run_argument(*verb(app, "show", [&] { return show(f.global, f.name, console); }));
    run_argument(*verb(app, "why", [&] { return why(f.global, f.name, console); }));
    CLI::App* logs_verb = verb(app, "logs", [&] {
      if (f.tail >= 0) f.logs.tail = f.tail;
      return logs(f.global, f.logs, console);
    });
    logs_verb->add_option("run", f.logs.name, "run or pod")->type_name("RUN")->required();
    logs_verb->add_flag("-f,--follow", f.logs.follow, "go on until it ends");
    logs_verb->add_flag("--timestamps", f.logs.timestamps, "time before each line");
    logs_verb->add_option("--tail", f.tail, "only the last lines of each pod")->type_name("LINES");
    logs_verb->add_option("--since", f.logs.since, "only newer than, such as 5m")
        ->type_name("DURATION");
    verb(*noun("queue"), "list", [&] { return queue_list(f.global, console); });
    verb(*noun("node"), "list", [&] { return node_list(f.global, console); });
  }

  void simulate_verb() {
    Flags& f = flags;
    SimulateOptions& s = f.simulate;
    CLI::App* made = verb(app, "simulate", [&] { return simulate(f.global, s, console); });
    made->add_option("--seed", s.seeds, "one seed or a range A..B")->type_name("SEEDS");
    made->add_flag("--log", s.prints_log, "print the log of each seed");
    made->add_option("--experiment", s.experiments, "repeat a published result: x14, ... or all")
        ->type_name("ID")
        ->delimiter(',');
    made->add_option("--data", s.data, "folder with the experiments' data")
        ->type_name("DIR")
        ->envname("TAU_DATA_DIR");
  }

  void other_verbs() {
    Flags& f = flags;
    verb(app, "doctor", [&] { return doctor(f.global, console); });
    CLI::App* version_verb =
        verb(app, "version", [&] { return version(f.global, f.is_short, f.asks_server, console); });
    version_verb->add_flag("--short", f.is_short, "just the number");
    version_verb->add_flag("--server", f.asks_server, "ask the server too");
    verb(app, "completion", [&] { return completion(f.shell, console); })
        ->add_option("shell", f.shell, "bash, zsh or fish")
        ->type_name("SHELL")
        ->required();
    CLI::App* bench_noun = noun("bench");
    for (const auto& [name, bench] :
         {std::pair("engine", &bench_engine), std::pair("apiserver", &bench_apiserver)}) {
      CLI::App* bench_verb =
          verb(*bench_noun, name, [&, bench] { return bench(f.global, f.tools, console); });
      bench_verb->add_option("--runs", f.tools.runs, "runs of each row; the median counts")
          ->type_name("N");
      bench_verb->add_flag("--json", f.tools.prints_json, "the same as -o json");
    }
    CLI::App* scenario_verb = verb(app, "scenario", [&] { return scenario(f.tools, console); });
    scenario_verb->add_option("file", f.tools.files, "scenario files")
        ->type_name("FILE")
        ->required();
    scenario_verb->add_flag("--plane", f.tools.is_plane,
                            "through the API and the whole control plane, in virtual time");
    scenario_verb->add_option("--id", f.tools.only, "only the scenario of this id")
        ->type_name("ID");
    simulate_verb();
  }
};

VerbSpec spec_of(const CLI::App& app) {
  VerbSpec spec{.name = app.get_name(), .summary = app.get_description()};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_name() == "--help") continue;
    if (option->get_positional()) {
      spec.arguments.push_back({.value = option->get_type_name(),
                                .what = option->get_description(),
                                .is_required = option->get_required(),
                                .is_many = option->get_items_expected_max() > 1});
      continue;
    }
    FlagSpec flag{.what = option->get_description(), .is_common = option->get_group() == "common"};
    for (const std::string& name : option->get_snames()) flag.names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) flag.names.push_back("--" + name);
    if (option->get_type_size() != 0) flag.value = option->get_type_name();
    spec.flags.push_back(std::move(flag));
  }
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    spec.verbs.push_back(spec_of(*sub));
  return spec;
}

// The verb that the words name, as far as they do, and where its own words begin.
struct Named {
  const VerbSpec* verb;
  std::vector<std::string> path;
  size_t rest = 0;
};
Named named_verb(const VerbSpec& root, std::span<const std::string> words) {
  Named named{.verb = &root};
  bool is_value = false;
  for (size_t i = 0; i < words.size() && !named.verb->verbs.empty(); ++i) {
    if (std::exchange(is_value, false)) continue;
    if (words[i].starts_with('-')) {
      for (const FlagSpec& flag : named.verb->flags)
        is_value |=
            !flag.value.empty() && std::ranges::find(flag.names, words[i]) != flag.names.end();
      continue;
    }
    const VerbSpec* next = named.verb->find(words[i]);
    if (next == nullptr) break;
    named.verb = next;
    named.path.push_back(words[i]);
    named.rest = i + 1;
  }
  return named;
}

// What the parser refused, in words that help: unknown verb or flag with the nearest known one,
// missing argument.
Failure usage_failure(const VerbSpec& root, std::span<const std::string> words,
                      const std::string& said) {
  const Named named = named_verb(root, words);
  const std::string path = join(named.path, " "), own = path.empty() ? "tau" : "tau " + path;
  const auto failure = [&](std::string what) {
    return Failure("TG-CLI-001", ExitCode::usage, std::move(what)).fixed_by(own + " --help");
  };
  std::vector<std::string> verbs, names;
  for (const VerbSpec& one : named.verb->verbs) verbs.push_back(one.name);
  for (const FlagSpec& flag : named.verb->flags)
    names.insert(names.end(), flag.names.begin(), flag.names.end());
  bool is_value = false;
  for (size_t i = named.rest; i < words.size(); ++i) {
    if (std::exchange(is_value, false)) continue;
    const std::string& word = words[i];
    if (!word.starts_with('-') || word == "-") {
      if (verbs.empty()) continue;
      return failure(fmt::format("unknown verb \"{}{}\"", path.empty() ? "" : path + " ", word))
          .because(did_you_mean(word, verbs));
    }
    const std::string name =
        word.starts_with("--") ? word.substr(0, word.find('=')) : word.substr(0, 2);
    const auto flag = std::ranges::find_if(named.verb->flags, [&](const FlagSpec& f) {
      return std::ranges::find(f.names, name) != f.names.end();
    });
    if (flag != named.verb->flags.end()) {
      is_value = !flag->value.empty() && word == name;
      if (is_value && i + 1 == words.size())
        return failure(fmt::format("{} needs a value: {} {}", name, name, flag->value));
      continue;
    }
    Failure unknown =
        failure(fmt::format("{} has no flag {}", own, name)).because(did_you_mean(name, names));
    if (path == "run")
      unknown.fix =
          "tau run --help; flags of the command itself go after --:  tau run --gpus 1 -- CMD "
          "--flag";
    return unknown;
  }
  if (!verbs.empty()) return failure(fmt::format("{} needs a verb: {}", own, join(verbs, ", ")));
  for (const ArgumentSpec& argument : named.verb->arguments) {
    if (argument.is_required && said.find("is required") != std::string::npos)
      return failure(fmt::format("{} needs {}", own, argument.value))
          .because(argument.value + " is the " + argument.what);
  }
  static constexpr std::string_view not_a_number = "Could not convert: ";
  if (const size_t equals = said.find(" = ");
      said.starts_with(not_a_number) && equals != std::string::npos) {
    return failure(fmt::format("{} wants a number, not \"{}\"",
                               said.substr(not_a_number.size(), equals - not_a_number.size()),
                               said.substr(equals + 3)));
  }
  return failure(said);
}

int report(const Failure& failure, const Console& console) {
  console.err(render(failure, console.err_has_colour));
  return static_cast<int>(failure.exit);
}

// Completion speaks for shells: a candidate, a tab and its meaning on each line, and never an
// error.
int print_candidates(const VerbSpec& root, std::span<const std::string> words,
                     const Console& console) {
  for (const Candidate& found : complete(root, words, live_names(words))) {
    console.out(found.what.empty() ? found.word + "\n" : found.word + "\t" + found.what + "\n");
  }
  return 0;
}

}  // namespace

int app(std::vector<std::string> words, Console console) {
  Flags flags;
  CLI::App root(std::string(text_of("").summary), "tau");
  Builder builder{root, flags, console, {}};
  builder.common_flags(root);
  root.require_subcommand(1);
  builder.platform_verbs();
  builder.run_verbs();
  builder.look_verbs();
  builder.other_verbs();
  VerbSpec spec = spec_of(root);
  spec.name.clear();
  if (!words.empty() && words[0] == "__complete")
    return print_candidates(spec, std::span(words).subspan(1), console);
  if (!words.empty() && words[0] == "--version") words[0] = "version";
  // What follows -- is the run's command, to the letter.
  const auto dashes = std::ranges::find(words, "--");
  if (dashes != words.end() && named_verb(spec, words).path == std::vector<std::string>{"run"}) {
    flags.run.command.assign(dashes + 1, words.end());
    words.erase(dashes, words.end());
  }
  const bool wants_help = words.empty() || words[0] == "help" ||
                          std::ranges::any_of(words, [](const std::string& word) {
                            return word == "-h" || word == "--help";
                          });
  if (wants_help) {
    if (!words.empty() && words[0] == "help") words.erase(words.begin());
    const Named named = named_verb(spec, words);
    if (named.rest < words.size() && !words[named.rest].starts_with('-') &&
        !named.verb->verbs.empty())
      return report(usage_failure(spec, words, ""), console);
    console.out(help_text(spec, named.path));
    return 0;
  }
  const std::vector<std::string> command = std::exchange(flags.run.command, {});
  try {
    std::vector<std::string> reversed(words.rbegin(), words.rend());
    root.parse(reversed);
  } catch (const CLI::ParseError& error) {
    return report(usage_failure(spec, words, error.what()), console);
  }
  flags.run.command.insert(flags.run.command.end(), command.begin(), command.end());
  console.is_quiet = flags.is_quiet;
  if (flags.has_no_colour) console.has_colour = console.err_has_colour = false;
  const auto format = parse_format(flags.global.output);
  if (!format)
    return report(Failure("TG-CLI-002", ExitCode::usage, format.error().message).at("-o"), console);
  flags.global.format = *format;
  flags.global.note = [&console](std::string_view line) { console.say(line); };
  for (const auto& [sub, verb] : builder.verbs) {
    if (!sub->parsed()) continue;
    const Outcome outcome = verb();
    return outcome ? static_cast<int>(*outcome) : report(outcome.error(), console);
  }
  return static_cast<int>(ExitCode::internal);
}

}  // namespace tau::cmd
