#include "proto/support/clock.h"

#include <gtest/gtest.h>

#include "proto/support/boot_id.h"

namespace trainyard {
namespace {

class FixedClock : public Clock {
 public:
  Timestamp Now() const override { return 7; }
};

TEST(ClockTest, TheMachineHasAWallClockAndASteadyOne) {
  const SystemClock clock;
  const ClockReading first = clock.Read();
  const ClockReading second = clock.Read();
  EXPECT_GT(first.wall_ms, 1'600'000'000'000);
  EXPECT_GT(first.steady_ms, 0);
  EXPECT_LE(first.steady_ms, second.steady_ms);
  EXPECT_LT(second.steady_ms - first.steady_ms, 10'000);
}

TEST(ClockTest, ABootHasAnIdentity) {
  EXPECT_EQ(SystemClock().BootId().size(), 36u) << "a UUID without a line end";
  EXPECT_EQ(SystemClock().BootId(), BootId());
}

TEST(ClockTest, AClockThatOnlyItsOwnerSetsIsSteady) {
  EXPECT_EQ(FixedClock().Read().wall_ms, 7);
  EXPECT_EQ(FixedClock().Read().steady_ms, 7);
  EXPECT_EQ(FixedClock().BootId(), "");
}

}  // namespace
}  // namespace trainyard
