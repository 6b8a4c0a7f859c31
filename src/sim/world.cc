#include "sim/world.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/fake_loop.h"
#include "base/text.h"
#include "client/informers.h"
#include "embedded/apiserver/memory_journal.h"
#include "embedded/apiserver/server.h"
#include "embedded/kubelet/fake_runtime.h"
#include "history/memory_history.h"
#include "http/direct_transport.h"
#include "plane/embedded_cluster.h"
#include "plane/plane.h"
#include "sim/faulty_transport.h"

namespace tau::sim {
namespace {

// What stays when the server process is replaced by a new one on the same journal.
class Port : public http::Handler {
 public:
  void set(http::Handler* handler) { handler_ = handler; }
  void handle(const http::Peer& peer, http::Request request,
              std::unique_ptr<http::ResponseSink> sink) override {
    if (handler_ != nullptr) handler_->handle(peer, std::move(request), std::move(sink));
  }

 private:
  http::Handler* handler_ = nullptr;
};

FaultRates draw_rates(Rng& rng) {
  const auto some = [&](double most) { return rng.chance(0.6) ? rng.unit() * most : 0.0; };
  return {.delay = some(0.3),
          .lost_request = some(0.05),
          .lost_answer = some(0.05),
          .refused = some(0.05),
          .conflict = some(0.05),
          .cut_watch = some(0.2),
          .expired_watch = some(0.1)};
}

class World {
 public:
  explicit World(const Options& options) : options_(options), rng_(options.seed) {
    node_count_ = static_cast<int>(rng_.between(1, 6));
    gpus_per_node_ = static_cast<int>(rng_.between(1, 8));
    start_server();
    make_cluster();
    make_plane();
    observer_.listen([this](const kube::AnyChange& change) { on_change(change); });
    for (const kube::Kind kind :
         {kube::Kind::node, kube::Kind::pod, kube::Kind::job, kube::Kind::workload,
          kube::Kind::cluster_queue, kube::Kind::local_queue})
      observer_.follow(kind);
    loop_.advance(seconds(2));
  }
  ~World() {
    plane_.reset();
    cluster_.reset();
  }

  Report run() {
    const FaultRates rates = draw_rates(rng_);
    plane_way_.set_rates(rates);
    cluster_way_.set_rates({.delay = rates.delay,
                            .lost_answer = rates.lost_answer / 2,
                            .refused = rates.refused / 2,
                            .cut_watch = rates.cut_watch / 2});
    const Time end = loop_.now() + options_.length;
    while (loop_.now() < end && report_.violations.empty()) {
      act();
      advance(milliseconds(rng_.between(100, 8000)));
    }
    calm();
    report_.faults += plane_way_.counts().spoiled() + cluster_way_.counts().spoiled();
    report_.log_hash = fnv1a(report_.log);
    return std::move(report_);
  }

 private:
  void start_server() {
    server_ = std::make_unique<apiserver::Server>(loop_, journal_, rng_.fork(), Log(),
                                                  apiserver::Options{});
    CHECK(server_->start().has_value());
    port_.set(server_.get());
    if (cluster_) server_->set_pod_logs(&cluster_->pod_logs());
    if (plane_) server_->set_views(&plane_->views());
  }
  void make_cluster() {
    auto models = kubelet::parse_nodes(fmt::format("{}x{}xH100", node_count_, gpus_per_node_));
    CHECK(models.has_value());
    cluster_ = std::make_unique<plane::EmbeddedCluster>(
        loop_, cluster_way_, runtime_, *models, Log(),
        plane::EmbeddedClusterOptions{.seed = rng_.next(), .pod_patience = seconds(60)});
    cluster_->start();
    server_->set_pod_logs(&cluster_->pod_logs());
    for (const std::string& node : lost_) cluster_->set_silent(node, true);
  }
  void make_plane() {
    plane_ = std::make_unique<plane::Plane>(
        loop_, plane_way_, history_, Log(),
        plane::PlaneOptions{.is_embedded = true, .seed = rng_.next()});
    plane_->when_ready([this] {
      if (cluster_) cluster_->start_ttl();  // else the next one starts it
    });
    plane_->start();
    server_->set_views(&plane_->views());
  }

  void note(const std::string& line) {
    report_.log += fmt::format("{} {}\n", format_rfc3339_micros(loop_.now()), line);
  }

  void on_change(const kube::AnyChange& change) {
    ++report_.events;
    std::visit(
        [&]<class T>(const kube::Change<T>& c) {
          const auto& m = c.latest().metadata;
          if constexpr (std::is_same_v<T, kube::Workload>) {
            const auto is_preempted = [](const auto& workload) {
              return workload && kube::is_true(workload->status.conditions, "Preempted");
            };
            if (is_preempted(c.now) && !is_preempted(c.old)) ++report_.preemptions;
          }
          if constexpr (!std::is_same_v<T, kube::Lease>)
            note(fmt::format("{} {}/{} {} {}", kube::info(kube::kind_of<T>).singular, m.namespace_,
                             m.name, c.now ? "is" : "gone", m.resource_version));
        },
        change);
    is_dirty_ = true;
  }

  void advance(Duration by) {
    const Time end = loop_.now() + by;
    while (loop_.now() < end) {
      loop_.advance(std::min<Duration>(milliseconds(100), end - loop_.now()));
      if (!std::exchange(is_dirty_, false)) continue;
      for (std::string& violation : check_always(observer_.stores())) fail(std::move(violation));
      if (const auto runs = history_.query({.limit = 1'000'000})) {
        for (std::string& violation : terminal_.observe(*runs)) fail(std::move(violation));
      }
    }
  }
  void fail(std::string violation) {
    if (report_.violations.size() < 5)
      report_.violations.push_back(
          fmt::format("{}: {}", format_rfc3339_micros(loop_.now()), violation));
  }

  std::string node_name() {
    return fmt::format("sim-{}", rng_.below(static_cast<uint64_t>(node_count_)));
  }

  void act() {
    if (!has_priorities_) make_priorities();
    switch (rng_.below(12)) {
      case 0:
        lose_or_return();
        break;
      case 1:
        restart_plane();
        break;
      case 2:
        restart_server();
        break;
      case 3:
        restart_cluster();
        break;
      case 4:
        cancel();
        break;
      default:
        submit();
        break;
    }
  }

  // The more urgent may push out the less urgent, as soon as the queue is there to say so.
  void make_priorities() {
    for (int value = 0; value < 3; ++value)
      send(
          "POST", "/apis/kueue.x-k8s.io/v1beta2/workloadpriorityclasses", "application/json",
          fmt::format(
              R"({{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"WorkloadPriorityClass","metadata":{{"name":"p{0}"}},"value":{0}}})",
              value));
    send("PATCH", "/apis/kueue.x-k8s.io/v1beta2/clusterqueues/default",
         "application/merge-patch+json",
         R"({"spec":{"preemption":{"withinClusterQueue":"LowerPriority"}}})");
  }
  void send(std::string method, std::string target, std::string type, std::string body) {
    http::send_whole(clean_way_,
                     {.method = std::move(method),
                      .target = std::move(target),
                      .headers = {{"Content-Type", std::move(type)}},
                      .body = std::move(body)},
                     Duration(0), [this](Result<http::Response> answer) {
                       has_priorities_ = answer && answer->status < 300;
                     });
  }

  void submit() {
    const int64_t pods = rng_.between(1, 4), gpus = rng_.between(0, gpus_per_node_);
    const std::string name = fmt::format("job-{}", report_.jobs++);
    const bool is_failing = rng_.chance(0.15);
    const std::string body = fmt::format(
        R"({{"apiVersion":"batch/v1","kind":"Job","metadata":{{"name":"{0}","labels":{{"kueue.x-k8s.io/priority-class":"p{7}"}}}},"spec":{{"parallelism":{1},"completions":{1},"backoffLimit":{2}{3},"template":{{"metadata":{{"annotations":{{"taugrid.io/sim-duration":"{4}s","taugrid.io/sim-exit-code":"{5}"}}}},"spec":{{"restartPolicy":"Never","containers":[{{"name":"main","image":"x","command":["true"],"resources":{{"requests":{{"cpu":"1","nvidia.com/gpu":"{6}"}},"limits":{{"nvidia.com/gpu":"{6}"}}}}}}]}}}}}}}})",
        name, pods, rng_.between(0, 3), rng_.chance(0.3) ? R"(,"ttlSecondsAfterFinished":20)" : "",
        rng_.between(1, 60), is_failing ? 1 : 0, gpus, rng_.below(3));
    note("submit " + name);
    http::Request request{.method = "POST",
                          .target = "/apis/batch/v1/namespaces/default/jobs",
                          .headers = {{"Content-Type", "application/json"}},
                          .body = body};
    http::send_whole(clean_way_, std::move(request), Duration(0),
                     [this](Result<http::Response> answer) {
                       if (!answer || answer->status != 201) return;
                       const size_t at = answer->body.find("\"uid\":\"");
                       if (at != std::string::npos)
                         submitted_.insert(answer->body.substr(at + 7, 36));
                     });
  }
  void cancel() {
    if (report_.jobs == 0) return;
    const std::string name = fmt::format("job-{}", rng_.below(static_cast<uint64_t>(report_.jobs)));
    note("cancel " + name);
    http::send_whole(clean_way_,
                     {.method = "DELETE",
                      .target = "/apis/batch/v1/namespaces/default/jobs/" + name +
                                "?propagationPolicy=Background"},
                     Duration(0), [](Result<http::Response>) {});
  }
  void lose_or_return() {
    const std::string node = node_name();
    ++report_.faults;
    if (lost_.erase(node) > 0) {
      note("return " + node);
      cluster_->set_silent(node, false);
      return;
    }
    note("lose " + node);
    lost_.insert(node);
    cluster_->set_silent(node, true);
    runtime_.lose_node(node);
  }
  void restart_plane() {
    ++report_.faults;
    note("restart plane");
    plane_.reset();
    server_->set_views(nullptr);
    advance(milliseconds(rng_.between(0, 3000)));
    make_plane();
  }
  void restart_cluster() {
    ++report_.faults;
    note("restart cluster");
    server_->set_pod_logs(nullptr);
    cluster_.reset();
    advance(milliseconds(rng_.between(0, 3000)));
    make_cluster();
    plane_->when_ready([this] {
      if (cluster_) cluster_->start_ttl();
    });
  }
  void restart_server() {
    ++report_.faults;
    note("restart server");
    port_.set(nullptr);
    plane_way_.set_down(true);
    cluster_way_.set_down(true);
    observer_way_.set_down(true);
    server_->stop();
    loop_.run_ready();
    server_.reset();
    start_server();
    for (FaultyTransport* way : {&plane_way_, &cluster_way_, &observer_way_}) way->set_down(false);
  }

  // No more faults; every node comes back; then nothing may stay undone.
  void calm() {
    if (!report_.violations.empty()) return;
    note("calm");
    plane_way_.set_rates({});
    cluster_way_.set_rates({});
    for (const std::string& node : std::exchange(lost_, {})) cluster_->set_silent(node, false);
    Violations wrong;
    for (int i = 0; i < 120; ++i) {
      advance(seconds(30));
      if (!report_.violations.empty()) return;
      wrong = check_quiet({.stores = observer_.stores(),
                           .history = history_,
                           .submitted_uids = submitted_,
                           .cancelled_uids = {}});
      const bool has_live =
          std::ranges::any_of(observer_.stores().get<kube::Job>().all(), [](const auto& entry) {
            return !kube::is_true(entry.second->status.conditions, "Complete") &&
                   !kube::is_true(entry.second->status.conditions, "Failed");
          });
      if (wrong.empty() && (!has_live || i > 80)) break;
    }
    for (std::string& violation : wrong) fail(std::move(violation));
    for (const auto& [id, times] : runtime_.starts()) {
      if (times > 1)
        fail(fmt::format("container {} of pod {} was started {} times", id.container, id.pod_uid,
                         times));
    }
  }

  Options options_;
  Rng rng_;
  Report report_;
  int node_count_ = 1, gpus_per_node_ = 1;
  FakeLoop loop_;
  apiserver::MemoryJournal journal_{loop_};
  Port port_;
  std::unique_ptr<apiserver::Server> server_;
  http::DirectTransport clean_way_{loop_, port_};
  FaultyTransport plane_way_{loop_, clean_way_, rng_.fork()},
      cluster_way_{loop_, clean_way_, rng_.fork()}, observer_way_{loop_, clean_way_, rng_.fork()};
  kubelet::FakeRuntime runtime_{loop_, seconds(5)};
  history::MemoryHistory history_;
  client::Informers observer_{loop_, observer_way_, rng_.fork(), Log()};
  std::unique_ptr<plane::EmbeddedCluster> cluster_;
  std::unique_ptr<plane::Plane> plane_;
  std::set<std::string> submitted_, lost_;
  TerminalRecords terminal_;
  bool is_dirty_ = false, has_priorities_ = false;
};

}  // namespace

Report simulate(const Options& options) {
  return World(options).run();
}

}  // namespace tau::sim
