#include "embedded/kubelet/log_handler.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/limits.h"
#include "base/text.h"
#include "http/url.h"

namespace tau::kubelet {
namespace json = boost::json;

namespace {

void respond_error(http::ResponseSink& sink, int status, const char* reason,
                   const std::string& message) {
  const json::object body{{"kind", "Status"},    {"apiVersion", "v1"}, {"metadata", json::object()},
                          {"status", "Failure"}, {"message", message}, {"reason", reason},
                          {"code", status}};
  http::respond(sink, status, "application/json", json::serialize(body));
}

// The container that is meant, or the error that kubectl users know.
Result<std::string> choose_container(const kube::Pod& pod, std::string_view wanted) {
  std::vector<std::string> names;
  for (const auto& container : pod.spec.init_containers) names.push_back(container.name);
  for (const auto& container : pod.spec.containers) names.push_back(container.name);
  if (wanted.empty()) {
    if (pod.spec.containers.size() == 1 && pod.spec.init_containers.empty())
      return pod.spec.containers[0].name;
    return fail(ErrorCode::bad_request,
                fmt::format("a container name must be specified for pod {}, choose one of: [{}]",
                            pod.metadata.name, join(names, " ")));
  }
  if (std::ranges::find(names, wanted) == names.end())
    return fail(ErrorCode::bad_request,
                fmt::format("container {} is not valid for pod {}", wanted, pod.metadata.name));
  return std::string(wanted);
}

Result<LogQuery> parse_query(const http::Url& url, Time now) {
  LogQuery query;
  const auto flag = [&](std::string_view key) { return url.find(key).value_or("") == "true"; };
  const auto number = [&](std::string_view key) -> Result<std::optional<int64_t>> {
    const auto text = url.find(key);
    if (!text) return std::nullopt;
    const auto value = parse_int(*text);
    if (!value || *value < 0)
      return fail(
          ErrorCode::bad_request,
          fmt::format("{} must be a whole number that is not negative, not \"{}\"", key, *text));
    return *value;
  };
  query.follow = flag("follow");
  query.timestamps = flag("timestamps");
  query.tail_lines = TRY(number("tailLines"));
  query.limit_bytes = TRY(number("limitBytes"));
  if (const auto since = TRY(number("sinceSeconds"))) query.since = now - seconds(*since);
  if (const auto since = url.find("sinceTime")) query.since = TRY(parse_rfc3339(*since));
  return query;
}

// One answer under way; ends the reading when the client leaves.
struct Stream {
  std::unique_ptr<http::ResponseSink> sink;
  std::move_only_function<void()> stop;
  bool is_done = false;
};

}  // namespace

void LogHandler::handle(const http::Peer&, http::Request request,
                        std::unique_ptr<http::ResponseSink> sink) {
  const auto url = http::parse_target(request.target);
  // api v1 namespaces {ns} pods {name} log
  if (!url || url->segments.size() != 7)
    return respond_error(*sink, 404, "NotFound",
                         "the server could not find the requested resource");
  const auto pod = find_pod_(url->segments[3], url->segments[5]);
  if (!pod)
    return respond_error(*sink, 404, "NotFound",
                         fmt::format("pods \"{}\" not found", url->segments[5]));
  const auto container = choose_container(*pod, url->find("container").value_or(""));
  const auto query = parse_query(*url, now_());
  if (!container || !query)
    return respond_error(*sink, 400, "BadRequest",
                         container ? query.error().message : container.error().message);
  const bool is_previous = url->find("previous").value_or("") == "true";
  const auto id = pods_.find_container(pod->metadata.uid, *container, is_previous);
  if (!id) {
    const std::string message =
        is_previous
            ? fmt::format("previous terminated container \"{}\" in pod \"{}\" not found",
                          *container, pod->metadata.name)
            : fmt::format("container \"{}\" in pod \"{}\" is waiting to start: ContainerCreating",
                          *container, pod->metadata.name);
    return respond_error(*sink, 400, "BadRequest", message);
  }
  auto stream = std::make_shared<Stream>();
  stream->sink = std::move(sink);
  stream->sink->on_closed([stream] {
    stream->is_done = true;
    if (stream->stop) stream->stop();
  });
  stream->sink->head({200, {{"Content-Type", "text/plain; charset=utf-8"}}});
  kubelet::LogQuery paced = *query;
  paced.may_read = [stream] {
    return stream->sink && stream->sink->backlog_bytes() < limits::stream_backlog_bytes / 8;
  };
  stream->stop = runtime_.read_log(
      *id, std::move(paced),
      [stream](std::string_view bytes) {
        if (stream->is_done) return;
        if (stream->sink->backlog_bytes() >
            limits::stream_backlog_bytes) {  // a reader that does not keep up
          stream->is_done = true;
          if (stream->stop) stream->stop();
          stream->sink.reset();
          return;
        }
        stream->sink->body(bytes);
      },
      [stream](Result<void>) {
        if (std::exchange(stream->is_done, true)) return;
        if (stream->sink) stream->sink->end();
        stream->sink.reset();
      });
}

}  // namespace tau::kubelet
