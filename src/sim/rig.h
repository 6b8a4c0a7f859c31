// Rig: the embedded server and the control plane in virtual time, whose cycles run only when told:
// what scenarios are played on behind the API. No faults, no kubelets: nodes and pods are objects.
#pragma once

#include <memory>
#include <string>

#include "base/fake_loop.h"
#include "client/informers.h"
#include "embedded/apiserver/memory_journal.h"
#include "embedded/apiserver/server.h"
#include "history/memory_history.h"
#include "http/direct_transport.h"
#include "kube/request.h"
#include "plane/plane.h"

namespace tau::sim {

class Rig {
 public:
  explicit Rig(plane::PlaneOptions options, Time start = Time(seconds(1'800'000'000)));
  ~Rig();
  FakeLoop& loop() { return loop_; }
  // As the API shows it.
  const kube::Stores& stores() const { return observer_.stores(); }
  Result<std::string> send(const kube::ApiRequest& request);
  http::Response call(http::Request request);
  // Starts the control plane, or replaces it by one that knows only what the API shows.
  void start_plane();
  bool has_plane() const { return plane_ != nullptr; }
  // One cycle, and all that follows from it until nothing is due any more.
  void cycle(const engine::CycleOptions& options);
  void settle();
  // Time passes; timers on the way fire.
  void advance(Duration by);

 private:
  plane::PlaneOptions options_;
  FakeLoop loop_;
  apiserver::MemoryJournal journal_{loop_};
  apiserver::Server server_;
  http::DirectTransport transport_{loop_, server_};
  history::MemoryHistory history_;
  client::Informers observer_;
  std::unique_ptr<plane::Plane> plane_;
};

}  // namespace tau::sim
