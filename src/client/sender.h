// Sender: sends ApiRequests with a bound on how many are in flight; the rest wait in order.
#pragma once

#include <deque>
#include <functional>
#include <set>

#include "base/loop.h"
#include "http/message.h"
#include "kube/request.h"

namespace tau::client {

class Sender {
 public:
  using Done = std::move_only_function<void(Result<std::string>)>;  // the answer's body
  Sender(http::Transport& transport, int in_flight_at_most)
      : transport_(transport), limit_(in_flight_at_most) {}
  ~Sender();
  Sender(const Sender&) = delete;
  Sender& operator=(const Sender&) = delete;

  // `done` comes on the loop, never from inside send(); an answer that is not 2xx is an error.
  void send(kube::ApiRequest request, Done done);
  // Forgets what waits and what is in flight (`done` never comes), and sends nothing more.
  void stop();
  int64_t sent() const { return sent_; }
  size_t waiting() const { return waiting_.size(); }

 private:
  struct Waiting {
    kube::ApiRequest request;
    Done done;
  };
  void start(Waiting next);
  void finished(uint64_t call);

  http::Transport& transport_;
  size_t limit_;
  bool is_stopped_ = false;
  int64_t sent_ = 0;
  std::deque<Waiting> waiting_;
  std::set<uint64_t> open_;
};

// True if the server answered that the write was not done. After any other failure (time-out, a
// broken connection, an internal error) it may have been done.
bool is_refused(const Error& error);

}  // namespace tau::client
