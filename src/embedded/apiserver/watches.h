// Watches: every open watch stream. A watcher that keeps up is told of events as they become
// durable, from text that is encoded once for all watchers of one format. One that does not keep up
// reads on from the store's history at its own pace, so nothing is queued for it; when the history
// has moved past it, it is told 410.
#pragma once

#include <map>
#include <memory>

#include "base/loop.h"
#include "embedded/apiserver/encode.h"
#include "embedded/apiserver/select.h"
#include "embedded/apiserver/store.h"
#include "http/message.h"

namespace tau::apiserver {

struct WatchRequest {
  const kube::ResourceInfo* resource = nullptr;
  Filter filter;
  Format format;
  int64_t from_revision = 0;   // events after this one
  bool sends_initial = false;  // begin with the present objects, as ADDED
  bool marks_initial_end = false;
  bool wants_bookmarks = false;
  Duration timeout{};
};

class Watches {
 public:
  Watches(Loop& loop, ObjectStore& store);
  ~Watches();
  // Writes the head and all that follows; ends the stream at its timeout.
  void open(WatchRequest request, std::unique_ptr<http::ResponseSink> sink);
  void on_event(const StoreEvent& event);
  size_t count() const { return watchers_.size(); }
  // Ends every stream, as a server that stops does.
  void end_all();

 private:
  struct Watcher;
  // Lines of the event being told, by format: shared by all its watchers.
  using Lines = std::map<std::pair<EventType, Format>, std::string>;
  void pump(uint64_t id);
  bool pump_initial(Watcher& watcher);
  bool pump_history(uint64_t id, Watcher& watcher);
  void tell(Watcher& watcher, const StoreEvent& event, Lines* lines);
  void write(Watcher& watcher, std::string_view line);
  void end(uint64_t id);
  void send_bookmarks();
  void schedule_bookmarks();

  Loop& loop_;
  ObjectStore& store_;
  std::map<uint64_t, std::unique_ptr<Watcher>> watchers_;
  uint64_t last_id_ = 0;
  TimerId bookmark_timer_;
  std::shared_ptr<bool> is_alive_ = std::make_shared<bool>(true);
};

}  // namespace tau::apiserver
