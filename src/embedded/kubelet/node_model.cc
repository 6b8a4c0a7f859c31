#include "embedded/kubelet/node_model.h"

#include <fmt/format.h>

#include <array>
#include <boost/json.hpp>

#include "base/text.h"
#include "kube/quantity.h"
#include "meta/fields.h"
#include "meta/yaml.h"

namespace tau::kubelet {
namespace json = boost::json;

namespace {

constexpr int64_t gib = int64_t{1} << 30;

struct KnownGpu {
  std::string_view model, product;
  int64_t memory_bytes;
};
constexpr std::array<KnownGpu, 12> known_gpus{{
    {"H100", "NVIDIA-H100-80GB-HBM3", 80 * gib},
    {"H200", "NVIDIA-H200", 141 * gib},
    {"B200", "NVIDIA-B200", 180 * gib},
    {"GH200", "NVIDIA-GH200-480GB", 96 * gib},
    {"A100", "NVIDIA-A100-SXM4-80GB", 80 * gib},
    {"A100-40GB", "NVIDIA-A100-SXM4-40GB", 40 * gib},
    {"A10", "NVIDIA-A10", 24 * gib},
    {"L40S", "NVIDIA-L40S", 48 * gib},
    {"L4", "NVIDIA-L4", 24 * gib},
    {"V100", "Tesla-V100-SXM2-32GB", 32 * gib},
    {"T4", "Tesla-T4", 16 * gib},
    {"P100", "Tesla-P100-PCIE-16GB", 16 * gib},
}};

Result<KnownGpu> find_gpu(std::string_view model) {
  std::vector<std::string_view> names;
  for (const KnownGpu& gpu : known_gpus) {
    if (to_lower(gpu.model) == to_lower(model)) return gpu;
    names.push_back(gpu.model);
  }
  const auto near = nearest(model, names);
  std::string all;
  for (const std::string_view name : names) all += (all.empty() ? "" : ", ") + std::string(name);
  return fail(ErrorCode::invalid,
              fmt::format("unknown GPU model \"{}\"{}; known are {}", model,
                          near ? fmt::format(" (did you mean {}?)", *near) : "", all));
}

std::string simulated_uuid(std::string_view node, int index) {
  const uint64_t hash = fnv1a(node);
  return fmt::format("GPU-51300000-{:04x}-{:04x}-{:04x}-{:08x}{:04x}", hash >> 48 & 0xffff,
                     hash >> 32 & 0xffff, hash >> 16 & 0xffff, hash & 0xffffffff, index);
}

Result<NodeModel> make_node(int number, int gpus, std::string_view model) {
  NodeModel node{.name = fmt::format("sim-{}", number), .is_simulated = true};
  if (gpus < 0 || gpus > 64)
    return fail(ErrorCode::invalid, fmt::format("{} GPUs on one node: 0 to 64 are possible", gpus));
  node.labels = {{"kubernetes.io/hostname", node.name},
                 {"kubernetes.io/arch", "amd64"},
                 {"kubernetes.io/os", "linux"},
                 {"taugrid.io/simulated", "true"}};
  // 16 cores and 128 GiB per GPU, and a little more: about what such machines have.
  node.cpu_milli = gpus == 0 ? 32'000 : 16'000 * gpus;
  node.memory_bytes = gpus == 0 ? 128 * gib : 128 * gib * gpus;
  if (gpus == 0) return node;
  const KnownGpu known = TRY(find_gpu(model));
  node.labels["nvidia.com/gpu.product"] = known.product;
  node.labels["nvidia.com/gpu.count"] = std::to_string(gpus);
  node.labels["nvidia.com/gpu.memory"] = std::to_string(known.memory_bytes >> 20);
  for (int i = 0; i < gpus; ++i)
    node.gpus.push_back(
        {simulated_uuid(node.name, i), std::string(known.product), known.memory_bytes});
  return node;
}

Result<std::vector<NodeModel>> parse_short(std::string_view text) {
  std::vector<NodeModel> nodes;
  for (const std::string_view group : split(text, ',')) {
    const auto parts = split(trim(group), 'x');
    const auto bad = [&] {
      return fail(ErrorCode::invalid,
                  fmt::format("\"{}\" does not describe nodes; write COUNTxGPUSxMODEL such as "
                              "2x8xH100, or COUNTx0 for nodes without GPUs",
                              trim(group)));
    };
    if (parts.size() < 2 || parts.size() > 3) return bad();
    const auto count = parse_int(parts[0]), gpus = parse_int(parts[1]);
    if (!count || !gpus || *count < 0 || *count > 100'000 || (*gpus > 0) != (parts.size() == 3))
      return bad();
    for (int64_t i = 0; i < *count; ++i)
      nodes.push_back(TRY(make_node(static_cast<int>(nodes.size()), static_cast<int>(*gpus),
                                    parts.size() == 3 ? parts[2] : "")));
  }
  return nodes;
}

struct Group {
  int64_t count = 1, gpus = 0, pods = 110;
  std::string model, rack, block, nvlink_domain, cpu, memory;
  kube::StringMap labels;
  std::vector<kube::Taint> taints;
};

}  // namespace
}  // namespace tau::kubelet

namespace tau::meta {
template <>
const TypeInfo& type_of<kubelet::Group>() {
  using kubelet::Group;
  static const TypeInfo type = table(
      "nodes[]", "Equal simulated nodes.",
      {field<&Group::count>("count", "How many."), field<&Group::gpus>("gpus", "GPUs of each."),
       field<&Group::model>("model", "GPU model, such as H100."),
       field<&Group::rack>("rack", "Label taugrid.io/rack."),
       field<&Group::block>("block", "Label taugrid.io/block."),
       field<&Group::nvlink_domain>("nvlinkDomain", "Label nvidia.com/gpu.clique."),
       field<&Group::cpu>("cpu", "CPU of each.", {.type = quantity_type}),
       field<&Group::memory>("memory", "Memory of each.", {.type = quantity_type}),
       field<&Group::pods>("pods", "Most pods of each."),
       field<&Group::labels>("labels", "Further labels."),
       field<&Group::taints>("taints", "Taints.")});
  return type;
}
}  // namespace tau::meta

namespace tau::kubelet {
namespace {

Result<std::vector<NodeModel>> parse_file(std::string_view text) {
  const auto documents = TRY(meta::parse_yaml(text));
  std::vector<NodeModel> nodes;
  for (const auto& document : documents) {
    const json::object* root = document.if_object();
    const json::value* groups = root == nullptr ? nullptr : root->if_contains("nodes");
    if (groups == nullptr || !groups->is_array())
      return fail(ErrorCode::invalid, "a file of nodes needs a list \"nodes\"");
    for (const json::value& item : groups->get_array()) {
      const json::object* object = item.if_object();
      if (object == nullptr)
        return fail(ErrorCode::invalid, fmt::format("nodes[{}] must be an object", nodes.size()));
      for (const auto& [key, value] : *object) {
        if (meta::type_of<Group>().find(key) != nullptr) continue;
        std::vector<std::string_view> names;
        for (const auto& field : meta::type_of<Group>().fields) names.push_back(field.name);
        const auto near = nearest(key, names);
        return fail(ErrorCode::invalid,
                    fmt::format("unknown key \"{}\" in nodes[]{}", std::string_view(key),
                                near ? fmt::format(" (did you mean {}?)", *near) : ""));
      }
      const Group group = TRY(meta::decode<Group>(item));
      if (group.count < 0 || group.count > 100'000)
        return fail(ErrorCode::invalid, fmt::format("count {} is not 0 to 100000", group.count));
      for (int64_t i = 0; i < group.count; ++i) {
        NodeModel node = TRY(
            make_node(static_cast<int>(nodes.size()), static_cast<int>(group.gpus), group.model));
        if (!group.cpu.empty()) node.cpu_milli = TRY(kube::parse_quantity_milli(group.cpu));
        if (!group.memory.empty()) node.memory_bytes = TRY(kube::parse_quantity(group.memory));
        node.max_pods = group.pods;
        if (!group.rack.empty()) node.labels["taugrid.io/rack"] = group.rack;
        if (!group.block.empty()) node.labels["taugrid.io/block"] = group.block;
        if (!group.nvlink_domain.empty())
          node.labels["nvidia.com/gpu.clique"] = group.nvlink_domain;
        for (const auto& [key, value] : group.labels) node.labels[key] = value;
        node.taints = group.taints;
        nodes.push_back(std::move(node));
      }
    }
  }
  return nodes;
}

}  // namespace

Result<std::vector<NodeModel>> parse_nodes(std::string_view text) {
  if (trim(text).empty()) return std::vector<NodeModel>{};
  return text.find(':') == std::string_view::npos ? parse_short(text) : parse_file(text);
}

}  // namespace tau::kubelet
