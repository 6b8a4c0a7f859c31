#include "http/direct_transport.h"

#include <gtest/gtest.h>

#include "base/fake_loop.h"

namespace tau::http {
namespace {

// Keeps the sinks, so that a test decides when and how each call is answered.
struct HeldHandler : Handler {
  std::vector<std::unique_ptr<ResponseSink>> sinks;
  int closed = 0;
  void handle(const Peer& peer, Request, std::unique_ptr<ResponseSink> sink) override {
    EXPECT_TRUE(peer.is_in_process);
    sink->on_closed([this] { ++closed; });
    sinks.push_back(std::move(sink));
  }
};

struct Heard {
  std::string text;
  ResponseCallbacks callbacks() {
    return {
        .on_head = [this](const ResponseHead& head) { text += std::to_string(head.status) + ":"; },
        .on_body = [this](std::string_view bytes) { text += bytes; },
        .on_end =
            [this](Result<void> end) {
              text += end ? "|end" : std::string("|") + to_string(end.error().code);
            }};
  }
};

TEST(DirectTransport, DeliversInOrderAndNeverFromInside) {
  FakeLoop loop;
  HeldHandler handler;
  DirectTransport transport(loop, handler);
  Heard heard;
  transport.send({}, Duration(0), heard.callbacks());
  EXPECT_TRUE(handler.sinks.empty());
  loop.run_ready();
  handler.sinks[0]->head({200, {}});
  handler.sinks[0]->body("ab");
  handler.sinks[0]->body("cd");
  EXPECT_EQ(handler.sinks[0]->backlog_bytes(), 4u);
  EXPECT_EQ(heard.text, "");
  handler.sinks[0]->end();
  loop.run_ready();
  EXPECT_EQ(heard.text, "200:abcd|end");
  EXPECT_EQ(handler.closed, 0);
}

TEST(DirectTransport, DroppedSinkIsAReset) {
  FakeLoop loop;
  HeldHandler handler;
  DirectTransport transport(loop, handler);
  Heard heard;
  transport.send({}, Duration(0), heard.callbacks());
  loop.run_ready();
  handler.sinks.clear();
  loop.run_ready();
  EXPECT_EQ(heard.text, std::string("|") + to_string(ErrorCode::unavailable));
}

TEST(DirectTransport, TimeoutEndsTheCallAndTellsTheHandler) {
  FakeLoop loop;
  HeldHandler handler;
  DirectTransport transport(loop, handler);
  Heard heard;
  transport.send({}, seconds(1), heard.callbacks());
  loop.advance(seconds(2));
  EXPECT_EQ(heard.text, std::string("|") + to_string(ErrorCode::timeout));
  EXPECT_EQ(handler.closed, 1);
  handler.sinks[0]->body("late");
  handler.sinks[0]->end();
  loop.run_ready();
  EXPECT_EQ(heard.text, std::string("|") + to_string(ErrorCode::timeout));
  EXPECT_EQ(loop.timer_count(), 0u);
}

TEST(DirectTransport, NothingComesAfterCancel) {
  FakeLoop loop;
  HeldHandler handler;
  DirectTransport transport(loop, handler);
  Heard heard;
  const CallId call = transport.send({}, Duration(0), heard.callbacks());
  loop.run_ready();
  handler.sinks[0]->head({200, {}});
  transport.cancel(call);
  transport.cancel(call);
  loop.run_ready();
  EXPECT_EQ(heard.text, "");
  EXPECT_EQ(handler.closed, 1);
}

TEST(DirectTransport, GoingAwayClosesItsCalls) {
  FakeLoop loop;
  HeldHandler handler;
  Heard heard;
  {
    DirectTransport transport(loop, handler);
    transport.send({}, Duration(0), heard.callbacks());
    loop.run_ready();
  }
  loop.run_ready();
  EXPECT_EQ(heard.text, "");
  EXPECT_EQ(handler.closed, 1);
  handler.sinks.clear();
}

TEST(SendWhole, GathersTheAnswer) {
  FakeLoop loop;
  HeldHandler handler;
  DirectTransport transport(loop, handler);
  std::string got;
  send_whole(transport, {}, Duration(0), [&](Result<Response> response) {
    got = std::to_string(response->status) + response->body +
          std::string(find_header(response->headers, "content-type"));
  });
  loop.run_ready();
  respond(*handler.sinks[0], 418, "text/plain", "tea");
  loop.run_ready();
  EXPECT_EQ(got, "418teatext/plain");
}

}  // namespace
}  // namespace tau::http
