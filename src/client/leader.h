// Leader: one of many by a Lease. Leads only while its own renewals succeed: whoever hears nothing
// for the renewal deadline stops before the lease runs out for the others. Another's lease counts
// as expired once it has not changed for its whole length on our own clock, so clocks need not
// agree.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/loop.h"
#include "base/rng.h"
#include "http/message.h"
#include "kube/request.h"
#include "kube/types.h"

namespace tau::client {

struct LeaderOptions {
  std::string identity;  // unique for each process
  std::string ns = "kube-system", name = "taugrid-controller";
  Duration lease = seconds(15), renew_deadline = seconds(10), retry = seconds(2);
};

class Leader {
 public:
  struct Callbacks {
    std::function<void()> on_leading;  // once
    std::function<void(std::string why)>
        on_deposed;  // at most once, after on_leading; then it is over
    std::function<void(std::string holder)> on_waiting = {};  // another leads; once per holder
    std::function<void(std::string what)> on_trouble = {};  // it cannot be asked; once per trouble
  };
  Leader(Loop& loop, http::Transport& transport, Rng rng, LeaderOptions options,
         Callbacks callbacks);
  ~Leader();
  Leader(const Leader&) = delete;
  Leader& operator=(const Leader&) = delete;

  void start();
  bool is_leading() const { return state_ == State::leading; }
  // Gives the lease up, so that another need not wait for it to run out. Nothing but `done` is
  // called after it; that it failed is no matter.
  void release(std::function<void()> done = {});

 private:
  enum class State { idle, waiting, leading, over };
  using Answer = Result<http::Response>;
  void look();
  void saw(const Answer& answer);
  bool may_take(const kube::Lease& lease);
  void write(bool is_new);
  void wrote(const Answer& answer, Time asked_at);
  void tell_trouble(const Error& error);
  void again_after(Duration delay);
  void depose(std::string why);
  void send(kube::ApiRequest request, std::move_only_function<void(const Answer&)> then);

  Loop& loop_;
  http::Transport& transport_;
  Rng rng_;
  LeaderOptions options_;
  Callbacks callbacks_;
  State state_ = State::idle;
  std::optional<kube::Lease> seen_;  // as last read or written
  Time seen_at_{};                   // when it was first seen in this version
  Time renewed_at_{};                // when the last renewal that took was asked for
  std::string told_holder_, told_trouble_;
  http::CallId call_;
  TimerId timer_, deadline_;
};

}  // namespace tau::client
