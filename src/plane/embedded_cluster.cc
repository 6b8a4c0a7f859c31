#include "plane/embedded_cluster.h"

#include "base/limits.h"
#include "client/controller_runner.h"
#include "embedded/controllers/collectors.h"
#include "embedded/controllers/job_controller.h"
#include "embedded/kubelet/log_handler.h"
#include "embedded/kubelet/node_reconciler.h"
#include "embedded/kubelet/pod_reconciler.h"

namespace tau::plane {

struct EmbeddedCluster::Impl {
  Impl(Loop& loop, http::Transport& transport, kubelet::ContainerRuntime& runtime,
       std::vector<kubelet::NodeModel> models, const Log& log,
       const EmbeddedClusterOptions& options)
      : rng(options.seed),
        informers(loop, transport, rng.fork(), log),
        sender(transport, limits::requests_in_flight),
        runner(loop, informers, sender, rng.fork(), log),
        ttl_runner(loop, informers, sender, rng.fork(), log),
        node_life({.grace = options.node_grace, .pod_patience = options.pod_patience}),
        nodes(models),
        pods(runtime, std::move(models)),
        logs(
            runtime, pods,
            [this](const std::string& ns, const std::string& name) {
              return informers.stores().get<kube::Pod>().find(ns, name);
            },
            [&loop] { return loop.now(); }) {
    for (kube::Reconciler* reconciler : std::initializer_list<kube::Reconciler*>{
             &jobs, &collector, &namespaces, &node_life, &nodes, &pods})
      runner.add(*reconciler);
    ttl_runner.add(ttl);
    pods.set_wake([this](kube::ObjectKey key) { runner.wake(pods, std::move(key)); });
  }

  Rng rng;
  client::Informers informers;
  client::Sender sender;
  client::ControllerRunner runner, ttl_runner;
  controllers::JobController jobs;
  controllers::GarbageCollector collector;
  controllers::NamespaceController namespaces;
  controllers::NodeLife node_life;
  controllers::JobTtl ttl;
  kubelet::NodeReconciler nodes;
  kubelet::PodReconciler pods;
  kubelet::LogHandler logs;
};

EmbeddedCluster::EmbeddedCluster(Loop& loop, http::Transport& transport,
                                 kubelet::ContainerRuntime& runtime,
                                 std::vector<kubelet::NodeModel> nodes, Log log,
                                 EmbeddedClusterOptions options)
    : impl_(std::make_unique<Impl>(loop, transport, runtime, std::move(nodes), log, options)) {}
EmbeddedCluster::~EmbeddedCluster() = default;
void EmbeddedCluster::start() {
  impl_->runner.start();
  impl_->informers.when_synced(
      [impl = impl_.get()] { impl->pods.end_orphans(impl->informers.stores()); });
}
void EmbeddedCluster::start_ttl() {
  impl_->ttl_runner.start();
}
http::Handler& EmbeddedCluster::pod_logs() {
  return impl_->logs;
}
bool EmbeddedCluster::is_idle() const {
  return impl_->runner.is_idle() && impl_->ttl_runner.is_idle();
}
void EmbeddedCluster::set_silent(const std::string& node, bool is_silent) {
  impl_->nodes.set_silent(node, is_silent);
  impl_->pods.set_silent(node, is_silent);
}

}  // namespace tau::plane
