#include "cmd/local_views.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/text.h"
#include "control/history_recorder.h"
#include "history/memory_history.h"
#include "http/url.h"
#include "kube/conversion.h"
#include "kube/quantity.h"
#include "kube/reasons.h"
#include "kube/views.h"
#include "meta/fields.h"
#include "meta/json.h"
#include "plane/views.h"

namespace tau::cmd {
namespace json = boost::json;

namespace {

constexpr std::string_view api_version = "view.taugrid.io/v1alpha1";

std::string list_target(kube::Kind kind, std::string_view version, const std::string& ns) {
  const kube::ResourceInfo& info = kube::info(kind);
  std::string target = info.group.empty() ? fmt::format("/api/{}", version)
                                          : fmt::format("/apis/{}/{}", info.group, version);
  if (info.is_namespaced && !ns.empty()) target += "/namespaces/" + http::percent_encode(ns);
  return target + "/" + std::string(info.resource);
}

template <class T>
bool fill(kube::Stores& stores, const Getter& get, const std::string& ns, Failure* why = nullptr) {
  constexpr kube::Kind kind = kube::kind_of<T>;
  const std::string_view preferred = kube::info(kind).version;
  std::string_view version = preferred;
  auto answer = get(list_target(kind, version, ns));
  // An older Kueue serves its older version alone.
  for (const std::string_view other : split(kube::info(kind).other_versions, ',')) {
    if (answer || other.empty()) break;
    version = other;
    answer = get(list_target(kind, version, ns));
  }
  if (!answer) {
    if (why != nullptr) *why = answer.error();
    return false;
  }
  json::value* items = answer->is_object() ? answer->get_object().if_contains("items") : nullptr;
  if (items == nullptr || !items->is_array()) return true;
  for (json::value& item : items->get_array()) {
    if (!item.is_object()) continue;
    if (version != preferred && !kube::convert(kind, item.get_object(), version, preferred))
      continue;
    // An object that cannot be read is left out; the others are shown.
    if (auto object = meta::decode<T>(item))
      stores.get<T>().put(std::make_shared<const T>(std::move(*object)));
  }
  return true;
}

// Why a run waits, as far as the cluster's objects say.
void add_reason(kube::RunView& run, const kube::Stores& stores) {
  if (run.phase != "Queued") return;
  const auto workloads = stores.get<kube::Workload>().owned_by(run.uid);
  kube::BlockerView blocker;
  if (workloads.empty()) {
    blocker.reason = run.queue.empty() ? "USER_HOLD" : "NOT_EVALUATED";
    blocker.message = run.queue.empty() ? "the Job is suspended and in no queue"
                                        : "there is no Workload for the Job yet";
  } else {
    run.workload = workloads[0]->metadata.name;
    run.priority = workloads[0]->spec.priority.value_or(0);
    const kube::Condition* reserved =
        kube::find_condition(workloads[0]->status.conditions, "QuotaReserved");
    if (reserved == nullptr || reserved->status == "True") {
      blocker.reason = "NOT_EVALUATED";
      blocker.message = "the scheduler has not said why";
    } else {
      const kube::ReasonInfo* known = kube::reason_from_kueue(reserved->reason);
      blocker.reason = known == nullptr ? reserved->reason : std::string(known->word);
      blocker.message = reserved->message;
      // TauGrid's own messages begin with the word.
      const size_t colon = blocker.message.find(": ");
      if (colon != std::string::npos &&
          kube::find_reason(blocker.message.substr(0, colon)) != nullptr) {
        blocker.reason = blocker.message.substr(0, colon);
        blocker.message.erase(0, colon + 2);
      }
    }
  }
  run.reason = blocker.reason;
  run.note = blocker.message;
  run.blockers = {std::move(blocker)};
}

template <class T>
json::object encoded(const T& view, std::string_view kind) {
  json::object made{{"apiVersion", api_version}, {"kind", kind}};
  const json::value fields = meta::encode(view);
  for (const auto& [key, value] : fields.as_object()) made[key] = value;
  return made;
}
template <class T>
json::value encoded_list(const std::vector<T>& views, std::string_view kind) {
  json::array items;
  for (const T& view : views) items.push_back(encoded(view, kind));
  return json::object{{"apiVersion", api_version},
                      {"kind", std::string(kind) + "List"},
                      {"items", std::move(items)}};
}

Try<json::value> answer_runs(const history::RunQuery& query, bool is_single, const Getter& get,
                             Time now) {
  kube::Stores stores;
  Failure why;
  if (!fill<kube::Job>(stores, get, query.ns, &why)) return failed(why);
  fill<kube::LocalQueue>(stores, get, query.ns);
  fill<kube::Node>(stores, get, "");
  fill<kube::Workload>(stores, get, query.ns);
  fill<kube::Pod>(stores, get, query.ns);
  control::HistoryRecorder recorder;
  history::MemoryHistory history;
  for (const auto& [key, job] : stores.get<kube::Job>().all())
    recorder.on_change(stores, kube::Change<kube::Job>{nullptr, job}, now);
  for (const auto& [key, workload] : stores.get<kube::Workload>().all())
    recorder.on_change(stores, kube::Change<kube::Workload>{nullptr, workload}, now);
  for (const auto& [key, pod] : stores.get<kube::Pod>().all())
    recorder.on_change(stores, kube::Change<kube::Pod>{nullptr, pod}, now);
  for (const history::RunRecord& run : recorder.take_changed()) {
    if (auto done = history.record(run); !done) return failed(Failure(done.error()));
  }
  const plane::Views views(stores, history, [now] { return now; });
  std::vector<kube::RunView> runs = views.runs(query, true);
  for (kube::RunView& run : runs) add_reason(run, stores);
  if (!is_single) return encoded_list(runs, "Run");
  if (runs.empty())
    return failed(
        Failure(Error{ErrorCode::not_found, fmt::format("run \"{}\" not found in namespace {}",
                                                        query.name_or_id, query.ns)}));
  return encoded(runs.front(), "Run");
}

int64_t amount_of(const std::string& resource, const std::string& text) {
  return (resource == "cpu" ? kube::parse_quantity_milli(text) : kube::parse_quantity(text))
      .value_or(0);
}

// What all nodes together offer: the quota of a queue that follows them.
int64_t total_of(const kube::Stores& stores, const std::string& resource) {
  int64_t total = 0;
  for (const auto& [key, node] : stores.get<kube::Node>().all()) {
    const auto found = node->status.allocatable.find(resource);
    if (found != node->status.allocatable.end()) total += amount_of(resource, found->second);
  }
  return total;
}

// Quotas and their use as the ClusterQueue's own status has them.
std::vector<kube::QueueResourceView> resources_of(const kube::ClusterQueue& queue) {
  std::vector<kube::QueueResourceView> all;
  for (const kube::ResourceGroup& group : queue.spec.resource_groups) {
    for (const kube::FlavorQuotas& flavor : group.flavors) {
      for (const kube::ResourceQuota& quota : flavor.resources) {
        kube::QueueResourceView view{.flavor = flavor.name,
                                     .resource = quota.name,
                                     .nominal = amount_of(quota.name, quota.nominal_quota)};
        for (const kube::FlavorUsage& used : queue.status.flavors_usage) {
          for (const kube::ResourceUsage& resource : used.resources) {
            if (used.name == flavor.name && resource.name == quota.name)
              view.used = amount_of(quota.name, resource.total);
          }
        }
        all.push_back(std::move(view));
      }
    }
  }
  return all;
}

Try<json::value> answer_queues(const Getter& get, Time now) {
  kube::Stores stores;
  Failure why;
  if (!fill<kube::LocalQueue>(stores, get, "", &why)) {
    if (why.exit == ExitCode::not_found)
      return failed(Failure("TG-VIEW-003", ExitCode::not_found, "this cluster has no queues")
                        .because("it serves no kueue.x-k8s.io objects")
                        .fixed_by("kubectl apply --server-side -f deploy/crds/kueue.yaml"));
    return failed(why);
  }
  fill<kube::ClusterQueue>(stores, get, "");
  fill<kube::Node>(stores, get, "");
  const history::MemoryHistory history;
  std::vector<kube::QueueView> queues =
      plane::Views(stores, history, [now] { return now; }).queues();
  for (kube::QueueView& view : queues) {
    const auto queue = stores.get<kube::ClusterQueue>().find("", view.cluster_queue);
    if (queue == nullptr) continue;
    view.resources = resources_of(*queue);
    if (const auto quota = queue->metadata.annotations.find("taugrid.io/quota");
        quota != queue->metadata.annotations.end() && quota->second == "auto") {
      for (kube::QueueResourceView& resource : view.resources)
        resource.nominal = total_of(stores, resource.resource);
    }
    if (view.ns.empty())
      view.pending = queue->status.pending_workloads,
      view.admitted = queue->status.admitted_workloads;
  }
  return encoded_list(queues, "Queue");
}

Try<json::value> answer_nodes(const Getter& get, Time now) {
  kube::Stores stores;
  Failure why;
  if (!fill<kube::Node>(stores, get, "", &why)) return failed(why);
  fill<kube::Pod>(stores, get, "");
  const history::MemoryHistory history;
  return encoded_list(plane::Views(stores, history, [now] { return now; }).nodes(), "Node");
}

}  // namespace

Try<json::value> local_view(const std::string& target, const Getter& get, Time now) {
  const auto url = http::parse_target(target);
  if (!url || url->segments.size() < 4)
    return failed(Failure(Error{ErrorCode::not_found, "no such view: " + target}));
  std::vector<std::string> path(url->segments.begin() + 3, url->segments.end());
  history::RunQuery query{.queue = std::string(url->find("queue").value_or("")),
                          .phase = std::string(url->find("phase").value_or(""))};
  if (path.size() > 2 && path[0] == "namespaces") {
    query.ns = path[1];
    path.erase(path.begin(), path.begin() + 2);
  }
  if (path[0] == "runs" && path.size() > 1) query.name_or_id = path[1];
  if (path[0] == "runs") return answer_runs(query, path.size() > 1, get, now);
  if (path[0] == "queues") return answer_queues(get, now);
  if (path[0] == "nodes") return answer_nodes(get, now);
  return failed(Failure(Error{ErrorCode::not_found, "no such view: " + target}));
}

}  // namespace tau::cmd
