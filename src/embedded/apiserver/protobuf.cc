#include "embedded/apiserver/protobuf.h"

#include <boost/json.hpp>

#include <fmt/format.h>

#include <cmath>

#include "base/check.h"
#include "base/limits.h"
#include "base/text.h"
#include "base/time.h"

namespace tau::apiserver {
namespace {

namespace json = boost::json;

struct Message;
struct FieldInfo {
  std::string_view name;
  bool keeps_zero = false, is_repeated = false, is_map = false, is_inline = false;
  char scalar = 0;                   // s b i t d, or T M Q I F R of the "@" types
  const Message* message = nullptr;  // else
};
struct Message {
  std::map<uint64_t, FieldInfo> fields;
};
using Schema = std::map<std::string_view, Message>;

// "name=7*Type" of the table in protobuf_fields.cc; a mistake there is a bug.
std::pair<uint64_t, FieldInfo> parse_field(Schema& schema, std::string_view word) {
  FieldInfo field;
  const size_t equals = word.find('=');
  CHECK(equals != std::string_view::npos);
  field.name = word.substr(0, equals);
  field.is_inline = field.name == "~";
  std::string_view rest = word.substr(equals + 1);
  const size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
  const uint64_t number = static_cast<uint64_t>(parse_int(rest.substr(0, digits)).value());
  rest.remove_prefix(digits);
  for (; !rest.empty() && std::string_view("?*%").find(rest[0]) != std::string_view::npos;
       rest.remove_prefix(1)) {
    field.keeps_zero |= rest[0] == '?';
    field.is_repeated |= rest[0] == '*';
    field.is_map |= rest[0] == '%';
  }
  CHECK(!rest.empty());
  if (rest[0] == '@') {
    field.scalar = rest.at(1);
  } else if (rest.size() == 1) {
    field.scalar = rest[0];
  } else {
    field.message = &schema[rest];
  }
  return {number, field};
}

const Schema& schema() {
  static const Schema made = [] {
    Schema result;
    Message* message = nullptr;
    for (const std::string_view line : split(protobuf_fields, '\n')) {
      for (const std::string_view word : split(line, ' ')) {
        if (word.empty()) continue;
        if (word.back() == ':') {
          message = &result[word.substr(0, word.size() - 1)];
        } else {
          CHECK(message != nullptr);
          message->fields.insert(parse_field(result, word));
        }
      }
    }
    return result;
  }();
  return made;
}

// One field on the wire.
struct Wire {
  uint64_t number = 0, value = 0;  // of a varint or fixed field
  std::string_view bytes;          // of a length-delimited one
  int type = 0;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  bool is_done() const { return rest_.empty(); }
  Result<Wire> next() {
    const uint64_t tag = TRY(varint());
    Wire wire{.number = tag >> 3, .type = static_cast<int>(tag & 7)};
    switch (wire.type) {
      case 0:
        wire.value = TRY(varint());
        return wire;
      case 1:
        wire.value = TRY(fixed(8));
        return wire;
      case 2:
        wire.bytes = TRY(take(TRY(varint())));
        return wire;
      case 5:
        wire.value = TRY(fixed(4));
        return wire;
      default:
        return fail(ErrorCode::bad_request, fmt::format("protobuf: wire type {}", wire.type));
    }
  }

 private:
  Result<uint64_t> varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) return fail(ErrorCode::bad_request, "protobuf: unexpected end");
      const auto byte = static_cast<unsigned char>(rest_[0]);
      rest_.remove_prefix(1);
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    return fail(ErrorCode::bad_request, "protobuf: a number is too long");
  }
  Result<std::string_view> take(uint64_t size) {
    if (size > rest_.size()) return fail(ErrorCode::bad_request, "protobuf: unexpected end");
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }
  Result<uint64_t> fixed(size_t size) {
    const std::string_view taken = TRY(take(size));
    uint64_t value = 0;
    for (size_t i = 0; i < size; ++i)
      value |= static_cast<uint64_t>(static_cast<unsigned char>(taken[i])) << (8 * i);
    return value;
  }
  std::string_view rest_;
};

// The fields of a small, fixed message by number: Time, Quantity, IntOrString.
Result<std::map<uint64_t, Wire>> all_fields(std::string_view bytes) {
  std::map<uint64_t, Wire> fields;
  for (Reader reader(bytes); !reader.is_done();) {
    const Wire wire = TRY(reader.next());
    if (wire.number <= 4) fields[wire.number] = wire;
  }
  return fields;
}

// Text that is not UTF-8 could be written as JSON and never be read again.
Result<json::value> read_text(std::string_view bytes) {
  if (!is_utf8(bytes)) return fail(ErrorCode::bad_request, "protobuf: a text is not UTF-8");
  return json::value(bytes);
}

Result<json::value> read_special(char type, std::string_view bytes) {
  auto fields = TRY(all_fields(bytes));
  switch (type) {
    case 'T':
    case 'M': {
      const auto unix_s = static_cast<int64_t>(fields[1].value);
      // The zero time stands for absence; beyond these years no date can be written.
      if (unix_s <= 0 || unix_s > 253'402'300'799) return json::value();
      const Time time(seconds(unix_s) + microseconds((fields[2].value % 1'000'000'000) / 1000));
      return json::value(type == 'T' ? format_rfc3339(time) : format_rfc3339_micros(time));
    }
    case 'Q':
      return read_text(fields[1].bytes);
    case 'I':
      if (fields[1].value == 0)
        return json::value(static_cast<int64_t>(static_cast<int32_t>(fields[2].value)));
      return read_text(fields[3].bytes);
    default: {  // FieldsV1 and RawExtension hold JSON text
      boost::system::error_code code;
      json::parse_options options;
      options.max_depth = limits::json_depth;
      json::value value = json::parse(fields[1].bytes, code, {}, options);
      if (code) return fail(ErrorCode::bad_request, "protobuf: a raw field is not JSON");
      return value;
    }
  }
}

Result<json::object> read_message(const Message& message, std::string_view bytes, int depth);

// A null value means that the field counts as absent.
Result<json::value> read_value(const FieldInfo& field, const Wire& wire, int depth) {
  const bool wants_bytes = field.message != nullptr ||
                           std::string_view("itd").find(field.scalar) == std::string_view::npos;
  if (wants_bytes != (wire.type == 2)) {
    return fail(ErrorCode::bad_request,
                fmt::format("protobuf: field {} has the wrong wire type", field.name));
  }
  const bool keeps = field.keeps_zero || field.is_repeated || field.is_map;
  if (field.message != nullptr) {
    json::object object = TRY(read_message(*field.message, wire.bytes, depth + 1));
    if (object.empty() && !keeps) return json::value();
    return json::value(std::move(object));
  }
  switch (field.scalar) {
    case 's':
      return wire.bytes.empty() && !keeps ? json::value() : read_text(wire.bytes);
    case 'b':
      return wire.bytes.empty() && !keeps ? json::value() : json::value(base64_encode(wire.bytes));
    case 'i':
      return wire.value == 0 && !keeps ? json::value()
                                       : json::value(static_cast<int64_t>(wire.value));
    case 't':
      return wire.value == 0 && !keeps ? json::value() : json::value(wire.value != 0);
    case 'd':
      if (!std::isfinite(std::bit_cast<double>(wire.value)))
        return fail(ErrorCode::bad_request, "protobuf: a number has no form in JSON");
      return json::value(std::bit_cast<double>(wire.value));
    default:
      return read_special(field.scalar, wire.bytes);
  }
}

Result<void> read_map_entry(const FieldInfo& field, const Wire& wire, json::object& to, int depth) {
  std::string_view key;
  json::value value = field.scalar == 's' || field.scalar == 'b' ? json::value("") : json::value();
  for (Reader reader(wire.bytes); !reader.is_done();) {
    const Wire part = TRY(reader.next());
    if (part.number == 1) key = part.bytes;
    if (part.number == 2) value = TRY(read_value(field, part, depth));
  }
  if (!is_utf8(key)) return fail(ErrorCode::bad_request, "protobuf: a text is not UTF-8");
  to[key] = std::move(value);
  return {};
}

Result<json::object> read_message(const Message& message, std::string_view bytes, int depth) {
  if (depth > static_cast<int>(limits::json_depth))
    return fail(ErrorCode::bad_request, "protobuf: nested too deep");
  json::object object;
  for (Reader reader(bytes); !reader.is_done();) {
    const Wire wire = TRY(reader.next());
    const auto found = message.fields.find(wire.number);
    if (found == message.fields.end()) continue;  // a field of a later version
    const FieldInfo& field = found->second;
    if (field.is_map) {
      json::value& map = object[field.name];
      if (!map.is_object()) map = json::object();
      if (wire.type != 2)
        return fail(ErrorCode::bad_request, "protobuf: a map entry has the wrong wire type");
      TRY_VOID(read_map_entry(field, wire, map.get_object(), depth));
      continue;
    }
    json::value value = TRY(read_value(field, wire, depth));
    if (value.is_null()) continue;
    if (field.is_inline) {
      for (auto& [key, member] : value.as_object()) object[key] = std::move(member);
    } else if (field.is_repeated) {
      json::value& list = object[field.name];
      if (!list.is_array()) list = json::array();
      list.get_array().push_back(std::move(value));
    } else {
      object[field.name] = std::move(value);
    }
  }
  return object;
}

}  // namespace

Result<json::value> parse_protobuf(std::string_view body) {
  constexpr std::string_view magic("k8s\0", 4);
  if (!body.starts_with(magic))
    return fail(ErrorCode::bad_request, "the protobuf body lacks its leading k8s\\0");
  auto envelope = TRY(all_fields(body.substr(magic.size())));
  auto type = TRY(all_fields(envelope[1].bytes));
  const std::string_view api_version = type[1].bytes, kind = type[2].bytes;
  if (!envelope[3].bytes.empty())
    return fail(ErrorCode::bad_request, "an encoded protobuf body is not supported");
  const auto found = schema().find(kind);
  if (found == schema().end()) {
    return fail(
        ErrorCode::bad_request,
        fmt::format("no protobuf form of kind \"{}\" is known: send JSON", kind.substr(0, 100)));
  }
  json::object object{{"kind", kind}, {"apiVersion", TRY(read_text(api_version))}};
  json::object fields = TRY(read_message(found->second, envelope[2].bytes, 0));
  for (auto& [key, value] : fields) object[key] = std::move(value);
  return json::value(std::move(object));
}

}  // namespace tau::apiserver
