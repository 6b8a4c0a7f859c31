#include "embedded/apiserver/store.h"

#include <boost/json.hpp>

#include <fmt/format.h>

#include "base/check.h"
#include "base/limits.h"
#include "base/text.h"
#include "embedded/apiserver/rules.h"

namespace tau::apiserver {
namespace {

namespace json = boost::json;
using kube::Kind;

// The text of a value for a field selector: what Go's fmt would print.
std::string field_text(const json::value* value) {
  if (value == nullptr || value->is_null()) return "";
  if (const json::string* text = value->if_string()) return std::string(*text);
  if (value->is_primitive()) return json::serialize(*value);
  return "";
}

// Fields whose absence means false to a selector.
bool is_boolean_field(std::string_view path) {
  return path == "spec.unschedulable" || path == "spec.hostNetwork";
}

ObjectPointer make_stored(Kind kind, const kube::ObjectKey& key, const json::object& object,
                          int64_t revision, std::string text) {
  auto stored = std::make_shared<StoredObject>();
  stored->kind = kind;
  stored->key = key;
  stored->revision = revision;
  stored->text = std::move(text);
  stored->uid = field_text(find_in(object, "metadata.uid"));
  if (const json::value* labels = find_in(object, "metadata.labels");
      labels && labels->is_object()) {
    for (const auto& [name, value] : labels->get_object())
      stored->labels[name] = field_text(&value);
  }
  for (const std::string_view path : selectable_fields(kind)) {
    std::string value = field_text(find_in(object, path));
    if (path == "source") value = field_text(find_in(object, "source.component"));
    if (path == "status.successful") value = field_text(find_in(object, "status.succeeded"));
    if (value.empty() && path == "status.successful") value = "0";
    if (value.empty() && is_boolean_field(path)) value = "false";
    stored->fields.push_back(std::move(value));
  }
  return stored;
}

// The journal's key back to kind and key; nullopt if no kind is stored so.
std::optional<std::pair<Kind, kube::ObjectKey>> parse_journal_key(std::string_view text) {
  const auto parts = split(text, '/');
  if (parts.size() != 4) return std::nullopt;
  const kube::ResourceInfo* resource = kube::find_resource(parts[0], parts[1]);
  if (resource == nullptr) return std::nullopt;
  return std::pair(resource->kind, kube::ObjectKey{std::string(parts[2]), std::string(parts[3])});
}

}  // namespace

std::span<const std::string_view> selectable_fields(Kind kind) {
  static constexpr std::string_view pod[] = {"spec.nodeName",
                                             "status.phase",
                                             "spec.restartPolicy",
                                             "spec.schedulerName",
                                             "spec.serviceAccountName",
                                             "spec.hostNetwork",
                                             "status.podIP",
                                             "status.nominatedNodeName"};
  static constexpr std::string_view event[] = {"involvedObject.kind",
                                               "involvedObject.namespace",
                                               "involvedObject.name",
                                               "involvedObject.uid",
                                               "involvedObject.apiVersion",
                                               "involvedObject.resourceVersion",
                                               "involvedObject.fieldPath",
                                               "reason",
                                               "reportingComponent",
                                               "source",
                                               "type"};
  static constexpr std::string_view node[] = {"spec.unschedulable"};
  static constexpr std::string_view secret[] = {"type"};
  static constexpr std::string_view name_space[] = {"status.phase"};
  static constexpr std::string_view job[] = {"status.successful"};
  switch (kind) {
    case Kind::pod:
      return pod;
    case Kind::event:
      return event;
    case Kind::node:
      return node;
    case Kind::secret:
      return secret;
    case Kind::namespace_:
      return name_space;
    case Kind::job:
      return job;
    default:
      return {};
  }
}

std::string journal_key(Kind kind, const kube::ObjectKey& key) {
  const kube::ResourceInfo& resource = kube::info(kind);
  return fmt::format("{}/{}/{}/{}", resource.group, resource.resource, key.ns, key.name);
}

ObjectStore::ObjectStore(Loop& loop, Journal& journal, Limits limits)
    : loop_(loop), journal_(journal), limits_(limits), objects_(kube::kind_count) {}

Result<void> ObjectStore::start() {
  std::optional<Error> failure;
  const auto take_row = [&](JournalRow row) {
    if (failure) return;
    const auto key = parse_journal_key(row.key);
    boost::system::error_code code;
    json::value value;
    if (key) value = json::parse(row.value, code);
    if (!key || code || !value.is_object()) {
      failure = Error{
          ErrorCode::internal,
          fmt::format("the journal's row {} is not an object that this version knows", row.key)};
      return;
    }
    objects_[static_cast<size_t>(key->first)][key->second] = make_stored(
        key->first, key->second, value.get_object(), row.revision, std::move(row.value));
  };
  const int64_t last = TRY(journal_.replay(take_row));
  if (failure) return std::unexpected(*failure);
  // Revision 0 means "any" in the protocol, so the empty store stands at 1.
  revision_ = last_given_ = oldest_ = std::max<int64_t>(last, 1);
  return {};
}

ObjectPointer ObjectStore::find(Kind kind, const kube::ObjectKey& key) const {
  const Objects& objects = all(kind);
  const auto found = objects.find(key);
  return found == objects.end() ? nullptr : found->second;
}

std::vector<ObjectPointer> ObjectStore::at(Kind kind, const std::string& ns,
                                           int64_t revision) const {
  CHECK(revision >= oldest_ && revision <= revision_);
  const Objects& objects = all(kind);
  // What changed since then, by the first change: its `old` is the state that is asked for.
  std::map<kube::ObjectKey, ObjectPointer> undone;
  for (const StoreEvent* event = next_event(revision); event != nullptr;
       event = next_event(event->revision)) {
    if (event->now->kind == kind && (ns.empty() || event->now->key.ns == ns)) {
      undone.emplace(event->now->key, event->old);
    }
  }
  std::vector<ObjectPointer> result;
  auto change = undone.begin();
  const auto take_changes_before = [&](const kube::ObjectKey* limit) {
    for (; change != undone.end() && (limit == nullptr || change->first < *limit); ++change) {
      if (change->second) result.push_back(change->second);
    }
  };
  auto it = ns.empty() ? objects.begin() : objects.lower_bound(kube::ObjectKey{ns, ""});
  for (; it != objects.end() && (ns.empty() || it->first.ns == ns); ++it) {
    take_changes_before(&it->first);
    if (change != undone.end() && change->first == it->first) {
      if (change->second) result.push_back(change->second);
      ++change;
    } else {
      result.push_back(it->second);
    }
  }
  take_changes_before(nullptr);
  return result;
}

const StoreEvent* ObjectStore::next_event(int64_t revision) const {
  const auto next =
      std::upper_bound(history_.begin(), history_.end(), revision,
                       [](int64_t r, const StoreEvent& event) { return r < event.revision; });
  return next == history_.end() ? nullptr : &*next;
}

void ObjectStore::lock(Kind kind, const kube::ObjectKey& key, Task task) {
  const auto [found, is_free] = locks_.try_emplace({kind, key});
  if (is_free) {
    task();
  } else {
    found->second.push_back(std::move(task));
  }
}

void ObjectStore::unlock(Kind kind, const kube::ObjectKey& key) {
  const auto found = locks_.find({kind, key});
  CHECK(found != locks_.end());
  if (found->second.empty()) {
    locks_.erase(found);
    return;
  }
  Task next = std::move(found->second.front());
  found->second.pop_front();
  // Posted, so that a long queue does not become deep recursion.
  loop_.post([next = std::move(next), is_alive = is_alive()]() mutable {
    if (*is_alive) next();
  });
}

void ObjectStore::commit(const std::vector<StoreWrite>& writes,
                         std::move_only_function<void(Result<std::vector<ObjectPointer>>)> done) {
  auto pending = std::make_shared<Pending>();
  pending->done = std::move(done);
  std::vector<JournalWrite> rows;
  for (const StoreWrite& write : writes) {
    const int64_t revision = ++last_given_;
    json::object& object = *write.object;
    json::value& metadata = object["metadata"];
    CHECK(metadata.is_object());
    metadata.get_object()["resourceVersion"] = std::to_string(revision);
    StoreEvent event{revision, find(write.kind, write.key), nullptr, write.is_deletion};
    event.now = make_stored(write.kind, write.key, object, revision, json::serialize(object));
    std::optional<std::string> value;
    if (!write.is_deletion) value = event.now->text;
    rows.push_back({journal_key(write.kind, write.key), revision, std::move(value)});
    pending->events.push_back(std::move(event));
  }
  pending_.push_back(pending);
  journal_.append(std::move(rows), [this, pending, is_alive = is_alive()](Result<void> result) {
    if (!*is_alive) return;
    pending->result = std::move(result);
    finish_pending();
  });
}

void ObjectStore::finish_pending() {
  while (!pending_.empty() && pending_.front()->result) {
    const std::shared_ptr<Pending> pending = std::move(pending_.front());
    pending_.pop_front();
    if (!*pending->result) {
      pending->done(std::unexpected(pending->result->error()));
      continue;
    }
    std::vector<ObjectPointer> states;
    for (StoreEvent& event : pending->events) {
      states.push_back(event.now);
      apply(std::move(event));
    }
    pending->done(std::move(states));
  }
}

void ObjectStore::apply(StoreEvent event) {
  Objects& objects = objects_[static_cast<size_t>(event.now->kind)];
  if (event.is_deletion) {
    objects.erase(event.now->key);
  } else {
    objects[event.now->key] = event.now;
  }
  revision_ = event.revision;
  history_bytes_ += event.now->text.size();
  history_.push_back(std::move(event));
  trim_history();
  if (listener_ && !history_.empty()) listener_(history_.back());
}

void ObjectStore::trim_history() {
  // The last event always stays: its listeners are still to be told.
  while (history_.size() > 1 &&
         (history_.size() > limits_.events || history_bytes_ > limits_.bytes)) {
    oldest_ = history_.front().revision;
    history_bytes_ -= history_.front().now->text.size();
    history_.pop_front();
  }
}

}  // namespace tau::apiserver
