#include "trainer/threads/parallel_tasks.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace trainyard::trainer {
namespace {

TEST(ParallelTasksTest, RunsEveryTaskOnce) {
  std::vector<std::atomic<int>> runs(1000);
  ParallelTasks(1000, 7, [&](size_t thread, size_t task) {
    EXPECT_LT(thread, 7u);
    ++runs[task];
  });
  for (const std::atomic<int>& count : runs) EXPECT_EQ(count, 1);
  ParallelTasks(0, 7, [](size_t, size_t) { FAIL(); });
}

TEST(ParallelTasksTest, OneTaskNeedsNoThread) {
  const std::thread::id caller = std::this_thread::get_id();
  ParallelTasks(1, 7, [&](size_t, size_t) { EXPECT_EQ(std::this_thread::get_id(), caller); });
  EXPECT_EQ(ThreadsFor(0, 7), 1u);
  EXPECT_EQ(ThreadsFor(3, 7), 3u);
  EXPECT_EQ(ThreadsFor(30, 7), 7u);
}

TEST(ParallelTasksTest, AFailureEndsTheRest) {
  std::atomic<int> runs = 0;
  const auto fail = [&](size_t, size_t task) {
    ++runs;
    if (task >= 10) throw std::runtime_error(std::to_string(task));
  };
  try {
    ParallelTasks(100000, 4, fail);
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_EQ(error.what(), std::string("10"));
  }
  EXPECT_LT(runs, 100000);
}

#ifndef TRAINYARD_SANITIZED  // Sanitizers need more address space.
// The address space has no place for another stack, so no thread can be created.
TEST(ParallelTasksTest, TheCallerDoesWhatNoThreadCanBeMadeFor) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto run = [] {
    const rlimit none = {1 << 20, 1 << 20};
    if (setrlimit(RLIMIT_AS, &none) != 0) _exit(2);
    int runs = 0;
    ParallelTasks(100, 7, [&](size_t thread, size_t) { runs += thread == 0 ? 1 : 0; });
    _exit(runs == 100 ? 0 : 1);
  };
  EXPECT_EXIT(run(), ::testing::ExitedWithCode(0), "");
}
#endif

}  // namespace
}  // namespace trainyard::trainer
