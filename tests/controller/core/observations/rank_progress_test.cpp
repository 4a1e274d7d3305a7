// Tests how a rank's progress follows from the times that its worker measures.
#include "controller/core/observations/observations.h"
#include "controller/core/observations/observe.h"
#include "controller/core/observations/observe_telemetry.h"
#include "gtest/gtest.h"
#include "tests/controller/core/observations/rank_reports.h"

namespace trainyard::controller {
namespace {

TEST(RankProgressTest, StepsAndPhasesAreProgressAsTheWorkerMeasuresThem) {
  Observations observations;
  ObserveHeartbeat("a", HeartbeatOf(1, 5, 10), 1000, kNoJobs, observations);
  const RankObservation& rank = observations.attempts.at({1, 1}).ranks.at(0);
  EXPECT_EQ(LastProgress(rank), 1000);
  ObserveHeartbeat("a", Measured(HeartbeatOf(1, 5, 11), 1000, 0), 2000, kNoJobs, observations);
  EXPECT_EQ(LastProgress(rank), 1000) << "output is none";
  EXPECT_EQ(rank.quiet_since_ms, 2000);
  ObserveHeartbeat("a", Measured(HeartbeatOf(1, 6, 11), 200, 200), 3000, kNoJobs, observations);
  EXPECT_EQ(LastProgress(rank), 2800);
  EXPECT_EQ(rank.moving_until_ms, 2800);
  EXPECT_EQ(rank.moving_since_ms, 1000);
  ObserveHeartbeat("a", HeartbeatOf(1, 6, 11, "checkpoint"), 4000, kNoJobs, observations);
  EXPECT_EQ(rank.moving_since_ms, 4000);
  EXPECT_EQ(rank.phase_since_ms, 4000);
  ObserveHeartbeat("a", HeartbeatOf(1, 7, 11, "checkpoint"), 10000, kNoJobs, observations);
  EXPECT_EQ(rank.moving_since_ms, 10000);
  EXPECT_EQ(rank.step, 7);
}

// The worker leaves out the time of its own pauses, for example a pause of the whole machine. A
// pause therefore shortens the reported time without a step, but a pause is not progress.
TEST(RankProgressTest, ATimeThatTheWorkerLeavesOutIsNoMovement) {
  Observations observations;
  ObserveHeartbeat("a", HeartbeatOf(1, 5, 10), 1000, kNoJobs, observations);
  ObserveHeartbeat("a", HeartbeatOf(1, 6, 10), 3000, kNoJobs, observations);
  ObserveHeartbeat("a", Measured(HeartbeatOf(1, 6, 10), 1000, 1000), 60'000, kNoJobs, observations);
  const RankObservation& rank = observations.attempts.at({1, 1}).ranks.at(0);
  EXPECT_EQ(LastProgress(rank), 59'000);
  EXPECT_EQ(rank.moving_until_ms, 3000);
  EXPECT_EQ(SteadyMs(rank), 2000);
}

TEST(RankProgressTest, TelemetryThatArrivesIsNoProgress) {
  Observations observations;
  ObserveHeartbeat("a", HeartbeatOf(1, 5, 10), 1000, kNoJobs, observations);
  v1::TelemetryBatch late = MetricsOf(900, 6, 1);
  late.add_records()->mutable_phase()->set_phase("eval");
  ObserveTelemetry(late, kNoJobs, observations);
  const RankObservation& rank = observations.attempts.at({1, 1}).ranks.at(0);
  EXPECT_EQ(LastProgress(rank), 1000);
  EXPECT_EQ(rank.phase, "train") << "it may be over";
  EXPECT_EQ(rank.step, 6);
}

TEST(RankProgressTest, ARankWithoutStepsMovesByItsOutput) {
  Observations observations;
  ObserveHeartbeat("a", HeartbeatOf(1, 0, 10, ""), 1000, kNoJobs, observations);
  const RankObservation& rank = observations.attempts.at({1, 1}).ranks.at(0);
  ObserveHeartbeat("a", Measured(HeartbeatOf(1, 0, 10, ""), 1000, 1000), 2000, kNoJobs,
                   observations);
  EXPECT_EQ(LastProgress(rank), 1000);
  ObserveHeartbeat("a", Measured(HeartbeatOf(1, 0, 11, ""), 2000, 100), 3000, kNoJobs,
                   observations);
  EXPECT_EQ(LastProgress(rank), 2900);
  EXPECT_EQ(SteadyMs(rank), 1900);
}

TEST(RankProgressTest, TheProgressOfARankThatHasEndedStaysAsItWas) {
  Observations observations;
  ObserveHeartbeat("a", HeartbeatOf(1, 5, 10), 1000, kNoJobs, observations);
  v1::Heartbeat ended = HeartbeatOf(1, 5, 10);
  ended.mutable_attempts(0)->mutable_ranks(0)->set_running(false);
  ObserveHeartbeat("a", ended, 9000, kNoJobs, observations);
  EXPECT_EQ(LastProgress(observations.attempts.at({1, 1}).ranks.at(0)), 1000);
}

TEST(RankProgressTest, SavingBetweenStepsInterruptsNoSteadyTraining) {
  Observations observations;
  int64_t activity = 0;
  const auto report = [&](Timestamp now, const char* phase) {
    ObserveHeartbeat("a", HeartbeatOf(1, now / 1000, ++activity, phase), now, kNoJobs,
                     observations);
  };
  for (Timestamp now = 1000; now <= 4000; now += 1000) report(now, "train");
  report(5000, "checkpoint");
  const RankObservation& rank = observations.attempts.at({1, 1}).ranks.at(0);
  EXPECT_EQ(SteadyMs(rank), 4000);
  // A checkpoint may take any length of time. Therefore time spent outside the phase "train"
  // neither proves nor disproves progress.
  report(65'000, "train");
  EXPECT_EQ(SteadyMs(rank), 4000);
  for (Timestamp now = 66'000; now <= 70'000; now += 1000) report(now, "train");
  EXPECT_EQ(SteadyMs(rank), 9000);
  // A long pause during training shows that long stalls are normal for this rank, so its progress
  // window restarts.
  report(90'000, "train");
  EXPECT_EQ(SteadyMs(rank), 0);
}

TEST(RankProgressTest, PhasesAloneMakeNoSteadyMover) {
  Observations observations;
  int64_t activity = 0;
  for (Timestamp now = 100'000; now <= 1'000'000; now += 100'000) {
    ObserveHeartbeat("a", HeartbeatOf(1, 0, ++activity, "train"), now, kNoJobs, observations);
    ObserveHeartbeat("a", HeartbeatOf(1, 0, ++activity, "checkpoint"), now + 60'000, kNoJobs,
                     observations);
  }
  EXPECT_EQ(SteadyMs(observations.attempts.at({1, 1}).ranks.at(0)), 0);
}

TEST(RankProgressTest, ANodeThatIsNotReadIsAliveAndItsRanksShowNoProgress) {
  Observations observations;
  ObserveHeartbeat("a", HeartbeatOf(1, 5, 10), 1000, kNoJobs, observations);
  ObserveHeartbeat("a", HeartbeatOf(1, 6, 11), 2000, kNoJobs, observations);
  ObserveUnread("a", 9000, kNoJobs, observations);
  ObserveUnread("unknown", 9000, kNoJobs, observations);
  EXPECT_EQ(LastHeartbeat(observations, "a"), 9000);
  EXPECT_FALSE(observations.nodes.contains("unknown"));
  const RankObservation& rank = observations.attempts.at({1, 1}).ranks.at(0);
  EXPECT_EQ(rank.moving_since_ms, 9000);
  EXPECT_EQ(LastProgress(rank), 2000) << "it was not seen to move";
}

TEST(RankProgressTest, AGapOfAtMostTheLongestPauseIsSteadyProgress) {
  Observations observations;
  ObserveHeartbeat("a", HeartbeatOf(1, 1, 1), 1000, kNoJobs, observations);
  ObserveHeartbeat("a", HeartbeatOf(1, 2, 2), 6000, kNoJobs, observations);
  const RankObservation& rank = observations.attempts.at({1, 1}).ranks.at(0);
  EXPECT_EQ(SteadyMs(rank), 5000);
  ObserveHeartbeat("a", HeartbeatOf(1, 3, 3), 11'001, kNoJobs, observations);
  EXPECT_EQ(SteadyMs(rank), 0);
}

TEST(RankProgressTest, ARankThatLeftAndRunsAgainHasNotLeft) {
  Observations observations;
  v1::Heartbeat heartbeat = HeartbeatOf(1, 5, 10);
  v1::RankReport& report = *heartbeat.mutable_attempts(0)->mutable_ranks(0);
  report.set_running(true);
  report.set_unmatched_lines(7);
  ObserveHeartbeat("a", heartbeat, 1000, kNoJobs, observations);
  const RankObservation& rank = observations.attempts.at({1, 1}).ranks.at(0);
  EXPECT_TRUE(rank.running);
  EXPECT_EQ(rank.unmatched_lines, 7);
  EXPECT_EQ(rank.left_ms, 0);
  report.set_running(false);
  ObserveHeartbeat("a", heartbeat, 2000, kNoJobs, observations);
  ObserveHeartbeat("a", heartbeat, 3000, kNoJobs, observations);
  EXPECT_FALSE(rank.running);
  EXPECT_EQ(rank.left_ms, 2000);
  report.set_running(true);
  ObserveHeartbeat("a", heartbeat, 4000, kNoJobs, observations);
  EXPECT_EQ(rank.left_ms, 0);
}

}  // namespace
}  // namespace trainyard::controller
