// What people look at: ps, show, why, queue list, node list. Answers come from view.taugrid.io.
#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/text.h"
#include "cmd/run_views.h"
#include "cmd/verbs.h"
#include "http/url.h"
#include "kube/quantity.h"
#include "meta/fields.h"
#include "meta/json.h"

namespace tau::cmd {
namespace json = boost::json;

namespace {

// The machine forms of one thing, and of a list: a JSON line for each of its items. False = a table
// is wanted.
bool print_value(const json::value& value, Format format, const Console& console) {
  if (format == Format::json)
    console.out(to_pretty_json(value));
  else if (format == Format::yaml)
    console.out(to_yaml(value));
  else if (format == Format::jsonl)
    console.out(meta::to_text(value) + "\n");
  else
    return false;
  return true;
}
bool print_list(const json::value& list, Format format, const Console& console) {
  if (format != Format::jsonl) return print_value(list, format, console);
  for (const json::value& item : meta::find_path(list, "items")->get_array())
    print_value(item, format, console);
  return true;
}

Tone tone_of(const std::string& phase) {
  if (phase == "Failed") return Tone::bad;
  if (phase == "Running") return Tone::good;
  if (phase == "Queued" || phase == "Starting") return Tone::warning;
  return Tone::dim;
}

std::string gpu_text(const kube::RunView& run) {
  if (!run.gpus || *run.gpus == 0) return "-";
  return run.gpu_product.empty() ? std::to_string(*run.gpus)
                                 : fmt::format("{}x{}", *run.gpus, run.gpu_product);
}

Table run_table(const std::vector<kube::RunView>& runs, Time now, bool all_namespaces) {
  std::vector<Table::Column> columns{{"RUN"},   {"NAME"}, {"STATE"},       {"PODS"}, {"GPU"},
                                     {"QUEUE"}, {"AGE"},  {"NODES", true}, {"NOTE"}};
  if (all_namespaces) columns.insert(columns.begin(), {"NAMESPACE"});
  Table table(std::move(columns));
  for (const kube::RunView& run : runs) {
    const std::string pods =
        run.pods ? (run.pods_running ? fmt::format("{}/{}", *run.pods_running, *run.pods)
                                     : std::to_string(*run.pods))
                 : "";
    std::vector<Cell> row{run.id,
                          run.name,
                          Cell(run.phase, tone_of(run.phase)),
                          pods,
                          gpu_text(run),
                          run.queue,
                          age_text(run.created, now),
                          join(run.nodes, ","),
                          shorten(run.note, 90)};
    if (all_namespaces) row.insert(row.begin(), Cell(run.ns));
    table.add(std::move(row));
  }
  return table;
}

std::string time_text(const std::optional<Time>& time) {
  return time ? format_rfc3339(*time) : "unknown";
}

// What a watch has shown so far; says what is new, and with `as_json` also what went.
class Watched {
 public:
  Watched(const Console& console, bool as_json) : console_(console), as_json_(as_json) {}
  void take(const std::vector<kube::RunView>& runs, const json::value& raw, Time now) {
    if (as_json_) return take_json(raw);
    const auto tell = [&](const std::string& key, const std::string& line) {
      if (std::exchange(shown_[key], line) != line)
        console_.out(format_rfc3339(now).substr(11, 8) + "  " + std::string(trim(line)) + "\n");
    };
    for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
      tell("run" + run->uid,
           fmt::format("run  {:<10} {:<24} {:<10} {}", run->id, run->name, run->phase, run->note));
      tell("job" + run->uid, fmt::format("job  {:<10} {:<24} {} of {} pods running", "", run->name,
                                         run->pods_running.value_or(0), run->pods.value_or(0)));
      for (const kube::PodView& pod : run->pod_list)
        tell("pod" + pod.uid, fmt::format("pod  {:<10} {:<24} {:<10} {} {}", "", pod.name,
                                          pod.phase, pod.node, join(pod.gpus, ",")));
    }
  }

 private:
  void take_json(const json::value& raw) {
    std::map<std::string, std::string> now;
    for (const json::value& item : meta::find_path(raw, "items")->get_array()) {
      const std::string uid(meta::string_at(item, "uid"));
      const std::string text = meta::to_text(item);
      const auto before = shown_.find(uid);
      if (before == shown_.end())
        line("ADDED", text);
      else if (before->second != text)
        line("MODIFIED", text);
      now[uid] = text;
    }
    for (const auto& [uid, text] : shown_) {
      if (!now.contains(uid)) line("DELETED", text);
    }
    shown_ = std::move(now);
  }
  void line(const char* type, const std::string& object) {
    console_.out(fmt::format("{{\"type\":\"{}\",\"object\":{}}}\n", type, object));
  }

  const Console& console_;
  bool as_json_;
  std::map<std::string, std::string> shown_;
};

// The run, its Job and its pods together, each when it changes. A server that restarts is waited
// for.
Outcome watch_runs(Session& session, const std::string& path, Format format,
                   const Console& console) {
  Watched watched(console, format == Format::json || format == Format::jsonl);
  bool is_lost = false;
  while (true) {
    json::value raw;
    auto runs = list_views<kube::RunView>(session, path, &raw);
    if (runs) {
      if (std::exchange(is_lost, false)) console.say("The server answers again.");
      watched.take(*runs, raw, host::system_now());
    } else if (runs.error().exit != ExitCode::unreachable) {
      return std::unexpected(runs.error());
    } else if (!std::exchange(is_lost, true)) {
      console.say("No answer from the server; trying again.");
    }
    session.loop().run_until([] { return false; }, milliseconds(500));
  }
}

}  // namespace

Outcome ps(const GlobalOptions& options, const PsOptions& ps, const Console& console) {
  auto session = Session::open(options);
  if (!session) return std::unexpected(session.error());
  std::string path =
      ps.is_all ? "/runs?"
                : fmt::format("/namespaces/{}/runs?", http::percent_encode((*session)->ns()));
  path += fmt::format("history={}", ps.has_history);
  if (!ps.queue.empty()) path += "&queue=" + http::percent_encode(ps.queue);
  if (!ps.phase.empty()) path += "&phase=" + http::percent_encode(ps.phase);
  if (ps.is_watch) return watch_runs(**session, path, options.format, console);
  json::value raw;
  auto runs = list_views<kube::RunView>(**session, path, &raw);
  if (!runs) return std::unexpected(runs.error());
  if (options.format == Format::name) {
    for (const auto& run : *runs) console.out("run/" + run.name + "\n");
  } else if (print_list(raw, options.format, console)) {
    return ExitCode::ok;
  } else if (runs->empty()) {
    console.say("No runs. Start one: tau run --gpus 1 -- nvidia-smi");
  } else {
    console.out(run_table(*runs, host::system_now(), ps.is_all)
                    .text(options.format == Format::wide, console.has_colour));
  }
  return ExitCode::ok;
}

namespace {

// What a failed pod says of its end, while its object is there: why it could not start, or its own
// last words.
std::string last_words(Session& session, const kube::PodView& pod) {
  const auto object = session.call(
      {.verb = kube::Verb::get, .kind = kube::Kind::pod, .ns = session.ns(), .name = pod.name});
  const json::value* statuses =
      object ? meta::find_path(*object, "status.containerStatuses") : nullptr;
  std::string words = pod.reason == "Error" ? "" : pod.reason;
  if (statuses == nullptr || !statuses->is_array()) return words;
  for (const json::value& status : statuses->get_array()) {
    const std::string_view message = trim(meta::string_at(status, "state.terminated.message"));
    if (!message.empty()) words += (words.empty() ? "" : ": ") + std::string(message);
  }
  return words;
}

}  // namespace

Outcome show(const GlobalOptions& options, const std::string& name, const Console& console) {
  auto session = Session::open(options);
  if (!session) return std::unexpected(session.error());
  json::value raw;
  auto found = find_run(**session, name, &raw);
  if (!found) return std::unexpected(found.error());
  const kube::RunView& run = *found;
  if (options.format == Format::name) console.out("run/" + found->name + "\n");
  if (options.format == Format::name || print_value(raw, options.format, console))
    return ExitCode::ok;
  std::string out = fmt::format("{}  {}  {}\n", run.id, run.name,
                                paint(run.phase, tone_of(run.phase), console.has_colour));
  const auto line = [&](const char* label, const std::string& text) {
    if (!text.empty()) out += fmt::format("  {:<10} {}\n", label, text);
  };
  line("namespace", run.ns);
  line("queue", run.cluster_queue.empty()
                    ? run.queue
                    : fmt::format("{} (ClusterQueue {})", run.queue, run.cluster_queue));
  line("request",
       fmt::format("{} pod{}, {} GPU{}{}", run.pods.value_or(0), run.pods == 1 ? "" : "s",
                   run.gpus.value_or(0), run.gpus == 1 ? "" : "s",
                   run.gpu_product.empty() ? "" : " (" + run.gpu_product + ")"));
  line("submitted", time_text(run.created));
  if (run.admitted) line("admitted", time_text(run.admitted));
  if (run.started) line("started", time_text(run.started));
  if (run.ended) line("ended", time_text(run.ended));
  if (run.deleted) line("deleted", time_text(run.deleted));
  if (!run.reason.empty())
    line("reason", run.note.empty() ? run.reason : run.reason + ": " + run.note);
  for (const kube::AttemptView& attempt : run.attempts) {
    if (run.attempts.size() > 1)
      line("attempt",
           fmt::format("{}  {}  {}", attempt.number,
                       attempt.outcome.empty() ? "under way" : attempt.outcome, attempt.message));
  }
  for (const kube::PodView& pod : run.pod_list) {
    std::string how = pod.phase;
    if (pod.exit_code) how += fmt::format(", exit {}", *pod.exit_code);
    if (pod.signal) how += fmt::format(", signal {}", *pod.signal);
    line("pod",
         fmt::format("{}  on {}  {}", pod.name, pod.node.empty() ? "no node" : pod.node, how));
    if (pod.phase == "Failed") line("", last_words(**session, pod));
    for (const std::string& gpu : pod.gpus)
      line("", fmt::format("GPU {} {}", gpu, pod.gpu_product));
  }
  console.out(out);
  return ExitCode::ok;
}

Outcome why(const GlobalOptions& options, const std::string& name, const Console& console) {
  auto session = Session::open(options);
  if (!session) return std::unexpected(session.error());
  json::value raw;
  auto found = find_run(**session, name, &raw);
  if (!found) return std::unexpected(found.error());
  const kube::RunView& run = *found;
  if (options.format == Format::name) console.out("run/" + found->name + "\n");
  if (options.format == Format::name || print_value(raw, options.format, console))
    return ExitCode::ok;
  const Time now = host::system_now();
  if (run.phase != "Queued") {
    console.out(fmt::format("{} does not wait: it is {}{}\n", run.name, run.phase,
                            run.note.empty() ? "" : " (" + run.note + ")"));
    return ExitCode::ok;
  }
  if (run.blockers.empty()) {
    console.out(
        fmt::format("Queued for {}  -  NOT_EVALUATED: the scheduler has not looked at it yet\n",
                    age_text(run.created, now)));
    return ExitCode::ok;
  }
  std::string out = fmt::format("Queued for {}  -  not started because {}\n",
                                age_text(run.created, now), run.blockers[0].reason);
  int number = 1;
  for (const kube::BlockerView& blocker : run.blockers) {
    out += fmt::format("  {} {:<20} {}\n", number++, blocker.reason, blocker.message);
    if (blocker.free_gpus_by_node.empty()) continue;
    out += "      free GPUs by node:";
    for (const int64_t gpus : blocker.free_gpus_by_node) out += fmt::format(" {}", gpus);
    out += "\n";
  }
  if (run.evaluated)
    out += fmt::format("Evaluated {} ago. Machine form: tau why {} -o json\n",
                       age_text(run.evaluated, now), run.id);
  console.out(out);
  return ExitCode::ok;
}

Outcome queue_list(const GlobalOptions& options, const Console& console) {
  auto session = Session::open(options);
  if (!session) return std::unexpected(session.error());
  json::value raw;
  auto queues = list_views<kube::QueueView>(**session, "/queues", &raw);
  if (!queues) return std::unexpected(queues.error());
  if (!options.ns.empty()) {
    std::erase_if(*queues, [&](const kube::QueueView& queue) { return queue.ns != options.ns; });
    json::array left;
    for (json::value& queue : raw.at("items").as_array()) {
      if (meta::string_at(queue, "namespace") == options.ns) left.push_back(std::move(queue));
    }
    raw.as_object()["items"] = std::move(left);
  }
  if (print_list(raw, options.format, console)) return ExitCode::ok;
  if (options.format == Format::name) {
    for (const auto& queue : *queues)
      console.out((queue.ns.empty() ? "clusterqueue/" : "localqueue/") + queue.name +
                  std::string("\n"));
    return ExitCode::ok;
  }
  Table table({{"NAMESPACE"},
               {"QUEUE"},
               {"CLUSTERQUEUE"},
               {"PENDING", false, true},
               {"ADMITTED", false, true},
               {"GPU"},
               {"CPU", true},
               {"STATE"}});
  for (const kube::QueueView& queue : *queues) {
    if (queue.ns.empty()) continue;
    int64_t gpus = 0, gpus_all = 0, cpu = 0, cpu_all = 0;
    for (const auto& resource : queue.resources) {
      if (resource.resource == "nvidia.com/gpu")
        gpus += resource.used, gpus_all += resource.nominal;
      if (resource.resource == "cpu") cpu += resource.used, cpu_all += resource.nominal;
    }
    table.add({queue.ns, queue.name, queue.cluster_queue, std::to_string(queue.pending),
               std::to_string(queue.admitted), fmt::format("{}/{}", gpus, gpus_all),
               fmt::format("{}/{}", kube::format_milli(cpu), kube::format_milli(cpu_all)),
               queue.is_stopped ? Cell("stopped", Tone::bad) : Cell("active")});
  }
  console.out(table.text(options.format == Format::wide, console.has_colour));
  return ExitCode::ok;
}

Outcome node_list(const GlobalOptions& options, const Console& console) {
  auto session = Session::open(options);
  if (!session) return std::unexpected(session.error());
  json::value raw;
  auto nodes = list_views<kube::NodeView>(**session, "/nodes", &raw);
  if (!nodes) return std::unexpected(nodes.error());
  if (print_list(raw, options.format, console)) return ExitCode::ok;
  if (options.format == Format::name) {
    for (const auto& node : *nodes) console.out("node/" + node.name + std::string("\n"));
    return ExitCode::ok;
  }
  Table table({{"NODE"},
               {"STATE"},
               {"GPU"},
               {"PRODUCT"},
               {"CPU"},
               {"PODS", false, true},
               {"KIND", true},
               {"RUNS"}});
  for (const kube::NodeView& node : *nodes) {
    const std::string gpus =
        node.gpus ? fmt::format("{}/{}", node.gpus_used.value_or(0), *node.gpus) : "";
    const std::string cpu =
        node.cpu_milli ? fmt::format("{}/{}", kube::format_milli(node.cpu_milli_used.value_or(0)),
                                     kube::format_milli(*node.cpu_milli))
                       : "";
    table.add({node.name, Cell(node.state, node.state == "Ready" ? Tone::good : Tone::bad), gpus,
               node.gpu_product, cpu, std::to_string(node.pods.value_or(0)),
               node.is_simulated ? "simulated" : "local", join(node.runs, ",")});
  }
  console.out(table.text(options.format == Format::wide, console.has_colour));
  return ExitCode::ok;
}

}  // namespace tau::cmd
