// The deleting verbs: delete, deletecollection, eviction.
#include <boost/json.hpp>

#include <fmt/format.h>

#include "base/limits.h"
#include "embedded/apiserver/encode.h"
#include "embedded/apiserver/rules.h"
#include "embedded/apiserver/writes.h"
#include "meta/json.h"

namespace tau::apiserver {
namespace {

namespace json = boost::json;
using kube::Kind;
using Reply = std::pair<int, std::string>;

// How long a pod's processes have to end. None to wait for: no node, or they have ended.
int64_t pod_grace(const json::object& pod, const DeleteOptions& options) {
  const std::string_view phase = text_in(pod, "status.phase");
  if (text_in(pod, "spec.nodeName").empty() || phase == "Succeeded" || phase == "Failed") return 0;
  if (options.grace_period_seconds) return *options.grace_period_seconds;
  const json::value* grace = find_in(pod, "spec.terminationGracePeriodSeconds");
  return grace && grace->is_int64() ? grace->get_int64() : limits::termination_grace_s;
}

void set_finalizer(json::object& metadata, std::string_view name, bool is_wanted) {
  json::array kept;
  if (const json::value* list = metadata.if_contains("finalizers"); list && list->is_array()) {
    for (const json::value& item : list->get_array()) {
      if (!item.is_string() || item.get_string() != name) kept.push_back(item);
    }
  }
  if (is_wanted) kept.emplace_back(name);
  if (kept.empty()) {
    metadata.erase("finalizers");
  } else {
    metadata["finalizers"] = std::move(kept);
  }
}

bool namespace_is_held(const json::object& object) {
  const json::value* list = find_in(object, "spec.finalizers");
  return list && list->is_array() && !list->get_array().empty();
}

std::optional<StatusError> check_preconditions(const kube::ResourceInfo& resource,
                                               const StoredObject& current,
                                               const DeleteOptions& options) {
  const std::string& name = current.key.name;
  if (!options.precondition_uid.empty() && options.precondition_uid != current.uid) {
    return conflict(
        resource, name,
        fmt::format("Precondition failed: UID in precondition: {}, UID in object meta: {}",
                    options.precondition_uid, current.uid));
  }
  if (!options.precondition_version.empty() &&
      options.precondition_version != std::to_string(current.revision)) {
    return conflict(resource, name,
                    fmt::format("Precondition failed: ResourceVersion in precondition: {}, "
                                "ResourceVersion in object meta: {}",
                                options.precondition_version, current.revision));
  }
  return std::nullopt;
}

// Sets or shortens the time until the end. True if anything changed.
bool mark_deleting(json::object& object, int64_t grace_s, Time now) {
  json::object& metadata = metadata_of(object);
  const json::value* before = metadata.if_contains("deletionGracePeriodSeconds");
  if (metadata.contains("deletionTimestamp")) {
    const bool is_shorter = before && before->is_int64() && grace_s < before->get_int64();
    if (!is_shorter) return false;
    // From the moment of the first deletion.
    if (const auto end = parse_rfc3339(text_in(metadata, "deletionTimestamp"))) {
      now = *end - seconds(before->get_int64());
    }
  } else if (json::value* generation = metadata.if_contains("generation");
             generation && generation->is_int64()) {
    *generation = generation->get_int64() + 1;
  }
  metadata["deletionTimestamp"] = format_rfc3339(now + seconds(grace_s));
  metadata["deletionGracePeriodSeconds"] = grace_s;
  return true;
}

// A collection's deletion under way: one object after the other.
struct Sweep {
  CallPointer call;
  DeleteOptions options;
  std::vector<ObjectPointer> objects;
  size_t next = 0;
};

void sweep_on(Service& service, const std::shared_ptr<Sweep>& sweep) {
  const kube::ResourceInfo& resource = *sweep->call->route.resource;
  if (sweep->next == sweep->objects.size()) {
    const ListMeta meta{.revision = service.store.revision()};
    return sweep->call->answer(
        200, encode_list(resource, sweep->objects, meta, sweep->call->format, service.loop.now()));
  }
  const ObjectPointer object = sweep->objects[sweep->next++];
  write_object(
      service, resource.kind, object->key, sweep->options.is_dry_run, sweep->call->format,
      [&service, sweep, object](const ObjectPointer& current) {
        return decide_deletion(service, *sweep->call->route.resource, current, object->key.name,
                               sweep->options);
      },
      [&service, sweep](Answer<Reply> reply) {
        if (!reply && reply.error().code != 404) return sweep->call->answer(reply.error());
        service.loop.post([&service, sweep, is_alive = service.store.is_alive()] {
          if (*is_alive) sweep_on(service, sweep);
        });
      });
}

}  // namespace

Answer<Outcome> decide_deletion(Service& service, const kube::ResourceInfo& resource,
                                const ObjectPointer& current, const std::string& name,
                                const DeleteOptions& options) {
  if (current == nullptr) return refuse(not_found(resource, name));
  if (auto bad = check_preconditions(resource, *current, options)) return refuse(std::move(*bad));
  Outcome outcome{.object = std::make_unique<json::object>(parse_object(*current))};
  json::object& object = *outcome.object;
  json::object& metadata = metadata_of(object);
  const std::vector<std::string> before = finalizers_of(object);
  if (!options.propagation.empty()) {
    set_finalizer(metadata, "foregroundDeletion", options.propagation == "Foreground");
    set_finalizer(metadata, "orphan", options.propagation == "Orphan");
  }
  const int64_t grace_s = resource.kind == Kind::pod ? pod_grace(object, options) : 0;
  const bool is_held = !finalizers_of(object).empty() ||
                       (resource.kind == Kind::namespace_ && namespace_is_held(object));
  if (grace_s == 0 && !is_held) {
    outcome.what = Outcome::What::erase;
    // Pods answer with the object that was, everything else with a Status.
    if (resource.kind != Kind::pod) outcome.answer = success_json(&resource, name, current->uid);
    return outcome;
  }
  bool is_changed = mark_deleting(object, grace_s, service.loop.now());
  if (resource.kind == Kind::namespace_) object["status"].as_object()["phase"] = "Terminating";
  is_changed = is_changed || finalizers_of(object) != before;
  outcome.what = is_changed ? Outcome::What::put : Outcome::What::unchanged;
  return outcome;
}

void delete_object(Service& service, CallPointer call) {
  Answer<DeleteOptions> options = take_delete_options(*call);
  if (!options) return call->answer(options.error());
  if (call->route.resource->kind == Kind::namespace_ &&
      (call->route.name == "default" || call->route.name == "kube-system" ||
       call->route.name == "kube-public")) {
    return call->answer(
        forbidden(*call->route.resource, call->route.name, "this namespace may not be deleted"));
  }
  const bool is_dry_run = options->is_dry_run;
  write_object(
      service, call->route.resource->kind, {call->route.ns, call->route.name}, is_dry_run,
      call->format,
      [&service, call, options = std::move(*options)](const ObjectPointer& current) {
        return decide_deletion(service, *call->route.resource, current, call->route.name, options);
      },
      [call](Answer<Reply> reply) {
        if (!reply) return call->answer(reply.error());
        call->answer(reply->first, reply->second);
      });
}

void delete_collection(Service& service, CallPointer call) {
  Answer<DeleteOptions> options = take_delete_options(*call);
  if (!options) return call->answer(options.error());
  const Answer<Filter> filter = parse_filter(call->route, call->url);
  if (!filter) return call->answer(filter.error());
  auto sweep = std::make_shared<Sweep>(Sweep{call, std::move(*options), {}});
  for (const auto& [key, object] : service.store.all(call->route.resource->kind)) {
    if (filter->matches(*object)) sweep->objects.push_back(object);
  }
  sweep_on(service, sweep);
}

void evict_pod(Service& service, CallPointer call) {
  Answer<json::value> body = parse_body(call->request);
  if (!body) return call->answer(body.error());
  DeleteOptions options;
  if (const json::value* given = meta::find_path(*body, "deleteOptions.gracePeriodSeconds");
      given && given->is_int64()) {
    options.grace_period_seconds = std::max<int64_t>(given->get_int64(), 0);
  }
  options.precondition_uid = meta::string_at(*body, "deleteOptions.preconditions.uid");
  options.precondition_version =
      meta::string_at(*body, "deleteOptions.preconditions.resourceVersion");
  const Answer<bool> is_dry_run = takes_dry_run(*call);
  if (!is_dry_run) return call->answer(is_dry_run.error());
  write_object(
      service, Kind::pod, {call->route.ns, call->route.name}, *is_dry_run, call->format,
      [&service, call, options](const ObjectPointer& current) -> Answer<Outcome> {
        Outcome outcome = TRY(
            decide_deletion(service, *call->route.resource, current, call->route.name, options));
        outcome.status = 201;
        outcome.answer = success_json(nullptr, "", "");
        return outcome;
      },
      [call](Answer<Reply> reply) {
        if (!reply) return call->answer(reply.error());
        call->answer(reply->first, reply->second);
      });
}

}  // namespace tau::apiserver
