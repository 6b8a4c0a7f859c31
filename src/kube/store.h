// Store<T>: the cached objects of one kind, by namespace and name; Stores: one of each kind.
// Filled by client's informers; read by reconcilers and the mirror. Values are shared immutably by
// pointer.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "kube/resources.h"
#include "kube/types.h"

namespace tau::kube {

struct ObjectKey {
  std::string ns, name;
  auto operator<=>(const ObjectKey&) const = default;
};

template <class T>
class Store {
 public:
  using Pointer = std::shared_ptr<const T>;
  Pointer find(const ObjectKey& key) const {
    const auto found = objects_.find(key);
    return found == objects_.end() ? nullptr : found->second;
  }
  Pointer find(const std::string& ns, const std::string& name) const {
    return find(ObjectKey{ns, name});
  }
  Pointer find_uid(const std::string& uid) const {
    const auto found = by_uid_.find(uid);
    return found == by_uid_.end() ? nullptr : find(found->second);
  }
  // Objects whose controller owner has this uid, in key order.
  std::vector<Pointer> owned_by(const std::string& owner_uid) const {
    std::vector<Pointer> owned;
    if (const auto found = by_owner_.find(owner_uid); found != by_owner_.end()) {
      for (const ObjectKey& key : found->second) owned.push_back(objects_.at(key));
    }
    return owned;
  }
  const std::map<ObjectKey, Pointer>& all() const { return objects_; }
  size_t size() const { return objects_.size(); }
  // True once the first whole list has arrived.
  bool is_synced() const { return is_synced_; }
  void set_synced() { is_synced_ = true; }

  void put(Pointer object) {
    const ObjectKey key{object->metadata.namespace_, object->metadata.name};
    remove(key);
    by_uid_[object->metadata.uid] = key;
    if (const OwnerReference* owner = controller_of(object->metadata))
      by_owner_[owner->uid].insert(key);
    objects_[key] = std::move(object);
  }
  void remove(const ObjectKey& key) {
    const auto found = objects_.find(key);
    if (found == objects_.end()) return;
    const ObjectMeta& metadata = found->second->metadata;
    if (const auto uid = by_uid_.find(metadata.uid); uid != by_uid_.end() && uid->second == key)
      by_uid_.erase(uid);
    if (const OwnerReference* owner = controller_of(metadata)) {
      const auto owned = by_owner_.find(owner->uid);
      if (owned != by_owner_.end()) {
        owned->second.erase(key);
        if (owned->second.empty()) by_owner_.erase(owned);
      }
    }
    objects_.erase(found);
  }

 private:
  std::map<ObjectKey, Pointer> objects_;
  std::map<std::string, ObjectKey> by_uid_;
  std::map<std::string, std::set<ObjectKey>> by_owner_;
  bool is_synced_ = false;
};

class Stores {
 public:
  template <class T>
  const Store<T>& get() const {
    return std::get<Store<T>>(stores_);
  }
  template <class T>
  Store<T>& get() {
    return std::get<Store<T>>(stores_);
  }

 private:
  std::tuple<Store<Namespace>, Store<Node>, Store<Pod>, Store<Event>, Store<ConfigMap>,
             Store<Secret>, Store<ServiceAccount>, Store<PriorityClass>, Store<Lease>, Store<Job>,
             Store<ResourceFlavor>, Store<ClusterQueue>, Store<LocalQueue>, Store<Cohort>,
             Store<WorkloadPriorityClass>, Store<Topology>, Store<Workload>>
      stores_;
};

}  // namespace tau::kube
