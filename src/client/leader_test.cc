#include "client/leader.h"

#include <gtest/gtest.h>

#include "base/fake_loop.h"
#include "embedded/apiserver/memory_journal.h"
#include "embedded/apiserver/server.h"
#include "http/direct_transport.h"

namespace tau::client {
namespace {

// A way to the server that can be cut: calls are then never answered.
class CutTransport : public http::Transport {
 public:
  explicit CutTransport(http::Transport& next) : next_(next) {}
  http::CallId send(http::Request request, Duration timeout,
                    http::ResponseCallbacks callbacks) override {
    if (is_cut) return http::CallId{UINT64_MAX};
    return next_.send(std::move(request), timeout, std::move(callbacks));
  }
  void cancel(http::CallId call) override {
    if (call.value != UINT64_MAX) next_.cancel(call);
  }
  bool is_cut = false;

 private:
  http::Transport& next_;
};

struct World {
  FakeLoop loop;
  apiserver::MemoryJournal journal{loop};
  apiserver::Server server{loop, journal, Rng(7), Log(), {}};
  http::DirectTransport direct{loop, server};
  World() {
    EXPECT_TRUE(server.start());
    loop.run_ready();
  }
};

struct Candidate {
  Candidate(World& world, std::string identity)
      : way(world.direct),
        leader(world.loop, way, Rng(identity.size()), {.identity = std::move(identity)},
               {.on_leading = [this, &world] { led_at = world.loop.now(); },
                .on_deposed =
                    [this, &world](std::string why) {
                      deposed_at = world.loop.now();
                      reason = std::move(why);
                    },
                .on_waiting = [this](std::string holder) { waits_for.push_back(holder); }}) {}
  CutTransport way;
  std::optional<Time> led_at, deposed_at;
  std::string reason;
  std::vector<std::string> waits_for;
  Leader leader;
};

TEST(Leader, OnlyOneLeadsAndTheOtherSaysForWhomItWaits) {
  World world;
  Candidate a(world, "a"), b(world, "bb");
  a.leader.start();
  world.loop.run_ready();
  b.leader.start();
  world.loop.advance(seconds(120));
  EXPECT_TRUE(a.leader.is_leading());
  EXPECT_FALSE(b.leader.is_leading());
  EXPECT_EQ(b.waits_for, std::vector<std::string>{"a"});
}

TEST(Leader, BothAtOnceStillGiveOne) {
  World world;
  Candidate a(world, "a"), b(world, "bb");
  a.leader.start();
  b.leader.start();
  world.loop.advance(seconds(60));
  EXPECT_NE(a.leader.is_leading(), b.leader.is_leading());
}

TEST(Leader, OneCutOffStopsBeforeAnotherBegins) {
  World world;
  Candidate a(world, "a"), b(world, "bb");
  a.leader.start();
  world.loop.run_ready();
  b.leader.start();
  world.loop.advance(seconds(30));
  a.way.is_cut = true;
  world.loop.advance(seconds(60));
  ASSERT_TRUE(a.deposed_at && b.led_at);
  EXPECT_EQ(a.reason, "the lease could not be renewed in time");
  EXPECT_LT(*a.deposed_at, *b.led_at);
  EXPECT_TRUE(b.leader.is_leading());
  a.way.is_cut = false;
  world.loop.advance(seconds(60));
  EXPECT_FALSE(a.leader.is_leading()) << "once deposed, over";
}

TEST(Leader, AReleasedLeaseIsTakenWithoutWaitingForItsEnd) {
  World world;
  Candidate a(world, "a"), b(world, "bb");
  a.leader.start();
  world.loop.run_ready();
  b.leader.start();
  world.loop.advance(seconds(10));
  const Time released = world.loop.now();
  a.leader.release();
  world.loop.advance(seconds(10));
  ASSERT_TRUE(b.led_at);
  EXPECT_LE(*b.led_at - released, seconds(4));
  EXPECT_FALSE(a.deposed_at);
}

TEST(Leader, ANewHolderInItsPlaceDeposesIt) {
  World world;
  Candidate a(world, "a");
  a.leader.start();
  world.loop.advance(seconds(5));
  ASSERT_TRUE(a.leader.is_leading());
  http::send_whole(world.direct,
                   {.method = "PATCH",
                    .target = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/"
                              "taugrid-controller",
                    .headers = {{"Content-Type", "application/merge-patch+json"}},
                    .body = R"({"spec":{"holderIdentity":"someone"}})"},
                   Duration(0), [](Result<http::Response>) {});
  world.loop.advance(seconds(5));
  EXPECT_FALSE(a.leader.is_leading());
  EXPECT_EQ(a.reason, "someone holds the lease now");
}

}  // namespace
}  // namespace tau::client
