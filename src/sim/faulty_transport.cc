#include "sim/faulty_transport.h"

#include <fmt/format.h>

namespace tau::sim {

struct FaultyTransport::Call {
  uint64_t id = 0;
  http::Request request;
  Duration timeout{0};
  http::ResponseCallbacks callbacks;
  http::CallId inner;
  TimerId timer;
  bool is_open = true;
  bool loses_answer = false;
};

namespace {

bool is_watch(const http::Request& request) {
  return request.target.find("watch=true") != std::string::npos ||
         request.target.find("watch=1") != std::string::npos;
}

Error unavailable(const char* why) {
  return Error{ErrorCode::unavailable, why};
}

}  // namespace

FaultyTransport::FaultyTransport(Loop& loop, http::Transport& next, Rng rng)
    : loop_(loop), next_(next), rng_(rng) {}

FaultyTransport::~FaultyTransport() {
  while (!calls_.empty()) cancel(http::CallId{calls_.begin()->first});
}

http::CallId FaultyTransport::send(http::Request request, Duration timeout,
                                   http::ResponseCallbacks callbacks) {
  auto call = std::make_shared<Call>();
  call->id = next_call_++;
  call->request = std::move(request);
  call->timeout = timeout;
  call->callbacks = std::move(callbacks);
  calls_[call->id] = call;
  ++counts_.calls;
  const bool is_write = call->request.method != "GET";
  const auto later = [this, call](auto action) {
    loop_.post([this, call, action]() mutable {
      if (call->is_open) action();
    });
  };
  // Every chance is drawn in a fixed order, so that one rate does not shift the draws of another.
  const bool loses_request = rng_.chance(rates_.lost_request);
  const bool loses_answer = rng_.chance(rates_.lost_answer);
  const bool refuses = rng_.chance(rates_.refused);
  const bool conflicts = rng_.chance(rates_.conflict) && is_write;
  const bool expires = rng_.chance(rates_.expired_watch) && is_watch(call->request);
  const bool cuts = rng_.chance(rates_.cut_watch) && is_watch(call->request);
  const bool delays = rng_.chance(rates_.delay);
  const Duration delay(rng_.between(1, std::max<int64_t>(1, rates_.delay_at_most.count())));
  const bool busy = rng_.chance(0.5);

  if (is_down_ || loses_request) {
    if (!is_down_) ++counts_.lost_requests;
    later([this, call] { end(call, std::unexpected(unavailable("connection refused"))); });
  } else if (refuses) {
    ++counts_.refused;
    later([this, call, busy] {
      answer(call, busy ? 429 : 503, busy ? "TooManyRequests" : "ServiceUnavailable");
    });
  } else if (conflicts) {
    ++counts_.conflicts;
    later([this, call] { answer(call, 409, "Conflict"); });
  } else if (expires) {
    ++counts_.expired_watches;
    later([this, call] { answer(call, 410, "Expired"); });
  } else {
    call->loses_answer = loses_answer && !is_watch(call->request);
    if (call->loses_answer) ++counts_.lost_answers;
    if (delays) {
      ++counts_.delayed;
      call->timer = loop_.after(delay, [this, call] { forward(call); });
    } else {
      forward(call);
    }
    if (cuts) {
      loop_.after(delay * 20, [this, call] {
        if (!call->is_open) return;
        ++counts_.cut_watches;
        next_.cancel(call->inner);
        end(call, std::unexpected(unavailable("connection reset")));
      });
    }
  }
  return http::CallId{call->id};
}

void FaultyTransport::forward(const CallPointer& call) {
  if (!call->is_open) return;
  http::ResponseCallbacks inner;
  inner.on_head = [call](const http::ResponseHead& head) {
    if (call->is_open && !call->loses_answer && call->callbacks.on_head)
      call->callbacks.on_head(head);
  };
  inner.on_body = [call](std::string_view bytes) {
    if (call->is_open && !call->loses_answer && call->callbacks.on_body)
      call->callbacks.on_body(bytes);
  };
  inner.on_end = [this, call](Result<void> outcome) {
    if (call->loses_answer) outcome = std::unexpected(unavailable("connection reset"));
    end(call, std::move(outcome));
  };
  call->inner = next_.send(call->request, call->timeout, std::move(inner));
}

void FaultyTransport::answer(const CallPointer& call, int status, std::string_view reason) {
  const std::string body = fmt::format(
      R"({{"kind":"Status","apiVersion":"v1","metadata":{{}},"status":"Failure","message":"injected","reason":"{}","code":{}}})",
      reason, status);
  if (call->callbacks.on_head) {
    call->callbacks.on_head(http::ResponseHead{status, {{"Content-Type", "application/json"}}});
  }
  if (call->is_open && call->callbacks.on_body) call->callbacks.on_body(body);
  end(call, {});
}

void FaultyTransport::end(const CallPointer& call, Result<void> outcome) {
  if (!call->is_open) return;
  call->is_open = false;
  calls_.erase(call->id);
  if (call->callbacks.on_end) call->callbacks.on_end(std::move(outcome));
}

void FaultyTransport::cancel(http::CallId id) {
  const auto found = calls_.find(id.value);
  if (found == calls_.end()) return;
  const CallPointer call = found->second;
  calls_.erase(found);
  call->is_open = false;
  loop_.cancel(call->timer);
  // A request that was on its way has perhaps taken effect; only the answer is nobody's any more.
  if (call->inner.value != 0) next_.cancel(call->inner);
}

void FaultyTransport::set_down(bool is_down) {
  is_down_ = is_down;
  if (!is_down) return;
  std::vector<CallPointer> open;
  for (const auto& [id, call] : calls_) open.push_back(call);
  for (const CallPointer& call : open) {
    if (call->inner.value != 0) next_.cancel(call->inner);
    loop_.cancel(call->timer);
    loop_.post([this, call] { end(call, std::unexpected(unavailable("connection reset"))); });
  }
}

}  // namespace tau::sim
