// QueueBook: what waits in one queue. Work that asks for the same at the same priority shares a
// bucket: what is true of its first is true of all, so a bucket is parked and woken as one.
#pragma once

#include <map>
#include <set>

#include "engine/values.h"

namespace tau::engine {

using ClassId = Id<struct ClassTag>;  // pod sets' shapes and counts

// Order within a queue: priority, then age, then id.
struct OrderKey {
  int64_t minus_priority = 0;
  Time created{};
  WorkloadId id;
  auto operator<=>(const OrderKey&) const = default;
};

// What may make a parked bucket worth another look.
enum Wake : uint8_t { wake_none = 0, wake_quota = 1, wake_capacity = 2, wake_all = 3 };

struct BucketKey {
  int64_t minus_priority = 0;
  ClassId work_class;
  auto operator<=>(const BucketKey&) const = default;
};
struct Bucket {
  std::set<OrderKey> waiting;
  Wake parked_until = wake_none;  // none = in the heap
  std::vector<Blocker> blockers;  // as of `evaluated`; without its place in the queue
  uint64_t evaluated = 0;         // generation of the engine's state; 0 = never
  uint64_t version = 0;           // another one with each change of blockers
  Wake blocked_by = wake_none;    // when its first was tried last
  bool is_proved = true;          // the search that found no way was complete
};

class QueueBook {
 public:
  using Buckets = std::map<BucketKey, Bucket>;
  void add(const OrderKey& key, ClassId work_class);
  void remove(const OrderKey& key, ClassId work_class);
  void hold_back(const OrderKey& key) { held_back_.insert(key); }
  void let_go(const OrderKey& key) { held_back_.erase(key); }
  void clear();

  // The first of what may be tried, or null.
  const OrderKey* head() const { return heads_.empty() ? nullptr : &heads_.begin()->first; }
  BucketKey head_bucket() const { return heads_.begin()->second; }
  void park(BucketKey key, Wake until);
  // Wakes what waits for any of these.
  void wake(Wake what);

  Buckets& buckets() { return buckets_; }
  const Buckets& buckets() const { return buckets_; }
  Bucket* find(BucketKey key);
  const std::set<OrderKey>& held_back() const { return held_back_; }
  size_t size() const { return size_ + held_back_.size(); }
  // Everything that waits, in the queue's order, with its bucket (null = held back).
  std::vector<std::pair<OrderKey, const Bucket*>> in_order() const;

 private:
  Buckets buckets_;
  std::set<std::pair<OrderKey, BucketKey>> heads_;  // the first of each bucket that is not parked
  std::set<OrderKey> held_back_;
  size_t size_ = 0;
};

}  // namespace tau::engine
