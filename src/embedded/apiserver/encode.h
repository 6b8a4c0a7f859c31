// How stored objects leave the server: single, in lists, in watch events; whole, as Table rows, or
// metadata only; in the stored version or by conversion. The common case copies stored text and
// parses nothing.
#pragma once

#include <boost/json/fwd.hpp>
#include <memory>
#include <string>
#include <vector>

#include "base/time.h"
#include "embedded/apiserver/route.h"
#include "embedded/apiserver/store.h"

namespace tau::apiserver {

// The stored text as a value; it was made by this server, so it parses.
boost::json::object parse_object(const StoredObject& object);

struct ListMeta {
  int64_t revision = 0;
  std::string continue_token;
  std::optional<int64_t> remaining;
};

std::string encode_object(const StoredObject& object, const Format& format, Time now);
// A whole object that is not stored (a dry run's answer, a deleted object).
std::string encode_object(kube::Kind kind, const boost::json::object& object, const Format& format,
                          Time now);
std::string encode_list(const kube::ResourceInfo& resource,
                        const std::vector<ObjectPointer>& objects, const ListMeta& meta,
                        const Format& format, Time now);

enum class EventType { added, modified, deleted };
// One line of a watch stream. `with_columns`: a Table carries its column definitions (the first
// event's does).
std::string encode_event(EventType type, const StoredObject& object, const Format& format, Time now,
                         bool with_columns);
std::string encode_bookmark(const kube::ResourceInfo& resource, int64_t revision, bool ends_initial,
                            const Format& format);
std::string encode_error_event(const StatusError& error);

}  // namespace tau::apiserver
