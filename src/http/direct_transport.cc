#include "http/direct_transport.h"

#include <fmt/format.h>

namespace tau::http {

// Shared by the transport, the handler's sink and the posted deliveries; whoever ends it first
// wins.
struct DirectTransport::Call {
  Loop& loop;
  DirectTransport* transport;  // null once the transport has forgotten the call
  uint64_t id;
  ResponseCallbacks callbacks;
  TimerId timer;
  std::move_only_function<void()> on_closed;
  size_t backlog_bytes = 0;
  bool is_over = false;   // the client hears nothing more
  bool is_ended = false;  // the handler has said all

  void finish(Result<void> result) {
    if (is_over) return;
    forget();
    if (callbacks.on_end) callbacks.on_end(std::move(result));
  }
  void forget() {
    is_over = true;
    loop.cancel(timer);
    if (transport != nullptr) transport->calls_.erase(id);
    transport = nullptr;
  }
  // The client left: the handler hears it, unless it had ended already.
  static void close(const std::shared_ptr<Call>& call) {
    call->forget();
    if (call->is_ended) return;
    call->loop.post([call] {
      if (call->is_ended || !call->on_closed) return;
      auto callback = std::move(call->on_closed);
      call->on_closed = nullptr;
      callback();
    });
  }
};

class DirectTransport::Sink : public ResponseSink {
 public:
  explicit Sink(std::shared_ptr<Call> call) : call_(std::move(call)) {}
  ~Sink() override {
    call_->on_closed = nullptr;
    if (call_->is_ended || call_->is_over) return;
    call_->is_ended = true;
    call_->loop.post([call = call_] {
      call->finish(fail(ErrorCode::unavailable, "the server reset the connection"));
    });
  }
  void head(ResponseHead head) override {
    if (call_->is_over) return;
    call_->loop.post([call = call_, head = std::move(head)] {
      if (!call->is_over && call->callbacks.on_head) call->callbacks.on_head(head);
    });
  }
  void body(std::string_view bytes) override {
    if (call_->is_over) return;
    call_->backlog_bytes += bytes.size();
    call_->loop.post([call = call_, bytes = std::string(bytes)] {
      call->backlog_bytes -= bytes.size();
      if (!call->is_over && call->callbacks.on_body) call->callbacks.on_body(bytes);
    });
  }
  void end() override {
    if (call_->is_ended) return;
    call_->is_ended = true;
    call_->on_closed = nullptr;
    call_->loop.post([call = call_] { call->finish({}); });
  }
  size_t backlog_bytes() const override { return call_->backlog_bytes; }
  void on_closed(std::move_only_function<void()> callback) override {
    call_->on_closed = std::move(callback);
    if (call_->is_over && !call_->is_ended) Call::close(call_);
  }

 private:
  std::shared_ptr<Call> call_;
};

DirectTransport::~DirectTransport() {
  const auto calls = std::move(calls_);
  calls_.clear();
  for (const auto& [id, call] : calls) {
    call->transport = nullptr;
    Call::close(call);
  }
}

CallId DirectTransport::send(Request request, Duration timeout, ResponseCallbacks callbacks) {
  const uint64_t id = next_call_++;
  auto call = std::make_shared<Call>(Call{loop_, this, id, std::move(callbacks), {}, {}});
  calls_.emplace(id, call);
  if (timeout > Duration(0)) {
    call->timer = loop_.after(timeout, [call, timeout] {
      if (call->is_over) return;
      auto on_end = std::move(call->callbacks.on_end);
      Call::close(call);
      if (on_end) {
        on_end(fail(ErrorCode::timeout,
                    fmt::format("no whole answer within {} ms", timeout / milliseconds(1))));
      }
    });
  }
  loop_.post([this_handler = &handler_, call, request = std::move(request)]() mutable {
    if (call->is_over) return;
    this_handler->handle(Peer{.address = "", .is_in_process = true}, std::move(request),
                         std::make_unique<Sink>(call));
  });
  return CallId{id};
}

void DirectTransport::cancel(CallId call) {
  const auto found = calls_.find(call.value);
  if (found == calls_.end()) return;
  const std::shared_ptr<Call> kept = found->second;
  Call::close(kept);
}

}  // namespace tau::http
