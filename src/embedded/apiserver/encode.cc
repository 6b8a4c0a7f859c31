#include "embedded/apiserver/encode.h"

#include <boost/json.hpp>

#include <fmt/format.h>

#include "base/check.h"
#include "embedded/apiserver/kinds.h"
#include "kube/table.h"

namespace tau::apiserver {
namespace {

namespace json = boost::json;
using kube::ResourceInfo;

std::string quoted(std::string_view text) {
  return json::serialize(json::string(text));
}

json::object in_version(const ResourceInfo& resource, json::object object,
                        std::string_view version) {
  if (version.empty() || version == resource.version) return object;
  return to_version(resource.kind, std::move(object), version);
}

json::object partial_metadata(const json::object& object, std::string_view meta_version) {
  json::object partial{{"kind", "PartialObjectMetadata"},
                       {"apiVersion", fmt::format("meta.k8s.io/{}", meta_version)}};
  const json::value* metadata = object.if_contains("metadata");
  partial["metadata"] = metadata == nullptr ? json::value(json::object()) : *metadata;
  return partial;
}

json::array column_definitions(kube::Kind kind) {
  json::array columns;
  for (const kube::Column& column : kube::columns(kind)) {
    columns.push_back(json::object{{"name", column.name},
                                   {"type", column.type},
                                   {"format", column.format},
                                   {"description", column.description},
                                   {"priority", column.priority}});
  }
  return columns;
}

json::object table_row(const ResourceInfo& resource, json::object object, const Format& format,
                       Time now) {
  json::object row{{"cells", kube::cells(resource.kind, object, now)}};
  switch (format.include_object) {
    case IncludeObject::none:
      row["object"] = nullptr;
      break;
    case IncludeObject::metadata:
      row["object"] = partial_metadata(object, format.table_version);
      break;
    case IncludeObject::object:
      row["object"] = in_version(resource, std::move(object), format.version);
      break;
  }
  return row;
}

std::string table_head(kube::Kind kind, const Format& format, const ListMeta& meta,
                       bool with_columns) {
  json::object metadata;
  if (meta.revision > 0) metadata["resourceVersion"] = std::to_string(meta.revision);
  if (!meta.continue_token.empty()) metadata["continue"] = meta.continue_token;
  if (meta.remaining) metadata["remainingItemCount"] = *meta.remaining;
  return fmt::format(
      R"({{"kind":"Table","apiVersion":"meta.k8s.io/{}","metadata":{},"columnDefinitions":{},"rows":[)",
      format.table_version, json::serialize(metadata),
      with_columns ? json::serialize(column_definitions(kind)) : "null");
}

int64_t revision_in(const json::object& object) {
  const json::value* metadata = object.if_contains("metadata");
  const json::value* version = metadata && metadata->is_object()
                                   ? metadata->get_object().if_contains("resourceVersion")
                                   : nullptr;
  if (version == nullptr || !version->is_string()) return 0;
  return std::strtoll(version->get_string().c_str(), nullptr, 10);
}

std::string encode_table_of_one(const ResourceInfo& resource, json::object object,
                                const Format& format, Time now, bool with_columns) {
  std::string out =
      table_head(resource.kind, format, {.revision = revision_in(object)}, with_columns);
  out += json::serialize(table_row(resource, std::move(object), format, now));
  out += "]}";
  return out;
}

const char* to_text(EventType type) {
  switch (type) {
    case EventType::added:
      return "ADDED";
    case EventType::modified:
      return "MODIFIED";
    case EventType::deleted:
      return "DELETED";
  }
  return "";
}

}  // namespace

json::object parse_object(const StoredObject& object) {
  json::value value = json::parse(object.text);
  return std::move(value.as_object());
}

std::string encode_object(kube::Kind kind, const json::object& object, const Format& format,
                          Time now) {
  const ResourceInfo& resource = kube::info(kind);
  switch (format.shown) {
    case Shown::object:
      return json::serialize(in_version(resource, object, format.version));
    case Shown::metadata:
      return json::serialize(partial_metadata(object, format.table_version));
    case Shown::table:
      return encode_table_of_one(resource, object, format, now, true);
  }
  return "";
}

std::string encode_object(const StoredObject& object, const Format& format, Time now) {
  const ResourceInfo& resource = kube::info(object.kind);
  if (format.shown == Shown::object &&
      (format.version.empty() || format.version == resource.version)) {
    return object.text;
  }
  return encode_object(object.kind, parse_object(object), format, now);
}

std::string encode_list(const ResourceInfo& resource, const std::vector<ObjectPointer>& objects,
                        const ListMeta& meta, const Format& format, Time now) {
  std::string out;
  size_t bytes = 1024;
  for (const ObjectPointer& object : objects) bytes += object->text.size() + 1;
  out.reserve(format.shown == Shown::object ? bytes : bytes / 2);
  if (format.shown == Shown::table) {
    out += table_head(resource.kind, format, meta, true);
    const char* separator = "";
    for (const ObjectPointer& object : objects) {
      out += separator;
      out += json::serialize(table_row(resource, parse_object(*object), format, now));
      separator = ",";
    }
    return out + "]}";
  }
  const std::string group_version = resource.group.empty()
                                        ? format.version
                                        : fmt::format("{}/{}", resource.group, format.version);
  const bool is_partial = format.shown == Shown::metadata;
  out += fmt::format(R"({{"kind":"{}List","apiVersion":"{}","metadata":{{"resourceVersion":"{}")",
                     is_partial ? "PartialObjectMetadata" : resource.kind_name,
                     is_partial ? "meta.k8s.io/" + format.table_version : group_version,
                     meta.revision);
  if (!meta.continue_token.empty()) out += ",\"continue\":" + quoted(meta.continue_token);
  if (meta.remaining) out += fmt::format(",\"remainingItemCount\":{}", *meta.remaining);
  out += "},\"items\":[";
  const char* separator = "";
  for (const ObjectPointer& object : objects) {
    out += separator;
    out += encode_object(*object, format, now);
    separator = ",";
  }
  return out + "]}";
}

std::string encode_event(EventType type, const StoredObject& object, const Format& format, Time now,
                         bool with_columns) {
  const std::string shown = format.shown == Shown::table
                                ? encode_table_of_one(kube::info(object.kind), parse_object(object),
                                                      format, now, with_columns)
                                : encode_object(object, format, now);
  return fmt::format(R"({{"type":"{}","object":{}}})", to_text(type), shown) + "\n";
}

std::string encode_bookmark(const ResourceInfo& resource, int64_t revision, bool ends_initial,
                            const Format& format) {
  std::string object;
  if (format.shown == Shown::table) {
    object = table_head(resource.kind, format, {.revision = revision}, false) + "]}";
  } else {
    const bool is_partial = format.shown == Shown::metadata;
    object = fmt::format(
        R"({{"kind":"{}","apiVersion":"{}","metadata":{{"resourceVersion":"{}","creationTimestamp":null{}}}}})",
        is_partial ? "PartialObjectMetadata" : resource.kind_name,
        is_partial               ? "meta.k8s.io/" + format.table_version
        : resource.group.empty() ? format.version
                                 : fmt::format("{}/{}", resource.group, format.version),
        revision, ends_initial ? R"(,"annotations":{"k8s.io/initial-events-end":"true"})" : "");
  }
  return fmt::format(R"({{"type":"BOOKMARK","object":{}}})", object) + "\n";
}

std::string encode_error_event(const StatusError& error) {
  return fmt::format(R"({{"type":"ERROR","object":{}}})", to_json(error)) + "\n";
}

}  // namespace tau::apiserver
