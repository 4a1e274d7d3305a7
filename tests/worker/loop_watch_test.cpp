#include "worker/loop_watch.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <thread>

namespace trainyard::worker {
namespace {

using std::chrono::milliseconds;

TEST(LoopWatchTest, TellsThatItsThreadIsBlockedAndWhere) {
  std::array<int, 2> pipe_ends;
  ASSERT_EQ(pipe(pipe_ends.data()), 0);
  std::atomic<int> tellings = 0;
  LoopWatch::Blocked newest;
  LoopWatch watch({.blocked_after = milliseconds(50), .interval = milliseconds(20)},
                  [&](const LoopWatch::Blocked& blocked) {
                    newest = blocked;
                    // The third one ends the wait below.
                    if (++tellings == 3) (void)!write(pipe_ends[1], "x", 1);
                  });
  char byte = 0;
  ASSERT_EQ(read(pipe_ends[0], &byte, 1), 1);
  EXPECT_GE(newest.since, milliseconds(50 + 2 * 20));
  const bool may_know =
      newest.waits_in.empty() || newest.waits_in.find("pipe") != std::string::npos;
  EXPECT_TRUE(may_know) << newest.waits_in;
  close(pipe_ends[0]);
  close(pipe_ends[1]);
}

TEST(LoopWatchTest, IsSilentWhileItsThreadGoesOn) {
  std::atomic<int> tellings = 0;
  LoopWatch watch({.blocked_after = milliseconds(2000), .interval = milliseconds(1)},
                  [&](const LoopWatch::Blocked&) { ++tellings; });
  for (int beat = 0; beat < 20; ++beat) {
    watch.Beat();
    std::this_thread::sleep_for(milliseconds(5));
  }
  EXPECT_EQ(tellings, 0);
}

// Whoever hears nothing any more then takes the worker for lost.
TEST(LoopWatchTest, FallsSilentAfterTheLongestTime) {
  const milliseconds most(80);
  std::atomic<int> tellings = 0;
  LoopWatch watch({.blocked_after = milliseconds(10), .interval = milliseconds(10), .most = most},
                  [&](const LoopWatch::Blocked& blocked) {
                    ++tellings;
                    EXPECT_LE(blocked.since, most);
                  });
  std::this_thread::sleep_for(2 * most);
  EXPECT_GE(tellings, 1);
}

// The owner may be destroyed at once.
TEST(LoopWatchTest, EndsAtOnce) {
  const auto begin = std::chrono::steady_clock::now();
  {
    const LoopWatch watch({.blocked_after = std::chrono::hours(1)},
                          [](const LoopWatch::Blocked&) {});
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::minutes(1));
}

}  // namespace
}  // namespace trainyard::worker
