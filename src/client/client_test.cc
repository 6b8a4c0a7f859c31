#include <fmt/format.h>
#include <gtest/gtest.h>

#include <deque>

#include "base/fake_loop.h"
#include "client/controller_runner.h"
#include "client/informers.h"
#include "client/kubeconfig.h"
#include "client/sender.h"

namespace tau::client {
namespace {

// Answers by hand: the test looks at each call and says what comes back, when.
class HandTransport : public http::Transport {
 public:
  struct Call {
    uint64_t id = 0;
    std::string target;
    http::Request request;
    http::ResponseCallbacks callbacks;
    bool is_open = true;
    void line(const std::string& text) { callbacks.on_body(text + "\n"); }
    void begin(int status = 200) { callbacks.on_head({.status = status}); }
    void end(Result<void> result = {}) {
      is_open = false;
      callbacks.on_end(std::move(result));
    }
    void answer(int status, const std::string& body) {
      begin(status);
      if (!body.empty()) callbacks.on_body(body);
      end();
    }
  };
  http::CallId send(http::Request request, Duration, http::ResponseCallbacks callbacks) override {
    const std::string target = request.target;
    calls.push_back({calls.size() + 1, target, std::move(request), std::move(callbacks)});
    return {calls.back().id};
  }
  void cancel(http::CallId call) override { calls[call.value - 1].is_open = false; }
  Call& last() { return calls.back(); }
  std::deque<Call> calls;
};

std::string pod(const std::string& name, int version, const std::string& more = "") {
  return fmt::format(
      R"({{"metadata":{{"name":"{0}","namespace":"d","uid":"u-{0}","resourceVersion":"{1}"}}{2}}})",
      name, version, more);
}
const std::string bad_spec = R"(,"spec":{"containers":7})";

struct Follower {
  FakeLoop loop;
  HandTransport transport;
  Informers informers{loop, transport, Rng(1), Log()};
  std::vector<std::string> heard;
  Follower() {
    informers.listen([this](const kube::AnyChange& change) {
      const auto& c = std::get<kube::Change<kube::Pod>>(change);
      const char sign = !c.now ? '-' : c.old ? '~' : '+';
      heard.push_back(sign + c.latest().metadata.name + "@" + c.latest().metadata.resource_version);
    });
    informers.follow(kube::Kind::pod);
  }
  void list(const std::string& items, int version) {
    transport.last().answer(
        200,
        fmt::format(R"({{"metadata":{{"resourceVersion":"{}"}},"items":[{}]}})", version, items));
  }
  void event(const char* type, const std::string& object) {
    transport.last().line(fmt::format(R"({{"type":"{}","object":{}}})", type, object));
  }
  std::vector<std::string> take() { return std::exchange(heard, {}); }
};
using Words = std::vector<std::string>;

TEST(Informers, TellEachChangeOnceAndInOrder) {
  Follower f;
  f.list(pod("a", 1) + "," + pod("b", 2), 5);
  EXPECT_TRUE(f.informers.is_synced());
  f.transport.last().begin();
  f.event("MODIFIED", pod("a", 6));
  f.event("MODIFIED", pod("a", 6));  // told already
  f.event("ADDED", pod("c", 7));
  f.event("DELETED", pod("b", 8));
  f.event("DELETED", pod("b", 8));  // gone already
  EXPECT_EQ(f.take(), (Words{"+a@1", "+b@2", "~a@6", "+c@7", "-b@8"}));
}

TEST(Informers, ARelistEndsInTheServersState) {
  Follower f;
  f.list(pod("a", 1) + "," + pod("b", 2), 5);
  f.transport.last().begin();
  f.event("ERROR", R"({"kind":"Status","code":410})");
  f.loop.run_ready();
  EXPECT_EQ(f.transport.last().target, "/api/v1/pods?limit=500");
  f.take();
  f.list(pod("b", 9) + "," + pod("c", 8), 10);
  EXPECT_EQ(f.take(), (Words{"~b@9", "+c@8", "-a@1"}));
}

TEST(Informers, AnObjectThatCannotBeReadKeepsItsLastReadableState) {
  Follower f;
  f.list(pod("a", 1) + "," + pod("x", 2, bad_spec) + "," + pod("b", 3), 5);
  EXPECT_EQ(f.take(), (Words{"+a@1", "+b@3"}));
  EXPECT_EQ(f.informers.bad_objects(), 1);
  f.transport.last().begin();
  f.event("MODIFIED", pod("a", 6, bad_spec));
  f.event("ERROR", R"({"kind":"Status","code":410})");
  f.loop.run_ready();
  f.list(pod("a", 6, bad_spec) + "," + pod("b", 3), 9);
  EXPECT_EQ(f.take(), Words{}) << "still there, so not told as gone";
  f.transport.last().begin();
  f.event("DELETED", pod("a", 10, bad_spec));
  EXPECT_EQ(f.take(), (Words{"-a@1"}));
}

TEST(Informers, AnObjectMadeAgainUnderItsNameIsAnother) {
  Follower f;
  f.list(pod("a", 1), 5);
  f.transport.last().begin();
  f.event("MODIFIED",
          R"({"metadata":{"name":"a","namespace":"d","uid":"u-2","resourceVersion":"7"}})");
  EXPECT_EQ(f.take(), (Words{"+a@1", "-a@1", "+a@7"}));
  f.event("DELETED", pod("a", 6));  // the older one's end, late
  EXPECT_EQ(f.take(), Words{});
}

TEST(Informers, AServerThatEndsEachWatchAtOnceIsNotCalledWithoutPause) {
  Follower f;
  f.list("", 5);
  for (int i = 0; i < 200; ++i) {
    if (f.transport.last().is_open) f.transport.last().answer(200, "");
    f.loop.advance(milliseconds(100));
  }
  EXPECT_LT(f.transport.calls.size(), 20u);
  // A watch that lasts until the server's time-out is followed by the next at once.
  f.loop.advance(seconds(60));
  f.transport.last().begin();
  f.loop.advance(minutes(5));
  const size_t calls = f.transport.calls.size();
  f.transport.last().end();
  EXPECT_EQ(f.transport.calls.size(), calls + 1);
}

TEST(Informers, ABrokenWatchGoesOnFromTheLastVersion) {
  Follower f;
  f.list(pod("a", 1), 5);
  f.transport.last().begin();
  f.event("MODIFIED", pod("a", 12));
  f.transport.last().callbacks.on_body(R"({"type":"MODIF)");  // half a line is none
  f.transport.last().end(fail(ErrorCode::unavailable, "reset"));
  f.loop.advance(seconds(1));
  EXPECT_EQ(f.transport.last().target,
            "/api/v1/pods?watch=true&allowWatchBookmarks=true&resourceVersion=12");
}

TEST(Sender, HoldsBackWhatIsOverTheBoundAndKeepsOrder) {
  FakeLoop loop;
  HandTransport transport;
  Sender sender(transport, 2);
  std::vector<std::string> done;
  for (const char* name : {"a", "b", "c", "d"}) {
    sender.send(kube::delete_request(kube::Kind::pod, "d", name),
                [&done, name](Result<std::string> r) {
                  done.push_back(fmt::format("{}{}", r ? "+" : "-", name));
                });
  }
  EXPECT_EQ(transport.calls.size(), 2u);
  EXPECT_EQ(sender.waiting(), 2u);
  transport.calls[1].answer(404, "");
  transport.calls[0].answer(200, "{}");
  EXPECT_EQ(transport.calls.size(), 4u);
  EXPECT_EQ(transport.calls[2].target, "/api/v1/namespaces/d/pods/c?propagationPolicy=Background");
  EXPECT_EQ(done, (std::vector<std::string>{"-b", "+a"}));
}

TEST(Sender, AfterStopNothingIsSentAndNothingIsTold) {
  HandTransport transport;
  Sender sender(transport, 1);
  bool was_told = false;
  for (int i = 0; i < 2; ++i) {
    sender.send(kube::delete_request(kube::Kind::pod, "d", "a"),
                [&](Result<std::string>) { was_told = true; });
  }
  sender.stop();
  sender.send(kube::delete_request(kube::Kind::pod, "d", "b"),
              [&](Result<std::string>) { was_told = true; });
  EXPECT_EQ(transport.calls.size(), 1u);
  EXPECT_FALSE(transport.calls[0].is_open);
  EXPECT_FALSE(was_told);
}

TEST(Sender, KnowsWhatWasRefusedFromWhatMayHaveBeenDone) {
  const std::pair<ErrorCode, bool> cases[] = {
      {ErrorCode::conflict, true},  {ErrorCode::not_found, true}, {ErrorCode::forbidden, true},
      {ErrorCode::too_many, true},  {ErrorCode::timeout, false},  {ErrorCode::unavailable, false},
      {ErrorCode::internal, false},
  };
  for (const auto& [code, want] : cases) EXPECT_EQ(is_refused({code, ""}), want) << int(code);
}

// Deletes every pod that it hears of.
class Sweeper : public kube::Reconciler {
 public:
  std::string_view name() const override { return "sweeper"; }
  std::span<const kube::Kind> watches() const override {
    static constexpr kube::Kind kinds[] = {kube::Kind::pod};
    return kinds;
  }
  void keys_of(const kube::Stores&, const kube::AnyChange& change,
               const std::function<void(kube::ObjectKey)>& add) override {
    const auto& metadata = std::get<kube::Change<kube::Pod>>(change).latest().metadata;
    add({metadata.namespace_, metadata.name});
  }
  kube::Actions reconcile(const kube::Stores& stores, const kube::ObjectKey& key, Time,
                          Rng&) override {
    ++looks;
    kube::Actions actions;
    if (stores.get<kube::Pod>().find(key)) {
      actions.requests.push_back(kube::delete_request(kube::Kind::pod, key.ns, key.name));
    }
    return actions;
  }
  int looks = 0;
};

struct RunnerWorld : Follower {
  Sender sender{transport, 8};
  ControllerRunner runner{loop, informers, sender, Rng(2), Log()};
  Sweeper sweeper;
  RunnerWorld() {
    runner.add(sweeper);
    runner.start();
  }
  size_t deletes() const {
    return static_cast<size_t>(std::ranges::count_if(
        transport.calls, [](const auto& call) { return call.request.method == "DELETE"; }));
  }
};

TEST(ControllerRunner, LooksOnlyOnceAllIsListedAndAFailureComesBackLater) {
  RunnerWorld w;
  w.loop.advance(seconds(1));
  EXPECT_EQ(w.sweeper.looks, 0);
  w.list(pod("a", 1), 5);
  w.loop.run_ready();
  EXPECT_EQ(w.deletes(), 1u);
  w.transport.last().answer(503, "");
  w.loop.run_ready();
  EXPECT_EQ(w.deletes(), 1u) << "not at once";
  w.loop.advance(milliseconds(150));
  EXPECT_EQ(w.deletes(), 2u);
  w.transport.last().answer(404, "");  // gone: what was wanted
  w.loop.advance(seconds(60));
  EXPECT_EQ(w.deletes(), 2u);
  EXPECT_TRUE(w.runner.is_idle());
}

TEST(ControllerRunner, AfterStopNothingIsLookedAt) {
  RunnerWorld w;
  w.list(pod("a", 1), 5);
  w.loop.run_ready();
  w.transport.last().answer(503, "");
  w.runner.stop();
  w.loop.advance(seconds(60));
  w.runner.wake(w.sweeper, {"d", "a"});
  w.loop.advance(seconds(60));
  EXPECT_EQ(w.sweeper.looks, 1);
}

TEST(Kubeconfig, ReadsTheChosenContext) {
  const std::string text = R"(
apiVersion: v1
kind: Config
current-context: two
clusters:
- name: c1
  cluster: {server: "https://one:6443", certificate-authority: /ca.pem}
- name: c2
  cluster: {server: "https://two:6443", certificate-authority-data: Y2E=}
users:
- name: token
  user: {token: abc}
- name: cert
  user: {client-certificate-data: Y2VydA==, client-key: /key.pem}
- name: plugin
  user: {exec: {command: aws}}
contexts:
- name: one
  context: {cluster: c1, user: cert, namespace: team}
- name: two
  context: {cluster: c2, user: token}
- name: three
  context: {cluster: c2, user: plugin}
- name: four
  context: {cluster: nowhere, user: token}
)";
  const auto two = parse_kubeconfig(text, "");
  ASSERT_TRUE(two) << two.error().message;
  EXPECT_EQ(two->server, "https://two:6443");
  EXPECT_EQ(two->ca_pem, "ca");
  EXPECT_EQ(two->token, "abc");
  EXPECT_EQ(two->ns, "default");
  const auto one = parse_kubeconfig(text, "one");
  ASSERT_TRUE(one) << one.error().message;
  EXPECT_EQ(one->ca_file, "/ca.pem");
  EXPECT_EQ(one->client_certificate_pem, "cert");
  EXPECT_EQ(one->client_key_file, "/key.pem");
  EXPECT_EQ(one->ns, "team");
  const std::pair<const char*, ErrorCode> wrong[] = {{"three", ErrorCode::unsupported},
                                                     {"four", ErrorCode::not_found},
                                                     {"five", ErrorCode::not_found}};
  for (const auto& [context, code] : wrong) {
    const auto result = parse_kubeconfig(text, context);
    ASSERT_FALSE(result) << context;
    EXPECT_EQ(result.error().code, code) << context;
  }
}

TEST(Kubeconfig, ReadsWhatItWrites) {
  const auto access =
      parse_kubeconfig(kubeconfig_text("https://127.0.0.1:7443", "pem\n", "secret"), "");
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->server, "https://127.0.0.1:7443");
  EXPECT_EQ(access->ca_pem, "pem\n");
  EXPECT_EQ(access->token, "secret");
}

}  // namespace
}  // namespace tau::client
