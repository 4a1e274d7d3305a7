#include "controller/core/observations/stall.h"

#include "gtest/gtest.h"

namespace trainyard::controller {
namespace {

constexpr Timestamp kMoved = 100'000;

// Returns the observation of an attempt with two training ranks. The latest progress of either rank
// was at kMoved.
AttemptObservation Training(StepTimes step_times) {
  AttemptObservation attempt;
  attempt.step_times = std::move(step_times);
  for (int rank = 0; rank < 2; ++rank) {
    attempt.ranks[rank].phase = "train";
    attempt.ranks[rank].still_since_ms = kMoved - 1000 * rank;
  }
  return attempt;
}

TEST(StallTest, APauseIsThreeSlowStepsAndAtLeastFiveSeconds) {
  EXPECT_EQ(LongestPauseMs(Training({})), 5000);
  EXPECT_EQ(LongestPauseMs(Training({1})), 5000);
  EXPECT_EQ(LongestPauseMs(Training({100, 1})), 5000) << "one slow step";
  EXPECT_EQ(LongestPauseMs(Training({2, 2, 1})), 6000);
}

TEST(StallTest, AProgramThatReportsFewOfItsStepsPausesAsLongAsItsReports) {
  AttemptObservation attempt = Training({1});
  attempt.slow_steps_ms.insert(20'000);
  EXPECT_EQ(LongestPauseMs(attempt), 60'000);
  attempt.step_times = {30, 30};
  EXPECT_EQ(LongestPauseMs(attempt), 90'000);
}

TEST(StallTest, AGangStallsWhenItsLastRankPausesTooLong) {
  const AttemptObservation attempt = Training({2});
  EXPECT_EQ(StalledSince(attempt, kMoved + 6000), 0);
  EXPECT_EQ(StalledSince(attempt, kMoved + 6001), kMoved);
}

TEST(StallTest, NobodyCanTellBeforeAStepWasTimed) {
  EXPECT_FALSE(CanStall(Training({})));
  EXPECT_EQ(StalledSince(Training({}), kMoved + 900'000), 0);
  EXPECT_FALSE(CanStall(AttemptObservation{.step_times = {1}})) << "no rank";
}

TEST(StallTest, SavingTakesAsLongAsItTakes) {
  AttemptObservation attempt = Training({2});
  attempt.ranks[1].phase = "checkpoint";
  EXPECT_TRUE(CanStall(attempt, attempt.ranks[0]));
  EXPECT_FALSE(CanStall(attempt, attempt.ranks[1]));
  EXPECT_FALSE(CanStall(attempt));
  EXPECT_EQ(StalledSince(attempt, kMoved + 900'000), 0);
}

}  // namespace
}  // namespace trainyard::controller
