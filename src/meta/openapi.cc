#include "meta/openapi.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <set>

#include "base/text.h"

namespace tau::meta {
namespace json = boost::json;

namespace {

constexpr std::string_view machinery = "io.k8s.apimachinery.pkg.";

class Writer {
 public:
  explicit Writer(bool is_v3) : is_v3_(is_v3) {}

  void add(const OpenApiKind& kind) {
    add_type(*kind.type);
    json::object& schema = schemas_[kind.type->name].as_object();
    schema["x-kubernetes-group-version-kind"] = gvk(kind, kind.kind);
    if (!kind.has_list) return;
    const std::string list_name = fmt::format("{}List", kind.type->name);
    json::object properties;
    properties["apiVersion"] = {{"type", "string"},
                                {"description", "Group and version of this object's schema."}};
    properties["items"] = {{"type", "array"},
                           {"description", "The objects."},
                           {"items", reference(kind.type->name, "")}};
    properties["kind"] = {{"type", "string"}, {"description", "What the object is."}};
    add_list_meta();
    properties["metadata"] =
        reference(fmt::format("{}apis.meta.v1.ListMeta", machinery), "Version and continuation.");
    schemas_[list_name] = {
        {"type", "object"},
        {"description", fmt::format("A list of {} objects.", kind.kind)},
        {"required", {"items"}},
        {"properties", std::move(properties)},
        {"x-kubernetes-group-version-kind", gvk(kind, fmt::format("{}List", kind.kind))}};
  }
  json::object take() { return std::move(schemas_); }

 private:
  bool is_v3_;
  json::object schemas_;

  static json::array gvk(const OpenApiKind& kind, std::string_view name) {
    return {{{"group", kind.group}, {"kind", name}, {"version", kind.version}}};
  }

  json::object reference(std::string_view name, std::string_view description) {
    json::object to{
        {"$ref", fmt::format("#/{}/{}", is_v3_ ? "components/schemas" : "definitions", name)}};
    if (description.empty()) return to;
    // OpenAPI 3.0 ignores what stands beside a $ref.
    if (is_v3_) return {{"description", description}, {"allOf", json::array{std::move(to)}}};
    to["description"] = description;
    return to;
  }

  void add_list_meta() {
    const std::string name = fmt::format("{}apis.meta.v1.ListMeta", machinery);
    if (schemas_.contains(name)) return;
    schemas_[name] = {
        {"type", "object"},
        {"description", "What a list carries about itself."},
        {"properties",
         {{"continue",
           {{"type", "string"}, {"description", "Token for the next page; empty at the end."}}},
          {"remainingItemCount",
           {{"type", "integer"},
            {"format", "int64"},
            {"description", "How many objects follow, if known."}}},
          {"resourceVersion",
           {{"type", "string"}, {"description", "Version of the list, to watch from."}}},
          {"selfLink", {{"type", "string"}, {"description", "No longer filled by servers."}}}}}};
  }

  void add_type(const TypeInfo& type) {
    if (schemas_.contains(type.name)) return;
    schemas_[type.name] = json::object{};  // before descending: types may be recursive
    json::object properties;
    json::array required;
    for (const Field& field : type.fields) {
      properties[field.name] = property(field);
      if (field.is_required) required.push_back(json::string(field.name));
    }
    json::object schema{{"type", "object"}};
    if (!type.description.empty()) schema["description"] = type.description;
    if (!required.empty()) schema["required"] = std::move(required);
    if (!properties.empty()) schema["properties"] = std::move(properties);
    if (type.keeps_unknown_fields) schema["x-kubernetes-preserve-unknown-fields"] = true;
    schemas_[type.name] = std::move(schema);
  }

  json::object property(const Field& field) {
    json::object to = schema_of(field.type(), field.description);
    if (!field.enum_values.empty()) {
      json::array values;
      for (const std::string_view value : split(field.enum_values, ','))
        values.push_back(json::string(value));
      to["enum"] = std::move(values);
    }
    if (!field.default_json.empty()) {
      boost::system::error_code error;
      json::value value = json::parse(field.default_json, error);
      if (!error) to["default"] = std::move(value);
    }
    const bool is_merged = !field.merge_key.empty() || field.merges_primitives;
    if (!field.merge_key.empty()) to["x-kubernetes-patch-merge-key"] = field.merge_key;
    if (is_merged || field.retains_keys) {
      to["x-kubernetes-patch-strategy"] = !field.retains_keys ? "merge"
                                          : is_merged         ? "merge,retainKeys"
                                                              : "retainKeys";
    }
    return to;
  }

  json::object schema_of(const TypeInfo& type, std::string_view description) {
    json::object to;
    if (!description.empty()) to["description"] = description;
    switch (type.shape) {
      case Shape::object:
        if (type.name.empty()) break;
        add_type(type);
        return reference(type.name, description);
      case Shape::list:
        to["type"] = "array";
        to["items"] = schema_of(type.element(), "");
        return to;
      case Shape::map:
        to["type"] = "object";
        to["additionalProperties"] = schema_of(type.element(), "");
        return to;
      case Shape::string:
        to["type"] = "string";
        return to;
      case Shape::bytes:
        to["type"] = "string";
        to["format"] = "byte";
        return to;
      case Shape::integer:
        to["type"] = "integer";
        to["format"] = type.is_int32 ? "int32" : "int64";
        return to;
      case Shape::number:
        to["type"] = "number";
        return to;
      case Shape::boolean:
        to["type"] = "boolean";
        return to;
      case Shape::quantity:
        return named_scalar("api.resource.Quantity", quantity_schema(), description);
      case Shape::int_or_string:
        return named_scalar("util.intstr.IntOrString",
                            string_schema("int-or-string", "A number, or a name or percentage."),
                            description);
      case Shape::time:
        return named_scalar("apis.meta.v1.Time",
                            string_schema("date-time", "A time as RFC 3339, to the second."),
                            description);
      case Shape::micro_time:
        return named_scalar("apis.meta.v1.MicroTime",
                            string_schema("date-time", "A time as RFC 3339, to the microsecond."),
                            description);
      case Shape::any:
        break;
    }
    to["type"] = "object";
    to["x-kubernetes-preserve-unknown-fields"] = true;
    return to;
  }

  static json::object string_schema(std::string_view format, std::string_view description) {
    return {{"type", "string"}, {"format", format}, {"description", description}};
  }
  json::object quantity_schema() const {
    constexpr std::string_view description = "An amount with an optional suffix: 250m, 8, 1Gi.";
    if (!is_v3_) return {{"type", "string"}, {"description", description}};
    return {{"oneOf", {{{"type", "string"}}, {{"type", "number"}}}}, {"description", description}};
  }

  json::object named_scalar(std::string_view name, json::object schema,
                            std::string_view description) {
    const std::string full = fmt::format("{}{}", machinery, name);
    if (!schemas_.contains(full)) schemas_[full] = std::move(schema);
    return reference(full, description);
  }
};

json::object write(std::span<const OpenApiKind> kinds, bool is_v3) {
  Writer writer(is_v3);
  for (const OpenApiKind& kind : kinds) writer.add(kind);
  return writer.take();
}

}  // namespace

json::object openapi_v3_schemas(std::span<const OpenApiKind> kinds) {
  return write(kinds, true);
}
json::object openapi_v2_definitions(std::span<const OpenApiKind> kinds) {
  return write(kinds, false);
}

}  // namespace tau::meta
