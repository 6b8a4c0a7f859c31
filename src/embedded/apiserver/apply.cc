#include "embedded/apiserver/apply.h"

#include <boost/json.hpp>

#include <fmt/format.h>

#include "base/text.h"
#include "embedded/apiserver/rules.h"
#include "kube/schema.h"
#include "meta/type_info.h"

namespace tau::apiserver {
namespace {

namespace json = boost::json;
using meta::Field;
using meta::Shape;
using meta::TypeInfo;

// How a value takes part in a merge: by member, by list item, or whole.
struct Node {
  const TypeInfo* type = nullptr;
  std::string_view merge_key;  // of a list's items
  bool is_set = false;         // a list of primitives that merges

  static Node of(const TypeInfo& type) { return {&type, "", false}; }
  Node member(std::string_view name) const {
    if (type == nullptr) return {};
    if (type->shape == Shape::map) return type->element ? of(type->element()) : Node{};
    const Field* field = type->shape == Shape::object ? type->find(name) : nullptr;
    if (field == nullptr || field->type == nullptr) return {};
    return {&field->type(), field->merge_key, field->merges_primitives};
  }
  Node item() const { return type && type->element ? of(type->element()) : Node{}; }
  bool is_granular_object() const {
    return type && (type->shape == Shape::object || type->shape == Shape::map);
  }
  bool is_keyed_list() const { return type && type->shape == Shape::list && !merge_key.empty(); }
  bool is_set_list() const { return type && type->shape == Shape::list && is_set; }
};

// The item with the same key, or null.
json::value* find_item(json::array& items, std::string_view key, const json::value& wanted) {
  for (json::value& item : items) {
    const json::value* has = item.is_object() ? item.get_object().if_contains(key) : nullptr;
    if (has && *has == wanted) return &item;
  }
  return nullptr;
}

bool can_merge_by_key(const json::value& value, std::string_view key) {
  const json::array* items = value.if_array();
  return items && std::all_of(items->begin(), items->end(), [&](const json::value& item) {
           return item.is_object() && item.get_object().contains(key);
         });
}

std::string item_key(std::string_view key, const json::value& value) {
  return "k:" + json::serialize(json::object{{key, value}});
}
std::string set_key(const json::value& value) {
  return "v:" + json::serialize(value);
}

json::object fields_in(const json::value& value, const Node& node) {
  json::object fields;
  if (node.is_granular_object() && value.is_object()) {
    for (const auto& [key, member] : value.get_object()) {
      fields[fmt::format("f:{}", std::string_view(key))] = fields_in(member, node.member(key));
    }
  } else if (node.is_keyed_list() && can_merge_by_key(value, node.merge_key)) {
    for (const json::value& item : value.get_array()) {
      json::object below{{".", json::object()}};
      for (auto& [key, member] : fields_in(item, node.item())) below[key] = member;
      fields[item_key(node.merge_key, item.get_object().at(node.merge_key))] = std::move(below);
    }
  } else if (node.is_set_list() && value.is_array()) {
    for (const json::value& item : value.get_array()) fields[set_key(item)] = json::object();
  }
  return fields;
}

void merge(json::value& to, const json::value& from, const Node& node) {
  if (node.is_granular_object() && to.is_object() && from.is_object()) {
    for (const auto& [key, member] : from.get_object()) {
      json::value& target = to.get_object()[key];
      if (target.is_null()) {
        target = member;
      } else {
        merge(target, member, node.member(key));
      }
    }
  } else if (node.is_keyed_list() && to.is_array() && can_merge_by_key(from, node.merge_key)) {
    for (const json::value& item : from.get_array()) {
      json::value* target =
          find_item(to.get_array(), node.merge_key, item.get_object().at(node.merge_key));
      if (target == nullptr) {
        to.get_array().push_back(item);
      } else {
        merge(*target, item, node.item());
      }
    }
  } else if (node.is_set_list() && to.is_array() && from.is_array()) {
    for (const json::value& item : from.get_array()) {
      json::array& items = to.get_array();
      if (std::find(items.begin(), items.end(), item) == items.end()) items.push_back(item);
    }
  } else {
    to = from;
  }
}

// The child of a value that a FieldsV1 key names ("f:x", "k:{...}"), or null. `index` is set for
// list items.
json::value* child_of(json::value& value, std::string_view field, std::string_view merge_key) {
  if (field.starts_with("f:"))
    return value.is_object() ? value.get_object().if_contains(field.substr(2)) : nullptr;
  if (!field.starts_with("k:") || !value.is_array()) return nullptr;
  boost::system::error_code code;
  const json::value key = json::parse(field.substr(2), code);
  if (code || !key.is_object() || !key.get_object().contains(merge_key)) return nullptr;
  return find_item(value.get_array(), merge_key, key.get_object().at(merge_key));
}

Node child_node(const Node& node, std::string_view field) {
  return field.starts_with("f:") ? node.member(field.substr(2)) : node.item();
}

std::string shown_field(const std::string& path, std::string_view field) {
  if (field.starts_with("f:")) return fmt::format("{}.{}", path, field.substr(2));
  return fmt::format("{}[{}]", path, field.substr(2));
}

struct Conflict {
  std::string manager, api_version, field;
};

// Fields that both `owned` and `given` name, and whose values differ. With `is_forced` they are
// taken from `owned`.
void find_conflicts(json::object& owned, const json::object& given, json::value& live,
                    json::value& applied, const Node& node, const std::string& path, bool is_forced,
                    std::vector<std::string>& found) {
  std::vector<std::string> taken;
  for (auto& [key, below] : owned) {
    const json::value* also = given.if_contains(key);
    if (also == nullptr || key == "." || !below.is_object() || !also->is_object()) continue;
    json::value* mine = child_of(live, key, node.merge_key);
    json::value* theirs = child_of(applied, key, node.merge_key);
    if (mine == nullptr || theirs == nullptr) continue;
    const std::string field = shown_field(path, key);
    if (!below.get_object().empty() && !also->get_object().empty()) {
      find_conflicts(below.get_object(), also->get_object(), *mine, *theirs, child_node(node, key),
                     field, is_forced, found);
    } else if (*mine != *theirs) {
      found.push_back(field);
      if (is_forced) taken.emplace_back(key);
    }
  }
  for (const std::string& key : taken) owned.erase(key);
}

const json::object* below(const json::object* fields, std::string_view key) {
  const json::value* value = fields ? fields->if_contains(key) : nullptr;
  return value ? value->if_object() : nullptr;
}

void erase_child(json::value& value, json::value* child, std::string_view field) {
  if (json::object* object = value.if_object()) {
    object->erase(field.substr(2));
  } else if (json::array* items = value.if_array()) {
    items->erase(items->begin() + (child - items->data()));
  }
}

// What `before` names and `after` does not, and nobody else owns, goes from `value`.
void remove_dropped(json::value& value, const json::object& before, const json::object* after,
                    const std::vector<const json::object*>& others, const Node& node) {
  for (const auto& [key, fields] : before) {
    if (key == "." || !fields.is_object()) continue;
    if (key.starts_with("v:") && value.is_array()) {
      const bool is_kept =
          below(after, key) ||
          std::any_of(others.begin(), others.end(),
                      [&, k = std::string_view(key)](const auto* o) { return below(o, k); });
      boost::system::error_code code;
      const json::value item = json::parse(std::string_view(key).substr(2), code);
      json::array& items = value.get_array();
      const auto at = std::find(items.begin(), items.end(), item);
      if (!is_kept && !code && at != items.end()) items.erase(at);
      continue;
    }
    json::value* child = child_of(value, key, node.merge_key);
    if (child == nullptr) continue;
    std::vector<const json::object*> others_below;
    for (const json::object* other : others) {
      if (const json::object* fields_below = below(other, key))
        others_below.push_back(fields_below);
    }
    const json::object* after_below = below(after, key);
    if (after_below == nullptr && others_below.empty()) {
      erase_child(value, child, key);
      continue;
    }
    remove_dropped(*child, fields.get_object(), after_below, others_below, child_node(node, key));
  }
}

// metadata.managedFields of `object`, as an array; entries that are not understood are left alone.
json::array& managed_fields(json::object& object) {
  json::value& value = metadata_of(object)["managedFields"];
  if (!value.is_array()) value = json::array();
  return value.get_array();
}

bool is_entry_of(const json::value& entry, std::string_view manager) {
  return entry.is_object() && text_in(entry.get_object(), "manager") == manager &&
         text_in(entry.get_object(), "operation") == "Apply";
}

StatusError conflict_error(const kube::ResourceInfo& resource, std::string_view name,
                           const std::vector<Conflict>& conflicts) {
  StatusError error = conflict(resource, name, "");
  std::string fields;
  for (const Conflict& c : conflicts) {
    const std::string who = fmt::format("conflict with \"{}\" using {}", c.manager, c.api_version);
    error.causes.push_back({"FieldManagerConflict", who, c.field});
    fields += fmt::format("{}{}: {}", fields.empty() ? "" : "; ", who, c.field);
  }
  error.message = fmt::format("Apply failed with {} conflict{}: {}", conflicts.size(),
                              conflicts.size() == 1 ? "" : "s", fields);
  return error;
}

}  // namespace

json::object fields_of(const kube::ResourceInfo& resource, const json::object& applied) {
  json::object given = applied;
  for (const std::string_view key : {"kind", "apiVersion"}) given.erase(key);
  json::object& metadata = metadata_of(given);
  for (const std::string_view key :
       {"name", "namespace", "uid", "resourceVersion", "creationTimestamp", "generation",
        "managedFields", "selfLink"}) {
    metadata.erase(key);
  }
  if (metadata.empty()) given.erase("metadata");
  return fields_in(given, Node::of(kube::schema_of(resource.kind)));
}

Answer<json::object> apply_object(const kube::ResourceInfo& resource, const json::object& live,
                                  const json::object& applied, const ApplyOptions& options) {
  const Node root = Node::of(kube::schema_of(resource.kind));
  const json::object given = fields_of(resource, applied);
  json::value merged = live;
  json::value applied_value = applied;
  metadata_of(applied_value.as_object()).erase("managedFields");
  json::array& entries = managed_fields(merged.as_object());
  json::value live_value = live;
  json::object before;
  std::vector<Conflict> conflicts;
  std::vector<json::object> others;
  for (json::value& entry : entries) {
    json::value* fields = entry.is_object() ? entry.get_object().if_contains("fieldsV1") : nullptr;
    if (fields == nullptr || !fields->is_object()) continue;
    if (is_entry_of(entry, options.manager)) {
      before = fields->get_object();
      continue;
    }
    std::vector<std::string> found;
    find_conflicts(fields->get_object(), given, live_value, applied_value, root, "",
                   options.is_forced, found);
    for (std::string& field : found) {
      conflicts.push_back({std::string(text_in(entry.get_object(), "manager")),
                           std::string(text_in(entry.get_object(), "apiVersion")),
                           std::move(field)});
    }
    others.push_back(fields->get_object());
  }
  if (!conflicts.empty() && !options.is_forced) {
    return refuse(conflict_error(resource, text_in(live, "metadata.name"), conflicts));
  }
  const bool is_same_set =
      before == given && std::any_of(entries.begin(), entries.end(), [&](const json::value& e) {
        return is_entry_of(e, options.manager);
      });
  if (!is_same_set) {
    for (auto it = entries.begin(); it != entries.end();)
      it = is_entry_of(*it, options.manager) ? entries.erase(it) : it + 1;
    entries.push_back(json::object{{"manager", options.manager},
                                   {"operation", "Apply"},
                                   {"apiVersion", options.api_version},
                                   {"time", options.time},
                                   {"fieldsType", "FieldsV1"},
                                   {"fieldsV1", given}});
  }
  merge(merged, applied_value, root);
  std::vector<const json::object*> other_sets;
  for (const json::object& other : others) other_sets.push_back(&other);
  remove_dropped(merged, before, &given, other_sets, root);
  return std::move(merged.as_object());
}

}  // namespace tau::apiserver
