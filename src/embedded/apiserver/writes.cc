#include "embedded/apiserver/writes.h"

#include <boost/json.hpp>

#include <fmt/format.h>

#include "base/check.h"
#include "base/limits.h"
#include "embedded/apiserver/admission.h"
#include "embedded/apiserver/apply.h"
#include "embedded/apiserver/encode.h"
#include "embedded/apiserver/kinds.h"
#include "embedded/apiserver/rules.h"
#include "kube/patch.h"
#include "kube/schema.h"

namespace tau::apiserver {
namespace {

namespace json = boost::json;
using kube::Kind;
using Reply = std::pair<int, std::string>;

// Every write but a deletion ends in this check: what the journal holds is bounded.
std::optional<StatusError> check_size(const json::object& object) {
  const size_t bytes = json::serialize(object).size();
  if (bytes <= limits::object_bytes) return std::nullopt;
  return too_large(fmt::format("the object has {} bytes, more than object_bytes = {}", bytes,
                               limits::object_bytes));
}

Outcome put(json::object object, int status) {
  Outcome outcome{.what = Outcome::What::put, .status = status};
  outcome.object = std::make_unique<json::object>(std::move(object));
  return outcome;
}

std::function<void(Answer<Reply>)> replier(const CallPointer& call) {
  return [call](Answer<Reply> reply) {
    if (!reply) return call->answer(reply.error());
    call->answer(reply->first, reply->second);
  };
}

// ---- create

Answer<json::object> make_new(Service& service, Call& call, json::object object) {
  const kube::ResourceInfo& resource = *call.route.resource;
  if (auto bad = check_identity(call, object)) return refuse(std::move(*bad));
  json::object& metadata = metadata_of(object);
  if (text_in(metadata, "name").empty()) {
    // Upstream's limit: what is longer is cut, so that prefix and suffix stay within 63.
    const std::string prefix(text_in(metadata, "generateName").substr(0, 58));
    std::string name = prefix + make_name_suffix(service.rng);
    for (int tries = 0; tries < 8 && service.store.find(resource.kind, {call.route.ns, name});
         ++tries) {
      name = prefix + make_name_suffix(service.rng);
    }
    metadata["name"] = name;
  }
  call.route.name = text_in(metadata, "name");
  if (auto bad = check_namespace(service, resource, call.route.ns, call.route.name))
    return refuse(std::move(*bad));
  stamp_new(resource, object, service.loop.now(), service.rng);
  if (auto bad = admit_new(service, resource.kind, object)) return refuse(std::move(*bad));
  std::ranges::move(ignored_fields(resource.kind, object), std::back_inserter(call.warnings));
  set_defaults(resource.kind, object);
  prepare_new(resource.kind, object);
  if (auto causes = check_new(resource.kind, object); !causes.empty()) {
    return refuse(invalid(resource, call.route.name, std::move(causes)));
  }
  if (auto bad = check_size(object)) return refuse(std::move(*bad));
  return object;
}

// ---- update and patch

Answer<json::object> apply_patch(const Call& call, const json::value& patch,
                                 const json::object& current) {
  const kube::ResourceInfo& resource = *call.route.resource;
  const std::string type = content_type(call.request);
  json::value target = current;
  if (!call.route.is_stored_version())
    target = to_version(resource.kind, current, call.route.version);
  if (type == "application/json-patch+json") {
    if (!patch.is_array())
      return refuse(bad_request("a JSON patch must be an array of operations"));
    if (auto done = kube::apply_json_patch(target, patch); !done) {
      StatusError error = invalid(resource, call.route.name, {});
      error.message =
          "the server rejected our request due to an error in our request: " + done.error().message;
      return refuse(std::move(error));
    }
  } else {
    if (!patch.is_object()) return refuse(bad_request("the patch must be an object"));
    if (type == "application/merge-patch+json") {
      kube::apply_merge_patch(target, patch);
    } else if (auto done =
                   kube::apply_strategic_patch(target, patch, &kube::schema_of(resource.kind));
               !done) {
      return refuse(bad_request(done.error().message));
    }
  }
  if (!target.is_object()) return refuse(bad_request("the patch leaves no object"));
  return std::move(target.get_object());
}

std::optional<StatusError> check_patch_type(const Call& call) {
  const std::string type = content_type(call.request);
  if (type == "application/json-patch+json" || type == "application/merge-patch+json")
    return std::nullopt;
  const bool is_custom = is_custom_resource(*call.route.resource);
  if (type == "application/strategic-merge-patch+json" && !is_custom) return std::nullopt;
  return unsupported_media(
      fmt::format("the body of the request was in an unknown format - accepted media types "
                  "include: application/json-patch+json, "
                  "application/merge-patch+json, application/apply-patch+yaml{}",
                  is_custom ? "" : ", application/strategic-merge-patch+json"));
}

// ---- apply

std::optional<StatusError> check_apply(const Call& call, const json::object& applied) {
  const auto bad_patch = [&](std::string_view field, std::string message) {
    StatusError error{
        422, "Invalid",
        fmt::format("PatchOptions.meta.k8s.io \"\" is invalid: {}: {}", field, message)};
    error.group = "meta.k8s.io";
    error.kind = "PatchOptions";
    error.causes.push_back({"FieldValueRequired", std::move(message), std::string(field)});
    return error;
  };
  if (call.query("fieldManager").empty()) {
    return bad_patch("fieldManager", "Required value: is required for apply patch");
  }
  if (applied.at("metadata").as_object().contains("managedFields")) {
    return bad_request("metadata.managedFields must be nil");
  }
  const std::string_view name = text_in(applied, "metadata.name");
  if (!name.empty() && name != call.route.name) {
    return bad_request(
        fmt::format("the name of the object ({}) does not match the name on the URL ({})", name,
                    call.route.name));
  }
  return std::nullopt;
}

void apply_patch_object(Service& service, CallPointer call, bool is_dry_run) {
  Answer<json::value> body = parse_body(call->request);
  if (!body) return call->answer(body.error());
  Answer<json::object> applied = take_object(*call, std::move(*body), BodyUse::create_or_update);
  if (!applied) return call->answer(applied.error());
  if (auto bad = check_apply(*call, *applied)) return call->answer(*bad);
  metadata_of(*applied)["name"] = call->route.name;
  auto held = std::make_unique<json::object>(std::move(*applied));
  write_object(
      service, call->route.resource->kind, {call->route.ns, call->route.name}, is_dry_run,
      call->format,
      [&service, call, held = std::move(held)](const ObjectPointer& current) -> Answer<Outcome> {
        const kube::ResourceInfo& resource = *call->route.resource;
        const ApplyOptions options{std::string(call->query("fieldManager")),
                                   kube::api_version(resource), format_rfc3339(service.loop.now()),
                                   is_true(call->query("force"))};
        if (current) {
          const json::object state = parse_object(*current);
          return decide_update(service, *call, state,
                               TRY(apply_object(resource, state, *held, options)));
        }
        if (!call->route.subresource.empty()) return refuse(not_found(resource, call->route.name));
        json::object first = TRY(apply_object(resource, *held, *held, options));
        return put(TRY(make_new(service, *call, std::move(first))), 201);
      },
      replier(call));
}

}  // namespace

void write_object(Service& service, Kind kind, kube::ObjectKey key, bool is_dry_run,
                  const Format& format, Decide decide,
                  std::move_only_function<void(Answer<Reply>)> done) {
  service.store.lock(
      kind, key,
      [&service, kind, key, is_dry_run, format, decide = std::move(decide),
       done = std::move(done)]() mutable {
        const ObjectPointer current = service.store.find(kind, key);
        Answer<Outcome> outcome = decide(current);
        if (!outcome || is_dry_run || outcome->what == Outcome::What::unchanged) {
          service.store.unlock(kind, key);
          if (!outcome) return done(refuse(std::move(outcome.error())));
          const std::string text =
              outcome->answer.empty()
                  ? encode_object(kind, *outcome->object, format, service.loop.now())
                  : std::move(outcome->answer);
          return done(Reply(outcome->status, text));
        }
        std::vector<StoreWrite> writes{
            {kind, key, outcome->object.get(), outcome->what == Outcome::What::erase}};
        json::object account;
        if (kind == Kind::namespace_ && current == nullptr) {
          account = json::object{
              {"kind", "ServiceAccount"},
              {"apiVersion", "v1"},
              {"metadata", json::object{{"name", "default"}, {"namespace", key.name}}}};
          stamp_new(kube::info(Kind::service_account), account, service.loop.now(), service.rng);
          writes.push_back({Kind::service_account, {key.name, "default"}, &account, false});
        }
        service.store.commit(writes, [&service, kind, key, format, status = outcome->status,
                                      answer = std::move(outcome->answer), done = std::move(done)](
                                         Result<std::vector<ObjectPointer>> states) mutable {
          service.store.unlock(kind, key);
          if (!states) return done(refuse(from_error(states.error())));
          done(Reply(status, answer.empty()
                                 ? encode_object(*states->front(), format, service.loop.now())
                                 : std::move(answer)));
        });
      });
}

Answer<Outcome> decide_update(Service& service, const Call& call, const json::object& current,
                              json::object next) {
  const kube::ResourceInfo& resource = *call.route.resource;
  json::object merged = TRY(merge_update(call, current, std::move(next)));
  set_defaults(resource.kind, merged);
  bump_generation(resource, current, merged);
  if (is_same_state(current, merged)) {
    Outcome unchanged = put(current, 200);
    unchanged.what = Outcome::What::unchanged;
    return unchanged;
  }
  if (auto causes = check_change(resource.kind, current, merged, call.route.subresource);
      !causes.empty()) {
    return refuse(invalid(resource, call.route.name, std::move(causes)));
  }
  if (auto bad = check_size(merged)) return refuse(std::move(*bad));
  (void)service;
  // The last finalizer of an object marked for deletion is gone. A pod still waits for its grace to
  // end, a namespace for its own finalizers.
  Outcome outcome = put(std::move(merged), 200);
  const json::object& state = *outcome.object;
  const json::object& metadata = state.at("metadata").as_object();
  const json::value* grace = metadata.if_contains("deletionGracePeriodSeconds");
  const bool has_grace = grace && grace->is_int64() && grace->get_int64() > 0;
  const json::value* held = find_in(state, "spec.finalizers");
  const bool is_held =
      resource.kind == Kind::namespace_ && held && held->is_array() && !held->get_array().empty();
  if (is_deleting(state) && finalizers_of(state).empty() && !has_grace && !is_held)
    outcome.what = Outcome::What::erase;
  return outcome;
}

void create_object(Service& service, CallPointer call) {
  const Answer<bool> is_dry_run = takes_dry_run(*call);
  if (!is_dry_run) return call->answer(is_dry_run.error());
  Answer<json::value> body = parse_body(call->request);
  if (!body) return call->answer(body.error());
  Answer<json::object> object = take_object(*call, std::move(*body), BodyUse::create_or_update);
  if (object) object = make_new(service, *call, std::move(*object));
  if (!object) return call->answer(object.error());
  auto held = std::make_unique<json::object>(std::move(*object));
  write_object(
      service, call->route.resource->kind, {call->route.ns, call->route.name}, *is_dry_run,
      call->format,
      [call, held = std::move(held)](const ObjectPointer& current) mutable -> Answer<Outcome> {
        if (current) return refuse(already_exists(*call->route.resource, call->route.name));
        return put(std::move(*held), 201);
      },
      replier(call));
}

void update_object(Service& service, CallPointer call) {
  const Answer<bool> is_dry_run = takes_dry_run(*call);
  if (!is_dry_run) return call->answer(is_dry_run.error());
  Answer<json::value> body = parse_body(call->request);
  if (!body) return call->answer(body.error());
  Answer<json::object> next = take_object(*call, std::move(*body), BodyUse::create_or_update);
  if (!next) return call->answer(next.error());
  auto held = std::make_unique<json::object>(std::move(*next));
  write_object(
      service, call->route.resource->kind, {call->route.ns, call->route.name}, *is_dry_run,
      call->format,
      [&service, call,
       held = std::move(held)](const ObjectPointer& current) mutable -> Answer<Outcome> {
        if (!current) return refuse(not_found(*call->route.resource, call->route.name));
        return decide_update(service, *call, parse_object(*current), std::move(*held));
      },
      replier(call));
}

void patch_object(Service& service, CallPointer call) {
  const Answer<bool> is_dry_run = takes_dry_run(*call);
  if (!is_dry_run) return call->answer(is_dry_run.error());
  if (content_type(call->request) == "application/apply-patch+yaml") {
    return apply_patch_object(service, std::move(call), *is_dry_run);
  }
  if (auto bad = check_patch_type(*call)) return call->answer(*bad);
  Answer<json::value> body = parse_body(call->request);
  if (!body) return call->answer(body.error());
  auto patch = std::make_unique<json::value>(std::move(*body));
  write_object(
      service, call->route.resource->kind, {call->route.ns, call->route.name}, *is_dry_run,
      call->format,
      [&service, call, patch = std::move(patch)](const ObjectPointer& current) -> Answer<Outcome> {
        if (!current) return refuse(not_found(*call->route.resource, call->route.name));
        const json::object state = parse_object(*current);
        json::object patched = TRY(apply_patch(*call, *patch, state));
        json::object next = TRY(take_object(*call, std::move(patched), BodyUse::patch));
        return decide_update(service, *call, state, std::move(next));
      },
      replier(call));
}

void finalize_namespace(Service& service, CallPointer call) {
  update_object(service, std::move(call));
}

}  // namespace tau::apiserver
