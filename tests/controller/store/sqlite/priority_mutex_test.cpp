#include "controller/store/sqlite/priority_mutex.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace trainyard::controller {
namespace {

TEST(PriorityMutexTest, ExcludesEveryOtherHolder) {
  PriorityMutex mutex;
  int counter = 0;
  const auto count = [&](auto lock) {
    for (int i = 0; i < 10'000; ++i) lock([&] { ++counter; });
  };
  std::thread urgent([&] {
    count([&](const auto& work) {
      const std::lock_guard lock(mutex);
      work();
    });
  });
  std::thread background([&] {
    count([&](const auto& work) {
      const BackgroundLock lock(mutex);
      work();
    });
  });
  urgent.join();
  background.join();
  EXPECT_EQ(counter, 20'000);
}

// With a plain mutex, background work that locks it repeatedly would hold it nearly all the time.
TEST(PriorityMutexTest, UrgentWorkWaitsForOnePieceOfBackgroundWorkAtMost) {
  PriorityMutex mutex;
  std::atomic<bool> stop{false};
  std::atomic<int64_t> pieces{0};
  std::thread background([&] {
    while (!stop) {
      const BackgroundLock lock(mutex);
      ++pieces;
    }
  });
  while (pieces == 0) std::this_thread::yield();
  for (int i = 0; i < 1000; ++i) {
    mutex.lock();
    const int64_t before = pieces;
    for (int spin = 0; spin < 100; ++spin) std::this_thread::yield();
    EXPECT_EQ(pieces, before) << "background work went on under the lock";
    mutex.unlock();
  }
  stop = true;
  background.join();
}

}  // namespace
}  // namespace trainyard::controller
