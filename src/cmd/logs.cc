// `tau logs`: what a run's pods have written. Following, all pods stream at once and new ones join.
#include <fmt/format.h>

#include <boost/json.hpp>

#include "cmd/run_views.h"
#include "cmd/verbs.h"
#include "http/url.h"

namespace tau::cmd {
namespace {

constexpr size_t most_streams = 50;  // more pods than that at once would bury the server
constexpr Duration look_again = milliseconds(500);

Try<std::string> log_query(const LogsOptions& logs) {
  std::string query = fmt::format("follow={}&timestamps={}", logs.follow, logs.timestamps);
  if (logs.tail) query += fmt::format("&tailLines={}", *logs.tail);
  if (logs.since.empty()) return query;
  const auto since = parse_duration(logs.since);
  if (!since)
    return failed(Failure("TG-LOGS-001", ExitCode::usage, since.error().message).at("--since"));
  return query +
         fmt::format("&sinceSeconds={}",
                     std::max<int64_t>(1, std::chrono::duration_cast<seconds>(*since).count()));
}

// Whole lines of one pod, each after its prefix, so that pods that write at once do not mix within
// a line.
class LineWriter {
 public:
  LineWriter(const Console& console, std::string prefix)
      : console_(console), prefix_(std::move(prefix)) {}
  bool has_written() const { return has_written_; }
  void write(std::string_view bytes) {
    has_written_ |= !bytes.empty();
    if (prefix_.empty()) {
      if (!bytes.empty()) console_.out(bytes);
      return;
    }
    rest_ += bytes;
    std::string out;
    size_t begin = 0;
    for (size_t end; (end = rest_.find('\n', begin)) != std::string::npos; begin = end + 1)
      out += prefix_ + rest_.substr(begin, end + 1 - begin);
    rest_.erase(0, begin);
    if (!out.empty()) console_.out(out);
  }
  void end() {
    if (!rest_.empty()) console_.out(prefix_ + std::exchange(rest_, "") + "\n");
  }

 private:
  const Console& console_;
  std::string prefix_, rest_;
  bool has_written_ = false;
};

struct PodStream {
  LineWriter writer;
  int status = 0;
  std::string refusal;
  std::optional<Result<void>> end;
};

std::string log_target(const Session& session, const std::string& pod, const std::string& query) {
  return fmt::format("/api/v1/namespaces/{}/pods/{}/log?{}", http::percent_encode(session.ns()),
                     http::percent_encode(pod), query);
}

// Streams every pod of the run until the run is over and all streams have ended.
Outcome follow(Session& session, const std::string& name, const std::string& query,
               const Console& console) {
  std::map<std::string, std::unique_ptr<PodStream>> streams;
  std::string said;
  while (true) {
    auto run = find_run(session, name);
    if (!run) return std::unexpected(run.error());
    for (const kube::PodView& pod : run->pod_list) {
      const bool has_begun = pod.started || (!pod.phase.empty() && pod.phase != "Pending");
      if (!has_begun || streams.contains(pod.name) || streams.size() >= most_streams) continue;
      const bool is_one = run->pods.value_or(1) == 1 && run->pod_list.size() == 1;
      auto& stream = streams[pod.name];
      stream = std::make_unique<PodStream>(
          PodStream{.writer = LineWriter(console, is_one ? "" : pod.name + "  ")});
      http::ResponseCallbacks callbacks;
      callbacks.on_head = [s = stream.get()](const http::ResponseHead& head) {
        s->status = head.status;
      };
      callbacks.on_body = [s = stream.get()](std::string_view bytes) {
        if (s->status / 100 == 2)
          s->writer.write(bytes);
        else
          s->refusal += bytes;
      };
      callbacks.on_end = [s = stream.get()](Result<void> outcome) {
        s->writer.end();
        s->end = std::move(outcome);
      };
      session.transport().send({.target = log_target(session, pod.name, query)}, Duration(0),
                               std::move(callbacks));
    }
    const bool is_quiet =
        std::ranges::all_of(streams, [](const auto& one) { return one.second->end.has_value(); });
    if (is_over(*run) && is_quiet) {
      if (streams.empty())
        return failed(Failure("TG-LOGS-002", ExitCode::not_found,
                              fmt::format("run {} wrote nothing: it is {}", run->name, run->phase))
                          .because(run->note));
      for (const auto& [pod, stream] : streams) {
        if (stream->status / 100 != 2 && stream->status != 0)
          return failed(Failure(kube::to_error(stream->status, stream->refusal)));
      }
      return ExitCode::ok;
    }
    if (streams.empty() && std::exchange(said, run->phase + run->note) != run->phase + run->note)
      console.say(fmt::format("waiting: {} {}", run->phase, run->note));
    session.loop().run_until([] { return false; }, look_again);
  }
}

// Whether there was anything.
Try<bool> print_pod(Session& session, const std::string& pod, const std::string& query,
                    LineWriter writer) {
  auto done = session.stream(
      {.target = log_target(session, pod, query)},
      [&](std::string_view bytes) { writer.write(bytes); }, [] { return false; });
  writer.end();
  if (!done) return std::unexpected(done.error());
  return writer.has_written();
}

}  // namespace

Outcome logs(const GlobalOptions& options, const LogsOptions& logs, const Console& console) {
  const auto query = log_query(logs);
  if (!query) return std::unexpected(query.error());
  auto opened = Session::open(options);
  if (!opened) return std::unexpected(opened.error());
  Session& session = **opened;
  auto run = find_run(session, logs.name);
  if (!run) {
    if (run.error().exit != ExitCode::not_found) return std::unexpected(run.error());
    // Not a run: then a pod; if there is none either, the run is what was looked for.
    auto done = print_pod(session, logs.name, *query, LineWriter(console, ""));
    if (done) return ExitCode::ok;
    return std::unexpected(done.error().exit == ExitCode::not_found ? run.error() : done.error());
  }
  if (logs.follow) return follow(session, logs.name, *query, console);
  size_t shown = 0;
  bool has_written = false;
  std::optional<Failure> refused;
  for (const kube::PodView& pod : run->pod_list) {
    auto done = print_pod(session, pod.name, *query,
                          LineWriter(console, run->pod_list.size() > 1 ? pod.name + "  " : ""));
    if (done) {
      ++shown;
      has_written |= *done;
    } else {
      refused = done.error();
    }
  }
  if (shown > 0) {
    if (!has_written)
      console.say(fmt::format("Nothing is written: {} is {}.", run->name, run->phase));
    return ExitCode::ok;
  }
  if (refused && refused->exit != ExitCode::not_found && refused->exit != ExitCode::usage)
    return std::unexpected(*refused);
  Failure nothing("TG-LOGS-002", ExitCode::not_found,
                  fmt::format("run {} has no log: it is {}", run->name, run->phase));
  nothing.cause = run->deleted ? "its pods are gone; logs go with their pods" : run->note;
  if (!is_over(*run))
    nothing.fix = fmt::format("wait for it: tau logs -f {}    why it waits: tau why {}", run->name,
                              run->name);
  return failed(nothing);
}

}  // namespace tau::cmd
