// POST .../pods/{name}/binding: gives a pod its node, once.
#include <boost/json.hpp>

#include <fmt/format.h>

#include "embedded/apiserver/encode.h"
#include "embedded/apiserver/rules.h"
#include "embedded/apiserver/writes.h"
#include "meta/json.h"

namespace tau::apiserver {
namespace {

namespace json = boost::json;
using kube::Kind;

void set_scheduled(json::object& pod, Time now) {
  json::value& status = pod["status"];
  if (!status.is_object()) status = json::object();
  json::value& conditions = status.get_object()["conditions"];
  if (!conditions.is_array()) conditions = json::array();
  json::object scheduled{{"type", "PodScheduled"},
                         {"status", "True"},
                         {"lastProbeTime", nullptr},
                         {"lastTransitionTime", format_rfc3339(now)}};
  for (json::value& item : conditions.get_array()) {
    if (item.is_object() && text_in(item.get_object(), "type") == "PodScheduled") {
      item = std::move(scheduled);
      return;
    }
  }
  conditions.get_array().push_back(std::move(scheduled));
}

Answer<Outcome> decide_binding(Service& service, const Call& call, const ObjectPointer& current,
                               const json::value& body) {
  const kube::ResourceInfo& pods = *call.route.resource;
  const std::string& name = call.route.name;
  if (current == nullptr) return refuse(not_found(pods, name));
  const auto cannot = [&](std::string_view why) {
    StatusError error = conflict(pods, name, why);
    error.message =
        fmt::format("Operation cannot be fulfilled on pods/binding \"{}\": {}", name, why);
    error.kind = "pods/binding";
    return refuse(std::move(error));
  };
  const std::string_view uid = meta::string_at(body, "metadata.uid");
  if (!uid.empty() && uid != current->uid) {
    return cannot(fmt::format(
        "Precondition failed: UID in precondition: {}, UID in object meta: {}", uid, current->uid));
  }
  Outcome outcome{.status = 201, .answer = success_json(nullptr, "", "")};
  outcome.object = std::make_unique<json::object>(parse_object(*current));
  json::object& pod = *outcome.object;
  json::object& spec = pod["spec"].as_object();
  if (is_deleting(pod))
    return cannot(fmt::format("pod {} is being deleted, cannot be assigned to a host", name));
  if (const std::string_view node = text_in(spec, "nodeName"); !node.empty()) {
    return cannot(fmt::format("pod {} is already assigned to node \"{}\"", name, node));
  }
  if (const json::value* gates = spec.if_contains("schedulingGates");
      gates && gates->is_array() && !gates->get_array().empty()) {
    return cannot(fmt::format("pod {} has non-empty .spec.schedulingGates", name));
  }
  spec["nodeName"] = meta::string_at(body, "target.name");
  for (const std::string_view key : {"annotations", "labels"}) {
    const json::value* given = meta::find_path(body, fmt::format("metadata.{}", key));
    if (given == nullptr || !given->is_object()) continue;
    json::value& held = metadata_of(pod)[key];
    if (!held.is_object()) held = json::object();
    for (const auto& [member, value] : given->get_object()) {
      if (value.is_string()) held.get_object()[member] = value;
    }
  }
  set_scheduled(pod, service.loop.now());
  return outcome;
}

}  // namespace

void bind_pod(Service& service, CallPointer call) {
  Answer<json::value> body = parse_body(call->request);
  if (!body) return call->answer(body.error());
  const std::string_view kind = meta::string_at(*body, "target.kind"),
                         node = meta::string_at(*body, "target.name");
  if (!kind.empty() && kind != "Node") {
    return call->answer(
        invalid(*call->route.resource, call->route.name,
                {{"FieldValueNotSupported",
                  fmt::format("Unsupported value: \"{}\": supported values: \"Node\"", kind),
                  "target.kind"}}));
  }
  if (node.empty()) {
    return call->answer(invalid(*call->route.resource, call->route.name,
                                {{"FieldValueRequired", "Required value", "target.name"}}));
  }
  const Answer<bool> is_dry_run = takes_dry_run(*call);
  if (!is_dry_run) return call->answer(is_dry_run.error());
  auto held = std::make_unique<json::value>(std::move(*body));
  write_object(
      service, Kind::pod, {call->route.ns, call->route.name}, *is_dry_run, call->format,
      [&service, call, held = std::move(held)](const ObjectPointer& current) {
        return decide_binding(service, *call, current, *held);
      },
      [call](Answer<std::pair<int, std::string>> reply) {
        if (!reply) return call->answer(reply.error());
        call->answer(reply->first, reply->second);
      });
}

}  // namespace tau::apiserver
