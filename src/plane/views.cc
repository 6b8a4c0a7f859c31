#include "plane/views.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/text.h"
#include "http/url.h"
#include "kube/quantity.h"
#include "meta/fields.h"
#include "mirror/verdict_text.h"

namespace tau::plane {
namespace json = boost::json;

namespace {

constexpr std::string_view api_version = "view.taugrid.io/v1alpha1";

void respond_json(http::ResponseSink& sink, int status, const json::object& body) {
  http::respond(sink, status, "application/json", json::serialize(body));
}

void respond_error(http::ResponseSink& sink, int status, const char* reason,
                   const std::string& message) {
  respond_json(sink, status,
               {{"kind", "Status"},
                {"apiVersion", "v1"},
                {"metadata", json::object()},
                {"status", "Failure"},
                {"message", message},
                {"reason", reason},
                {"code", status}});
}

template <class T>
json::object with_kind(const T& view, std::string_view kind) {
  json::object made{{"apiVersion", api_version}, {"kind", kind}};
  const json::value encoded = meta::encode(view);
  for (const auto& [key, value] : encoded.as_object()) made[key] = value;
  return made;
}

template <class T>
void respond_list(http::ResponseSink& sink, const std::vector<T>& views, std::string_view kind) {
  json::array items;
  for (const T& view : views) items.push_back(with_kind(view, kind));
  respond_json(sink, 200,
               {{"apiVersion", api_version},
                {"kind", std::string(kind) + "List"},
                {"items", std::move(items)}});
}

bool is_terminal(const std::string& phase) {
  return phase == "Succeeded" || phase == "Failed" || phase == "Cancelled";
}

}  // namespace

void Views::take(const mirror::Names& names, const engine::View& view, Time evaluated) {
  evaluated_ = evaluated;
  blockers_.clear();
  for (const engine::Verdict& verdict : view.verdicts) {
    std::vector<kube::BlockerView> blockers;
    for (const engine::Blocker& blocker : verdict.blockers)
      blockers.push_back(mirror::blocker_view(names, blocker));
    if (verdict.workload.is_some() && verdict.workload.index() < names.workload_names.size()) {
      blockers_[names.workload_names[verdict.workload.index()].uid] = std::move(blockers);
    } else if (verdict.pod.is_some() && verdict.pod.index() < names.pod_names.size()) {
      blockers_[names.pod_names[verdict.pod.index()].uid] = std::move(blockers);
    }
  }
  queue_use_.clear();
  for (const engine::QueueView& queue : view.queues) {
    QueueUse& use = queue_use_[names.queues.name(queue.id)];
    use.pending = queue.pending;
    use.admitted = queue.admitted;
    for (size_t f = 0; f < queue.nominal.size(); ++f) {
      const auto& [flavor, nominal] = queue.nominal[f];
      for (const engine::Amount& amount : nominal) {
        kube::QueueResourceView resource{.flavor = names.flavors.name(flavor),
                                         .resource = names.resources.name(amount.resource),
                                         .nominal = amount.value};
        for (const engine::Amount& used : queue.used[f].second) {
          if (used.resource == amount.resource) resource.used = used.value;
        }
        use.resources.push_back(std::move(resource));
      }
    }
  }
}

kube::RunView Views::run_view(const history::RunRecord& r) const {
  kube::RunView run{.id = r.id,
                    .uid = r.uid,
                    .kind = r.kind,
                    .ns = r.ns,
                    .name = r.name,
                    .queue = r.queue,
                    .cluster_queue = r.cluster_queue,
                    .phase = r.phase,
                    .reason = r.reason,
                    .note = r.message};
  run.gpus = r.gpus_requested;
  run.pods = r.pods_requested;
  run.created = r.submitted;
  run.admitted = r.admitted;
  run.started = r.started;
  run.ended = r.ended;
  run.deleted = r.deleted;
  std::set<std::string> nodes;
  int64_t running = 0;
  for (const history::PodRecord& p : r.pods) {
    kube::PodView pod{.name = p.name,
                      .uid = p.uid,
                      .node = p.node,
                      .phase = p.phase,
                      .reason = p.reason,
                      .attempt = p.attempt,
                      .gpus = p.gpu_uuids,
                      .gpu_product = p.gpu_product,
                      .created = p.created,
                      .bound = p.bound,
                      .started = p.started,
                      .ended = p.ended};
    if (p.exit_code) pod.exit_code = *p.exit_code;
    if (p.signal) pod.signal = *p.signal;
    if (!p.gpu_product.empty()) run.gpu_product = p.gpu_product;
    const bool is_current = is_terminal(r.phase) || !p.ended;
    if (!p.node.empty() && is_current) nodes.insert(p.node);
    if (p.phase == "Running" && !p.ended) ++running;
    run.pod_list.push_back(std::move(pod));
  }
  run.nodes.assign(nodes.begin(), nodes.end());
  if (!is_terminal(r.phase)) run.pods_running = running;
  for (const history::AttemptRecord& a : r.attempts) {
    run.attempts.push_back({.number = a.number,
                            .outcome = a.outcome,
                            .reason = a.reason,
                            .message = a.message,
                            .admitted = a.admitted,
                            .started = a.started,
                            .ended = a.ended});
  }
  return run;
}

void Views::add_live(kube::RunView& run) const {
  if (is_terminal(run.phase)) return;
  const auto workloads = stores_.get<kube::Workload>().owned_by(run.uid);
  if (workloads.empty()) return;
  run.workload = workloads[0]->metadata.name;
  run.priority = workloads[0]->spec.priority.value_or(0);
  if (run.phase != "Queued") {
    run.health = "Unknown";  // nothing measures the GPUs yet
    return;
  }
  const auto found = blockers_.find(workloads[0]->metadata.uid);
  if (found == blockers_.end()) return;
  run.blockers = found->second;
  run.evaluated = evaluated_;
  if (!run.blockers.empty()) {
    run.reason = run.blockers[0].reason;
    run.note = run.blockers[0].message;
  }
  run.position = 1;
  for (const kube::BlockerView& blocker : run.blockers) {
    if (blocker.position) run.position = blocker.position;
  }
}

std::vector<kube::RunView> Views::runs(const history::RunQuery& query, bool with_history) const {
  std::vector<kube::RunView> views;
  const auto records = history_.query(query);
  if (!records) return views;
  for (const history::RunRecord& record : *records) {
    // Without history: what still has its object.
    if (!with_history && record.deleted) continue;
    views.push_back(run_view(record));
    add_live(views.back());
  }
  return views;
}

std::vector<kube::QueueView> Views::queues() const {
  std::vector<kube::QueueView> views;
  for (const auto& [key, queue] : stores_.get<kube::ClusterQueue>().all()) {
    kube::QueueView view{
        .name = key.name, .cluster_queue = key.name, .strategy = queue->spec.queueing_strategy};
    view.is_stopped = !queue->spec.stop_policy.empty() && queue->spec.stop_policy != "None";
    if (const auto use = queue_use_.find(key.name); use != queue_use_.end()) {
      view.pending = use->second.pending;
      view.admitted = use->second.admitted;
      view.resources = use->second.resources;
    }
    views.push_back(std::move(view));
  }
  for (const auto& [key, local] : stores_.get<kube::LocalQueue>().all()) {
    kube::QueueView view{.ns = key.ns,
                         .name = key.name,
                         .cluster_queue = local->cluster_queue,
                         .pending = local->status.pending_workloads,
                         .admitted = local->status.admitted_workloads};
    if (const auto use = queue_use_.find(local->cluster_queue); use != queue_use_.end())
      view.resources = use->second.resources;
    views.push_back(std::move(view));
  }
  return views;
}

std::vector<kube::NodeView> Views::nodes() const {
  std::map<std::string, kube::NodeView> views;
  for (const auto& [key, node] : stores_.get<kube::Node>().all()) {
    kube::NodeView view{
        .name = key.name,
        .state = kube::is_true(node->status.conditions, "Ready") ? "Ready" : "NotReady"};
    if (node->spec.unschedulable) view.state += ",Cordoned";
    const auto label = [&](const char* name) {
      const auto found = node->metadata.labels.find(name);
      return found == node->metadata.labels.end() ? std::string() : found->second;
    };
    view.gpu_product = label("nvidia.com/gpu.product");
    view.is_simulated = label("taugrid.io/simulated") == "true";
    const auto amount = [&](const char* resource, bool is_milli) -> std::optional<int64_t> {
      const auto found = node->status.allocatable.find(resource);
      if (found == node->status.allocatable.end()) return std::nullopt;
      const auto value = is_milli ? kube::parse_quantity_milli(found->second)
                                  : kube::parse_quantity(found->second);
      return value ? std::optional(*value) : std::nullopt;
    };
    view.cpu_milli = amount("cpu", true);
    view.memory_bytes = amount("memory", false);
    view.gpus = amount("nvidia.com/gpu", false);
    view.cpu_milli_used = view.memory_bytes_used = view.pods = 0;
    if (view.gpus) view.gpus_used = 0;
    views.emplace(key.name, std::move(view));
  }
  for (const auto& [key, pod] : stores_.get<kube::Pod>().all()) {
    const auto at = views.find(pod->spec.node_name);
    if (at == views.end() || pod->status.phase == "Succeeded" || pod->status.phase == "Failed")
      continue;
    kube::NodeView& view = at->second;
    ++*view.pods;
    for (const kube::Container& container : pod->spec.containers) {
      for (const auto& [resource, text] : container.resources.requests) {
        if (resource == "cpu")
          *view.cpu_milli_used += kube::parse_quantity_milli(text).value_or(0);
        else if (resource == "memory")
          *view.memory_bytes_used += kube::parse_quantity(text).value_or(0);
        else if (resource == "nvidia.com/gpu")
          view.gpus_used = view.gpus_used.value_or(0) + kube::parse_quantity(text).value_or(0);
      }
    }
    const kube::OwnerReference* owner = kube::controller_of(pod->metadata);
    const std::string run = owner == nullptr ? pod->metadata.name : owner->name;
    if (std::ranges::find(view.runs, run) == view.runs.end()) view.runs.push_back(run);
  }
  std::vector<kube::NodeView> list;
  for (auto& [name, view] : views) list.push_back(std::move(view));
  return list;
}

void Views::answer_runs(http::ResponseSink& sink, const history::RunQuery& query, bool with_history,
                        bool is_single) const {
  const std::vector<kube::RunView> found = runs(query, with_history || is_single);
  if (!is_single) {
    respond_list(sink, found, "Run");
    return;
  }
  if (found.empty()) {
    respond_error(sink, 404, "NotFound",
                  fmt::format("run \"{}\" not found in namespace {}", query.name_or_id, query.ns));
    return;
  }
  // A name may have been used before: the newest is meant.
  respond_json(sink, 200, with_kind(found.front(), "Run"));
}

void Views::handle(const http::Peer&, http::Request request,
                   std::unique_ptr<http::ResponseSink> sink) {
  const auto url = http::parse_target(request.target);
  if (!url || url->segments.size() < 4) {
    respond_error(*sink, 404, "NotFound", "the server could not find the requested resource");
    return;
  }
  if (request.method != "GET") {
    respond_error(*sink, 405, "MethodNotAllowed", "view.taugrid.io is read-only");
    return;
  }
  std::vector<std::string> path(url->segments.begin() + 3, url->segments.end());
  history::RunQuery query;
  const auto parameter = [&](std::string_view key) {
    return std::string(url->find(key).value_or(""));
  };
  query.phase = parameter("phase");
  query.queue = parameter("queue");
  if (const auto limit = parse_int(parameter("limit")); limit && *limit > 0)
    query.limit = static_cast<int>(std::min<int64_t>(*limit, 100'000));
  const bool with_history = parameter("history") == "true";
  if (path.size() >= 2 && path[0] == "namespaces") {
    query.ns = path[1];
    path.erase(path.begin(), path.begin() + 2);
  }
  if (path.size() == 1 && path[0] == "runs") {
    answer_runs(*sink, query, with_history, false);
  } else if (path.size() == 2 && path[0] == "runs") {
    query.name_or_id = path[1];
    answer_runs(*sink, query, true, true);
  } else if (path.size() == 1 && path[0] == "queues") {
    respond_list(*sink, queues(), "Queue");
  } else if (path.size() == 1 && path[0] == "nodes") {
    respond_list(*sink, nodes(), "Node");
  } else {
    respond_error(*sink, 404, "NotFound", "view.taugrid.io has runs, queues and nodes");
  }
}

}  // namespace tau::plane
