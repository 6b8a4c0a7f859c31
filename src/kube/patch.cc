// JSON patch (RFC 6902) and merge patch (RFC 7386); the strategic form is in strategic_patch.cc.
#include "kube/patch.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/limits.h"
#include "base/text.h"

namespace tau::kube {
namespace json = boost::json;

namespace {

using Pointer = std::vector<std::string>;

Result<Pointer> parse_pointer(std::string_view text) {
  Pointer tokens;
  if (text.empty()) return tokens;
  if (text.front() != '/') return fail(ErrorCode::bad_request, "must be empty or begin with '/'");
  for (const std::string_view part : split(text.substr(1), '/')) {
    std::string token;
    for (size_t i = 0; i < part.size(); ++i) {
      if (part[i] != '~') {
        token += part[i];
        continue;
      }
      const char next = i + 1 < part.size() ? part[++i] : ' ';
      if (next != '0' && next != '1')
        return fail(ErrorCode::bad_request, "'~' must be followed by 0 or 1");
      token += next == '0' ? '~' : '/';
    }
    tokens.push_back(std::move(token));
  }
  return tokens;
}

// An index below `end`, written without sign or leading zeros.
Result<size_t> parse_index(std::string_view token, size_t end) {
  const auto index = parse_int(token);
  const bool is_plain = index && *index >= 0 && std::to_string(*index) == token;
  if (!is_plain) return fail(ErrorCode::invalid, fmt::format("'{}' is not an index", token));
  if (static_cast<size_t>(*index) >= end)
    return fail(ErrorCode::invalid, fmt::format("index {} is out of range", token));
  return static_cast<size_t>(*index);
}

Result<json::value*> step(json::value& at, const std::string& token) {
  if (json::object* object = at.if_object()) {
    json::value* member = object->if_contains(token);
    if (member == nullptr) return fail(ErrorCode::invalid, fmt::format("there is no '{}'", token));
    return member;
  }
  if (json::array* array = at.if_array()) return &(*array)[TRY(parse_index(token, array->size()))];
  return fail(ErrorCode::invalid, fmt::format("'{}' is below a value that has no members", token));
}

Result<json::value*> find(json::value& root, std::span<const std::string> tokens) {
  json::value* at = &root;
  for (const std::string& token : tokens) at = TRY(step(*at, token));
  return at;
}

Result<void> add(json::value& root, const Pointer& pointer, json::value value) {
  if (pointer.empty()) {
    root = std::move(value);
    return {};
  }
  json::value* parent = TRY(find(root, std::span(pointer).first(pointer.size() - 1)));
  if (json::object* object = parent->if_object()) {
    (*object)[pointer.back()] = std::move(value);
    return {};
  }
  json::array* array = parent->if_array();
  if (array == nullptr)
    return fail(ErrorCode::invalid, "the parent is neither an object nor a list");
  const size_t index =
      pointer.back() == "-" ? array->size() : TRY(parse_index(pointer.back(), array->size() + 1));
  array->insert(array->begin() + static_cast<ptrdiff_t>(index), std::move(value));
  return {};
}

Result<json::value> take(json::value& root, const Pointer& pointer) {
  if (pointer.empty()) return std::exchange(root, nullptr);
  json::value* parent = TRY(find(root, std::span(pointer).first(pointer.size() - 1)));
  json::value taken = std::move(*TRY(step(*parent, pointer.back())));
  if (json::object* object = parent->if_object()) {
    object->erase(pointer.back());
  } else {
    json::array& array = parent->get_array();
    array.erase(array.begin() + static_cast<ptrdiff_t>(*parse_index(pointer.back(), array.size())));
  }
  return taken;
}

Result<Pointer> pointer_member(const json::object& operation, std::string_view key) {
  const json::value* found = operation.if_contains(key);
  if (found == nullptr || !found->is_string())
    return fail(ErrorCode::bad_request, fmt::format("'{}' is missing", key));
  auto pointer = parse_pointer({found->get_string().data(), found->get_string().size()});
  if (!pointer) return std::unexpected(with_context(pointer.error(), key));
  return pointer;
}

Result<void> apply_one(json::value& target, const json::object& operation) {
  const json::value* op = operation.if_contains("op");
  if (op == nullptr || !op->is_string()) return fail(ErrorCode::bad_request, "'op' is missing");
  const std::string_view name(op->get_string().data(), op->get_string().size());
  const Pointer path = TRY(pointer_member(operation, "path"));
  if (name == "remove") {
    TRY(take(target, path));
    return {};
  }
  if (name == "move" || name == "copy") {
    const Pointer from = TRY(pointer_member(operation, "from"));
    const bool is_into_itself =
        path.size() > from.size() && std::equal(from.begin(), from.end(), path.begin());
    if (name == "move" && is_into_itself)
      return fail(ErrorCode::invalid, "cannot move a value into itself");
    json::value value =
        name == "move" ? TRY(take(target, from)) : json::value(*TRY(find(target, from)));
    return add(target, path, std::move(value));
  }
  if (name != "add" && name != "replace" && name != "test") {
    return fail(
        ErrorCode::bad_request,
        fmt::format("unknown operation '{}' (known: add, remove, replace, move, copy, test)",
                    name));
  }
  const json::value* value = operation.if_contains("value");
  if (value == nullptr) return fail(ErrorCode::bad_request, "'value' is missing");
  if (name == "add") return add(target, path, *value);
  json::value* found = TRY(find(target, path));
  if (name == "replace") {
    *found = *value;
  } else if (*found != *value) {
    return fail(ErrorCode::invalid, "test failed: the value is another one");
  }
  return {};
}

}  // namespace

Result<void> apply_json_patch(json::value& target, const json::value& operations) {
  const json::array* list = operations.if_array();
  if (list == nullptr)
    return fail(ErrorCode::bad_request, "a JSON patch must be a list of operations");
  for (size_t i = 0; i < list->size(); ++i) {
    const json::object* operation = (*list)[i].if_object();
    if (operation == nullptr)
      return fail(ErrorCode::bad_request, fmt::format("operation {}: must be an object", i));
    if (auto done = apply_one(target, *operation); !done) {
      const json::value* path = operation->if_contains("path");
      const std::string where = path == nullptr ? "" : fmt::format(" ({})", json::serialize(*path));
      return std::unexpected(with_context(done.error(), fmt::format("operation {}{}", i, where)));
    }
  }
  return {};
}

void apply_merge_patch(json::value& target, const json::value& patch) {
  const json::object* changes = patch.if_object();
  if (changes == nullptr) {
    target = patch;
    return;
  }
  if (!target.is_object()) target.emplace_object();
  json::object& object = target.get_object();
  for (const auto& [key, value] : *changes) {
    if (value.is_null()) {
      object.erase(key);
    } else {
      apply_merge_patch(object[key], value);
    }
  }
}

}  // namespace tau::kube
