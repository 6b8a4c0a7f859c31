// What people do: run, cancel, apply.
#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/text.h"
#include "cmd/manifests.h"
#include "cmd/run_views.h"
#include "cmd/verbs.h"
#include "kube/codec.h"
#include "kube/types.h"
#include "meta/json.h"

namespace tau::cmd {
namespace json = boost::json;
using kube::Kind;

namespace {

std::string default_name(const std::vector<std::string>& command) {
  std::string name;
  const std::string base = command[0].substr(command[0].rfind('/') + 1);
  for (const char c : to_lower(base))
    name += (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ? c : '-';
  while (name.starts_with('-')) name.erase(0, 1);
  return fmt::format("{}-{}", name.empty() ? "run" : name.substr(0, 40), host::random_token(3));
}

Try<kube::Job> job_of(const RunOptions& run, const std::string& ns) {
  kube::Job job;
  job.metadata.name = run.name.empty() ? default_name(run.command) : run.name;
  job.metadata.namespace_ = ns;
  job.spec.template_.spec.scheduler_name = "taugrid";
  // Without a queue nothing would ever resume it.
  if (!run.queue.empty()) job.spec.suspend = true;
  if (!run.queue.empty()) job.metadata.labels["kueue.x-k8s.io/queue-name"] = run.queue;
  if (!run.priority.empty()) job.metadata.labels["kueue.x-k8s.io/priority-class"] = run.priority;
  job.spec.parallelism = job.spec.completions = run.nodes;
  job.spec.backoff_limit = 0;
  if (run.nodes > 1) job.spec.completion_mode = "Indexed";
  kube::Container container{.name = "main", .image = "host", .command = run.command};
  const auto ask = [&](const std::string& resource, const std::string& amount) {
    if (amount.empty() || amount == "0") return;
    container.resources.requests[resource] = amount;
    container.resources.limits[resource] = amount;
  };
  ask("nvidia.com/gpu", std::to_string(run.gpus));
  ask("memory", run.memory);
  container.resources.requests["cpu"] = run.cpu.empty() ? "100m" : run.cpu;
  for (const std::string& pair : run.env) {
    const size_t equals = pair.find('=');
    if (equals == std::string::npos || equals == 0)
      return failed(Failure("TG-RUN-002", ExitCode::usage,
                            fmt::format("--env wants NAME=VALUE, not \"{}\"", pair)));
    container.env.push_back({.name = pair.substr(0, equals), .value = pair.substr(equals + 1)});
  }
  job.spec.template_.spec.restart_policy = "Never";
  job.spec.template_.spec.containers.push_back(std::move(container));
  return job;
}

// Says each change of state; the run's own end decides the exit code.
Outcome wait_for(Session& session, const std::string& name, const Console& console) {
  std::string said;
  while (true) {
    auto run = find_run(session, name);
    if (run) {
      const std::string line = run->note.empty() ? run->phase : run->phase + ": " + run->note;
      if (std::exchange(said, line) != line) console.say(fmt::format("{}  {}", run->name, line));
      if (is_over(*run)) return exit_of(*run);
    } else if (run.error().exit != ExitCode::not_found) {
      return std::unexpected(run.error());
    }
    session.loop().run_until([] { return false; }, milliseconds(250));
  }
}

Try<const char*> apply_one(Session& session, const Manifest& manifest) {
  const std::string body = json::serialize(manifest.object);
  kube::ApiRequest create = kube::create_request(manifest.resource->kind, manifest.ns, body);
  create.query = "fieldValidation=Strict&fieldManager=tau";
  auto made = session.call(create);
  if (made) return "created";
  if (made.error().exit != ExitCode::conflict) return failed(located(made.error(), manifest));
  kube::ApiRequest patch =
      kube::merge_patch(manifest.resource->kind, manifest.ns, manifest.name, body);
  patch.query = "fieldValidation=Strict&fieldManager=tau";
  auto before = session.call({.verb = kube::Verb::get,
                              .kind = manifest.resource->kind,
                              .ns = manifest.ns,
                              .name = manifest.name});
  auto after = session.call(patch);
  if (!after) return failed(located(after.error(), manifest));
  const bool is_same = before && meta::string_at(*before, "metadata.resourceVersion") ==
                                     meta::string_at(*after, "metadata.resourceVersion");
  return is_same ? "unchanged" : "configured";
}

// The queue that a run goes to: the one named, which must exist, or the namespace's own `default`,
// or none.
Try<std::string> queue_for(Session& session, const std::string& wanted, const Console& console) {
  auto queues =
      session.call({.verb = kube::Verb::list, .kind = Kind::local_queue, .ns = session.ns()});
  if (!queues && queues.error().exit != ExitCode::not_found) return std::unexpected(queues.error());
  std::vector<std::string> names;
  const json::value* items = queues ? meta::find_path(*queues, "items") : nullptr;
  if (items != nullptr && items->is_array()) {
    for (const json::value& item : items->get_array())
      names.emplace_back(meta::string_at(item, "metadata.name"));
  }
  const std::string queue = wanted.empty() ? "default" : wanted;
  if (std::ranges::find(names, queue) != names.end()) return queue;
  if (wanted.empty()) {
    console.say(fmt::format(
        "Namespace {} has no queue named default: the run does not wait in one.", session.ns()));
    return "";
  }
  return failed(Failure("TG-RUN-005", ExitCode::not_found,
                        fmt::format("no queue \"{}\" in namespace {}", wanted, session.ns()))
                    .because(did_you_mean(wanted, names))
                    .fixed_by("see what there is: tau queue list"));
}

}  // namespace

Outcome run(const GlobalOptions& options, const RunOptions& run, const Console& console) {
  if (run.command.empty() == run.manifest.empty()) {
    return failed(
        Failure("TG-RUN-001", ExitCode::usage, "a run needs a command or a manifest, and not both")
            .fixed_by("tau run --gpus 1 -- nvidia-smi    or    tau run -f job.yaml"));
  }
  if (run.gpus < 0 || run.nodes < 1)
    return failed(
        Failure("TG-RUN-003", ExitCode::usage, "--gpus is 0 or more and --nodes 1 or more"));
  auto session = Session::open(options);
  if (!session) return std::unexpected(session.error());
  std::string name;
  if (!run.manifest.empty()) {
    auto manifests = read_manifests(run.manifest, (*session)->ns());
    if (!manifests) return std::unexpected(manifests.error());
    for (const Manifest& manifest : *manifests) {
      auto done = apply_one(**session, manifest);
      if (!done) return std::unexpected(done.error());
      if (manifest.resource->kind == Kind::job) name = manifest.name;
    }
    if (name.empty())
      return failed(
          Failure("TG-RUN-004", ExitCode::usage, "the manifest has no Job").at(run.manifest));
  } else {
    RunOptions placed = run;
    auto queue = queue_for(**session, run.queue, console);
    if (!queue) return std::unexpected(queue.error());
    placed.queue = *queue;
    auto job = job_of(placed, (*session)->ns());
    if (!job) return std::unexpected(job.error());
    name = job->metadata.name;
    auto made = (*session)->call(
        kube::create_request(Kind::job, (*session)->ns(), kube::object_text(*job)));
    if (!made) return std::unexpected(made.error());
  }
  if (options.format == Format::name)
    console.out("run/" + name + "\n");
  else
    console.say(fmt::format("Submitted {}. Follow it: tau logs -f {}   Why it waits: tau why {}",
                            name, name, name));
  return run.waits ? wait_for(**session, name, console) : Outcome(ExitCode::ok);
}

Outcome cancel(const GlobalOptions& options, const std::string& name, bool is_sure,
               const Console& console) {
  auto session = Session::open(options);
  if (!session) return std::unexpected(session.error());
  auto run = find_run(**session, name);
  if (!run) return std::unexpected(run.error());
  if (is_over(*run))
    return failed(Failure("TG-CANCEL-001", ExitCode::conflict,
                          fmt::format("{} has ended already: {}", run->name, run->phase)));
  const std::string effect =
      fmt::format("this ends run {} ({}): {}, {} of {} pods running", run->name, run->id,
                  run->phase, run->pods_running.value_or(0), run->pods.value_or(0));
  if (!is_sure && !console.ask) {
    return failed(Failure("TG-CANCEL-002", ExitCode::usage, effect)
                      .because("there is no terminal to ask on")
                      .fixed_by(fmt::format("tau cancel {} --yes", name)));
  }
  if (!is_sure && !console.ask(effect + ". Go on? [y/N] "))
    return failed(Failure("TG-CANCEL-002", ExitCode::usage, "nothing was cancelled"));
  // Exactly this one: by now another may bear its name.
  kube::ApiRequest request = kube::delete_request(Kind::job, (*session)->ns(), run->name);
  request.body = json::serialize(json::object{{"apiVersion", "v1"},
                                              {"kind", "DeleteOptions"},
                                              {"propagationPolicy", "Background"},
                                              {"preconditions", json::object{{"uid", run->uid}}}});
  auto done = (*session)->call(request);
  if (!done) return std::unexpected(done.error());
  const std::string after = (*session)->has_history()
                                ? fmt::format(" What it was stays known: tau show {}", run->id)
                                : "";
  console.say(fmt::format("Cancelled {} ({}).{}", run->name, run->id, after));
  return ExitCode::ok;
}

Outcome apply(const GlobalOptions& options, const std::vector<std::string>& files,
              const Console& console) {
  auto session = Session::open(options);
  if (!session) return std::unexpected(session.error());
  // Everything is read before anything is written.
  std::vector<Manifest> all;
  for (const std::string& file : files) {
    auto manifests = read_manifests(file, (*session)->ns());
    if (!manifests) return std::unexpected(manifests.error());
    for (Manifest& manifest : *manifests) all.push_back(std::move(manifest));
  }
  size_t failures = 0;
  for (const Manifest& manifest : all) {
    auto done = apply_one(**session, manifest);
    if (!done) {
      ++failures;
      console.err(render(done.error(), console.err_has_colour));
      continue;
    }
    console.out(fmt::format("{}/{} {}\n", manifest.resource->singular, manifest.name, *done));
  }
  if (failures == 0) return ExitCode::ok;
  return failures == all.size() ? ExitCode::usage : ExitCode::partial;
}

}  // namespace tau::cmd
