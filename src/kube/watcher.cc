#include "kube/watcher.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/limits.h"
#include "http/url.h"
#include "meta/json.h"

namespace tau::kube {
namespace json = boost::json;

namespace {
// A watch that lived this long was accepted; servers end even quiet ones only after minutes.
constexpr Duration lasting = seconds(1);
}  // namespace

std::optional<ApiRequest> Watcher::request() const {
  ApiRequest made{.verb = Verb::list, .kind = kind_, .ns = ns_};
  switch (state_) {
    case State::listing:
      made.query = fmt::format("limit={}", limits::list_page_items);
      if (!page_.empty()) made.query += "&continue=" + http::percent_encode(page_);
      return made;
    case State::watching:
      made.verb = Verb::watch;
      made.query =
          "watch=true&allowWatchBookmarks=true&resourceVersion=" + http::percent_encode(version_);
      return made;
    case State::backing_off:
      return std::nullopt;
  }
  return std::nullopt;
}

void Watcher::on_list(std::string_view body, Time now, Rng& rng) {
  const auto list = meta::parse_json(body);
  const json::value* items = list ? meta::find_path(*list, "items") : nullptr;
  if (!list || (items != nullptr && !items->is_array() && !items->is_null())) {
    on_failure(list ? Error{ErrorCode::internal, "a list without items"} : list.error(), now, rng);
    return;
  }
  if (!is_in_list_) {
    is_in_list_ = true;
    sink_.list_began();
  }
  if (items != nullptr && items->is_array()) {
    for (const json::value& item : items->get_array()) hand_on(Event::added, item);
  }
  page_ = std::string(meta::string_at(*list, "metadata.continue"));
  if (!page_.empty()) return;
  version_ = std::string(meta::string_at(*list, "metadata.resourceVersion"));
  is_in_list_ = false;
  state_ = State::watching;
  sink_.list_ended();
}

// What is no object is no news of one.
void Watcher::hand_on(Event event, const json::value& object) {
  if (object.is_object()) return sink_.object(event, object);
  ++bad_objects_;
  sink_.complaint(fmt::format("{}: an item that is no object", info(kind_).resource));
}

void Watcher::note_version(const json::value& object) {
  if (const std::string_view version = meta::string_at(object, "metadata.resourceVersion");
      !version.empty()) {
    version_ = version;
  }
}

void Watcher::on_line(std::string_view line, Time now, Rng& rng) {
  const auto event = meta::parse_json(line);
  const json::value* object = event ? meta::find_path(*event, "object") : nullptr;
  if (!event || object == nullptr) {
    ++bad_objects_;
    sink_.complaint(fmt::format("{}: a watch line that cannot be read: {}", info(kind_).resource,
                                event ? "no object" : event.error().message));
    return;
  }
  const std::string_view type = meta::string_at(*event, "type");
  if (type == "ERROR") {
    const json::value* code = meta::find_path(*object, "code");
    const bool is_expired = code != nullptr && code->is_int64() && code->get_int64() == 410;
    on_failure({is_expired ? ErrorCode::gone : ErrorCode::internal,
                std::string(meta::string_at(*object, "message"))},
               now, rng);
    return;
  }
  failures_ = expiries_ = 0;
  note_version(*object);
  if (type == "BOOKMARK") return;
  if (type == "ADDED")
    hand_on(Event::added, *object);
  else if (type == "MODIFIED")
    hand_on(Event::modified, *object);
  else if (type == "DELETED")
    hand_on(Event::deleted, *object);
  else
    sink_.complaint(fmt::format("{}: unknown watch event \"{}\"", info(kind_).resource, type));
}

// A server that ends watches as soon as they begin must not be called without pause.
void Watcher::on_watch_end(Time now, Rng& rng) {
  forget_failures_of_old(now);
  if (now - sent_at_ < lasting) back_off(now, rng);
}

void Watcher::forget_failures_of_old(Time now) {
  if (state_ == State::watching && now - sent_at_ >= lasting) failures_ = expiries_ = 0;
}

void Watcher::relist() {
  version_.clear();
  page_.clear();
  is_in_list_ = false;
  state_ = State::listing;
}

void Watcher::on_failure(const Error& error, Time now, Rng& rng) {
  forget_failures_of_old(now);
  if (error.code == ErrorCode::gone) {
    // Too old a version or an expired page: only a fresh list helps. A second one in a row waits.
    relist();
    if (expiries_++ == 0) return;
  }
  back_off(now, rng);
}

void Watcher::back_off(Time now, Rng& rng) {
  const int64_t first = limits::retry_first_ms, last = limits::retry_last_ms;
  const int64_t most = std::min(last, first << std::min(failures_, 10));
  ++failures_;
  // Full jitter keeps many clients from coming back together.
  resume_at_ = now + milliseconds(rng.between(most / 2, most));
  state_ = State::backing_off;
}

}  // namespace tau::kube
