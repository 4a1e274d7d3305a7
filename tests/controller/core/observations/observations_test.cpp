#include "controller/core/observations/observations.h"
#include "controller/core/observations/observe.h"

#include <limits>

#include "gtest/gtest.h"

namespace trainyard::controller {
namespace {

const ClusterState kNoJobs;

v1::Heartbeat HeartbeatOf(int64_t job_id, int64_t step, int64_t activity_ms,
                          const std::string& phase = "train") {
  v1::Heartbeat heartbeat;
  v1::AttemptReport& report = *heartbeat.add_attempts();
  report.set_job_id(job_id);
  report.set_attempt(1);
  v1::RankReport& rank = *report.add_ranks();
  rank.set_running(true);
  rank.set_step(step);
  rank.set_last_activity_ms(activity_ms);
  rank.set_phase(phase);
  return heartbeat;
}

// The worker has seen no step or phase for so long, and neither telemetry nor output.
v1::Heartbeat Measured(v1::Heartbeat heartbeat, int64_t still_ms, int64_t quiet_ms) {
  heartbeat.mutable_attempts(0)->mutable_ranks(0)->set_still_ms(still_ms);
  heartbeat.mutable_attempts(0)->mutable_ranks(0)->set_quiet_ms(quiet_ms);
  return heartbeat;
}

v1::TelemetryBatch MetricsOf(int64_t time_ms, int64_t step, double step_seconds) {
  v1::TelemetryBatch batch;
  batch.mutable_stream()->set_job_id(1);
  batch.mutable_stream()->set_attempt(1);
  v1::TelemetryRecord& record = *batch.add_records();
  record.set_time_ms(time_ms);
  record.mutable_metrics()->set_step(step);
  record.mutable_metrics()->set_total_steps(100);
  auto& values = *record.mutable_metrics()->mutable_values();
  values["loss"] = 3.5;
  values["step_seconds"] = step_seconds;
  values["tokens_per_second"] = 1000;
  return batch;
}

TEST(ObservationsTest, StepsAndPhasesAreProgressAsTheWorkerMeasuresThem) {
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

// The worker leaves out a pause of its own, perhaps of the whole machine: no movement, but less
// time without a step.
TEST(ObservationsTest, ATimeThatTheWorkerLeavesOutIsNoMovement) {
  Observations observations;
  ObserveHeartbeat("a", HeartbeatOf(1, 5, 10), 1000, kNoJobs, observations);
  ObserveHeartbeat("a", HeartbeatOf(1, 6, 10), 3000, kNoJobs, observations);
  ObserveHeartbeat("a", Measured(HeartbeatOf(1, 6, 10), 1000, 1000), 60'000, kNoJobs, observations);
  const RankObservation& rank = observations.attempts.at({1, 1}).ranks.at(0);
  EXPECT_EQ(LastProgress(rank), 59'000);
  EXPECT_EQ(rank.moving_until_ms, 3000);
  EXPECT_EQ(SteadyMs(rank), 2000);
}

TEST(ObservationsTest, AHeartbeatOfABlockedWorkerTellsNothingOfItsRanks) {
  Observations observations;
  ObserveHeartbeat("a", HeartbeatOf(1, 5, 10), 1000, kNoJobs, observations);
  v1::Heartbeat blocked;
  blocked.set_blocked(true);
  blocked.mutable_condition()->set_trouble("its disk hangs");
  ObserveHeartbeat("a", blocked, 9000, kNoJobs, observations);
  const NodeObservation& node = observations.nodes.at("a");
  EXPECT_EQ(node.condition.trouble(), "its disk hangs");
  EXPECT_TRUE(node.reports.contains({1, 1})) << "it has the attempt as before";
  EXPECT_EQ(node.last_report_ms, 1000);
  EXPECT_EQ(LastProgress(observations.attempts.at({1, 1}).ranks.at(0)), 1000);
}

TEST(ObservationsTest, TelemetryThatArrivesIsNoProgress) {
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

TEST(ObservationsTest, ARankWithoutStepsMovesByItsOutput) {
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

TEST(ObservationsTest, TheProgressOfARankThatHasEndedStaysAsItWas) {
  Observations observations;
  ObserveHeartbeat("a", HeartbeatOf(1, 5, 10), 1000, kNoJobs, observations);
  v1::Heartbeat ended = HeartbeatOf(1, 5, 10);
  ended.mutable_attempts(0)->mutable_ranks(0)->set_running(false);
  ObserveHeartbeat("a", ended, 9000, kNoJobs, observations);
  EXPECT_EQ(LastProgress(observations.attempts.at({1, 1}).ranks.at(0)), 1000);
}

TEST(ObservationsTest, SavingBetweenStepsInterruptsNoSteadyTraining) {
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
  // A checkpoint may take any time: phases other than training neither prove nor disprove progress.
  report(65'000, "train");
  EXPECT_EQ(SteadyMs(rank), 4000);
  for (Timestamp now = 66'000; now <= 70'000; now += 1000) report(now, "train");
  EXPECT_EQ(SteadyMs(rank), 9000);
  // A long pause within training shows that the rank may stall normally: the window starts anew.
  report(90'000, "train");
  EXPECT_EQ(SteadyMs(rank), 0);
}

TEST(ObservationsTest, PhasesAloneMakeNoSteadyMover) {
  Observations observations;
  int64_t activity = 0;
  for (Timestamp now = 100'000; now <= 1'000'000; now += 100'000) {
    ObserveHeartbeat("a", HeartbeatOf(1, 0, ++activity, "train"), now, kNoJobs, observations);
    ObserveHeartbeat("a", HeartbeatOf(1, 0, ++activity, "checkpoint"), now + 60'000, kNoJobs,
                     observations);
  }
  EXPECT_EQ(SteadyMs(observations.attempts.at({1, 1}).ranks.at(0)), 0);
}

TEST(ObservationsTest, ANodeThatIsNotReadIsAliveAndItsRanksShowNoProgress) {
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

TEST(ObservationsTest, AttemptIsForgottenWithItsLastReport) {
  Observations observations;
  ObserveHeartbeat("a", HeartbeatOf(1, 5, 10), 1000, kNoJobs, observations);
  ObserveHeartbeat("b", HeartbeatOf(1, 5, 10), 1000, kNoJobs, observations);
  ObserveHeartbeat("a", {}, 2000, kNoJobs, observations);
  EXPECT_TRUE(observations.attempts.contains({1, 1}));
  ObserveHeartbeat("b", {}, 2000, kNoJobs, observations);
  EXPECT_FALSE(observations.attempts.contains({1, 1}));
}

TEST(ObservationsTest, AttachAndDetach) {
  Observations observations;
  observations.since_ms = 500;
  EXPECT_EQ(LastHeartbeat(observations, "a"), 500);
  v1::Hello hello;
  hello.set_node_id("a");
  *hello.add_attempts() = HeartbeatOf(1, 5, 10).attempts(0);
  ObserveAttached(hello, 1000, kNoJobs, observations);
  EXPECT_TRUE(observations.nodes.at("a").attached);
  EXPECT_TRUE(observations.nodes.at("a").reports.contains({1, 1}));
  ObserveDetached("a", observations);
  EXPECT_FALSE(observations.nodes.at("a").attached);
  EXPECT_EQ(LastHeartbeat(observations, "a"), 1000);
}

TEST(ObservationsTest, ANodeHasDeviceErrorsWhileItsNewestReportHasAny) {
  Observations observations;
  v1::Heartbeat heartbeat;
  heartbeat.mutable_condition()->add_device_errors()->set_xid(79);
  ObserveHeartbeat("a", heartbeat, 1000, kNoJobs, observations);
  EXPECT_TRUE(observations.nodes_with_device_errors.contains("a"));
  ObserveHeartbeat("a", {}, 2000, kNoJobs, observations);
  EXPECT_FALSE(observations.nodes_with_device_errors.contains("a"));
}

// The Hello before the Welcome lists the attempts that arrived on an earlier stream.
TEST(ObservationsTest, AStartThatAnEarlierStreamMayHaveLostCountsAsNotSent) {
  Observations observations;
  ObserveStartSent("a", {1, 1}, observations);
  EXPECT_TRUE(observations.nodes.at("a").starts_sent.contains({1, 1}));
  ObserveWelcomed("a", observations);
  EXPECT_TRUE(observations.nodes.at("a").starts_sent.empty());
}

TEST(ObservationsTest, EveryMessageWithATimeShowsTheClockOfItsNode) {
  Observations observations;
  EXPECT_EQ(ClockAheadMs(observations, "a"), std::nullopt);
  v1::Hello hello;
  hello.set_node_id("a");
  ObserveAttached(hello, 1000, kNoJobs, observations);
  EXPECT_EQ(ClockAheadMs(observations, "a"), std::nullopt) << "an older release";
  hello.set_time_ms(61'000 - 30);
  ObserveAttached(hello, 1000, kNoJobs, observations);
  EXPECT_EQ(ClockAheadMs(observations, "a"), 60'000 - 30);
  v1::Heartbeat heartbeat;
  heartbeat.set_time_ms(62'000 - 2);
  ObserveHeartbeat("a", heartbeat, 2000, kNoJobs, observations);
  EXPECT_EQ(ClockAheadMs(observations, "a"), 60'000 - 2);
  // The controller was frozen, then its clock is set back.
  ShiftHeartbeats(5000, 7000, observations);
  EXPECT_EQ(ClockAheadMs(observations, "a"), 60'000 - 2);
  ShiftTimes(-6000, observations);
  EXPECT_EQ(ClockAheadMs(observations, "a"), 66'000 - 2);
}

TEST(ObservationsTest, TelemetryGivesProgressAndPace) {
  Observations observations;
  ObserveTelemetry(MetricsOf(10, 20, 2), kNoJobs, observations);
  ObserveTelemetry(MetricsOf(20, 40, 4), kNoJobs, observations);
  const v1::Progress& progress = observations.progress.at(1);
  EXPECT_EQ(progress.step(), 40);
  EXPECT_EQ(progress.total_steps(), 100);
  EXPECT_EQ(progress.loss(), 3.5);
  EXPECT_EQ(progress.tokens_per_second(), 1000);
  EXPECT_EQ(progress.step_seconds(), 4);
  EXPECT_EQ(progress.eta_seconds(), 60 * 3);
  // A batch with older steps that arrives late.
  ObserveTelemetry(MetricsOf(15, 90, 4), kNoJobs, observations);
  EXPECT_EQ(progress.step(), 40);
  v1::TelemetryBatch evaluation;
  evaluation.mutable_stream()->set_job_id(1);
  evaluation.mutable_stream()->set_attempt(1);
  v1::EvaluationRecord& usual = *evaluation.add_records()->mutable_evaluation();
  usual.set_data_set("val");
  usual.set_loss(4.5);
  v1::EvaluationRecord& other = *evaluation.add_records()->mutable_evaluation();
  other.set_data_set("code");
  other.set_loss(9);
  ObserveTelemetry(evaluation, kNoJobs, observations);
  EXPECT_EQ(progress.validation_loss(), 4.5);
}

TEST(ObservationsTest, ThePaceIsThatOfTheNewestSixteenSteps) {
  Observations observations;
  for (int step = 1; step <= 20; ++step) {
    ObserveTelemetry(MetricsOf(step, step, step <= 4 ? 100 : 1), kNoJobs, observations);
  }
  EXPECT_EQ(observations.progress.at(1).eta_seconds(), 80);
  ObserveTelemetry(MetricsOf(20, 120, 1), kNoJobs, observations);
  EXPECT_EQ(observations.progress.at(1).step(), 120) << "a record of the same time is not older";
  EXPECT_EQ(observations.progress.at(1).eta_seconds(), 0);
}

TEST(ObservationsTest, StepsMayTakeLessThanASecond) {
  Observations observations;
  ObserveTelemetry(MetricsOf(10, 20, 0.25), kNoJobs, observations);
  EXPECT_EQ(observations.progress.at(1).step_seconds(), 0.25);
  EXPECT_EQ(observations.progress.at(1).eta_seconds(), 20);
}

TEST(ObservationsTest, AShiftOfNothingChangesNothingAndOneMillisecondCounts) {
  Observations observations;
  ObserveHeartbeat("a", HeartbeatOf(1, 5, 10), 1000, kNoJobs, observations);
  ShiftHeartbeats(0, 900, observations);
  EXPECT_EQ(LastHeartbeat(observations, "a"), 1000);
  ShiftHeartbeats(1, 2000, observations);
  EXPECT_EQ(LastHeartbeat(observations, "a"), 1001);
}

TEST(ObservationsTest, APauseOfReportsBeginsANewSeries) {
  Observations observations;
  ObserveHeartbeat("a", {}, 10'000, kNoJobs, observations);
  ObserveHeartbeat("a", {}, 13'000, kNoJobs, observations);
  const NodeObservation& node = observations.nodes.at("a");
  EXPECT_EQ(node.reports_since_ms, 10'000);
  EXPECT_EQ(node.last_report_ms, 13'000);
  // The controller stalled from 13,000 to 33,000 ms: no pause of the worker's.
  ShiftHeartbeats(20'000, 33'000, observations);
  ObserveHeartbeat("a", {}, 34'000, kNoJobs, observations);
  EXPECT_EQ(node.reports_since_ms, 30'000);
  ObserveHeartbeat("a", {}, 37'001, kNoJobs, observations);
  EXPECT_EQ(node.reports_since_ms, 37'001);
}

TEST(ObservationsTest, ValuesThatARecordLacksStayAsTheyWere) {
  Observations observations;
  ObserveTelemetry(MetricsOf(10, 20, 2), kNoJobs, observations);
  v1::TelemetryBatch bare = MetricsOf(20, 21, 0);
  bare.mutable_records(0)->mutable_metrics()->clear_values();
  bare.mutable_records(0)->mutable_metrics()->clear_total_steps();
  ObserveTelemetry(bare, kNoJobs, observations);
  const v1::Progress& progress = observations.progress.at(1);
  EXPECT_EQ(progress.step(), 21);
  EXPECT_EQ(progress.time_ms(), 20);
  EXPECT_EQ(progress.total_steps(), 100);
  EXPECT_EQ(progress.loss(), 3.5);
  EXPECT_EQ(progress.tokens_per_second(), 1000);
  EXPECT_EQ(progress.step_seconds(), 2);
  EXPECT_EQ(progress.eta_seconds(), 79 * 2);
  const AttemptObservation& attempt = observations.attempts.at({1, 1});
  EXPECT_EQ(attempt.total_steps, 100);
  EXPECT_EQ(attempt.ranks.at(0).newest.step_seconds(), 2);
  EXPECT_EQ(attempt.step_times.size(), 1u);
}

TEST(ObservationsTest, AGapOfAtMostTheLongestPauseIsSteadyProgress) {
  Observations observations;
  ObserveHeartbeat("a", HeartbeatOf(1, 1, 1), 1000, kNoJobs, observations);
  ObserveHeartbeat("a", HeartbeatOf(1, 2, 2), 6000, kNoJobs, observations);
  const RankObservation& rank = observations.attempts.at({1, 1}).ranks.at(0);
  EXPECT_EQ(SteadyMs(rank), 5000);
  ObserveHeartbeat("a", HeartbeatOf(1, 3, 3), 11'001, kNoJobs, observations);
  EXPECT_EQ(SteadyMs(rank), 0);
}

TEST(ObservationsTest, ARankThatLeftAndRunsAgainHasNotLeft) {
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

TEST(ObservationsTest, AnAttemptThatAHeartbeatNamesTwiceIsReportedOnce) {
  Observations observations;
  v1::Heartbeat heartbeat = HeartbeatOf(1, 5, 10);
  *heartbeat.add_attempts() = HeartbeatOf(1, 9, 10).attempts(0);
  ObserveHeartbeat("a", heartbeat, 1000, kNoJobs, observations);
  EXPECT_EQ(observations.attempts.at({1, 1}).ranks.at(0).step, 5);
  ObserveHeartbeat("a", {}, 2000, kNoJobs, observations);
  EXPECT_FALSE(observations.attempts.contains({1, 1}));
}

TEST(ObservationsTest, MetricsWithoutAStepTimeGiveNoPace) {
  Observations observations;
  v1::TelemetryBatch batch = MetricsOf(10, 20, 2);
  batch.mutable_records(0)->mutable_metrics()->mutable_values()->erase("step_seconds");
  ObserveTelemetry(batch, kNoJobs, observations);
  EXPECT_TRUE(observations.attempts.at({1, 1}).step_times.empty());
  EXPECT_EQ(observations.progress.at(1).step(), 20);
  EXPECT_EQ(observations.progress.at(1).step_seconds(), 0);
  EXPECT_EQ(observations.progress.at(1).eta_seconds(), 0);
}

TEST(ObservationsTest, TheLowestRankThatWritesMetricsReportsForTheGang) {
  Observations observations;
  v1::TelemetryBatch of_three = MetricsOf(10, 20, 2);
  of_three.mutable_stream()->set_rank(3);
  of_three.add_records()->mutable_phase()->set_phase("train");
  ObserveTelemetry(of_three, kNoJobs, observations);
  KeepReportingRanksMetrics(kNoJobs, observations, of_three);
  EXPECT_EQ(of_three.records_size(), 2) << "nobody else has spoken";
  EXPECT_EQ(observations.progress.at(1).step(), 20);

  v1::TelemetryBatch of_zero = MetricsOf(20, 30, 4);
  ObserveTelemetry(of_zero, kNoJobs, observations);
  KeepReportingRanksMetrics(kNoJobs, observations, of_zero);
  EXPECT_EQ(of_zero.records_size(), 1);

  of_three.mutable_records(0)->set_time_ms(30);
  of_three.mutable_records(0)->mutable_metrics()->set_step(31);
  ObserveTelemetry(of_three, kNoJobs, observations);
  KeepReportingRanksMetrics(kNoJobs, observations, of_three);
  ASSERT_EQ(of_three.records_size(), 1);
  EXPECT_TRUE(of_three.records(0).has_phase());
  EXPECT_EQ(observations.progress.at(1).step(), 30);
  // A rank's own figures are kept, whichever rank is the reporting rank of the gang.
  const AttemptObservation& attempt = observations.attempts.at({1, 1});
  EXPECT_EQ(attempt.ranks.at(3).newest.step_seconds(), 2);
  EXPECT_EQ(LastStep(attempt), 31);
  EXPECT_EQ(attempt.step_times.size(), 2u) << "rank 3 before rank 0 spoke, then rank 0";
}

TEST(ObservationsTest, OwnStallCountsAgainstNoNode) {
  Observations observations;
  observations.since_ms = 100;
  ObserveHeartbeat("a", HeartbeatOf(1, 5, 10), 1000, kNoJobs, observations);
  ObserveHeartbeat("a", HeartbeatOf(1, 6, 10), 2000, kNoJobs, observations);
  ShiftHeartbeats(5000, 7500, observations);
  EXPECT_EQ(observations.since_ms, 5100);
  EXPECT_EQ(LastHeartbeat(observations, "a"), 7000);
  EXPECT_EQ(observations.nodes.at("a").last_report_ms, 7000);
  const RankObservation& rank = observations.attempts.at({1, 1}).ranks.at(0);
  EXPECT_EQ(LastProgress(rank), 7000);
  EXPECT_EQ(rank.quiet_since_ms, 7000);
  EXPECT_EQ(rank.moving_until_ms, 7000);
  EXPECT_EQ(rank.moving_since_ms, 6000);
}

TEST(ObservationsTest, HeartbeatsAfterAStallStayAsTheyAre) {
  Observations observations;
  observations.since_ms = 100;
  ObserveHeartbeat("before", HeartbeatOf(1, 5, 10), 9000, kNoJobs, observations);
  ObserveHeartbeat("after", HeartbeatOf(2, 5, 10), 29000, kNoJobs, observations);
  // The controller stalled from 9,000 to 29,000 ms. One heartbeat was received before the stall was
  // noticed.
  ShiftHeartbeats(20000, 29000, observations);
  EXPECT_EQ(LastHeartbeat(observations, "before"), 29000);
  EXPECT_EQ(LastHeartbeat(observations, "after"), 29000);
}

TEST(ObservationsTest, AStepOfTheClockMovesEveryTimeAndChangesNoDuration) {
  Observations observations;
  observations.since_ms = 100;
  ObserveHeartbeat("a", HeartbeatOf(1, 5, 10), 20'000, kNoJobs, observations);
  ObserveHeartbeat("a", HeartbeatOf(1, 6, 11), 21'000, kNoJobs, observations);
  Observations moved = observations;
  ShiftTimes(-9000, moved);
  EXPECT_EQ(moved.stepped_ms, -9000);
  EXPECT_EQ(moved.since_ms, 100 - 9000);
  EXPECT_EQ(moved.resumed_ms, 0) << "0 is no time";
  EXPECT_EQ(moved.nodes.at("a").last_heartbeat_ms, 12'000);
  EXPECT_EQ(moved.nodes.at("a").last_report_ms, 12'000);
  EXPECT_EQ(moved.nodes.at("a").reports_since_ms, 11'000);
  const RankObservation& before = observations.attempts.at({1, 1}).ranks.at(0);
  const RankObservation& after = moved.attempts.at({1, 1}).ranks.at(0);
  EXPECT_EQ(after.ran_ms, 12'000);
  EXPECT_EQ(LastProgress(after), LastProgress(before) - 9000);
  EXPECT_EQ(after.quiet_since_ms, before.quiet_since_ms - 9000);
  EXPECT_EQ(after.phase_since_ms, before.phase_since_ms - 9000);
  EXPECT_EQ(SteadyMs(after), SteadyMs(before));
  ShiftTimes(9000, moved);
  EXPECT_EQ(moved.nodes.at("a").last_heartbeat_ms, 21'000);
  EXPECT_EQ(moved.stepped_ms, 0);
}

TEST(ObservationsTest, StepTimesAreFinite) {
  Observations observations;
  ObserveTelemetry(MetricsOf(10, 20, std::numeric_limits<double>::infinity()), kNoJobs,
                   observations);
  EXPECT_EQ(observations.attempts.at({1, 1}).step_times.Newest(), 365 * 86400.0);
}

TEST(ObservationsTest, StepTimesAreBounded) {
  Observations observations;
  for (int i = 0; i < 1000; ++i) ObserveTelemetry(MetricsOf(i, i, 1), kNoJobs, observations);
  EXPECT_EQ(observations.attempts.at({1, 1}).step_times.size(), kStepTimesKept);
}

// A worker that was refused was never observed, and leaves nothing behind.
TEST(ObservationsTest, TheEndOfAnUnknownWorkersStreamIsNotKept) {
  Observations observations;
  ObserveDetached("stranger", observations);
  EXPECT_TRUE(observations.nodes.empty());
}

TEST(ObservationsTest, ForgetsProgressOfJobsThatAreNotInTheState) {
  ClusterState state;
  state.jobs[1].job.set_state(v1::JOB_STATE_SUCCEEDED);
  state.jobs[2].job.set_state(v1::JOB_STATE_RUNNING);
  Observations observations;
  for (int64_t id = 1; id <= 3; ++id) {
    observations.progress[id].set_step(id);
    observations.longest_phase_ms[id]["checkpoint"] = 1000;
  }
  ForgetOld(state, observations);
  EXPECT_TRUE(observations.progress.contains(1)) << "its record in the archive will have it";
  EXPECT_TRUE(observations.progress.contains(2));
  EXPECT_FALSE(observations.progress.contains(3));
  EXPECT_TRUE(observations.longest_phase_ms.contains(2));
  EXPECT_FALSE(observations.longest_phase_ms.contains(3));
}

TEST(ObservationsTest, TheAttemptsOfANodeThatIsGoneAreForgottenWithIt) {
  ClusterState state;
  Observations observations;
  v1::Heartbeat heartbeat;
  v1::AttemptReport& report = *heartbeat.add_attempts();
  report.set_job_id(1);
  report.set_attempt(1);
  report.add_ranks()->set_running(true);
  ObserveHeartbeat("gone", heartbeat, 1000, state, observations);
  ASSERT_EQ(observations.attempts.size(), 1u);
  ForgetOld(state, observations);
  EXPECT_TRUE(observations.attempts.empty());
}

TEST(ObservationsTest, APaceIsKeptWhileAWorkerThatHasBegunAnewKnowsNone) {
  Observations observations;
  v1::Heartbeat heartbeat;
  v1::AttemptReport& report = *heartbeat.add_attempts();
  report.set_job_id(1);
  report.set_attempt(1);
  v1::RankReport& rank = *report.add_ranks();
  rank.set_running(true);
  for (const int64_t slow_step_ms : {20'000, 0}) {
    rank.set_slow_step_ms(slow_step_ms);
    ObserveHeartbeat("a", heartbeat, 1000, kNoJobs, observations);
  }
  EXPECT_EQ(observations.attempts.at({1, 1}).ranks.at(0).slow_step_ms, 20'000);
}

TEST(ObservationsTest, ForgetsNodesThatAreGone) {
  ClusterState state;
  state.nodes["a"];
  Observations observations;
  observations.nodes["a"];
  observations.nodes["gone"];
  observations.nodes["joining"].attached = true;
  for (const char* id : {"gone", "joining"}) observations.roots.awaited[id] = 1000;
  ForgetOld(state, observations);
  EXPECT_EQ(observations.nodes.size(), 2u);
  EXPECT_FALSE(observations.nodes.contains("gone"));
  EXPECT_FALSE(observations.roots.awaited.contains("gone")) << "no gang waits for its report";
  EXPECT_TRUE(observations.roots.awaited.contains("joining"));
}

}  // namespace
}  // namespace trainyard::controller
