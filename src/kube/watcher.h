// Watcher: how a client keeps up with one kind, as a state machine without I/O. It says which
// request to send next; its owner sends it and feeds back what came. list (by pages) -> watch ->
// ... ; 410 -> list again; anything else that ends -> back off, then watch from the last version
// seen.
#pragma once

#include <boost/json/fwd.hpp>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/rng.h"
#include "base/time.h"
#include "kube/request.h"

namespace tau::kube {

class Watcher {
 public:
  enum class State { listing, watching, backing_off };
  enum class Event { added, modified, deleted };
  // What the owner is told. Objects are whole JSON values; a bad one is passed over, named and
  // counted.
  struct Sink {
    std::function<void(Event, const boost::json::value&)> object;
    std::function<void()> list_began;  // what is not listed until list_ended is gone
    std::function<void()> list_ended;
    std::function<void(std::string)> complaint;
  };
  Watcher(Kind kind, std::string ns, Sink sink)
      : kind_(kind), ns_(std::move(ns)), sink_(std::move(sink)) {}

  // The request for the present state; nullopt while backing off.
  std::optional<ApiRequest> request() const;
  // That request was sent: how long its call then lasts tells a quiet watch from one refused at
  // once.
  void on_sent(Time now) { sent_at_ = now; }
  // A list's whole body.
  void on_list(std::string_view body, Time now, Rng& rng);
  // One line of a watch.
  void on_line(std::string_view line, Time now, Rng& rng);
  // A call ended: by an error status or a broken connection, or a watch by its normal time-out.
  void on_failure(const Error& error, Time now, Rng& rng);
  void on_watch_end(Time now, Rng& rng);
  // When to go on, while backing off.
  Time resume_at() const { return resume_at_; }
  void resume() { state_ = version_.empty() || !page_.empty() ? State::listing : State::watching; }

  State state() const { return state_; }
  const std::string& version() const { return version_; }
  int64_t bad_objects() const { return bad_objects_; }

 private:
  void back_off(Time now, Rng& rng);
  void relist();
  void forget_failures_of_old(Time now);
  void note_version(const boost::json::value& object);
  void hand_on(Event event, const boost::json::value& object);

  Kind kind_;
  std::string ns_;
  Sink sink_;
  State state_ = State::listing;
  std::string version_;  // to watch from
  std::string page_;     // continue token
  bool is_in_list_ = false;
  int expiries_ = 0;  // 410s in a row
  int failures_ = 0;  // in a row; a watch that lasts or tells something ends the row
  Time sent_at_{};
  Time resume_at_{};
  int64_t bad_objects_ = 0;
};

}  // namespace tau::kube
