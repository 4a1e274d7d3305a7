#include "worker/loop_watch.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <thread>

namespace trainyard::worker {
namespace {

using std::chrono::milliseconds;

TEST(LoopWatchTest, ReportsABlockedThreadAndItsKernelFunction) {
  std::array<int, 2> pipe_ends;
  ASSERT_EQ(pipe(pipe_ends.data()), 0);
  std::atomic<int> reports = 0;
  std::string newest;
  LoopWatch watch({.blocked_after = milliseconds(50), .interval = milliseconds(20)},
                  [&](const std::string& kernel_function) {
                    newest = kernel_function;
                    // The third report ends the blocked read below.
                    if (++reports == 3) (void)!write(pipe_ends[1], "x", 1);
                  });
  char byte = 0;
  ASSERT_EQ(read(pipe_ends[0], &byte, 1), 1);
  const bool is_right = newest.empty() || newest.find("pipe") != std::string::npos;
  EXPECT_TRUE(is_right) << newest;
  close(pipe_ends[0]);
  close(pipe_ends[1]);
}

TEST(LoopWatchTest, ReportsNothingWhileItsThreadMakesProgress) {
  std::atomic<int> reports = 0;
  LoopWatch watch({.blocked_after = milliseconds(2000), .interval = milliseconds(1)},
                  [&](const std::string&) { ++reports; });
  for (int beat = 0; beat < 20; ++beat) {
    watch.Beat();
    std::this_thread::sleep_for(milliseconds(5));
  }
  EXPECT_EQ(reports, 0);
}

TEST(LoopWatchTest, EndsWithoutWaiting) {
  const auto begin = std::chrono::steady_clock::now();
  {
    const LoopWatch watch({.blocked_after = std::chrono::hours(1)}, [](const std::string&) {});
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::minutes(1));
}

}  // namespace
}  // namespace trainyard::worker
