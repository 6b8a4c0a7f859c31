// EventExpiry: Events live for an hour after their last change, as upstream; nothing else expires.
#pragma once

#include <deque>
#include <memory>

#include "embedded/apiserver/service.h"

namespace tau::apiserver {

class EventExpiry {
 public:
  explicit EventExpiry(Service& service) : service_(service) {}
  ~EventExpiry() { stop(); }
  // Takes over the Events that the store holds.
  void start();
  void stop();
  void on_event(const StoreEvent& event);

 private:
  struct Due {
    Time at;
    kube::ObjectKey key;
    int64_t revision;  // an Event that changed since has a later entry
  };
  void prune();

  Service& service_;
  std::deque<Due> due_;  // by time
  TimerId timer_;
};

}  // namespace tau::apiserver
