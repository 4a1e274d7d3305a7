#include "controller/core/observations/pace_watch.h"

#include <optional>

#include "gtest/gtest.h"

namespace trainyard::controller {
namespace {

class PaceWatchTest : public ::testing::Test {
 protected:
  // Runs for `seconds` seconds and reports one rate per second.
  void Run(int seconds, double rate) {
    for (int i = 0; i < seconds; ++i) {
      now_ += 1000;
      AddRate(PaceWatch::Unit::kTokens, rate);
    }
  }
  void AddRate(PaceWatch::Unit unit, double rate) {
    pace_.Add(attempt_, layout_,
              {.unit = unit,
               .rate = rate,
               .time = now_,
               .is_diverging = is_diverging_,
               .data_wait_ms = data_wait_ms_});
  }
  std::optional<PaceWatch::Slowdown> Find() const { return pace_.SlowdownOf(attempt_); }

  PaceWatch pace_;
  int64_t attempt_ = 1;
  bool is_diverging_ = false;
  int64_t data_wait_ms_ = 0;
  std::string layout_ = "8";
  Timestamp now_ = 1'700'000'000'000;
};

TEST_F(PaceWatchTest, ARunAtAThirdOfItsBestRateIsSlowWithinThirtySeconds) {
  Run(60, 6000);
  EXPECT_FALSE(Find().has_value());
  const Timestamp slow_from = now_;
  int seconds = 0;
  while (!Find().has_value() && seconds < 60) {
    Run(1, 2000);
    ++seconds;
  }
  EXPECT_LE(seconds, 30);
  EXPECT_NEAR(Find()->ratio, 1.0 / 3, 0.01);
  EXPECT_LE(Find()->since_ms, slow_from + 10'000);
}

// Unlike an average, the best rate does not fall when a run becomes slow.
TEST_F(PaceWatchTest, ARunThatStaysSlowIsReportedUntilItRecovers) {
  Run(60, 6000);
  Run(3600, 2000);
  EXPECT_TRUE(Find().has_value());
  EXPECT_GT(now_ - Find()->since_ms, 3'500'000);
  Run(20, 5900);
  EXPECT_FALSE(Find().has_value());
}

TEST_F(PaceWatchTest, ARateAboveFourFifthsOfTheBestIsNotSlow) {
  Run(60, 1000);
  Run(60, 810);
  EXPECT_FALSE(Find().has_value());
  Run(60, 790);
  EXPECT_TRUE(Find().has_value());
}

TEST_F(PaceWatchTest, OneLuckyWindowDoesNotMakeTheRestSlow) {
  Run(60, 1000);
  Run(10, 5000);
  Run(60, 1000);
  EXPECT_FALSE(Find().has_value());
}

TEST_F(PaceWatchTest, SingleSlowStepsAreNotASlowRun) {
  Run(60, 1000);
  for (int i = 0; i < 10; ++i) {
    Run(1, 10);
    Run(9, 1000);
    EXPECT_FALSE(Find().has_value());
  }
}

TEST_F(PaceWatchTest, TheFirstWindowOfAnAttemptDoesNotCount) {
  Run(60, 1000);
  attempt_ = 2;
  Run(11, 100);
  EXPECT_FALSE(Find().has_value());
  Run(20, 100);
  EXPECT_TRUE(Find().has_value()) << "a later attempt is compared with the rates of earlier ones";
}

TEST_F(PaceWatchTest, AGangOfAnotherSizeIsNotCompared) {
  Run(60, 8000);
  attempt_ = 2;
  layout_ = "4";
  Run(60, 4000);
  EXPECT_FALSE(Find().has_value());
}

TEST_F(PaceWatchTest, AWindowOfLongStepsHasFiveOfThem) {
  for (int i = 0; i < 30; ++i) {
    now_ += 60'000;
    AddRate(PaceWatch::Unit::kSteps, i < 20 ? 1.0 / 60 : 1.0 / 180);
  }
  EXPECT_TRUE(Find().has_value());
}

TEST_F(PaceWatchTest, RecordsOfAnOlderAttemptAreIgnored) {
  attempt_ = 2;
  Run(60, 1000);
  pace_.Add(1, layout_, {.unit = PaceWatch::Unit::kTokens, .rate = 1, .time = now_});
  Run(10, 1000);
  EXPECT_FALSE(Find().has_value());
  EXPECT_FALSE(pace_.SlowdownOf(1).has_value());
}

TEST_F(PaceWatchTest, FollowsTheClock) {
  Run(60, 6000);
  Run(30, 2000);
  const Timestamp since = Find()->since_ms;
  pace_.Shift(5000);
  EXPECT_EQ(Find()->since_ms, since + 5000);
}

// At a third of the best rate, one third of the time counts, and two thirds count as lost.
TEST_F(PaceWatchTest, TheTimeBeyondThatAtTheBestRateIsLost) {
  Run(60, 6000);
  EXPECT_FALSE(pace_.LostIn(attempt_)->Unrecorded(0, LostPeriods::Scope::kAll).has_value());
  Run(300, 2000);
  Run(30, 6000);
  const auto lost = pace_.LostIn(attempt_)->Unrecorded(0, LostPeriods::Scope::kAll);
  ASSERT_TRUE(lost.has_value());
  EXPECT_NEAR(static_cast<double>(lost->lost_ms), 200'000, 20'000);
  EXPECT_EQ(pace_.LostIn(attempt_ + 1), nullptr);
}

TEST_F(PaceWatchTest, TheTimeOfDivergingStepsIsNotLostAsSlow) {
  Run(60, 6000);
  is_diverging_ = true;
  Run(120, 2000);
  EXPECT_TRUE(Find().has_value());
  EXPECT_FALSE(pace_.LostIn(attempt_)->Unrecorded(0, LostPeriods::Scope::kAll).has_value());
}

// The run is slow because it waits for data. The ledger counts this wait in a separate phase.
TEST_F(PaceWatchTest, TheWaitForDataIsNotLostAsSlow) {
  Run(60, 6000);
  data_wait_ms_ = 700;
  Run(300, 2000);
  EXPECT_TRUE(Find().has_value());
  const auto waited = pace_.LostIn(attempt_)->Unrecorded(0, LostPeriods::Scope::kAll);
  EXPECT_TRUE(!waited.has_value() || waited->lost_ms < 5000) << "the window in which it began";
  data_wait_ms_ = 200;
  Run(300, 2000);
  const auto lost = pace_.LostIn(attempt_)->Unrecorded(0, LostPeriods::Scope::kAll);
  ASSERT_TRUE(lost.has_value());
  EXPECT_NEAR(static_cast<double>(lost->lost_ms), 140'000, 20'000);
}

// OLMo-core prints steps without tokens between its metrics.
TEST_F(PaceWatchTest, RatesInStepsBetweenRatesInTokensAreIgnored) {
  for (int i = 0; i < 90; ++i) {
    Run(1, i < 60 ? 6000 : 2000);
    AddRate(PaceWatch::Unit::kSteps, 1);
  }
  ASSERT_TRUE(Find().has_value());
  EXPECT_NEAR(Find()->ratio, 1.0 / 3, 0.01);
}

TEST_F(PaceWatchTest, AProgramWhoseClockJumpsLosesABoundedTime) {
  Run(60, 6000);
  const Timestamp before = now_;
  for (int i = 0; i < 60; ++i) {
    now_ = i % 2 == 0 ? 1 : before + i * 1000;
    AddRate(PaceWatch::Unit::kTokens, 2000);
  }
  const auto lost = pace_.LostIn(attempt_)->Unrecorded(0, LostPeriods::Scope::kAll);
  EXPECT_TRUE(!lost.has_value() || lost->lost_ms <= 60 * 86'400'000LL);
}

TEST_F(PaceWatchTest, APauseInASlowWindowIsNotLostTwice) {
  Run(60, 6000);
  Run(11, 2000);
  const auto before = pace_.LostIn(attempt_)->Unrecorded(0, LostPeriods::Scope::kAll);
  now_ += 600'000;
  Run(10, 2000);
  const auto after = pace_.LostIn(attempt_)->Unrecorded(0, LostPeriods::Scope::kAll);
  EXPECT_LE(after->lost_ms - before->lost_ms, 20'000) << "the stall is another phase";
}

}  // namespace
}  // namespace trainyard::controller
