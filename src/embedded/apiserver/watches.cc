#include "embedded/apiserver/watches.h"

#include <fmt/format.h>

#include "base/limits.h"

namespace tau::apiserver {
namespace {

// A stream with more than this unsent gets nothing more until it has drained.
constexpr size_t pause_bytes = limits::stream_backlog_bytes / 8;
constexpr Duration retry_after = milliseconds(10);

}  // namespace

struct Watches::Watcher {
  WatchRequest request;
  std::unique_ptr<http::ResponseSink> sink;
  std::vector<ObjectPointer> initial;  // still to be sent, from `next_initial` on
  size_t next_initial = 0;
  int64_t cursor = 0;    // all events up to here have been told
  int64_t bookmark = 0;  // the last one told
  bool is_live = false;  // told of events as they come
  bool is_closed = false;
  bool has_sent_columns = false;
  TimerId timeout, retry;
};

Watches::Watches(Loop& loop, ObjectStore& store) : loop_(loop), store_(store) {}

Watches::~Watches() {
  *is_alive_ = false;
  end_all();
}

void Watches::end_all() {
  loop_.cancel(bookmark_timer_);
  bookmark_timer_ = {};
  while (!watchers_.empty()) end(watchers_.begin()->first);
}

void Watches::open(WatchRequest request, std::unique_ptr<http::ResponseSink> sink) {
  const uint64_t id = ++last_id_;
  auto watcher = std::make_unique<Watcher>();
  watcher->cursor = request.from_revision;
  if (request.sends_initial) {
    watcher->cursor = store_.revision();
    for (const auto& [key, object] : store_.all(request.resource->kind)) {
      if (request.filter.matches(*object)) watcher->initial.push_back(object);
    }
  }
  sink->head(
      {.status = 200,
       .headers = {{"Content-Type", "application/json"}, {"Cache-Control", "no-cache, private"}}});
  sink->on_closed([this, id, is_alive = is_alive_] {
    if (!*is_alive) return;
    const auto found = watchers_.find(id);
    if (found == watchers_.end()) return;
    // The watcher may be in use further up the stack.
    found->second->is_closed = true;
    loop_.post([this, id, is_alive] {
      if (*is_alive) end(id);
    });
  });
  watcher->timeout = loop_.after(request.timeout, [this, id] { end(id); });
  watcher->request = std::move(request);
  watcher->sink = std::move(sink);
  watchers_.emplace(id, std::move(watcher));
  if (bookmark_timer_ == TimerId{}) schedule_bookmarks();
  pump(id);
}

void Watches::end(uint64_t id) {
  const auto found = watchers_.find(id);
  if (found == watchers_.end()) return;
  const std::unique_ptr<Watcher> watcher = std::move(found->second);
  watchers_.erase(found);
  loop_.cancel(watcher->timeout);
  loop_.cancel(watcher->retry);
  if (!watcher->is_closed) watcher->sink->end();
}

void Watches::write(Watcher& watcher, std::string_view line) {
  if (!watcher.is_closed) watcher.sink->body(line);
}

// What remains of the present objects; false = paused.
bool Watches::pump_initial(Watcher& watcher) {
  const WatchRequest& request = watcher.request;
  for (; watcher.next_initial < watcher.initial.size(); ++watcher.next_initial) {
    if (watcher.sink->backlog_bytes() > pause_bytes) return false;
    write(watcher, encode_event(EventType::added, *watcher.initial[watcher.next_initial],
                                request.format, loop_.now(), !watcher.has_sent_columns));
    watcher.has_sent_columns = true;
  }
  watcher.initial.clear();
  watcher.next_initial = 0;
  if (request.marks_initial_end) {
    write(watcher, encode_bookmark(*request.resource, watcher.cursor, true, request.format));
    watcher.bookmark = watcher.cursor;
    watcher.request.marks_initial_end = false;
  }
  return true;
}

// Events that are behind the present; false = paused or ended.
bool Watches::pump_history(uint64_t id, Watcher& watcher) {
  if (watcher.cursor < store_.oldest_revision()) {
    write(watcher,
          encode_error_event(expired(fmt::format("too old resource version: {} ({})",
                                                 watcher.cursor, store_.oldest_revision()))));
    end(id);
    return false;
  }
  const kube::Kind kind = watcher.request.resource->kind;
  while (const StoreEvent* event = store_.next_event(watcher.cursor)) {
    if (watcher.sink->backlog_bytes() > pause_bytes) return false;
    if (event->now->kind == kind) tell(watcher, *event, nullptr);
    watcher.cursor = event->revision;
  }
  watcher.cursor = store_.revision();
  return true;
}

void Watches::pump(uint64_t id) {
  const auto found = watchers_.find(id);
  if (found == watchers_.end() || found->second->is_closed) return;
  Watcher& watcher = *found->second;
  const bool is_live = pump_initial(watcher) && pump_history(id, watcher);
  if (!watchers_.contains(id)) return;  // ended: nothing of it is left
  watcher.is_live = is_live;
  if (is_live) return;
  loop_.cancel(watcher.retry);
  watcher.retry = loop_.after(retry_after, [this, id] { pump(id); });
}

// Old and new state against the filter: an object that comes to match is ADDED, one that ceases is
// DELETED.
void Watches::tell(Watcher& watcher, const StoreEvent& event, Lines* lines) {
  const Filter& filter = watcher.request.filter;
  const bool was_in = event.old && filter.matches(*event.old);
  const bool is_in = !event.is_deletion && filter.matches(*event.now);
  if (!was_in && !is_in) return;
  const EventType type = !was_in  ? EventType::added
                         : !is_in ? EventType::deleted
                                  : EventType::modified;
  const Format& format = watcher.request.format;
  const bool with_columns = !watcher.has_sent_columns;
  watcher.has_sent_columns = true;
  if (lines == nullptr || (format.shown == Shown::table && with_columns)) {
    write(watcher, encode_event(type, *event.now, format, loop_.now(), with_columns));
    return;
  }
  std::string& line = (*lines)[{type, format}];
  if (line.empty()) line = encode_event(type, *event.now, format, loop_.now(), false);
  write(watcher, line);
}

void Watches::on_event(const StoreEvent& event) {
  Lines lines;
  std::vector<uint64_t> paused;
  for (auto& [id, watcher] : watchers_) {
    if (!watcher->is_live || watcher->is_closed) continue;
    if (event.now->kind == watcher->request.resource->kind) {
      if (watcher->sink->backlog_bytes() > pause_bytes) {
        paused.push_back(id);
        watcher->is_live = false;
        continue;
      }
      tell(*watcher, event, &lines);
    }
    watcher->cursor = event.revision;
  }
  for (const uint64_t id : paused) {
    watchers_.at(id)->retry = loop_.after(retry_after, [this, id] { pump(id); });
  }
}

void Watches::schedule_bookmarks() {
  bookmark_timer_ = loop_.after(seconds(limits::bookmark_interval_s), [this] {
    bookmark_timer_ = {};
    send_bookmarks();
    if (!watchers_.empty()) schedule_bookmarks();
  });
}

void Watches::send_bookmarks() {
  for (auto& [id, watcher] : watchers_) {
    if (!watcher->is_live || watcher->is_closed || !watcher->request.wants_bookmarks) continue;
    watcher->bookmark = watcher->cursor;
    write(*watcher, encode_bookmark(*watcher->request.resource, watcher->cursor, false,
                                    watcher->request.format));
  }
}

}  // namespace tau::apiserver
