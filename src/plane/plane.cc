#include "plane/plane.h"

#include "base/limits.h"
#include "base/overloaded.h"
#include "client/controller_runner.h"
#include "client/leader.h"
#include "control/defaults.h"
#include "control/history_recorder.h"
#include "control/job_workload.h"
#include "control/queue_status.h"
#include "mirror/cluster_mirror.h"
#include "mirror/decision_writer.h"
#include "plane/figures.h"
#include "plane/ledger_check.h"
#include "plane/views.h"

namespace tau::plane {

struct Plane::Impl {
  Impl(Loop& l, http::Transport& t, history::HistoryStore& h, Log lg, PlaneOptions o)
      : loop(l),
        transport(t),
        history(h),
        log(std::move(lg)),
        options(std::move(o)),
        rng(options.seed),
        informers(loop, transport, rng.fork(), log),
        sender(transport, limits::requests_in_flight),
        runner(loop, informers, sender, rng.fork(), log),
        mirror({.scheduler_name = options.scheduler_name, .owns_all_pods = options.is_embedded}),
        views(informers.stores(), history, [this] { return loop.now(); }) {
    if (options.fair_sharing.is_on) {
      const engine::Delta first = options.fair_sharing;
      core->engine.apply({&first, 1});
    }
  }

  void start() {
    if (options.lease_identity.empty()) {
      begin();
      return;
    }
    metrics.set("taugrid_leader", "1 where this process leads.", {}, 0);
    leader.emplace(loop, transport, rng.fork(),
                   client::LeaderOptions{.identity = options.lease_identity},
                   client::Leader::Callbacks{
                       .on_leading =
                           [this] {
                             metrics.set("taugrid_leader", "1 where this process leads.", {}, 1);
                             begin();
                           },
                       .on_deposed =
                           [this](std::string why) {
                             metrics.set("taugrid_leader", "1 where this process leads.", {}, 0);
                             log.error("deposed", {{"why", why}});
                             halt();
                             if (options.on_deposed) options.on_deposed(std::move(why));
                           },
                       .on_waiting = options.on_waiting,
                       .on_trouble =
                           [this](std::string what) {
                             log.warn("the lease cannot be taken", {{"error", std::move(what)}});
                           },
                   });
    leader->start();
  }

  void begin() {
    informers.listen([this](const kube::AnyChange& change) { on_change(change); });
    runner.add(job_workload);
    runner.add(cluster_queue_status);
    runner.add(local_queue_status);
    if (options.is_embedded) runner.add(defaults);
    for (const kube::Kind kind : mirror::ClusterMirror::watches()) informers.follow(kind);
    for (const kube::Kind kind : control::HistoryRecorder::watches()) informers.follow(kind);
    if (auto known = history.query({.limit = 100'000})) {
      for (history::RunRecord& run : *known) recorder.restore(std::move(run));
    } else {
      log.error("history cannot be read", {{"error", known.error().message}});
    }
    runner.start();
    informers.when_synced([this, alive = std::weak_ptr(alive_mark)] {
      if (alive.expired()) return;
      is_synced = true;
      recorder.end_unseen(informers.stores(), loop.now());
      record_history();
      note_change();
      for (auto& ready : std::exchange(waiting, {})) ready();
    });
  }

  void stop(std::function<void()> done) {
    halt();
    if (leader)
      leader->release(std::move(done));
    else if (done)
      done();
  }

  // Whoever leads next must find nobody writing beside it.
  void halt() {
    is_stopped = true;
    alive_mark.reset();
    runner.stop();
    sender.stop();
    for (const TimerId timer : {cycle_timer, history_timer, unwritten_timer, retell_timer})
      loop.cancel(timer);
  }

  // ---- changes in

  void on_change(const kube::AnyChange& change) {
    if (is_stopped) return;
    mirror.on_change(informers.stores(), change);
    recorder.on_change(informers.stores(), change, loop.now());
    if (!is_synced) return;
    // A batch of changes becomes one record per run.
    if (!std::exchange(is_history_due, true)) {
      history_timer = loop.after(Duration(0), [this] {
        is_history_due = false;
        record_history();
      });
    }
    if (mirror.has_deltas()) note_change();
  }

  // What could not be written (a full disk) is kept and tried again: its objects may be gone by
  // then.
  void record_history() {
    for (history::RunRecord& run : recorder.take_changed()) {
      const std::string uid = run.uid;
      unwritten.insert_or_assign(uid, std::move(run));
    }
    for (auto run = unwritten.begin(); run != unwritten.end();) {
      if (const auto done = history.record(run->second); !done) {
        if (!std::exchange(is_history_failing, true))
          log.error("history cannot be written",
                    {{"run", run->second.id}, {"error", done.error().message}});
        loop.cancel(unwritten_timer);
        unwritten_timer = loop.after(seconds(1), [this] { record_history(); });
        return;
      }
      ++counts.history_writes;
      run = unwritten.erase(run);
    }
    if (std::exchange(is_history_failing, false)) log.info("history is written again");
  }

  // ---- cycles

  // Quiet for 50 ms, or 250 ms after the first change, whichever comes first.
  void note_change() {
    if (is_stopped || !is_synced || is_cycle_running || options.is_stepped) return;
    const Time now = loop.now();
    if (!first_change) first_change = now;
    const Time latest = *first_change + milliseconds(limits::cycle_latest_ms);
    arm(std::min(now + milliseconds(limits::cycle_quiet_ms), latest));
  }
  void arm(Time when) {
    loop.cancel(cycle_timer);
    cycle_timer = loop.after(std::max(when - loop.now(), Duration(0)), [this] { run_cycle(); });
  }

  void run_cycle(const engine::CycleOptions& how = {}) {
    first_change.reset();
    is_cycle_running = true;
    ++counts.cycles;
    // The engine is touched only inside offload; values go in and come out.
    struct Work {
      std::vector<engine::Delta> deltas;
      engine::CycleResult result;
      engine::View view;
      std::string drift;
    };
    auto work = std::make_shared<Work>();
    work->deltas = mirror.take_deltas();
    const Time now = loop.now();
    const bool checks_ledger = counts.cycles % 64 == 0;
    std::shared_ptr<Core> core_here = core;
    loop.offload(
        [core_here, work, now, checks_ledger, how] {
          core_here->engine.apply(work->deltas);
          work->result = core_here->engine.run_cycle(now, core_here->rng, how);
          if (checks_ledger) work->drift = core_here->engine.check_invariants();
          work->view = core_here->engine.view();
        },
        [this, work, now, checks_ledger, alive = std::weak_ptr(alive_mark)] {
          if (alive.expired()) return;
          is_cycle_running = false;
          last_view = std::move(work->view);
          if (checks_ledger) heal(work->drift);
          finish_cycle(work->result);
          const double took = std::chrono::duration<double>(loop.now() - now).count();
          metrics.observe("taugrid_cycle_seconds", "From gathered changes to decisions.", {},
                          cycle_bounds, took);
        });
  }

  // Compares what the engine counts with what the API shows, and with itself. Both must agree.
  void heal(const std::string& inner) {
    std::vector<Drift> found;
    if (!inner.empty()) found.push_back({"", inner});
    // With changes on their way to the engine, the stores are ahead of what it saw.
    if (!mirror.has_deltas()) {
      for (Drift& drift : check_ledger(mirror.names(), informers.stores(), last_view)) {
        mirror.reassert(informers.stores(), drift.node);
        found.push_back(std::move(drift));
      }
    }
    for (const Drift& drift : found) {
      log.error("ledger drift", {{"node", drift.node}, {"what", drift.what}});
    }
    metrics.add("taugrid_ledger_drift_total", "Differences found between what is counted and is.",
                {}, static_cast<double>(found.size()));
  }

  void finish_cycle(const engine::CycleResult& result) {
    const Time now = loop.now();
    views.take(mirror.names(), last_view, now);
    for (const engine::Decision& decision : result.decisions) carry_out(decision, now);
    for (const engine::Verdict& verdict : result.verdicts) tell(verdict, now);
    metrics.add("taugrid_cycles_total", "Scheduling cycles.", {});
    metrics.add("taugrid_binds_total", "Pods bound.", {}, static_cast<double>(result.stats.bound));
    metrics.add("taugrid_admissions_total", "Workloads admitted.", {},
                static_cast<double>(result.stats.admitted));
    metrics.add("taugrid_evictions_total", "Workloads whose quota and places were taken back.", {},
                static_cast<double>(result.stats.evicted));
    if (mirror.has_deltas())
      note_change();
    else if (result.next && !options.is_stepped)
      arm(std::max(*result.next, now + milliseconds(1)));
  }

  // ---- decisions out

  void carry_out(const engine::Decision& decision, Time now) {
    std::visit(Overloaded{[&](const engine::Admit&) { ++counts.admitted; },
                          [&](const engine::Bind&) { ++counts.bound; },
                          [&](const engine::Evict&) { ++counts.evicted; }},
               decision);
    auto write = mirror::write_of(mirror.names(), informers.stores(), decision, now, rng);
    if (write) send(std::move(*write), 0);
    // Its node or object is gone already; what was assumed must not wait for its expiry.
    else if (const auto* bind = std::get_if<engine::Bind>(&decision))
      mirror.give_up(*bind);
  }

  void tell(const engine::Verdict& verdict, Time now) {
    auto write = mirror::write_of(mirror.names(), informers.stores(), verdict, now, rng);
    if (write) send(std::move(*write), 0);
  }

  void send(mirror::Write write, int tries) {
    kube::ApiRequest request = write.request;
    sender.send(std::move(request),
                [this, write = std::move(write), tries,
                 alive = std::weak_ptr(alive_mark)](Result<std::string> answer) mutable {
                  if (alive.expired()) return;
                  if (!answer) {
                    not_written(std::move(write), tries, answer.error());
                    return;
                  }
                  for (kube::ApiRequest& event : write.events) {
                    sender.send(std::move(event), [](Result<std::string>) {});
                  }
                });
  }

  // A refused decision is taken back. One whose answer is lost may have been carried out: undoing
  // it would give its devices to another. So it is asked again; what then stays unsure is settled
  // by the watch or expires.
  void not_written(mirror::Write write, int tries, const Error& error) {
    ++counts.failed_writes;
    metrics.add("taugrid_failed_writes_total", "Writes of decisions that failed.", {});
    log.debug("decision not written", {{"error", error.message}});
    if (!write.on_failure) {
      retell_later();
      return;
    }
    const bool is_busy = error.code == ErrorCode::too_many;
    if (is_busy || !client::is_refused(error)) {
      if (tries == most_tries) return;
      loop.after(milliseconds(limits::cycle_latest_ms) * (1 << tries),
                 [this, write = std::move(write), next = tries + 1,
                  alive = std::weak_ptr(alive_mark)]() mutable {
                   if (!alive.expired()) send(std::move(write), next);
                 });
      return;
    }
    // Refused the second time: most likely because the first was carried out.
    if (tries > 0 && error.code == ErrorCode::conflict) return;
    mirror.failed(*write.on_failure, write.uid);
    // The store must show the newer version first, or the same write fails again at once.
    loop.after(milliseconds(limits::cycle_latest_ms), [this, alive = std::weak_ptr(alive_mark)] {
      if (!alive.expired()) note_change();
    });
  }

  // The engine tells a verdict once; one that was not written is said again from its last view.
  void retell_later() {
    loop.cancel(retell_timer);
    retell_timer = loop.after(seconds(1), [this] {
      for (const engine::Verdict& verdict : last_view.verdicts) tell(verdict, loop.now());
    });
  }

  // The part that a worker may touch, kept alive until the last cycle ends.
  struct Core {
    engine::Engine engine;
    Rng rng{1};
  };

  static constexpr int most_tries = 4;
  static constexpr double cycle_bounds[] = {0.0001, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5};

  Loop& loop;
  http::Transport& transport;
  history::HistoryStore& history;
  Log log;
  PlaneOptions options;
  Rng rng;
  client::Informers informers;
  client::Sender sender;
  client::ControllerRunner runner;
  control::JobWorkload job_workload;
  control::ClusterQueueStatus cluster_queue_status;
  control::LocalQueueStatus local_queue_status;
  control::Defaults defaults;
  control::HistoryRecorder recorder;
  mirror::ClusterMirror mirror;
  std::shared_ptr<Core> core = std::make_shared<Core>();
  engine::View last_view;
  Views views;
  Metrics metrics;
  Figures figures;
  PlaneCounts counts;
  bool is_synced = false, is_stopped = false, is_cycle_running = false, is_history_due = false,
       is_history_failing = false;
  std::map<std::string, history::RunRecord> unwritten;  // by uid, the latest of each
  std::optional<Time> first_change;
  TimerId cycle_timer, history_timer, unwritten_timer, retell_timer;
  std::vector<std::move_only_function<void()>> waiting;
  std::shared_ptr<char> alive_mark = std::make_shared<char>();
  std::optional<client::Leader> leader;
};

Plane::Plane(Loop& loop, http::Transport& transport, history::HistoryStore& history, Log log,
             PlaneOptions options)
    : impl_(std::make_unique<Impl>(loop, transport, history, std::move(log), std::move(options))) {}
Plane::~Plane() {
  impl_->halt();
}
void Plane::start() {
  impl_->start();
}
void Plane::stop(std::function<void()> done) {
  impl_->stop(std::move(done));
}
void Plane::when_ready(std::move_only_function<void()> ready) {
  if (impl_->is_synced)
    ready();
  else
    impl_->waiting.push_back(std::move(ready));
}
bool Plane::is_idle() const {
  return impl_->is_synced && !impl_->is_cycle_running && !impl_->first_change &&
         !impl_->mirror.has_deltas() && impl_->runner.is_idle();
}
void Plane::step(const engine::CycleOptions& options) {
  CHECK(impl_->options.is_stepped && !impl_->is_cycle_running);
  if (impl_->is_synced && !impl_->is_stopped) impl_->run_cycle(options);
}
http::Handler& Plane::views() {
  return impl_->views;
}
Metrics& Plane::metrics() {
  // Gauges are made when they are asked for, not each cycle.
  impl_->figures.update(impl_->metrics, impl_->mirror.names(), impl_->informers.stores(),
                        impl_->last_view);
  return impl_->metrics;
}
const PlaneCounts& Plane::counts() const {
  return impl_->counts;
}

}  // namespace tau::plane
