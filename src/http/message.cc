#include "http/message.h"

#include "base/limits.h"
#include "base/text.h"

namespace tau::http {
namespace {

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

// Both callbacks of one whole answer write to it.
struct Gathering {
  Response response;
  bool is_too_large = false;
  std::move_only_function<void(Result<Response>)> done;
};

}  // namespace

std::string_view find_header(const Headers& headers, std::string_view name) {
  for (const auto& [key, value] : headers) {
    if (equals_ignoring_case(key, name)) return value;
  }
  return "";
}

void respond(ResponseSink& sink, int status, std::string_view content_type, std::string_view body,
             Headers more) {
  ResponseHead head{.status = status};
  head.headers.reserve(more.size() + 2);
  if (!content_type.empty()) head.headers.emplace_back("Content-Type", content_type);
  head.headers.emplace_back("Content-Length", std::to_string(body.size()));
  for (auto& header : more) head.headers.push_back(std::move(header));
  sink.head(std::move(head));
  if (!body.empty()) sink.body(body);
  sink.end();
}

CallId send_whole(Transport& transport, Request request, Duration timeout,
                  std::move_only_function<void(Result<Response>)> done) {
  auto gathering = std::make_shared<Gathering>();
  gathering->done = std::move(done);
  ResponseCallbacks callbacks;
  callbacks.on_head = [gathering](const ResponseHead& head) {
    gathering->response.status = head.status;
    gathering->response.headers = head.headers;
  };
  callbacks.on_body = [gathering](std::string_view bytes) {
    if (gathering->response.body.size() + bytes.size() > limits::response_body_bytes) {
      gathering->is_too_large = true;
      gathering->response.body.clear();
    }
    if (!gathering->is_too_large) gathering->response.body.append(bytes);
  };
  callbacks.on_end = [gathering](Result<void> ended) {
    if (!ended) return gathering->done(std::unexpected(std::move(ended.error())));
    if (gathering->is_too_large) {
      return gathering->done(
          fail(ErrorCode::too_large, "the answer is longer than response_body_bytes = " +
                                         std::to_string(limits::response_body_bytes)));
    }
    gathering->done(std::move(gathering->response));
  };
  return transport.send(std::move(request), timeout, std::move(callbacks));
}

}  // namespace tau::http
