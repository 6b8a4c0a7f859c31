// ObjectStore: the embedded server's state. What is read here is durable: a write becomes visible,
// and its event is told, only when the journal has it. Objects are kept as JSON text, with the few
// values that lists and watches select by. Writes to one key are made one after the other (`lock`),
// so each is computed from the state that it will replace. The history of events is a ring, bounded
// in number and bytes.
#pragma once

#include <boost/json/fwd.hpp>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/loop.h"
#include "embedded/apiserver/journal.h"
#include "kube/resources.h"
#include "kube/store.h"

namespace tau::apiserver {

struct StoredObject {
  kube::Kind kind = kube::Kind::pod;
  kube::ObjectKey key;
  std::string uid;
  int64_t revision = 0;
  std::string text;  // JSON in the stored version, resourceVersion included
  kube::StringMap labels;
  std::vector<std::string> fields;  // values of selectable_fields(kind)
};
using ObjectPointer = std::shared_ptr<const StoredObject>;

// JSON paths that field selectors of a kind may name, beside metadata.name and metadata.namespace.
std::span<const std::string_view> selectable_fields(kube::Kind kind);

// A change that has become durable. `old` is null for a creation. For a deletion `now` is the last
// state, with the revision of the deletion.
struct StoreEvent {
  int64_t revision = 0;
  ObjectPointer old, now;
  bool is_deletion = false;
};

struct StoreWrite {
  kube::Kind kind;
  kube::ObjectKey key;
  boost::json::object* object = nullptr;  // commit() sets its resourceVersion
  bool is_deletion = false;
};

class ObjectStore {
 public:
  using Objects = std::map<kube::ObjectKey, ObjectPointer>;
  struct Limits {
    size_t events;
    size_t bytes;
  };
  ObjectStore(Loop& loop, Journal& journal, Limits limits);
  // The journal and the loop may outlive the store: what they still have to tell it is then
  // dropped.
  ~ObjectStore() { *is_alive_ = false; }
  std::shared_ptr<const bool> is_alive() const { return is_alive_; }

  // Reads the journal. Rows that are not understood are an error: nothing is dropped silently.
  Result<void> start();

  ObjectPointer find(kube::Kind kind, const kube::ObjectKey& key) const;
  const Objects& all(kube::Kind kind) const { return objects_[static_cast<size_t>(kind)]; }
  int64_t revision() const { return revision_; }       // of the last durable change
  int64_t oldest_revision() const { return oldest_; }  // watches may resume from it and later
  // The objects of a kind, in one namespace or all (""), as they were at a revision in the history.
  std::vector<ObjectPointer> at(kube::Kind kind, const std::string& ns, int64_t revision) const;
  // The first event after `revision`, or null; events stay valid until the next change.
  const StoreEvent* next_event(int64_t revision) const;

  // Runs `task` when no other write of that key is under way; the key is then held until unlock().
  void lock(kube::Kind kind, const kube::ObjectKey& key, Task task);
  void unlock(kube::Kind kind, const kube::ObjectKey& key);
  // Makes all writes durable, or none. `done` comes after they are visible, with the new states in
  // order.
  void commit(const std::vector<StoreWrite>& writes,
              std::move_only_function<void(Result<std::vector<ObjectPointer>>)> done);
  // Told of each change once it is durable, in order of revision.
  void set_listener(std::function<void(const StoreEvent&)> listener) {
    listener_ = std::move(listener);
  }

 private:
  struct Pending {
    std::vector<StoreEvent> events;
    std::move_only_function<void(Result<std::vector<ObjectPointer>>)> done;
    std::optional<Result<void>> result;
  };
  using LockKey = std::pair<kube::Kind, kube::ObjectKey>;
  void finish_pending();
  void apply(StoreEvent event);
  void trim_history();

  Loop& loop_;
  Journal& journal_;
  Limits limits_;
  std::vector<Objects> objects_;
  std::deque<StoreEvent> history_;
  size_t history_bytes_ = 0;
  int64_t revision_ = 0;
  int64_t last_given_ = 0;  // revisions given to writes under way, too
  int64_t oldest_ = 0;
  std::deque<std::shared_ptr<Pending>> pending_;
  std::map<LockKey, std::deque<Task>> locks_;
  std::function<void(const StoreEvent&)> listener_;
  std::shared_ptr<bool> is_alive_ = std::make_shared<bool>(true);
};

// "<group>/<resource>/<namespace>/<name>"
std::string journal_key(kube::Kind kind, const kube::ObjectKey& key);

}  // namespace tau::apiserver
