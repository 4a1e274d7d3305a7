#include "trainer/parallel/interruption/operation_watch.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <thread>

namespace trainyard::trainer {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using ::testing::ExitedWithCode;

constexpr milliseconds kExitLimit{300};

void WaitUntil(const std::function<bool()>& done) {
  while (!done()) std::this_thread::sleep_for(milliseconds(5));
}

class OperationWatchTest : public ::testing::Test {
 protected:
  OperationWatchTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(OperationWatchTest, CountsFromWhereTheDeviceEntersAnOperation) {
  OperationCounters counters;
  FlightRecord record;
  const OperationWatch watch(counters, record, "dp0", hours(1));
  EXPECT_EQ(watch.RunningFor(), milliseconds(0));
  counters.entered = 1;
  WaitUntil([&] { return watch.RunningFor() > milliseconds(0); });
  counters.left = 1;
  WaitUntil([&] { return watch.RunningFor() == milliseconds(0); });
}

TEST_F(OperationWatchTest, EachOperationHasATimeOfItsOwn) {
  OperationCounters counters;
  FlightRecord record;
  const OperationWatch watch(counters, record, "dp0", hours(1));
  counters.entered = UINT32_MAX;
  counters.left = UINT32_MAX - 1;
  WaitUntil([&] { return watch.RunningFor() > kExitLimit; });
  counters.left = UINT32_MAX;
  counters.entered = 0;  // The counter wraps to 0 after its maximum.
  WaitUntil([&] { return watch.RunningFor() < kExitLimit; });
  WaitUntil([&] { return watch.RunningFor() > milliseconds(0); });
}

TEST_F(OperationWatchTest, EndsTheProcessInAnOperationThatDoesNotEnd) {
  const auto lose = [] {
    OperationCounters counters;
    FlightRecord record;
    const OperationWatch watch(counters, record, "dp0", kExitLimit);
    counters.entered = 1;
    while (true) pause();
  };
  EXPECT_EXIT(lose(), ExitedWithCode(69), "Lost a peer of group dp0");
}

TEST_F(OperationWatchTest, OperationsThatEndPutTheDeadlineOff) {
  const auto run = [] {
    OperationCounters counters;
    FlightRecord record;
    const OperationWatch watch(counters, record, "dp0", kExitLimit);
    const auto end = std::chrono::steady_clock::now() + 4 * kExitLimit;
    uint32_t operation = 0;
    WaitUntil([&] {
      counters.entered = ++operation;
      std::this_thread::sleep_for(milliseconds(20));
      counters.left = operation;
      return std::chrono::steady_clock::now() > end;
    });
    _exit(0);
  };
  EXPECT_EXIT(run(), ExitedWithCode(0), "");
}

TEST_F(OperationWatchTest, AStoppedWatchEndsNothing) {
  const auto run = [] {
    OperationCounters counters;
    FlightRecord record;
    OperationWatch watch(counters, record, "dp0", kExitLimit);
    counters.entered = 1;
    WaitUntil([&] { return watch.RunningFor() > milliseconds(0); });
    watch.Stop();
    std::this_thread::sleep_for(3 * kExitLimit);
    _exit(0);
  };
  EXPECT_EXIT(run(), ExitedWithCode(0), "");
}

}  // namespace
}  // namespace trainyard::trainer
