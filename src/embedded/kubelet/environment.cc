#include "embedded/kubelet/environment.h"

#include <fmt/format.h>

#include "base/text.h"
#include "kube/quantity.h"

namespace tau::kubelet {
namespace {

using Env = std::vector<std::pair<std::string, std::string>>;

std::unexpected<Error> missing(std::string message) {
  return fail(ErrorCode::not_found, std::move(message));
}

// $(NAME) of an earlier variable; $$(NAME) stays $(NAME).
std::string expand(const std::string& text, const Env& env) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '$' && i + 1 < text.size() && text[i + 1] == '$') {
      out += '$';
      ++i;
      continue;
    }
    const size_t end = text[i] == '$' && i + 1 < text.size() && text[i + 1] == '('
                           ? text.find(')', i)
                           : std::string::npos;
    if (end == std::string::npos) {
      out += text[i];
      continue;
    }
    const std::string name = text.substr(i + 2, end - i - 2);
    const auto found = std::ranges::find(env, name, &Env::value_type::first);
    out += found == env.end() ? text.substr(i, end - i + 1) : found->second;
    i = end;
  }
  return out;
}

Result<std::string> field_value(const kube::Pod& pod, const std::string& path,
                                const NodeModel& node) {
  const auto subscript = [&](std::string_view prefix,
                             const kube::StringMap& map) -> std::optional<std::string> {
    if (!path.starts_with(prefix) || !path.ends_with("']")) return std::nullopt;
    const auto found = map.find(path.substr(prefix.size(), path.size() - prefix.size() - 2));
    return found == map.end() ? "" : found->second;
  };
  if (path == "metadata.name") return pod.metadata.name;
  if (path == "metadata.namespace") return pod.metadata.namespace_;
  if (path == "metadata.uid") return pod.metadata.uid;
  if (path == "spec.nodeName") return node.name;
  if (path == "spec.serviceAccountName") return pod.spec.service_account_name;
  if (path == "status.podIP" || path == "status.hostIP" || path == "status.podIPs" ||
      path == "status.hostIPs")
    return std::string("127.0.0.1");
  if (const auto label = subscript("metadata.labels['", pod.metadata.labels)) return *label;
  if (const auto annotation = subscript("metadata.annotations['", pod.metadata.annotations))
    return *annotation;
  return missing(fmt::format("fieldRef {} is not supported here", path));
}

Result<std::string> resource_value(const kube::Container& container, const std::string& resource) {
  const size_t dot = resource.find('.');
  const std::string kind = resource.substr(0, dot),
                    name = dot == std::string::npos ? "" : resource.substr(dot + 1);
  const kube::StringMap& amounts =
      kind == "limits" ? container.resources.limits : container.resources.requests;
  const auto found = amounts.find(name);
  if (found == amounts.end()) return std::string("0");
  return std::to_string(kube::parse_quantity(found->second).value_or(0));
}

Result<std::string> key_value(const kube::Stores& stores, const std::string& ns,
                              const kube::KeySelector& key, bool is_secret, bool& is_absent) {
  const char* kind = is_secret ? "secret" : "configmap";
  std::optional<std::string> value;
  bool has_object = false;
  if (is_secret) {
    const auto object = stores.get<kube::Secret>().find(ns, key.name);
    has_object = object != nullptr;
    if (object && object->data.contains(key.key))
      value = base64_decode(object->data.at(key.key)).value_or("");
  } else {
    const auto object = stores.get<kube::ConfigMap>().find(ns, key.name);
    has_object = object != nullptr;
    if (object && object->data.contains(key.key)) value = object->data.at(key.key);
  }
  if (value) return *value;
  is_absent = key.optional;
  if (key.optional) return std::string();
  if (!has_object) return missing(fmt::format("{} \"{}\" not found", kind, key.name));
  return missing(fmt::format("couldn't find key {} in {} {}/{}", key.key, kind, ns, key.name));
}

Result<void> add_env_from(const kube::Stores& stores, const std::string& ns,
                          const kube::EnvFrom& from, Env& env) {
  if (from.config_map) {
    const auto object = stores.get<kube::ConfigMap>().find(ns, *from.config_map);
    if (!object && !from.optional)
      return missing(fmt::format("configmap \"{}\" not found", *from.config_map));
    if (object)
      for (const auto& [key, value] : object->data) env.emplace_back(from.prefix + key, value);
  }
  if (from.secret) {
    const auto object = stores.get<kube::Secret>().find(ns, *from.secret);
    if (!object && !from.optional)
      return missing(fmt::format("secret \"{}\" not found", *from.secret));
    if (object)
      for (const auto& [key, value] : object->data)
        env.emplace_back(from.prefix + key, base64_decode(value).value_or(""));
  }
  return {};
}

void set(Env& env, const std::string& name, std::string value) {
  const auto found = std::ranges::find(env, name, &Env::value_type::first);
  if (found == env.end())
    env.emplace_back(name, std::move(value));
  else
    found->second = std::move(value);
}

Result<Env> environment_of(const kube::Stores& stores, const kube::Pod& pod,
                           const kube::Container& container, const NodeModel& node) {
  Env env;
  for (const kube::EnvFrom& from : container.env_from)
    TRY_VOID(add_env_from(stores, pod.metadata.namespace_, from, env));
  for (const kube::EnvVar& variable : container.env) {
    bool is_absent = false;
    std::string value;
    if (variable.field_path)
      value = TRY(field_value(pod, *variable.field_path, node));
    else if (variable.resource)
      value = TRY(resource_value(container, *variable.resource));
    else if (variable.config_map_key)
      value = TRY(
          key_value(stores, pod.metadata.namespace_, *variable.config_map_key, false, is_absent));
    else if (variable.secret_key)
      value =
          TRY(key_value(stores, pod.metadata.namespace_, *variable.secret_key, true, is_absent));
    else
      value = expand(variable.value, env);
    if (!is_absent) set(env, variable.name, std::move(value));
  }
  return env;
}

Result<Volume> volume_of(const kube::Stores& stores, const kube::Pod& pod,
                         const kube::PodVolume& from) {
  Volume volume{.name = from.name};
  const std::string& ns = pod.metadata.namespace_;
  const auto add_files = [&](const kube::StringMap& data, bool is_base64) {
    volume.kind = Volume::Kind::files;
    for (const auto& [key, value] : data) {
      std::string path = key;
      if (!from.items.empty()) {
        const auto item = std::ranges::find(from.items, key, &kube::KeyToPath::key);
        if (item == from.items.end()) continue;
        path = item->path;
      }
      volume.files.push_back({path, is_base64 ? base64_decode(value).value_or("") : value});
    }
  };
  if (from.config_map) {
    const auto object = stores.get<kube::ConfigMap>().find(ns, *from.config_map);
    if (!object && !from.optional)
      return missing(fmt::format("configmap \"{}\" not found", *from.config_map));
    add_files(object ? object->data : kube::StringMap{}, false);
  } else if (from.secret) {
    const auto object = stores.get<kube::Secret>().find(ns, *from.secret);
    if (!object && !from.optional)
      return missing(fmt::format("secret \"{}\" not found", *from.secret));
    add_files(object ? object->data : kube::StringMap{}, true);
  } else if (from.host_path) {
    volume.kind = Volume::Kind::host_path;
    volume.host_path = *from.host_path;
  } else if (from.is_other) {
    return fail(
        ErrorCode::unsupported,
        fmt::format(
            "volume \"{}\": {} is not supported here; use emptyDir, hostPath, configMap or secret",
            from.name, from.other));
  } else {
    volume.is_memory = from.empty_dir_medium == "Memory";
  }
  return volume;
}

std::vector<std::string> assigned_uuids(const kube::Pod& pod, const std::string& container) {
  std::vector<std::string> uuids;
  const auto found = pod.metadata.annotations.find("taugrid.io/gpus");
  if (found == pod.metadata.annotations.end()) return uuids;
  for (const std::string_view part : split(found->second, ';')) {
    const size_t equals = part.find('=');
    if (equals == std::string_view::npos || part.substr(0, equals) != container) continue;
    for (const std::string_view uuid : split(part.substr(equals + 1), ','))
      uuids.emplace_back(uuid);
  }
  return uuids;
}

}  // namespace

Result<ContainerSpec> container_spec(const kube::Stores& stores, const kube::Pod& pod,
                                     const kube::Container& container, int restart,
                                     const NodeModel& node) {
  ContainerSpec spec{.id = {pod.metadata.uid, container.name, restart},
                     .ns = pod.metadata.namespace_,
                     .pod_name = pod.metadata.name,
                     .node_name = node.name,
                     .image = container.image};
  spec.env = TRY(environment_of(stores, pod, container, node));
  for (const auto* words : {&container.command, &container.args}) {
    for (const std::string& word : *words) spec.argv.push_back(expand(word, spec.env));
  }
  spec.working_dir = container.working_dir;
  for (const kube::PodVolume& volume : pod.spec.volumes) {
    const bool is_mounted = std::ranges::any_of(
        container.volume_mounts, [&](const auto& mount) { return mount.name == volume.name; });
    if (is_mounted) spec.volumes.push_back(TRY(volume_of(stores, pod, volume)));
  }
  for (const kube::VolumeMount& mount : container.volume_mounts)
    spec.mounts.push_back({mount.name, mount.mount_path, mount.sub_path, mount.read_only});
  const auto limit = [&](const char* resource) {
    return container.resources.limits.contains(resource) ? container.resources.limits.at(resource)
                                                         : std::string("0");
  };
  spec.cpu_limit_milli = kube::parse_quantity_milli(limit("cpu")).value_or(0);
  spec.memory_limit_bytes = kube::parse_quantity(limit("memory")).value_or(0);
  for (const std::string& uuid : assigned_uuids(pod, container.name)) {
    const auto gpu = std::ranges::find(node.gpus, uuid, &GpuModel::uuid);
    spec.gpus.push_back(gpu == node.gpus.end() ? GpuModel{.uuid = uuid} : *gpu);
  }
  const auto annotation = [&](const char* name) {
    return pod.metadata.annotations.contains(name) ? pod.metadata.annotations.at(name)
                                                   : std::string();
  };
  if (const std::string duration = annotation("taugrid.io/sim-duration"); !duration.empty()) {
    spec.sim_duration = std::max<Duration>(TRY(parse_duration(duration)), milliseconds(1));
    spec.sim_exit_code =
        static_cast<int>(parse_int(annotation("taugrid.io/sim-exit-code")).value_or(0));
    if (annotation("taugrid.io/sim-failure") == "OOMKilled") spec.sim_exit_code = 137;
  } else if (spec.argv.empty()) {
    return fail(ErrorCode::unsupported,
                "images are not pulled here, so the container needs a command: it runs on the "
                "host's files");
  }
  return spec;
}

}  // namespace tau::kubelet
