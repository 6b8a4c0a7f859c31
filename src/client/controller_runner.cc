#include "client/controller_runner.h"

namespace tau::client {
using kube::Actions;
using kube::ObjectKey;

namespace {
kube::Kind kind_of_change(const kube::AnyChange& change) {
  return std::visit([]<class T>(const kube::Change<T>&) { return kube::kind_of<T>; }, change);
}
}  // namespace

struct ControllerRunner::Lane {
  explicit Lane(kube::Reconciler& r) : reconciler(r) {
    for (const kube::Kind kind : r.watches()) watched.insert(kind);
  }
  kube::Reconciler& reconciler;
  std::set<kube::Kind> watched;
  kube::WorkQueue<ObjectKey> queue;
  TimerId timer;
  Time armed_for = Time::max();
  bool is_pump_posted = false;
};

ControllerRunner::ControllerRunner(Loop& loop, Informers& informers, Sender& sender, Rng rng,
                                   Log log)
    : loop_(loop), informers_(informers), sender_(sender), rng_(rng), log_(std::move(log)) {
  informers_.listen([this, alive = std::weak_ptr(alive_)](const kube::AnyChange& change) {
    if (!alive.expired()) on_change(change);
  });
}

ControllerRunner::~ControllerRunner() {
  stop();
}

void ControllerRunner::stop() {
  is_started_ = false;
  alive_.reset();
  for (const auto& lane : lanes_) loop_.cancel(lane->timer);
}

void ControllerRunner::add(kube::Reconciler& reconciler) {
  lanes_.push_back(std::make_unique<Lane>(reconciler));
}

void ControllerRunner::start() {
  for (const auto& lane : lanes_) {
    for (const kube::Kind kind : lane->watched) informers_.follow(kind);
  }
  informers_.when_synced([this, alive = std::weak_ptr(alive_)] {
    if (alive.expired()) return;
    is_started_ = true;
    for (const auto& lane : lanes_) {
      informers_.replay([&](const kube::AnyChange& change) {
        if (!lane->watched.contains(kind_of_change(change))) return;
        lane->reconciler.keys_of(informers_.stores(), change,
                                 [&](ObjectKey key) { lane->queue.add(key); });
      });
      for (const ObjectKey& key : lane->reconciler.initial_keys()) lane->queue.add(key);
      pump(*lane);
    }
  });
}

void ControllerRunner::wake(kube::Reconciler& reconciler, ObjectKey key) {
  for (const auto& lane : lanes_) {
    if (&lane->reconciler != &reconciler) continue;
    lane->queue.add(key);
    arm(*lane);
  }
}

bool ControllerRunner::is_idle() const {
  const Time now = loop_.now();
  return std::ranges::all_of(lanes_, [&](const auto& lane) {
    const auto next = lane->queue.next();
    return lane->queue.is_idle() || (next && *next > now);
  });
}

void ControllerRunner::on_change(const kube::AnyChange& change) {
  if (!is_started_) return;  // start() looks at all that there is
  const kube::Kind kind = kind_of_change(change);
  for (const auto& lane : lanes_) {
    if (!lane->watched.contains(kind)) continue;
    lane->reconciler.keys_of(informers_.stores(), change,
                             [&](ObjectKey key) { lane->queue.add(key); });
    arm(*lane);
  }
}

// Runs what is due in its own task, so that all changes of one batch are in the stores before
// anyone looks.
void ControllerRunner::arm(Lane& lane) {
  if (!is_started_) return;
  const auto next = lane.queue.next();
  if (!next) return;
  const Time now = loop_.now();
  if (*next <= now) {
    if (std::exchange(lane.is_pump_posted, true)) return;
    loop_.post([this, &lane, alive = std::weak_ptr(alive_)] {
      if (alive.expired()) return;
      lane.is_pump_posted = false;
      pump(lane);
    });
    return;
  }
  if (lane.armed_for <= *next && lane.armed_for > now) return;
  loop_.cancel(lane.timer);
  lane.armed_for = *next;
  lane.timer = loop_.after(*next - now, [this, &lane] {
    lane.armed_for = Time::max();
    pump(lane);
  });
}

void ControllerRunner::pump(Lane& lane) {
  if (!is_started_) return;
  while (const auto key = lane.queue.take(loop_.now())) run(lane, *key);
  arm(lane);
}

void ControllerRunner::run(Lane& lane, const ObjectKey& key) {
  ++reconciles_;
  auto actions = std::make_shared<Actions>(
      lane.reconciler.reconcile(informers_.stores(), key, loop_.now(), rng_));
  send_next(lane, key, std::move(actions), 0);
}

void ControllerRunner::send_next(Lane& lane, ObjectKey key, std::shared_ptr<Actions> actions,
                                 size_t index) {
  if (index == actions->requests.size()) {
    if (actions->again_after) lane.queue.add_at(key, loop_.now() + *actions->again_after);
    lane.queue.done(key);
    arm(lane);
    return;
  }
  kube::ApiRequest request = actions->requests[index];
  const kube::Verb verb = request.verb;
  sender_.send(std::move(request), [this, &lane, key, actions, index, verb,
                                    alive = std::weak_ptr(alive_)](Result<std::string> answer) {
    if (alive.expired()) return;
    // What was to be made is there, or what was to go is gone: an earlier try took effect.
    const bool is_settled =
        !answer &&
        ((verb == kube::Verb::create && answer.error().code == ErrorCode::already_exists) ||
         (verb == kube::Verb::remove && answer.error().code == ErrorCode::not_found));
    if (answer || is_settled) {
      send_next(lane, key, actions, index + 1);
      return;
    }
    log_.debug("reconcile failed", {{"controller", std::string(lane.reconciler.name())},
                                    {"key", key.ns + "/" + key.name},
                                    {"error", answer.error().message}});
    lane.queue.failed(key, loop_.now());
    arm(lane);
  });
}

}  // namespace tau::client
