// DirectTransport: a Transport that calls a Handler in the same process, through the loop.
#pragma once

#include <map>
#include <memory>

#include "base/loop.h"
#include "http/message.h"

namespace tau::http {

// Delivers every callback by Loop::post, so that neither side is ever re-entered.
class DirectTransport : public Transport {
 public:
  DirectTransport(Loop& loop, Handler& handler) : loop_(loop), handler_(handler) {}
  ~DirectTransport() override;
  CallId send(Request request, Duration timeout, ResponseCallbacks callbacks) override;
  void cancel(CallId call) override;

 private:
  class Sink;
  struct Call;
  Loop& loop_;
  Handler& handler_;
  uint64_t next_call_ = 1;
  std::map<uint64_t, std::shared_ptr<Call>> calls_;
};

}  // namespace tau::http
