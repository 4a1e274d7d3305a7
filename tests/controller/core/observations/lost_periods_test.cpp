#include "controller/core/observations/lost_periods.h"

#include <optional>

#include "gtest/gtest.h"

namespace trainyard::controller {
namespace {

using Scope = LostPeriods::Scope;
constexpr Timestamp kBegin = 1'700'000'000'000;

TEST(LostPeriodsTest, APeriodIsCompleteWhenTheProblemIsOver) {
  LostPeriods periods;
  EXPECT_FALSE(periods.Unrecorded(0, Scope::kAll).has_value());
  periods.Add(kBegin, kBegin + 10'000, 6000);
  periods.Add(kBegin + 10'000, kBegin + 20'000, 5000);
  EXPECT_FALSE(periods.Unrecorded(0, Scope::kComplete).has_value());
  ASSERT_TRUE(periods.Unrecorded(0, Scope::kAll).has_value());
  EXPECT_EQ(periods.Unrecorded(0, Scope::kAll)->lost_ms, 11'000);
  periods.End();
  ASSERT_TRUE(periods.Unrecorded(0, Scope::kComplete).has_value());
  EXPECT_EQ(periods.Unrecorded(0, Scope::kComplete)->lost_ms, 11'000);
  EXPECT_EQ(periods.Unrecorded(0, Scope::kComplete)->until_ms, kBegin + 20'000);
}

TEST(LostPeriodsTest, WhatIsRecordedIsNotReturnedAgain) {
  LostPeriods periods;
  periods.Add(kBegin, kBegin + 10'000, 6000);
  periods.End();
  periods.Add(kBegin + 60'000, kBegin + 70'000, 1000);
  periods.End();
  const auto rest = periods.Unrecorded(kBegin + 10'000, Scope::kComplete);
  ASSERT_TRUE(rest.has_value());
  EXPECT_EQ(rest->lost_ms, 1000);
  EXPECT_FALSE(periods.Unrecorded(rest->until_ms, Scope::kAll).has_value());
}

// A restarted controller observes some records again. The lost time of these records is already in
// the event log.
TEST(LostPeriodsTest, APeriodThatIsPartlyRecordedCountsInProportion) {
  LostPeriods periods;
  periods.Add(kBegin, kBegin + 100'000, 50'000);
  const auto rest = periods.Unrecorded(kBegin + 80'000, Scope::kComplete);
  ASSERT_TRUE(rest.has_value());
  EXPECT_EQ(rest->until_ms, kBegin + 100'000);
  EXPECT_NEAR(static_cast<double>(rest->lost_ms), 10'000, 1);
}

// A day needs at most 80 events. Each covers at least a minute, and a tenth of the time since the
// problem began.
TEST(LostPeriodsTest, ALongProblemHasFewPeriodsThatLoseNothing) {
  LostPeriods periods;
  Timestamp recorded_ms = 0;
  int64_t lost_ms = 0;
  int events = 0;
  for (int64_t second = 0; second < 86'400; second += 10) {
    periods.Add(kBegin + second * 1000, kBegin + (second + 10) * 1000, 5000);
    if (const auto lost = periods.Unrecorded(recorded_ms, Scope::kComplete)) {
      recorded_ms = lost->until_ms;
      lost_ms += lost->lost_ms;
      ++events;
    }
    const int64_t age_ms = (second + 10) * 1000;
    ASSERT_GE(lost_ms, (age_ms - age_ms / 9 - 60'000) / 2) << second;
  }
  EXPECT_LE(events, 80);
  EXPECT_GE(events, 10);
  lost_ms += periods.Unrecorded(recorded_ms, Scope::kAll)->lost_ms;
  EXPECT_EQ(lost_ms, 86'400 / 2 * 1000);
}

// A program whose loss is NaN at every second step must not fill the event log.
TEST(LostPeriodsTest, AProblemThatComesAndGoesIsOneEventPerMinute) {
  LostPeriods periods;
  Timestamp recorded_ms = 0;
  int64_t lost_ms = 0;
  int events = 0;
  for (int64_t second = 0; second < 3600; second += 2) {
    periods.Add(kBegin + second * 1000, kBegin + second * 1000 + 1000, 1000);
    periods.End();
    const auto lost = periods.Unrecorded(recorded_ms, Scope::kComplete);
    if (!lost.has_value()) continue;
    recorded_ms = lost->until_ms;
    lost_ms += lost->lost_ms;
    ++events;
  }
  EXPECT_LE(events, 61);
  lost_ms += periods.Unrecorded(recorded_ms, Scope::kAll)->lost_ms;
  EXPECT_EQ(lost_ms, 1'800'000);
}

TEST(LostPeriodsTest, NeverLosesMoreThanThePeriod) {
  LostPeriods periods;
  periods.Add(kBegin, kBegin + 1000, 5000);
  periods.Add(kBegin + 1000, kBegin + 1000, 5000);
  periods.Add(kBegin + 1000, kBegin + 2000, -5);
  EXPECT_EQ(periods.Unrecorded(0, Scope::kAll)->lost_ms, 1000);
}

TEST(LostPeriodsTest, FollowsTheClock) {
  LostPeriods periods;
  periods.Add(kBegin, kBegin + 1000, 500);
  periods.End();
  periods.Add(kBegin + 5000, kBegin + 6000, 500);
  periods.Shift(100'000);
  EXPECT_EQ(periods.Unrecorded(0, Scope::kComplete)->until_ms, kBegin + 101'000);
  EXPECT_EQ(periods.Unrecorded(0, Scope::kAll)->until_ms, kBegin + 106'000);
  periods.Add(kBegin + 106'000, kBegin + 107'000, 500);
  EXPECT_EQ(periods.Unrecorded(kBegin + 101'000, Scope::kAll)->lost_ms, 1000);
}

}  // namespace
}  // namespace trainyard::controller
