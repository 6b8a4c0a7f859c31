#include "client/sender.h"

#include <memory>

namespace tau::client {

Sender::~Sender() {
  stop();
}

void Sender::stop() {
  is_stopped_ = true;
  waiting_.clear();
  for (const uint64_t call : std::exchange(open_, {})) transport_.cancel(http::CallId{call});
}

void Sender::send(kube::ApiRequest request, Done done) {
  if (is_stopped_) return;
  if (open_.size() >= limit_) {
    waiting_.push_back({std::move(request), std::move(done)});
    return;
  }
  start({std::move(request), std::move(done)});
}

void Sender::start(Waiting next) {
  ++sent_;
  // The id is known only after send() returns; callbacks never come from inside it.
  auto id = std::make_shared<uint64_t>(0);
  auto done = std::make_shared<Done>(std::move(next.done));
  const http::CallId call =
      http::send_whole(transport_, kube::to_http(next.request), seconds(30),
                       [this, id, done](Result<http::Response> answer) {
                         finished(*id);
                         if (!answer) {
                           (*done)(std::unexpected(answer.error()));
                         } else if (answer->status / 100 != 2) {
                           (*done)(std::unexpected(kube::to_error(answer->status, answer->body)));
                         } else {
                           (*done)(std::move(answer->body));
                         }
                       });
  *id = call.value;
  open_.insert(call.value);
}

void Sender::finished(uint64_t call) {
  open_.erase(call);
  if (waiting_.empty() || open_.size() >= limit_) return;
  Waiting next = std::move(waiting_.front());
  waiting_.pop_front();
  start(std::move(next));
}

bool is_refused(const Error& error) {
  switch (error.code) {
    case ErrorCode::timeout:
    case ErrorCode::unavailable:
    case ErrorCode::internal:
      return false;
    default:
      return true;
  }
}

}  // namespace tau::client
