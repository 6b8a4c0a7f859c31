// Informers: keep Stores equal to an API server, one watch per kind over one Transport, and tell
// who listens of every change, in order. All on the loop.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "base/log.h"
#include "base/loop.h"
#include "base/rng.h"
#include "http/message.h"
#include "kube/reconciler.h"
#include "kube/store.h"

namespace tau::client {

class Informers {
 public:
  using Listener = std::function<void(const kube::AnyChange&)>;

  Informers(Loop& loop, http::Transport& transport, Rng rng, Log log);
  ~Informers();
  Informers(const Informers&) = delete;
  Informers& operator=(const Informers&) = delete;

  // Begins to follow a kind; one that is followed already is no error.
  void follow(kube::Kind kind);
  void listen(Listener listener) { listeners_.push_back(std::move(listener)); }
  // Calls `done` once, when all kinds followed so far have been listed.
  void when_synced(std::move_only_function<void()> done);
  bool is_synced() const;
  // All that the stores hold, as if it had just come.
  void replay(const Listener& listener) const;
  const kube::Stores& stores() const { return stores_; }
  // Objects that could not be read, by kind name: kept out of the stores and named in the log.
  int64_t bad_objects() const { return bad_objects_; }

 private:
  struct Feed;
  struct FeedBase;
  template <class T>
  class TypedFeed;
  void check_synced();
  void publish(const kube::AnyChange& change);

  Loop& loop_;
  http::Transport& transport_;
  Rng rng_;
  Log log_;
  kube::Stores stores_;
  std::vector<Listener> listeners_;
  std::vector<std::move_only_function<void()>> waiting_;
  std::map<kube::Kind, std::unique_ptr<FeedBase>> feeds_;
  int64_t bad_objects_ = 0;
};

}  // namespace tau::client
