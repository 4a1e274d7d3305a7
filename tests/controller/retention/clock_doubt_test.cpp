#include "controller/retention/clock_doubt.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace trainyard::controller {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using testing::HasSubstr;

constexpr Timestamp kHourMs = 3'600'000;
constexpr Timestamp kWallNow = 1'000'000 * kHourMs;
constexpr Timestamp kYearMs = 365 * 24 * kHourMs;
const ClockDoubt::Steady kStart{hours(5)};

TEST(ClockDoubtTest, BelievesAClockThatRunsWithTheMonotonicOne) {
  ClockDoubt doubt(kWallNow - kHourMs, kWallNow, kStart);
  for (int hour = 0; hour < 100; ++hour) {
    // The clock gains 5 minutes per hour; the sum exceeds the tolerance.
    EXPECT_EQ(doubt.Check(kWallNow + hour * (kHourMs + 300'000), kStart + hours(hour)), "") << hour;
  }
}

TEST(ClockDoubtTest, AJumpForwardsIsBelievedOnlyAfterADay) {
  ClockDoubt doubt(0, kWallNow, kStart);
  EXPECT_EQ(doubt.Check(kWallNow, kStart), "");
  EXPECT_THAT(doubt.Check(kWallNow + kYearMs, kStart + minutes(1)),
              HasSubstr("8759 h 59 min ahead"));
  EXPECT_THAT(doubt.Check(kWallNow + kYearMs + 23 * kHourMs, kStart + hours(23)),
              HasSubstr("for 2 more hours of uptime"));
  EXPECT_EQ(doubt.Check(kWallNow + kYearMs + 25 * kHourMs, kStart + hours(25)), "");
  EXPECT_EQ(doubt.Check(kWallNow + kYearMs + 26 * kHourMs, kStart + hours(26)), "");
}

TEST(ClockDoubtTest, AClockThatIsSetBackIsBelievedAtOnceAndTheNextJumpIsNot) {
  ClockDoubt doubt(0, kWallNow, kStart);
  doubt.Check(kWallNow, kStart);
  EXPECT_NE(doubt.Check(kWallNow + kYearMs, kStart), "");
  EXPECT_EQ(doubt.Check(kWallNow + 20 * kHourMs, kStart + hours(20)), "");
  EXPECT_NE(doubt.Check(kWallNow + kYearMs, kStart + hours(21)), "");
  EXPECT_NE(doubt.Check(kWallNow + kYearMs, kStart + hours(40)), "")
      << "a day begins with each jump";
  EXPECT_EQ(doubt.Check(kWallNow - kYearMs, kStart + hours(41)), "");
}

TEST(ClockDoubtTest, AClockThatJumpsBeforeTheFirstPassIsNotBelieved) {
  for (const Timestamp known : {Timestamp{0}, kWallNow - kHourMs}) {
    ClockDoubt doubt(known, kWallNow, kStart);
    EXPECT_NE(doubt.Check(kWallNow + 2 * kHourMs, kStart + minutes(1)), "") << known;
  }
}

TEST(ClockDoubtTest, AfterAStartTheNewestKnownTimeCounts) {
  EXPECT_EQ(ClockDoubt(kWallNow - 23 * kHourMs, kWallNow, kStart).Check(kWallNow, kStart), "");
  ClockDoubt doubt(kWallNow - kYearMs, kWallNow, kStart);
  EXPECT_NE(doubt.Check(kWallNow, kStart), "");
  EXPECT_EQ(doubt.Check(kWallNow + 24 * kHourMs, kStart + hours(24)), "");
}

}  // namespace
}  // namespace trainyard::controller
