#include "controller/core/observations/observations.h"

#include <optional>

#include "controller/core/observations/observe.h"
#include "gtest/gtest.h"
#include "tests/controller/core/observations/rank_reports.h"

namespace trainyard::controller {
namespace {

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

// The worker sends its Hello before it receives a Welcome. The Hello lists the attempts whose start
// commands arrived on an earlier stream.
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
  // The controller process was frozen, and then its clock was set back.
  ShiftHeartbeats(5000, 7000, observations);
  EXPECT_EQ(ClockAheadMs(observations, "a"), 60'000 - 2);
  ShiftTimes(-6000, observations);
  EXPECT_EQ(ClockAheadMs(observations, "a"), 66'000 - 2);
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
  // The controller stalled from 13,000 to 33,000 ms; the worker did not.
  ShiftHeartbeats(20'000, 33'000, observations);
  ObserveHeartbeat("a", {}, 34'000, kNoJobs, observations);
  EXPECT_EQ(node.reports_since_ms, 30'000);
  ObserveHeartbeat("a", {}, 37'001, kNoJobs, observations);
  EXPECT_EQ(node.reports_since_ms, 37'001);
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
  // The controller stalled from 9,000 to 29,000 ms. Before noticing the stall, the controller
  // received one heartbeat.
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

// A rejected worker was never observed, so nothing about it is kept.
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
