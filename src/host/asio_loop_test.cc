#include "host/asio_loop.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <thread>

#include "host/testing/test_world.h"
#include "host/worker.h"

namespace tau::host {
namespace {

TEST(AsioLoop, RunsPostedTasksInOrder) {
  AsioLoop loop;
  std::vector<int> order;
  for (int i = 0; i < 3; ++i) loop.post([&order, i] { order.push_back(i); });
  EXPECT_TRUE(order.empty());
  loop.post([&] { loop.stop(); });
  loop.run();
  EXPECT_EQ(order, (std::vector{0, 1, 2}));
}

TEST(AsioLoop, TakesTasksFromOtherThreads) {
  AsioLoop loop;
  int count = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 1000; ++k) loop.post([&count] { ++count; });
    });
  }
  EXPECT_TRUE(wait_for(loop, [&] { return count == 4000; }));
  for (std::thread& thread : threads) thread.join();
}

TEST(AsioLoop, FiresTimersInTheOrderOfTheirTime) {
  AsioLoop loop;
  std::string order;
  loop.after(milliseconds(20), [&] { order += 'b'; });
  loop.after(milliseconds(1), [&] { order += 'a'; });
  loop.after(milliseconds(40), [&] { order += 'c'; });
  const Time before = loop.now();
  EXPECT_TRUE(wait_for(loop, [&] { return order.size() == 3; }));
  EXPECT_EQ(order, "abc");
  EXPECT_GE(loop.now() - before, milliseconds(30));
}

TEST(AsioLoop, ForgetsCancelledTimers) {
  AsioLoop loop;
  int fired = 0;
  bool is_over = false;
  TimerId second;
  const TimerId first = loop.after(Duration(0), [&] {
    ++fired;
    loop.cancel(second);  // also one that is due already
  });
  second = loop.after(Duration(0), [&] { fired += 100; });
  const TimerId third = loop.after(Duration(0), [&] { fired += 1000; });
  loop.cancel(third);
  loop.cancel(third);
  loop.cancel({});
  loop.after(milliseconds(2), [&] { is_over = true; });
  EXPECT_TRUE(wait_for(loop, [&] { return is_over; }));
  EXPECT_EQ(fired, 1);
  loop.cancel(first);
}

TEST(AsioLoop, WorksElsewhereAndAnswersHere) {
  AsioLoop loop;
  const auto here = std::this_thread::get_id();
  std::thread::id worked, answered;
  loop.offload([&] { worked = std::this_thread::get_id(); },
               [&] { answered = std::this_thread::get_id(); });
  EXPECT_TRUE(wait_for(loop, [&] { return answered != std::thread::id(); }));
  EXPECT_NE(worked, here);
  EXPECT_EQ(answered, here);
}

TEST(AsioLoop, TellsSignals) {
  AsioLoop loop;
  std::vector<int> got;
  loop.on_signals({SIGUSR2}, [&](int number) { got.push_back(number); });
  for (size_t i = 1; i <= 3; ++i) {
    raise(SIGUSR2);
    ASSERT_TRUE(wait_for(loop, [&] { return got.size() == i; }));
  }
  EXPECT_EQ(got, (std::vector{SIGUSR2, SIGUSR2, SIGUSR2}));
}

TEST(AsioLoop, SaysWhenTheTimeIsUp) {
  AsioLoop loop;
  EXPECT_FALSE(loop.run_until([] { return false; }, milliseconds(5)));
  EXPECT_TRUE(loop.run_until([] { return true; }, milliseconds(0)));
}

TEST(Worker, FinishesWhatItWasGiven) {
  AsioLoop loop;
  std::atomic<int> done = 0;
  int told = 0;
  {
    Worker worker(loop);
    for (int i = 0; i < 100; ++i) worker.offload([&] { ++done; }, [&] { ++told; });
  }
  EXPECT_EQ(done, 100);
  EXPECT_EQ(told, 0);
}

TEST(Random, ComesFromTheSystem) {
  EXPECT_NE(random_seed(), random_seed());
  EXPECT_EQ(random_token(32).size(), 64u);
  EXPECT_NE(random_token(32), random_token(32));
}

}  // namespace
}  // namespace tau::host
