// WorkQueue: keys that wait to be looked at, each at most once; with delays and per-key back-off.
// Pure: time comes in, the next due time goes out.
#pragma once

#include <map>
#include <optional>
#include <set>

#include "base/limits.h"
#include "base/time.h"

namespace tau::kube {

template <class Key>
class WorkQueue {
 public:
  // Due now. A key that waits for a later time is pulled forward.
  void add(const Key& key) {
    if (active_.contains(key)) {
      dirty_.insert(key);
      return;
    }
    schedule(key, Time::min());
  }
  // Due at `when`, unless it is due earlier already.
  void add_at(const Key& key, Time when) {
    if (active_.contains(key)) {
      // Looked at right now; the delay counts from its end.
      auto [at, is_new] = later_.emplace(key, when);
      if (!is_new) at->second = std::min(at->second, when);
      return;
    }
    schedule(key, when);
  }
  // The next due key, now being looked at until done() or failed().
  std::optional<Key> take(Time now) {
    if (by_time_.empty() || by_time_.begin()->first > now) return std::nullopt;
    Key key = by_time_.begin()->second;
    by_time_.erase(by_time_.begin());
    due_.erase(key);
    active_.insert(key);
    return key;
  }
  void done(const Key& key) {
    failures_.erase(key);
    finish(key);
  }
  // Comes back after a back-off that doubles with each failure in a row.
  void failed(const Key& key, Time now) {
    const int failures = std::min(failures_[key]++, 20);
    const Duration wait =
        std::min<Duration>(milliseconds(limits::retry_last_ms),
                           milliseconds(limits::retry_first_ms) * (1 << failures));
    finish(key);
    // The back-off holds even if the object changed meanwhile: a change is often our own failed
    // write.
    unschedule(key);
    schedule(key, now + wait);
  }
  std::optional<Time> next() const {
    return by_time_.empty() ? std::nullopt : std::optional<Time>(by_time_.begin()->first);
  }
  size_t size() const { return due_.size(); }
  bool is_idle() const { return due_.empty() && active_.empty(); }

 private:
  void finish(const Key& key) {
    active_.erase(key);
    if (dirty_.erase(key) > 0) schedule(key, Time::min());
    if (const auto later = later_.find(key); later != later_.end()) {
      schedule(key, later->second);
      later_.erase(later);
    }
  }
  void schedule(const Key& key, Time when) {
    if (const auto found = due_.find(key); found != due_.end()) {
      if (found->second <= when) return;
      unschedule(key);
    }
    due_[key] = when;
    by_time_.insert({when, key});
  }
  void unschedule(const Key& key) {
    const auto found = due_.find(key);
    if (found == due_.end()) return;
    by_time_.erase({found->second, key});
    due_.erase(found);
  }

  std::map<Key, Time> due_;
  std::set<std::pair<Time, Key>> by_time_;
  std::set<Key> active_, dirty_;
  std::map<Key, Time> later_;
  std::map<Key, int> failures_;
};

}  // namespace tau::kube
