#include "host/asio_loop.h"

#include <sys/random.h>

#include <boost/asio.hpp>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include "base/check.h"
#include "base/text.h"

namespace tau::host {
namespace asio = boost::asio;

Time system_now() {
  return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
}

uint64_t random_seed() {
  uint64_t seed = 0;
  CHECK(getrandom(&seed, sizeof seed, 0) == sizeof seed);
  return seed;
}

std::string random_token(int bytes) {
  std::string raw(static_cast<size_t>(bytes), '\0');
  CHECK(getrandom(raw.data(), raw.size(), 0) == static_cast<ssize_t>(raw.size()));
  return hex_encode(raw);
}

struct AsioLoop::Impl {
  asio::io_context io{1};
  asio::executor_work_guard<asio::io_context::executor_type> guard = asio::make_work_guard(io);
  asio::io_context worker_io{1};
  asio::executor_work_guard<asio::io_context::executor_type> worker_guard =
      asio::make_work_guard(worker_io);
  std::thread worker{[this] { worker_io.run(); }};
  uint64_t next_timer = 1;
  std::map<uint64_t, std::unique_ptr<asio::steady_timer>> timers;
  std::vector<std::unique_ptr<asio::signal_set>> signals;

  ~Impl() {
    worker_guard.reset();
    worker_io.stop();
    worker.join();
  }
};

AsioLoop::AsioLoop() : impl_(std::make_unique<Impl>()) {}
AsioLoop::~AsioLoop() = default;
asio::io_context& AsioLoop::context() {
  return impl_->io;
}
Time AsioLoop::now() const {
  return system_now();
}
void AsioLoop::post(Task task) {
  asio::post(impl_->io, std::move(task));
}
void AsioLoop::run() {
  impl_->io.run();
}
void AsioLoop::stop() {
  impl_->io.stop();
}

TimerId AsioLoop::after(Duration delay, Task task) {
  const uint64_t id = impl_->next_timer++;
  auto timer = std::make_unique<asio::steady_timer>(impl_->io, std::max(delay, Duration(0)));
  timer->async_wait(
      [this, id, task = std::move(task)](const boost::system::error_code& error) mutable {
        if (error) return;
        // Cancelled after it had expired but before it ran: then it is no longer in the table.
        const auto found = impl_->timers.find(id);
        if (found == impl_->timers.end()) return;
        auto keep = std::move(found->second);
        impl_->timers.erase(found);
        task();
      });
  impl_->timers.emplace(id, std::move(timer));
  return TimerId{id};
}

void AsioLoop::cancel(TimerId timer) {
  impl_->timers.erase(timer.value);
}

void AsioLoop::offload(Task work, Task then) {
  asio::post(impl_->worker_io, [this, work = std::move(work), then = std::move(then)]() mutable {
    work();
    post(std::move(then));
  });
}

bool AsioLoop::run_until(const std::function<bool()>& done, Duration limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!done()) {
    const auto now = std::chrono::steady_clock::now();
    if (now >= end) return false;
    impl_->io.restart();
    impl_->io.run_one_for(end - now);
  }
  return true;
}

void AsioLoop::on_signals(std::vector<int> numbers, std::function<void(int)> on_signal) {
  auto set = std::make_unique<asio::signal_set>(impl_->io);
  for (const int number : numbers) set->add(number);
  asio::signal_set* raw = set.get();
  impl_->signals.push_back(std::move(set));
  auto wait = std::make_shared<std::function<void()>>();
  *wait = [raw, on_signal = std::move(on_signal), keep = std::weak_ptr(wait)]() {
    raw->async_wait(
        [on_signal, again = keep.lock()](const boost::system::error_code& error, int number) {
          if (error) return;
          on_signal(number);
          if (again) (*again)();
        });
  };
  (*wait)();
}

}  // namespace tau::host
