// Strategic merge: a merge patch in which lists of objects merge by a key that the schema names,
// and which may carry directives ("$patch", "$retainKeys", "$deleteFromPrimitiveList/x",
// "$setElementOrder/x").
#include <fmt/format.h>

#include <boost/json.hpp>

#include "kube/patch.h"

namespace tau::kube {
namespace json = boost::json;

namespace {

constexpr std::string_view delete_prefix = "$deleteFromPrimitiveList/";
constexpr std::string_view order_prefix = "$setElementOrder/";

std::string_view view(const json::string& text) {
  return {text.data(), text.size()};
}

std::string_view directive_of(const json::object& object) {
  const json::value* found = object.if_contains("$patch");
  return found == nullptr || !found->is_string() ? std::string_view{} : view(found->get_string());
}
std::string_view directive_of(const json::value& value) {
  return value.is_object() ? directive_of(value.get_object()) : std::string_view{};
}

// What is put in as new holds no directives and no nulls.
json::value without_directives(const json::value& value) {
  if (const json::object* object = value.if_object()) {
    json::object to;
    for (const auto& [key, member] : *object) {
      if (!std::string_view(key).starts_with('$') && !member.is_null())
        to[key] = without_directives(member);
    }
    return to;
  }
  if (const json::array* array = value.if_array()) {
    json::array to;
    for (const json::value& element : *array) {
      if (directive_of(element).empty()) to.push_back(without_directives(element));
    }
    return to;
  }
  return value;
}

// The schema that holds for a member of a value of `type`; null when nothing is known of it.
const meta::TypeInfo* member_type(const meta::TypeInfo* type, std::string_view key,
                                  const meta::Field** field) {
  *field = nullptr;
  if (type == nullptr) return nullptr;
  if (type->shape == meta::Shape::map) return &type->element();
  *field = type->find(key);
  return *field == nullptr ? nullptr : &(*field)->type();
}

size_t index_by_key(const json::array& array, std::string_view merge_key,
                    const json::value& wanted) {
  for (size_t i = 0; i < array.size(); ++i) {
    const json::object* object = array[i].if_object();
    const json::value* found = object == nullptr ? nullptr : object->if_contains(merge_key);
    if (found != nullptr && *found == wanted) return i;
  }
  return array.size();
}

size_t index_of(const json::array& array, const json::value& wanted) {
  return static_cast<size_t>(std::find(array.begin(), array.end(), wanted) - array.begin());
}

class Merger {
 public:
  Result<void> merge_object(json::object& target, const json::object& patch,
                            const meta::TypeInfo* type) {
    const std::string_view directive = directive_of(patch);
    if (directive == "replace") {
      target = without_directives(patch).get_object();
      return {};
    }
    if (directive == "delete") {
      target.clear();
      return {};
    }
    if (!directive.empty() && directive != "merge") {
      return fail(
          ErrorCode::bad_request,
          fmt::format("unknown patch directive '{}' (known: merge, replace, delete)", directive));
    }
    if (const json::value* keys = patch.if_contains("$retainKeys")) TRY_VOID(retain(target, *keys));
    for (const auto& [key, value] : patch) TRY_VOID(delete_primitives(target, key, value));
    for (const auto& [key, value] : patch) {
      if (!std::string_view(key).starts_with('$'))
        TRY_VOID(merge_member(target, patch, key, value, type));
    }
    return order_unpatched_lists(target, patch, type);
  }

 private:
  static Result<void> retain(json::object& target, const json::value& keys) {
    const json::array* kept = keys.if_array();
    if (kept == nullptr) return fail(ErrorCode::bad_request, "$retainKeys must be a list");
    std::vector<std::string> gone;
    for (const auto& [key, value] : target) {
      if (index_of(*kept, json::value(key)) == kept->size()) gone.emplace_back(key);
    }
    for (const std::string& key : gone) target.erase(key);
    return {};
  }

  static Result<void> delete_primitives(json::object& target, std::string_view key,
                                        const json::value& value) {
    if (!key.starts_with(delete_prefix)) return {};
    const json::array* gone = value.if_array();
    if (gone == nullptr) return fail(ErrorCode::bad_request, fmt::format("{} must be a list", key));
    json::value* list = target.if_contains(key.substr(delete_prefix.size()));
    if (list == nullptr || !list->is_array()) return {};
    json::array kept;
    for (const json::value& element : list->get_array()) {
      if (index_of(*gone, element) == gone->size()) kept.push_back(element);
    }
    *list = std::move(kept);
    return {};
  }

  Result<void> merge_member(json::object& target, const json::object& patch, std::string_view key,
                            const json::value& value, const meta::TypeInfo* type) {
    if (value.is_null()) {
      target.erase(key);
      return {};
    }
    const meta::Field* field = nullptr;
    const meta::TypeInfo* inner = member_type(type, key, &field);
    if (directive_of(value) == "delete") {
      target.erase(key);
      return {};
    }
    json::value* held = target.if_contains(key);
    if (value.is_object() && held != nullptr && held->is_object()) {
      return merge_object(held->get_object(), value.get_object(), inner);
    }
    const bool merges = field != nullptr && (!field->merge_key.empty() || field->merges_primitives);
    if (!value.is_array() || !merges || held == nullptr || !held->is_array()) {
      target[key] = without_directives(value);
      return {};
    }
    const json::value* order = patch.if_contains(fmt::format("{}{}", order_prefix, key));
    const json::array original = held->get_array();
    if (field->merge_key.empty()) {
      for (const json::value& element : value.get_array()) {
        if (element.is_object() || element.is_array())
          return fail(ErrorCode::bad_request,
                      fmt::format("{}: a list of plain values holds no {}", key,
                                  element.is_object() ? "objects" : "lists"));
        if (index_of(held->get_array(), element) == held->get_array().size())
          held->get_array().push_back(element);
      }
    } else {
      auto done = merge_list(held->get_array(), value.get_array(), *field, inner);
      if (!done) return std::unexpected(with_context(done.error(), key));
    }
    // Without a stated order the patch's own counts: what it adds comes before what only the server
    // has.
    const bool has_order = order != nullptr && order->is_array();
    sort(held->get_array(), original, has_order ? order->get_array() : value.get_array(),
         field->merge_key);
    return {};
  }

  Result<void> merge_list(json::array& target, const json::array& patch, const meta::Field& field,
                          const meta::TypeInfo* list_type) {
    const bool replaces = std::any_of(patch.begin(), patch.end(), [](const json::value& element) {
      return directive_of(element) == "replace";
    });
    if (replaces) {
      target = without_directives(patch).get_array();
      return {};
    }
    const meta::TypeInfo* element_type = list_type == nullptr ? nullptr : &list_type->element();
    for (const json::value& element : patch) {
      const json::object* object = element.if_object();
      const json::value* key = object == nullptr ? nullptr : object->if_contains(field.merge_key);
      if (key == nullptr) {
        return fail(ErrorCode::bad_request,
                    fmt::format("map: {} does not contain declared merge key: {}",
                                json::serialize(element), field.merge_key));
      }
      const size_t index = index_by_key(target, field.merge_key, *key);
      if (directive_of(element) == "delete") {
        if (index < target.size()) target.erase(target.begin() + static_cast<ptrdiff_t>(index));
      } else if (index == target.size()) {
        target.push_back(without_directives(element));
      } else {
        TRY_VOID(merge_object(target[index].get_object(), *object, element_type));
      }
    }
    return {};
  }

  // A patch may change the order of a list that it changes in no other way.
  Result<void> order_unpatched_lists(json::object& target, const json::object& patch,
                                     const meta::TypeInfo* type) {
    for (const auto& [key, value] : patch) {
      const std::string_view name(key);
      if (!name.starts_with(order_prefix)) continue;
      const std::string_view list_name = name.substr(order_prefix.size());
      const json::array* order = value.if_array();
      if (order == nullptr)
        return fail(ErrorCode::bad_request, fmt::format("{} must be a list", name));
      json::value* list = target.if_contains(list_name);
      if (patch.contains(list_name) || list == nullptr || !list->is_array()) continue;
      const meta::Field* field = nullptr;
      member_type(type, list_name, &field);
      const json::array original = list->get_array();
      if (field != nullptr) sort(list->get_array(), original, *order, field->merge_key);
    }
    return {};
  }

  static size_t place(const json::array& in, const json::value& element,
                      std::string_view merge_key) {
    if (merge_key.empty()) return index_of(in, element);
    const json::object* object = element.if_object();
    const json::value* key = object == nullptr ? nullptr : object->if_contains(merge_key);
    return key == nullptr ? in.size() : index_by_key(in, merge_key, *key);
  }

  // Elements that the order names come in that order; the others keep their places relative to
  // them.
  static void sort(json::array& list, const json::array& original, const json::array& order,
                   std::string_view merge_key) {
    std::vector<std::pair<size_t, json::value>> named;
    std::vector<json::value> others;
    for (const json::value& element : list) {
      const size_t at = place(order, element, merge_key);
      if (at < order.size()) {
        named.emplace_back(at, element);
      } else {
        others.push_back(element);
      }
    }
    std::stable_sort(named.begin(), named.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    json::array sorted;
    auto other = others.begin();
    for (auto& [at, element] : named) {
      const size_t was = place(original, element, merge_key);
      while (was < original.size() && other != others.end() &&
             place(original, *other, merge_key) < was) {
        sorted.push_back(std::move(*other++));
      }
      sorted.push_back(std::move(element));
    }
    for (; other != others.end(); ++other) sorted.push_back(std::move(*other));
    list = std::move(sorted);
  }
};

}  // namespace

Result<void> apply_strategic_patch(json::value& target, const json::value& patch,
                                   const meta::TypeInfo* schema) {
  const json::object* changes = patch.if_object();
  if (changes == nullptr)
    return fail(ErrorCode::bad_request, "a strategic merge patch must be an object");
  if (!target.is_object()) target.emplace_object();
  return Merger().merge_object(target.get_object(), *changes, schema);
}

}  // namespace tau::kube
