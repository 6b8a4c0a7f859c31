// ProcessRuntime's reading of logs: a piece at a time on the worker, given out on the loop.
#include "host/container_log.h"
#include "host/process_runtime.h"

namespace tau::host {
using kubelet::ContainerId;

namespace {

constexpr Duration log_period = milliseconds(100);

// One reading: a piece at a time on the worker, given out on the loop.
struct LogReading : std::enable_shared_from_this<LogReading> {
  LogReading(Loop& l, std::weak_ptr<Worker> w, std::string folder, kubelet::LogQuery q)
      : loop(l), worker(std::move(w)), query(q), files(std::move(folder), std::move(q)) {}

  void step() {
    if (is_stopped) return;
    const auto thread = worker.lock();
    if (!thread) return end();
    if (query.may_read && !query.may_read()) return wait();
    // Asked before reading: what was written before the end is then read.
    const bool was_ended = !query.follow || is_ended();
    auto text = std::make_shared<std::string>();
    thread->offload([self = shared_from_this(), text] { *text = self->files.read(); },
                    [self = shared_from_this(), text, was_ended] { self->give(*text, was_ended); });
  }
  void give(const std::string& text, bool was_ended) {
    if (is_stopped) return;
    if (!text.empty()) on_data(text);
    if (is_stopped) return;
    if (files.is_full() || (text.empty() && was_ended)) return end();
    if (text.empty()) return wait();
    step();
  }
  void wait() {
    timer = loop.after(log_period, [self = shared_from_this()] { self->step(); });
  }
  void end() {
    is_stopped = true;
    if (on_end) on_end({});
  }

  Loop& loop;
  std::weak_ptr<Worker> worker;
  kubelet::LogQuery query;
  LogFiles files;
  std::function<bool()> is_ended;
  std::function<void(std::string_view)> on_data;
  std::move_only_function<void(Result<void>)> on_end;
  TimerId timer;
  bool is_stopped = false;
};

}  // namespace

std::move_only_function<void()> ProcessRuntime::read_log(
    const ContainerId& id, kubelet::LogQuery query, std::function<void(std::string_view)> on_data,
    std::move_only_function<void(Result<void>)> on_end) {
  auto reading =
      std::make_shared<LogReading>(loop_, worker_, container_folder(root_, id), std::move(query));
  reading->is_ended = [this, id, alive = std::weak_ptr(alive_)] {
    if (alive.expired()) return true;
    const auto found = containers_.find(id);
    return found == containers_.end() || found->second.is_ended() || found->second.is_leaving;
  };
  reading->on_data = std::move(on_data);
  reading->on_end = std::move(on_end);
  loop_.post([reading] { reading->step(); });
  return [reading] {
    reading->is_stopped = true;
    reading->loop.cancel(reading->timer);
  };
}

}  // namespace tau::host
