#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/text.h"
#include "embedded/controllers/collectors.h"

namespace tau::controllers {
namespace json = boost::json;
using kube::Kind;

namespace {

constexpr Kind kinds[] = {Kind::pod,        Kind::job,    Kind::workload,
                          Kind::config_map, Kind::secret, Kind::local_queue,
                          Kind::node,       Kind::lease,  Kind::cluster_queue};

// Runs `visit` on the store of a kind that may own or be owned.
template <class Visit>
auto with_store(const kube::Stores& stores, Kind kind, Visit visit) {
  switch (kind) {
    case Kind::pod:
      return visit(stores.get<kube::Pod>());
    case Kind::job:
      return visit(stores.get<kube::Job>());
    case Kind::workload:
      return visit(stores.get<kube::Workload>());
    case Kind::config_map:
      return visit(stores.get<kube::ConfigMap>());
    case Kind::secret:
      return visit(stores.get<kube::Secret>());
    case Kind::local_queue:
      return visit(stores.get<kube::LocalQueue>());
    case Kind::node:
      return visit(stores.get<kube::Node>());
    case Kind::lease:
      return visit(stores.get<kube::Lease>());
    default:
      return visit(stores.get<kube::ClusterQueue>());
  }
}

kube::ObjectKey key_for(Kind kind, const kube::ObjectMeta& metadata) {
  return {fmt::format("{}/{}", static_cast<int>(kind), metadata.namespace_), metadata.name};
}

const kube::ObjectMeta* find_metadata(const kube::Stores& stores, Kind kind, const std::string& ns,
                                      const std::string& name) {
  return with_store(stores, kind, [&](const auto& store) -> const kube::ObjectMeta* {
    const auto found = store.find(ns, name);
    return found ? &found->metadata : nullptr;
  });
}

// Unknown kinds of owner are taken to be there: what cannot be seen is no reason to delete.
const kube::ObjectMeta* find_owner(const kube::Stores& stores, const kube::OwnerReference& owner,
                                   bool& is_known) {
  const kube::ResourceInfo* resource = kube::find_kind(owner.api_version, owner.kind);
  is_known = resource != nullptr && std::ranges::find(kinds, resource->kind) != std::end(kinds);
  if (!is_known) return nullptr;
  return with_store(stores, resource->kind, [&](const auto& store) -> const kube::ObjectMeta* {
    const auto found = store.find_uid(owner.uid);
    return found ? &found->metadata : nullptr;
  });
}

bool waits_for_dependents(const kube::ObjectMeta& owner) {
  return owner.deletion_timestamp &&
         std::ranges::find(owner.finalizers, "foregroundDeletion") != owner.finalizers.end();
}

template <class Visit>
void each_dependent(const kube::Stores& stores, const std::string& owner_uid, Visit visit) {
  for (const Kind kind : kinds) {
    with_store(stores, kind, [&](const auto& store) {
      for (const auto& [key, object] : store.all()) {
        for (const kube::OwnerReference& owner : object->metadata.owner_references) {
          if (owner.uid == owner_uid) visit(kind, object->metadata, owner);
        }
      }
      return 0;
    });
  }
}

kube::ApiRequest without_finalizer(Kind kind, const kube::ObjectMeta& metadata,
                                   std::string_view gone) {
  json::array left;
  for (const std::string& finalizer : metadata.finalizers) {
    if (finalizer != gone) left.push_back(json::value(finalizer));
  }
  const json::object patch{
      {"metadata", json::object{{"finalizers", std::move(left)},
                                {"resourceVersion", metadata.resource_version}}}};
  return kube::merge_patch(kind, metadata.namespace_, metadata.name, json::serialize(patch));
}

}  // namespace

std::span<const Kind> GarbageCollector::watches() const {
  return kinds;
}

void GarbageCollector::keys_of(const kube::Stores& stores, const kube::AnyChange& change,
                               const std::function<void(kube::ObjectKey)>& add) {
  std::visit(
      [&]<class T>(const kube::Change<T>& c) {
        const kube::ObjectMeta& metadata = c.latest().metadata;
        const bool is_leaving = !c.now || metadata.deletion_timestamp;
        if (c.now && (!metadata.owner_references.empty() || metadata.deletion_timestamp))
          add(key_for(kube::kind_of<T>, metadata));
        if (is_leaving) {
          each_dependent(stores, metadata.uid,
                         [&](Kind kind, const kube::ObjectMeta& dependent,
                             const kube::OwnerReference&) { add(key_for(kind, dependent)); });
        }
        if (!c.now) {  // an owner may have waited for just this one
          for (const kube::OwnerReference& owner : metadata.owner_references) {
            const kube::ResourceInfo* resource = kube::find_kind(owner.api_version, owner.kind);
            if (resource != nullptr)
              add({fmt::format("{}/{}", static_cast<int>(resource->kind),
                               resource->is_namespaced ? metadata.namespace_ : ""),
                   owner.name});
          }
        }
      },
      change);
}

kube::Actions GarbageCollector::reconcile(const kube::Stores& stores, const kube::ObjectKey& key,
                                          Time, Rng&) {
  kube::Actions actions;
  const size_t slash = key.ns.find('/');
  const auto number = parse_int(std::string_view(key.ns).substr(0, slash));
  if (!number || *number < 0 || *number >= kube::kind_count) return actions;
  const Kind kind = static_cast<Kind>(*number);
  const std::string ns = key.ns.substr(slash + 1);
  const kube::ObjectMeta* metadata = find_metadata(stores, kind, ns, key.name);
  if (metadata == nullptr) return actions;
  // As an owner on its way out: hold on, or let go.
  if (metadata->deletion_timestamp) {
    const auto has = [&](std::string_view finalizer) {
      return std::ranges::find(metadata->finalizers, finalizer) != metadata->finalizers.end();
    };
    if (has("orphan")) {
      each_dependent(
          stores, metadata->uid,
          [&](Kind dependent_kind, const kube::ObjectMeta& dependent, const kube::OwnerReference&) {
            json::array left;
            for (const kube::OwnerReference& owner : dependent.owner_references) {
              if (owner.uid == metadata->uid) continue;
              left.push_back(json::object{{"apiVersion", owner.api_version},
                                          {"kind", owner.kind},
                                          {"name", owner.name},
                                          {"uid", owner.uid},
                                          {"controller", owner.controller},
                                          {"blockOwnerDeletion", owner.block_owner_deletion}});
            }
            const json::object patch{
                {"metadata", json::object{{"ownerReferences", std::move(left)}}}};
            actions.requests.push_back(kube::merge_patch(dependent_kind, dependent.namespace_,
                                                         dependent.name, json::serialize(patch)));
          });
      actions.requests.push_back(without_finalizer(kind, *metadata, "orphan"));
      return actions;
    }
    if (has("foregroundDeletion")) {
      bool is_blocked = false;
      each_dependent(stores, metadata->uid,
                     [&](Kind, const kube::ObjectMeta&, const kube::OwnerReference& owner) {
                       is_blocked |= owner.block_owner_deletion;
                     });
      if (!is_blocked)
        actions.requests.push_back(without_finalizer(kind, *metadata, "foregroundDeletion"));
    }
    return actions;
  }
  // As a dependent: gone if every owner is.
  bool has_owner = metadata->owner_references.empty();
  bool is_foreground = false;
  for (const kube::OwnerReference& owner : metadata->owner_references) {
    bool is_known = false;
    const kube::ObjectMeta* found = find_owner(stores, owner, is_known);
    if (found != nullptr && waits_for_dependents(*found))
      is_foreground = true;
    else if (!is_known || found != nullptr)
      has_owner = true;
  }
  if (has_owner) return actions;
  kube::ApiRequest request =
      kube::delete_request(kind, ns, key.name, is_foreground ? "Foreground" : "Background");
  request.body =
      json::serialize(json::object{{"kind", "DeleteOptions"},
                                   {"apiVersion", "v1"},
                                   {"preconditions", json::object{{"uid", metadata->uid}}}});
  actions.requests.push_back(std::move(request));
  return actions;
}

}  // namespace tau::controllers
