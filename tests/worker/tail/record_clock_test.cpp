#include "worker/tail/record_clock.h"

#include "gtest/gtest.h"

namespace trainyard::worker {
namespace {

constexpr int64_t kWall = 1'700'000'000'000;
constexpr int64_t kSteady = 5'000'000;
constexpr int64_t kDay = 86'400'000;

// Returns readings of both clocks after `ms`
// milliseconds. The wall clock has gained `ahead_ms`.
ClockReading At(int64_t ms, int64_t ahead_ms = 0) { return {kWall + ms + ahead_ms, kSteady + ms}; }

TEST(RecordClockTest, TimesThatFitAreKept) {
  RecordClock clock;
  EXPECT_EQ(clock.SteadyTimeOf(kWall - 60'000, At(0)), kSteady - 60'000) << "an old record";
  EXPECT_EQ(clock.SteadyTimeOf(kWall - 10'000, At(0)), kSteady - 10'000);
  EXPECT_EQ(clock.SteadyTimeOf(kWall - 10'000, At(0)), kSteady - 10'000);
  EXPECT_EQ(clock.SteadyTimeOf(kWall + 700, At(1000)), kSteady + 700);
}

TEST(RecordClockTest, AWallClockThatJumpsMakesNoPhaseLongerThanTheTimeToTheReading) {
  for (const int64_t jump : {kDay, -kDay}) {
    RecordClock clock;
    EXPECT_EQ(clock.SteadyTimeOf(kWall, At(0)), kSteady);
    EXPECT_EQ(clock.SteadyTimeOf(kWall + 2000 + jump, At(2500, jump)), kSteady + 2500) << jump;
    EXPECT_EQ(clock.SteadyTimeOf(kWall + 3000 + jump, At(4000, jump)), kSteady + 3500) << jump;
    EXPECT_EQ(clock.SteadyTimeOf(kWall + 6000, At(6000)), kSteady + 5500) << "it jumps back";
  }
}

TEST(RecordClockTest, WhatWasReadTogetherIsNoTimeApartWhenTheClockWentBack) {
  RecordClock clock;
  const int64_t first = clock.SteadyTimeOf(kWall - 3'600'000, At(0));
  EXPECT_EQ(clock.SteadyTimeOf(kWall - 3'601'000, At(0)), first);
}

TEST(RecordClockTest, AProgramMayHaveAClockOfItsOwn) {
  RecordClock clock;
  EXPECT_EQ(clock.SteadyTimeOf(kWall + kDay, At(10)), kSteady + 10);
  EXPECT_EQ(clock.SteadyTimeOf(kWall + kDay + 1500, At(1520)), kSteady + 1510);
  // The record states its time in seconds instead of milliseconds.
  EXPECT_EQ(clock.SteadyTimeOf(kWall / 1000, At(3000)), kSteady + 2990);
  EXPECT_EQ(clock.SteadyTimeOf(INT64_MAX, At(4000)), kSteady + 3990);
}

}  // namespace
}  // namespace trainyard::worker
