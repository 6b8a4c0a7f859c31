#include "plane/plane.h"

#include "base/limits.h"
#include "base/overloaded.h"
#include "client/controller_runner.h"
#include "control/defaults.h"
#include "control/history_recorder.h"
#include "control/job_workload.h"
#include "control/queue_status.h"
#include "mirror/cluster_mirror.h"
#include "mirror/decision_writer.h"
#include "plane/views.h"

namespace tau::plane {

struct Plane::Impl {
  Impl(Loop& l, http::Transport& transport, history::HistoryStore& h, Log lg, PlaneOptions o)
      : loop(l),
        history(h),
        log(std::move(lg)),
        options(std::move(o)),
        rng(options.seed),
        informers(loop, transport, rng.fork(), log),
        sender(transport, limits::requests_in_flight),
        runner(loop, informers, sender, rng.fork(), log),
        mirror({.scheduler_name = options.scheduler_name, .owns_all_pods = options.is_embedded}),
        views(informers.stores(), history, [this] { return loop.now(); }) {}

  void start() {
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
      end_runs_that_went_unseen();
      record_history();
      note_change();
      for (auto& ready : std::exchange(waiting, {})) ready();
    });
  }

  void stop() {
    is_stopped = true;
    alive_mark.reset();
    loop.cancel(cycle_timer);
    loop.cancel(history_timer);
  }

  // ---- changes in
  // -----------------------------------------------------------------------------------------

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

  // A run that was deleted while nobody looked: its Job is in no list any more.
  void end_runs_that_went_unseen() {
    const auto known = history.query({.limit = 100'000});
    if (!known) return;
    for (const history::RunRecord& run : *known) {
      if (run.deleted || informers.stores().get<kube::Job>().find_uid(run.uid)) continue;
      kube::Job gone;
      gone.metadata.uid = run.uid;
      gone.metadata.name = run.name;
      gone.metadata.namespace_ = run.ns;
      gone.metadata.creation_timestamp = run.submitted;
      history::RunRecord ended = run;
      ended.deleted = loop.now();
      if (ended.phase != "Succeeded" && ended.phase != "Failed" && ended.phase != "Cancelled") {
        ended.phase = "Cancelled";
        ended.reason = "Deleted";
        ended.message = "the Job was deleted while the platform was away";
        ended.ended = loop.now();
      }
      keep(ended);
    }
  }

  void keep(const history::RunRecord& run) {
    ++counts.history_writes;
    if (const auto done = history.record(run); !done) {
      log.error("history not written", {{"run", run.id}, {"error", done.error().message}});
    }
  }
  void record_history() {
    for (const history::RunRecord& run : recorder.take_changed()) keep(run);
  }

  // ---- cycles
  // ---------------------------------------------------------------------------------------------

  // Quiet for 50 ms, or 250 ms after the first change, whichever comes first.
  void note_change() {
    if (is_stopped || !is_synced || is_cycle_running) return;
    const Time now = loop.now();
    if (!first_change) first_change = now;
    const Time latest = *first_change + milliseconds(limits::cycle_latest_ms);
    arm(std::min(now + milliseconds(limits::cycle_quiet_ms), latest));
  }
  void arm(Time when) {
    loop.cancel(cycle_timer);
    cycle_timer = loop.after(std::max(when - loop.now(), Duration(0)), [this] { run_cycle(); });
  }

  void run_cycle() {
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
        [core_here, work, now, checks_ledger] {
          core_here->engine.apply(work->deltas);
          work->result = core_here->engine.run_cycle(now, core_here->rng);
          if (checks_ledger) work->drift = core_here->engine.check_invariants();
          work->view = core_here->engine.view();
        },
        [this, work, alive = std::weak_ptr(alive_mark)] {
          if (alive.expired()) return;
          if (!work->drift.empty()) {
            log.error("ledger drift", {{"what", work->drift}});
            metrics.add("taugrid_ledger_drift_total",
                        "Differences found between kept and recomputed totals.", {});
          }
          finish_cycle(work->result, std::move(work->view));
        });
  }

  void finish_cycle(const engine::CycleResult& result, engine::View view) {
    is_cycle_running = false;
    const Time now = loop.now();
    views.take(mirror.names(), view, now);
    for (const engine::Decision& decision : result.decisions) {
      std::visit(Overloaded{[&](const engine::Admit&) { ++counts.admitted; },
                            [&](const engine::Bind&) { ++counts.bound; },
                            [&](const engine::Evict&) { ++counts.evicted; }},
                 decision);
      if (auto write = mirror::write_of(mirror.names(), informers.stores(), decision, now))
        send(std::move(*write));
    }
    for (const engine::Verdict& verdict : result.verdicts) {
      if (auto write = mirror::write_of(mirror.names(), informers.stores(), verdict, now))
        send(std::move(*write));
    }
    metrics.set("taugrid_pending_workloads", "Workloads and pods that wait.", {},
                static_cast<double>(view.verdicts.size()));
    metrics.add("taugrid_cycles_total", "Scheduling cycles.", {});
    metrics.add("taugrid_binds_total", "Pods bound.", {}, static_cast<double>(result.stats.bound));
    metrics.add("taugrid_admissions_total", "Workloads admitted.", {},
                static_cast<double>(result.stats.admitted));
    if (mirror.has_deltas())
      note_change();
    else if (result.next)
      arm(std::max(*result.next, now + milliseconds(1)));
  }

  void send(mirror::Write write) {
    sender.send(std::move(write.request),
                [this, on_failure = std::move(write.on_failure),
                 alive = std::weak_ptr(alive_mark)](Result<std::string> answer) {
                  if (alive.expired() || answer) return;
                  ++counts.failed_writes;
                  log.debug("decision not taken", {{"error", answer.error().message}});
                  if (on_failure) {
                    mirror.add(*on_failure);
                    // The store must show the newer version first, or the same write fails again at
                    // once.
                    loop.after(milliseconds(limits::cycle_latest_ms), [this, alive] {
                      if (!alive.expired()) note_change();
                    });
                  }
                });
  }

  // The part that a worker may touch, kept alive until the last cycle ends.
  struct Core {
    engine::Engine engine;
    Rng rng{1};
  };

  Loop& loop;
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
  Views views;
  Metrics metrics;
  PlaneCounts counts;
  bool is_synced = false, is_stopped = false, is_cycle_running = false, is_history_due = false;
  std::optional<Time> first_change;
  TimerId cycle_timer, history_timer;
  std::vector<std::move_only_function<void()>> waiting;
  std::shared_ptr<char> alive_mark = std::make_shared<char>();
};

Plane::Plane(Loop& loop, http::Transport& transport, history::HistoryStore& history, Log log,
             PlaneOptions options)
    : impl_(std::make_unique<Impl>(loop, transport, history, std::move(log), std::move(options))) {}
Plane::~Plane() {
  impl_->stop();
}
void Plane::start() {
  impl_->start();
}
void Plane::stop() {
  impl_->stop();
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
http::Handler& Plane::views() {
  return impl_->views;
}
Metrics& Plane::metrics() {
  return impl_->metrics;
}
const PlaneCounts& Plane::counts() const {
  return impl_->counts;
}

}  // namespace tau::plane
