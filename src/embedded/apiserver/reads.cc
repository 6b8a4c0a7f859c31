#include "embedded/apiserver/reads.h"

#include <fmt/format.h>

#include "base/limits.h"
#include "base/text.h"
#include "embedded/apiserver/encode.h"
#include "embedded/apiserver/select.h"

namespace tau::apiserver {
namespace {

// Where a paged list goes on: its snapshot's revision and the last key sent.
struct Continue {
  int64_t revision = 0;
  kube::ObjectKey after;
};

std::string encode_continue(const Continue& next) {
  return base64_encode(fmt::format("{}/{}/{}", next.revision, next.after.ns, next.after.name));
}

Answer<Continue> parse_continue(std::string_view token) {
  const auto text = base64_decode(token);
  if (text) {
    const auto parts = split(*text, '/');
    if (parts.size() == 3) {
      if (const auto revision = parse_int(parts[0]); revision && *revision > 0) {
        return Continue{*revision, {std::string(parts[1]), std::string(parts[2])}};
      }
    }
  }
  return refuse(
      bad_request("continue key is not valid: it must be a token that an earlier list returned"));
}

Answer<int64_t> parse_revision(std::string_view text) {
  const auto revision = parse_int(text);
  if (!revision || *revision < 0) {
    return refuse(bad_request(fmt::format(
        "resourceVersion: Invalid value: \"{}\": must be a non-negative integer", text)));
  }
  return *revision;
}

// Which state a list shows: nullopt = the present one.
Answer<std::optional<int64_t>> wanted_revision(const Service& service, const Call& call,
                                               bool has_limit) {
  const std::string_view text = call.query("resourceVersion"),
                         match = call.query("resourceVersionMatch");
  if (!match.empty()) {
    if (text.empty()) {
      return refuse(
          bad_request("resourceVersionMatch is forbidden unless resourceVersion is provided"));
    }
    if (match != "Exact" && match != "NotOlderThan") {
      return refuse(
          bad_request(fmt::format("resourceVersionMatch: Unsupported value: \"{}\": supported "
                                  "values: \"Exact\", \"NotOlderThan\"",
                                  match)));
    }
  }
  if (text.empty() || text == "0") {
    if (match == "Exact")
      return refuse(
          bad_request("resourceVersionMatch \"Exact\" is forbidden for resourceVersion \"0\""));
    return std::nullopt;
  }
  const int64_t revision = TRY(parse_revision(text));
  if (revision > service.store.revision())
    return refuse(future_version(revision, service.store.revision()));
  const bool is_exact = match == "Exact" || (match.empty() && has_limit);
  if (!is_exact) return std::nullopt;
  if (revision < service.store.oldest_revision()) {
    return refuse(expired("The resourceVersion for the provided list is too old."));
  }
  return revision;
}

struct Page {
  std::vector<ObjectPointer> objects;
  std::optional<kube::ObjectKey> next_after;  // set if more remain
  int64_t remaining = 0;
};

// Gathers matching objects in key order.
class Gatherer {
 public:
  Gatherer(const Filter& filter, size_t limit, const kube::ObjectKey& after)
      : filter_(filter), limit_(limit), after_(after) {}
  void take(const ObjectPointer& object) {
    if (!after_.name.empty() && !(after_ < object->key)) return;
    if (!filter_.matches(*object)) return;
    if (limit_ > 0 && page_.objects.size() >= limit_) {
      if (!page_.next_after) page_.next_after = page_.objects.back()->key;
      ++page_.remaining;
      return;
    }
    page_.objects.push_back(object);
  }
  // More matches would change nothing but the count, which is given for unfiltered lists alone.
  bool is_done() const { return page_.next_after && !filter_.is_whole(); }
  Page page() && { return std::move(page_); }

 private:
  const Filter& filter_;
  size_t limit_;
  kube::ObjectKey after_;
  Page page_;
};

Page gather(const Service& service, const Route& route, const Filter& filter,
            std::optional<int64_t> revision, size_t limit, const kube::ObjectKey& after) {
  const kube::Kind kind = route.resource->kind;
  Gatherer gatherer(filter, limit, after);
  if (revision && *revision != service.store.revision()) {
    for (const ObjectPointer& object : service.store.at(kind, filter.ns, *revision))
      gatherer.take(object);
    return std::move(gatherer).page();
  }
  const bool is_one_key =
      !filter.name.empty() && (!filter.ns.empty() || !route.resource->is_namespaced);
  if (is_one_key) {
    if (const ObjectPointer object = service.store.find(kind, {filter.ns, filter.name}))
      gatherer.take(object);
    return std::move(gatherer).page();
  }
  const ObjectStore::Objects& objects = service.store.all(kind);
  auto it = objects.lower_bound(std::max(kube::ObjectKey{filter.ns, ""}, after));
  for (; it != objects.end() && !gatherer.is_done(); ++it) {
    if (!filter.ns.empty() && it->first.ns != filter.ns) break;
    gatherer.take(it->second);
  }
  return std::move(gatherer).page();
}

Answer<size_t> parse_limit(const Call& call) {
  const std::string_view text = call.query("limit");
  if (text.empty()) return 0;
  const auto limit = parse_int(text);
  if (!limit || *limit < 0)
    return refuse(bad_request(fmt::format("limit: Invalid value: \"{}\"", text)));
  return static_cast<size_t>(*limit);
}

Answer<std::string> list_text(Service& service, const Call& call) {
  const Filter filter = TRY(parse_filter(call.route, call.url));
  const size_t limit = TRY(parse_limit(call));
  std::optional<int64_t> revision;
  kube::ObjectKey after;
  if (const std::string_view token = call.query("continue"); !token.empty()) {
    if (const std::string_view rv = call.query("resourceVersion"); !rv.empty() && rv != "0") {
      return refuse(bad_request("specifying resource version is not allowed when using continue"));
    }
    Continue from = TRY(parse_continue(token));
    if (from.revision < service.store.oldest_revision() ||
        from.revision > service.store.revision()) {
      return refuse(
          expired("The provided continue parameter is too old to display a consistent list result. "
                  "Start a new list without the continue parameter."));
    }
    revision = from.revision;
    after = std::move(from.after);
  } else {
    revision = TRY(wanted_revision(service, call, limit > 0));
  }
  const Page page = gather(service, call.route, filter, revision, limit, after);
  ListMeta meta{.revision = revision.value_or(service.store.revision())};
  if (page.next_after) {
    meta.continue_token = encode_continue({meta.revision, *page.next_after});
    if (filter.is_whole()) meta.remaining = page.remaining;
  }
  return encode_list(*call.route.resource, page.objects, meta, call.format, service.loop.now());
}

Answer<WatchRequest> parse_watch(Service& service, const Call& call) {
  WatchRequest watch{.resource = call.route.resource, .format = call.format};
  watch.filter = TRY(parse_filter(call.route, call.url));
  watch.wants_bookmarks = is_true(call.query("allowWatchBookmarks"));
  const std::string_view text = call.query("resourceVersion"),
                         match = call.query("resourceVersionMatch");
  const bool wants_initial = is_true(call.query("sendInitialEvents"));
  if (call.url.find("sendInitialEvents") && match != "NotOlderThan") {
    return refuse(
        bad_request("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"));
  }
  if (!call.url.find("sendInitialEvents") && !match.empty()) {
    return refuse(bad_request(
        "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"));
  }
  const int64_t revision = text.empty() ? 0 : TRY(parse_revision(text));
  if (revision > service.store.revision())
    return refuse(future_version(revision, service.store.revision()));
  watch.sends_initial = wants_initial || (revision == 0 && !call.url.find("sendInitialEvents"));
  watch.marks_initial_end = wants_initial && watch.wants_bookmarks;
  watch.from_revision = revision == 0 ? service.store.revision() : revision;
  // Half an hour to an hour, spread so that clients do not come back all at once.
  int64_t timeout_s = service.rng.between(1800, 3600);
  if (const std::string_view given = call.query("timeoutSeconds"); !given.empty()) {
    const auto seconds_given = parse_int(given);
    if (!seconds_given || *seconds_given < 0) {
      return refuse(bad_request(fmt::format("timeoutSeconds: Invalid value: \"{}\"", given)));
    }
    if (*seconds_given > 0) timeout_s = std::min<int64_t>(*seconds_given, 24 * 3600);
  }
  watch.timeout = seconds(timeout_s);
  return watch;
}

}  // namespace

void get_object(Service& service, Call& call) {
  const Route& route = call.route;
  if (const std::string_view text = call.query("resourceVersion"); !text.empty()) {
    const auto revision = parse_revision(text);
    if (!revision) return call.answer(revision.error());
    if (*revision > service.store.revision())
      return call.answer(future_version(*revision, service.store.revision()));
  }
  const ObjectPointer object = service.store.find(route.resource->kind, {route.ns, route.name});
  if (object == nullptr) return call.answer(not_found(*route.resource, route.name));
  call.answer(200, encode_object(*object, call.format, service.loop.now()));
}

void list_objects(Service& service, Call& call) {
  const Answer<std::string> text = list_text(service, call);
  if (!text) return call.answer(text.error());
  call.answer(200, *text);
}

void watch_objects(Service& service, Call& call) {
  Answer<WatchRequest> watch = parse_watch(service, call);
  if (!watch) return call.answer(watch.error());
  service.watches.open(std::move(*watch), std::move(call.sink));
}

}  // namespace tau::apiserver
