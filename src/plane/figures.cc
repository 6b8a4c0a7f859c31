#include "plane/figures.h"

#include <map>

#include "kube/reasons.h"
#include "mirror/verdict_text.h"

namespace tau::plane {
namespace {

struct Gathered {
  std::map<std::pair<std::string, MetricLabels>, double> values;
  std::map<std::string, std::string> help;
  void add(const char* name, const char* text, MetricLabels labels, double value) {
    values[{name, std::move(labels)}] += value;
    help[name] = text;
  }
};

void gather_waiting(Gathered& gathered, const mirror::Names& names, const kube::Stores& stores,
                    const engine::View& view) {
  gathered.add("taugrid_pending_workloads", "Workloads and pods that wait.", {},
               static_cast<double>(view.verdicts.size()));
  for (const engine::Verdict& verdict : view.verdicts) {
    if (verdict.blockers.empty()) continue;
    std::string workspace, queue;
    if (verdict.workload.is_some() && verdict.workload.index() < names.workload_names.size()) {
      const mirror::WorkloadName& name = names.workload_names[verdict.workload.index()];
      workspace = name.ns;
      const auto workload = stores.get<kube::Workload>().find(name.ns, name.name);
      if (workload) queue = workload->spec.queue_name;
    } else if (verdict.pod.is_some() && verdict.pod.index() < names.pod_names.size()) {
      workspace = names.pod_names[verdict.pod.index()].ns;
    }
    const std::string word(mirror::reason_word(verdict.blockers.front().reason));
    const kube::ReasonInfo* info = kube::find_reason(word);
    gathered.add("taugrid_pending_reason", "Workloads and pods that wait, by their first blocker.",
                 {{"workspace", workspace},
                  {"queue", queue},
                  {"reason", word},
                  {"who", info == nullptr ? "wait" : std::string(info->who_acts)}},
                 1);
  }
}

void gather_queues(Gathered& gathered, const mirror::Names& names, const engine::View& view) {
  for (const engine::QueueView& queue : view.queues) {
    const std::string& name = names.queues.name(queue.id);
    const auto sum = [](const auto& by_flavor) {
      int64_t gpus = 0;
      for (const auto& [flavor, amounts] : by_flavor) {
        for (const engine::Amount& amount : amounts) {
          if (amount.resource == engine::gpu) gpus += amount.value;
        }
      }
      return static_cast<double>(gpus);
    };
    gathered.add("taugrid_queue_quota_gpus", "GPUs of a queue's own quota.", {{"queue", name}},
                 sum(queue.nominal));
    gathered.add("taugrid_queue_used_gpus", "GPUs of a queue's quota in use.", {{"queue", name}},
                 sum(queue.used));
    gathered.add("taugrid_queue_pending_workloads", "Workloads that wait in a queue.",
                 {{"queue", name}}, queue.pending);
    gathered.add("taugrid_queue_admitted_workloads", "Workloads of a queue that hold quota.",
                 {{"queue", name}}, queue.admitted);
  }
}

void gather_gpus(Gathered& gathered, const mirror::Names& names, const kube::Stores& stores,
                 const engine::View& view) {
  for (const engine::NodeView& seen : view.nodes) {
    const std::string& name = names.nodes.name(seen.id);
    const auto node = stores.get<kube::Node>().find("", name);
    int64_t all = 0, used = 0;
    for (const engine::Amount& amount : seen.allocatable) {
      if (amount.resource == engine::gpu) all = amount.value;
    }
    for (const engine::Amount& amount : seen.used) {
      if (amount.resource == engine::gpu) used = amount.value;
    }
    if (!node || all == 0) continue;
    const auto label = node->metadata.labels.find("nvidia.com/gpu.product");
    const std::string product = label == node->metadata.labels.end() ? "" : label->second;
    const bool is_ready = kube::is_true(node->status.conditions, "Ready");
    const char* rest = !is_ready ? "unknown" : node->spec.unschedulable ? "cordoned" : "free";
    const auto set = [&](const char* state, int64_t count) {
      gathered.add("taugrid_gpus", "GPUs of a node, by what they are doing.",
                   {{"node", name}, {"gpu_product", product}, {"state", state}},
                   static_cast<double>(count));
    };
    set("allocated", std::min(used, all));
    set(rest, std::max<int64_t>(all - used, 0));
  }
}

}  // namespace

void Figures::update(Metrics& metrics, const mirror::Names& names, const kube::Stores& stores,
                     const engine::View& view) {
  Gathered gathered;
  gather_waiting(gathered, names, stores, view);
  gather_queues(gathered, names, view);
  gather_gpus(gathered, names, stores, view);
  std::set<Series> shown;
  for (const auto& [series, value] : gathered.values) {
    metrics.set(series.first, gathered.help[series.first], series.second, value);
    shown.insert(series);
  }
  for (const Series& series : shown_) {
    if (!shown.contains(series)) metrics.remove(series.first, series.second);
  }
  shown_ = std::move(shown);
}

}  // namespace tau::plane
