#include "proto/contract/phase_times.h"

#include <gtest/gtest.h>

namespace trainyard {
namespace {

TEST(PhaseTimesTest, EndedVisitsAddUp) {
  PhaseTimes times(Phase::kInit, 1000);
  times.Enter(Phase::kTrain, 3000);
  times.Enter(Phase::kCheckpoint, 3500);
  times.Enter(Phase::kTrain, 4000);
  times.Enter(Phase::kCheckpoint, 9000);
  EXPECT_EQ(times.phase(), Phase::kCheckpoint);
  EXPECT_EQ(times.Seconds(Phase::kInit), 2);
  EXPECT_EQ(times.Seconds(Phase::kTrain), 5.5);
  EXPECT_EQ(times.Seconds(Phase::kCheckpoint), 0.5) << "the second visit goes on";
  EXPECT_EQ(times.Seconds(Phase::kEval), 0);
}

TEST(PhaseTimesTest, TimeCountsFromTheFirstPhaseOn) {
  PhaseTimes times;
  EXPECT_EQ(times.phase(), std::nullopt);
  times.Enter(Phase::kLoad, 1'700'000'000'000);
  times.Enter(Phase::kTrain, 1'700'000'000'250);
  EXPECT_EQ(times.Seconds(Phase::kLoad), 0.25);
  EXPECT_EQ(times.Seconds(Phase::kInit), 0);
}

TEST(PhaseTimesTest, AClockThatWasSetBackAddsNothing) {
  PhaseTimes times(Phase::kLoad, 5000);
  times.Enter(Phase::kLoad, 4000);
  times.Enter(Phase::kTrain, 4500);
  EXPECT_EQ(times.Seconds(Phase::kLoad), 0.5);
}

}  // namespace
}  // namespace trainyard
