#include "plane/ledger_check.h"

#include <fmt/format.h>

#include <bit>
#include <map>

#include "mirror/translate.h"

namespace tau::plane {
namespace {

struct Shown {
  std::map<std::string, int64_t> amounts;  // by resource name
  engine::GpuMask gpus = 0, given_twice = 0;
};

std::map<std::string, Shown> shown_by_pods(const kube::Stores& stores) {
  std::map<std::string, Shown> nodes;
  mirror::Names scratch;  // amounts need an interner that may grow
  for (const auto& [key, pod] : stores.get<kube::Pod>().all()) {
    if (pod->spec.node_name.empty() || pod->status.phase == "Succeeded" ||
        pod->status.phase == "Failed") {
      continue;
    }
    const auto node = stores.get<kube::Node>().find("", pod->spec.node_name);
    if (!node) continue;
    Shown& shown = nodes[pod->spec.node_name];
    for (const engine::Amount& amount : mirror::pod_amounts(scratch, pod->spec)) {
      shown.amounts[scratch.resources.name(amount.resource)] += amount.value;
    }
    const engine::GpuMask mask = mirror::mask_of(*pod, mirror::devices_of(*node));
    shown.given_twice |= shown.gpus & mask;
    shown.gpus |= mask;
  }
  return nodes;
}

std::string difference(const mirror::Names& names, const Shown& shown,
                       const engine::NodeView* counted) {
  if (shown.given_twice != 0) {
    return fmt::format("{} GPUs are given to two pods", std::popcount(shown.given_twice));
  }
  if (counted == nullptr) return "a node with pods is not counted at all";
  if (const engine::GpuMask lost = shown.gpus & ~counted->gpus_used; lost != 0) {
    return fmt::format("{} GPUs in use are counted as free", std::popcount(lost));
  }
  std::map<std::string, int64_t> used;
  for (const engine::Amount& amount : counted->used) {
    used[names.resources.name(amount.resource)] = amount.value;
  }
  for (const auto& [resource, value] : shown.amounts) {
    if (used[resource] < value) {
      return fmt::format("{}: pods use {}, counted are {}", resource, value, used[resource]);
    }
  }
  return {};
}

}  // namespace

std::vector<Drift> check_ledger(const mirror::Names& names, const kube::Stores& stores,
                                const engine::View& view) {
  std::map<std::string, const engine::NodeView*> counted;
  for (const engine::NodeView& node : view.nodes) counted[names.nodes.name(node.id)] = &node;
  std::vector<Drift> found;
  for (const auto& [name, shown] : shown_by_pods(stores)) {
    const auto at = counted.find(name);
    std::string what = difference(names, shown, at == counted.end() ? nullptr : at->second);
    if (!what.empty()) found.push_back({name, std::move(what)});
  }
  return found;
}

}  // namespace tau::plane
