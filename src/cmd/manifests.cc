#include "cmd/manifests.h"

#include <fmt/format.h>

#include "base/text.h"
#include "host/files.h"
#include "kube/conversion.h"
#include "kube/schema.h"
#include "meta/json.h"
#include "meta/yaml.h"

namespace tau::cmd {
namespace json = boost::json;

namespace {

struct Document {
  std::string text;
  int first_line = 1;
};

// A line that begins with "---" is always a border: block scalars cannot hold one.
std::vector<Document> documents_of(std::string_view text) {
  std::vector<Document> documents{{}};
  int number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    const bool is_border =
        line.starts_with("---") && (line.size() == 3 || line[3] == ' ' || line[3] == '\r');
    if (is_border) {
      documents.push_back({std::string(line.size() > 4 ? line.substr(4) : "") + "\n", number});
    } else {
      documents.back().text += std::string(line) + "\n";
    }
  }
  return documents;
}

// "line 3: ..." of a document becomes the line in its file.
Failure unreadable(const std::string& message, const std::string& file, int first_line) {
  Failure failure("TG-APPLY-002", ExitCode::usage, "the manifest cannot be read");
  failure.cause = message;
  failure.where = file;
  const size_t at = message.find("line "),
               colon = at == std::string::npos ? at : message.find(':', at);
  if (colon == std::string::npos) return failure;
  if (const auto line = parse_int(message.substr(at + 5, colon - at - 5))) {
    failure.where = fmt::format("{}:{}", file, *line + first_line - 1);
    failure.cause =
        message.substr(0, at) + std::string(trim(std::string_view(message).substr(colon + 1)));
  }
  return failure;
}

std::vector<std::string> known_kinds() {
  std::vector<std::string> names;
  for (const kube::ResourceInfo& info : kube::all_resources()) names.emplace_back(info.kind_name);
  return names;
}

Try<void> take(std::vector<Manifest>& manifests, json::object object, const Document& document,
               const std::string& file, const std::string& ns) {
  const json::value value(object);
  const std::string version(meta::string_at(value, "apiVersion")),
      kind(meta::string_at(value, "kind"));
  if (const json::value* items = meta::find_path(value, "items");
      items != nullptr && items->is_array() && kind.ends_with("List")) {
    for (const json::value& item : items->get_array()) {
      if (!item.is_object())
        return failed(
            Failure("TG-APPLY-005", ExitCode::usage, "an item of the list is not an object")
                .at(fmt::format("{}:{}", file, document.first_line)));
      auto done = take(manifests, item.get_object(), document, file, ns);
      if (!done) return done;
    }
    return {};
  }
  Manifest manifest{.resource = kube::find_kind(version, kind),
                    .file = file,
                    .text = document.text,
                    .first_line = document.first_line};
  const std::string where = fmt::format("{}:{}", file, document.first_line);
  if (version.empty() || kind.empty())
    return failed(
        Failure("TG-APPLY-003", ExitCode::usage,
                fmt::format("a manifest without {}", kind.empty() ? "kind" : "apiVersion"))
            .at(where));
  if (manifest.resource == nullptr) {
    return failed(Failure("TG-APPLY-003", ExitCode::usage,
                          fmt::format("kind \"{}\" of \"{}\" is not known here", kind, version))
                      .at(where)
                      .because(did_you_mean(kind, known_kinds()))
                      .fixed_by("kubectl may know it: kubectl apply -f FILE"));
  }
  manifest.name = meta::string_at(value, "metadata.name");
  if (manifest.name.empty())
    return failed(
        Failure("TG-APPLY-004", ExitCode::usage, fmt::format("a {} without metadata.name", kind))
            .at(where));
  const std::string_view own = meta::string_at(value, "metadata.namespace");
  manifest.ns = manifest.resource->is_namespaced ? (own.empty() ? ns : std::string(own)) : "";
  manifest.object = std::move(object);
  const std::string_view preferred = manifest.resource->version,
                         given = std::string_view(version).substr(version.rfind('/') + 1);
  if (given != preferred) {
    if (auto done = kube::convert(manifest.resource->kind, manifest.object, given, preferred);
        !done)
      return failed(Failure(done.error()).at(where));
  }
  manifests.push_back(std::move(manifest));
  return {};
}

// The first dotted path in a message: in quotes (unknown field "spec.x"), or before a colon
// (spec.x: Invalid).
std::string field_in(std::string_view message) {
  for (const std::string_view start : {"spec.", "metadata.", "status."}) {
    size_t at = message.find(start);
    // "Job.batch" and the like end in a dot too: the path must begin a word.
    // ("Go struct field JobSpec.spec.parallelism" is the one message that has the path after a
    // type.)
    const bool is_after_type = message.find("Go struct field") != std::string_view::npos;
    while (at != std::string_view::npos && at > 0 &&
           (std::isalnum(static_cast<unsigned char>(message[at - 1])) ||
            (message[at - 1] == '.' && !is_after_type)))
      at = message.find(start, at + 1);
    if (at == std::string_view::npos) continue;
    size_t end = at;
    while (end < message.size() &&
           (std::isalnum(static_cast<unsigned char>(message[end])) ||
            std::string_view("._-[]/").find(message[end]) != std::string_view::npos))
      ++end;
    return std::string(message.substr(at, end - at));
  }
  return "";
}

// What the object may hold where the path's last word was meant to stand; empty where that is not
// known.
std::vector<std::string> known_fields(kube::Kind kind, std::string_view path) {
  const meta::TypeInfo* type = &kube::schema_of(kind);
  std::vector<std::string_view> parts = split(path, '.');
  parts.pop_back();
  for (const std::string_view part : parts) {
    const meta::Field* field = type->find(part.substr(0, part.find('[')));
    if (field == nullptr || !field->type) return {};
    type = &field->type();
    if (type->shape == meta::Shape::list && type->element) type = &type->element();
  }
  std::vector<std::string> names;
  for (const meta::Field& field : type->fields) names.emplace_back(field.name);
  return names;
}

}  // namespace

Failure located(Failure failure, const Manifest& manifest) {
  const std::string field = field_in(failure.what);
  if (!field.empty() && failure.cause.empty() &&
      failure.what.find("unknown field") != std::string::npos)
    failure.cause = did_you_mean(field.substr(field.rfind('.') + 1),
                                 known_fields(manifest.resource->kind, field));
  const auto lines = split(manifest.text, '\n');
  size_t line = 0;
  for (std::string_view part : split(field, '.')) {
    part = part.substr(0, part.find('['));
    for (size_t i = line; i < lines.size() && !part.empty(); ++i) {
      std::string_view text = trim(lines[i]);
      while (text.starts_with("- ")) text = trim(text.substr(2));
      if (!text.starts_with(part) && !text.starts_with("\"" + std::string(part) + "\"")) continue;
      const size_t after = text.find_first_not_of('"', text.find(part) + part.size());
      if (after == std::string_view::npos || text[after] != ':') continue;
      line = i;
      break;
    }
  }
  failure.where =
      fmt::format("{}:{}{}", manifest.file, manifest.first_line + static_cast<int>(line),
                  field.empty() ? "" : "  " + field);
  return failure;
}

Try<std::vector<Manifest>> parse_manifests(std::string_view text, const std::string& file,
                                           const std::string& ns) {
  std::vector<Manifest> manifests;
  for (const Document& document : documents_of(text)) {
    auto values = meta::parse_yaml(document.text);
    if (!values) return failed(unreadable(values.error().message, file, document.first_line));
    for (json::value& value : *values) {
      if (value.is_null()) continue;
      if (!value.is_object())
        return failed(Failure("TG-APPLY-003", ExitCode::usage, "the document is not an object")
                          .at(fmt::format("{}:{}", file, document.first_line)));
      auto done = take(manifests, std::move(value.get_object()), document, file, ns);
      if (!done) return std::unexpected(done.error());
    }
  }
  if (manifests.empty())
    return failed(Failure("TG-APPLY-006", ExitCode::usage, "there is no object in it").at(file));
  return manifests;
}

Try<std::vector<Manifest>> read_manifests(const std::string& path, const std::string& ns) {
  const auto text = host::read_file(path == "-" ? "/dev/stdin" : path);
  if (!text)
    return failed(Failure("TG-APPLY-001", ExitCode::not_found, "the manifest cannot be read")
                      .at(path)
                      .because(text.error().message));
  return parse_manifests(*text, path == "-" ? "standard input" : path, ns);
}

}  // namespace tau::cmd
