#include "engine/queue_book.h"

#include "base/check.h"

namespace tau::engine {

void QueueBook::add(const OrderKey& key, ClassId work_class) {
  const BucketKey at{key.minus_priority, work_class};
  Bucket& bucket = buckets_[at];
  const bool is_first = bucket.waiting.empty() || key < *bucket.waiting.begin();
  if (is_first && bucket.parked_until == wake_none) {
    if (!bucket.waiting.empty()) heads_.erase({*bucket.waiting.begin(), at});
    heads_.insert({key, at});
  }
  size_ += bucket.waiting.insert(key).second ? 1 : 0;
}

void QueueBook::remove(const OrderKey& key, ClassId work_class) {
  const BucketKey at{key.minus_priority, work_class};
  const auto found = buckets_.find(at);
  if (found == buckets_.end()) return;
  Bucket& bucket = found->second;
  const auto place = bucket.waiting.find(key);
  if (place == bucket.waiting.end()) return;
  const bool was_first = place == bucket.waiting.begin();
  bucket.waiting.erase(place);
  --size_;
  if (was_first) heads_.erase({key, at});
  if (bucket.waiting.empty())
    buckets_.erase(found);
  else if (was_first && bucket.parked_until == wake_none)
    heads_.insert({*bucket.waiting.begin(), at});
}

void QueueBook::clear() {
  *this = {};
}

Bucket* QueueBook::find(BucketKey key) {
  const auto found = buckets_.find(key);
  return found == buckets_.end() ? nullptr : &found->second;
}

void QueueBook::park(BucketKey key, Wake until) {
  Bucket* bucket = find(key);
  CHECK(bucket != nullptr && until != wake_none);
  if (bucket->parked_until == wake_none) heads_.erase({*bucket->waiting.begin(), key});
  bucket->parked_until = until;
}

void QueueBook::wake(Wake what) {
  for (auto& [key, bucket] : buckets_) {
    if ((bucket.parked_until & what) == 0) continue;
    bucket.parked_until = wake_none;
    heads_.insert({*bucket.waiting.begin(), key});
  }
}

std::vector<std::pair<OrderKey, const Bucket*>> QueueBook::in_order() const {
  std::vector<std::pair<OrderKey, const Bucket*>> all;
  all.reserve(size());
  for (const auto& [key, bucket] : buckets_) {
    for (const OrderKey& one : bucket.waiting) all.emplace_back(one, &bucket);
  }
  for (const OrderKey& one : held_back_) all.emplace_back(one, nullptr);
  std::ranges::sort(all, {}, &std::pair<OrderKey, const Bucket*>::first);
  return all;
}

}  // namespace tau::engine
