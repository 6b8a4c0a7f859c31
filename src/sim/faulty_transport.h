// FaultyTransport: a Transport that makes the way to a server slow, lossy and rude, by seed. What
// passes is passed on unchanged; what is spoiled is spoiled as a real network or server would: a
// lost answer may belong to a request that did take effect.
#pragma once

#include <map>
#include <memory>

#include "base/loop.h"
#include "base/rng.h"
#include "http/message.h"

namespace tau::sim {

// Chances per call, each in [0, 1].
struct FaultRates {
  double delay = 0;          // up to `delay_at_most`, before the request is sent
  double lost_request = 0;   // never reaches the server; the caller hears `unavailable`
  double lost_answer = 0;    // takes effect; the caller hears `unavailable`
  double refused = 0;        // 429 or 503 without effect
  double conflict = 0;       // 409 to a write, without effect
  double cut_watch = 0;      // a watch ends without notice after some time
  double expired_watch = 0;  // a watch is answered 410 Expired
  Duration delay_at_most = milliseconds(500);
};

struct FaultCounts {
  int64_t calls = 0, delayed = 0, lost_requests = 0, lost_answers = 0, refused = 0, conflicts = 0;
  int64_t cut_watches = 0, expired_watches = 0;
  int64_t spoiled() const {
    return lost_requests + lost_answers + refused + conflicts + cut_watches + expired_watches;
  }
};

class FaultyTransport : public http::Transport {
 public:
  FaultyTransport(Loop& loop, http::Transport& next, Rng rng);
  ~FaultyTransport() override;
  http::CallId send(http::Request request, Duration timeout,
                    http::ResponseCallbacks callbacks) override;
  void cancel(http::CallId call) override;

  void set_rates(const FaultRates& rates) { rates_ = rates; }
  // A server that is down: every call is refused and every open stream is cut.
  void set_down(bool is_down);
  const FaultCounts& counts() const { return counts_; }

 private:
  struct Call;
  using CallPointer = std::shared_ptr<Call>;
  void forward(const CallPointer& call);
  void answer(const CallPointer& call, int status, std::string_view reason);
  void end(const CallPointer& call, Result<void> outcome);

  Loop& loop_;
  http::Transport& next_;
  Rng rng_;
  FaultRates rates_;
  FaultCounts counts_;
  bool is_down_ = false;
  uint64_t next_call_ = 1;
  std::map<uint64_t, CallPointer> calls_;
};

}  // namespace tau::sim
