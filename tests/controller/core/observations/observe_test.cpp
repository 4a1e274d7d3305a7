#include "controller/core/observations/observe.h"
#include "controller/core/observations/observe_telemetry.h"

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/contract/limits.h"
#include "proto/contract/telemetry_keys.h"

namespace trainyard::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

// Reports and telemetry of rank 0 of attempt 1/1, which runs on node "a".
class ObserveTest : public testing::Test {
 protected:
  static constexpr int64_t kYearMs = 365 * 86'400'000LL;
  static constexpr AttemptKey kAttempt{1, 1};

  ObserveTest() {
    v1::AttemptReport& attempt = *heartbeat_.add_attempts();
    attempt.set_job_id(1);
    attempt.set_attempt(1);
    attempt.add_ranks()->set_running(true);
  }

  v1::RankReport& Report() { return *heartbeat_.mutable_attempts(0)->mutable_ranks(0); }
  void SendReport(Timestamp now) { ObserveHeartbeat("a", heartbeat_, now, state_, observations_); }
  void SendComputeTime(int64_t step, double seconds, Timestamp now) {
    Report().mutable_newest()->set_step(step);
    Report().mutable_newest()->mutable_step_time()->set_compute(seconds);
    SendReport(now);
  }
  void SendCondition(const v1::NodeCondition& condition) {
    v1::Heartbeat heartbeat;
    *heartbeat.mutable_condition() = condition;
    ObserveHeartbeat("a", heartbeat, 1000, state_, observations_);
  }
  void SendRecord(const v1::TelemetryRecord& record) {
    v1::TelemetryBatch batch;
    batch.mutable_stream()->set_job_id(1);
    batch.mutable_stream()->set_attempt(1);
    *batch.add_records() = record;
    ObserveTelemetry(batch, state_, observations_);
  }
  void SendPhase(int64_t time_ms, const std::string& phase) {
    v1::TelemetryRecord record;
    record.set_time_ms(time_ms);
    record.mutable_phase()->set_phase(phase);
    SendRecord(record);
  }
  void SendMetrics(int64_t step, int64_t total_steps = 0) {
    v1::TelemetryRecord record;
    record.mutable_metrics()->set_step(step);
    record.mutable_metrics()->set_total_steps(total_steps);
    SendRecord(record);
  }
  void SendSaveAlert(const std::string& message) {
    v1::TelemetryRecord record;
    record.mutable_alert()->set_code(telemetry::kCheckpointFailed);
    record.mutable_alert()->set_message(message);
    SendRecord(record);
  }

  const AttemptObservation& Attempt() const { return observations_.attempts.at(kAttempt); }
  const RankObservation& Rank() const { return Attempt().ranks.at(0); }

  ClusterState state_;
  v1::Heartbeat heartbeat_;
  Observations observations_;
};

TEST_F(ObserveTest, OutputIsNoMovementOfARankThatReportsSteps) {
  Report().set_step(5);
  Report().set_last_activity_ms(10);
  SendReport(1000);
  // The worker was paused between the two reports. The reported time without a step (1 s) excludes
  // the pause and is therefore shorter than the time between the reports.
  Report().set_last_activity_ms(11);
  Report().set_still_ms(1000);
  SendReport(60'000);
  EXPECT_EQ(Rank().still_since_ms, 59'000);
  EXPECT_EQ(Rank().moving_until_ms, 1000);
}

TEST_F(ObserveTest, ARankWithoutStepsDoesNotMoveWithoutOutput) {
  Report().set_last_activity_ms(10);
  SendReport(1000);
  Report().set_quiet_ms(1000);
  SendReport(60'000);
  EXPECT_EQ(Rank().quiet_since_ms, 59'000);
  EXPECT_EQ(Rank().moving_until_ms, 1000);
}

TEST_F(ObserveTest, ReportedTimesWithoutProgressAreLimitedToAYear) {
  Report().set_still_ms(std::numeric_limits<int64_t>::max());
  Report().set_quiet_ms(kYearMs + 1);
  SendReport(2 * kYearMs);
  EXPECT_EQ(Rank().still_since_ms, kYearMs);
  EXPECT_EQ(Rank().quiet_since_ms, kYearMs);
}

TEST_F(ObserveTest, OnlyPositiveFiniteComputeTimesCount) {
  int64_t step = 0;
  for (const double seconds : {0.0, -1.0, std::numeric_limits<double>::infinity(), std::nan("")}) {
    ++step;
    SendComputeTime(step, seconds, step * ComputeWindow::kSpacingMs);
    EXPECT_FALSE(Attempt().measures_compute) << seconds;
  }
  ++step;
  SendComputeTime(step, 0.5, step * ComputeWindow::kSpacingMs);
  EXPECT_TRUE(Attempt().measures_compute);
}

TEST_F(ObserveTest, TheComputeTimeOfAStepCountsOnce) {
  Timestamp now = 10'000;
  const auto send_steps = [&](int64_t distance) {
    int64_t step = Report().newest().step();
    for (std::size_t i = 0; i < ComputeWindow::kTimes; ++i) {
      SendComputeTime(step, 0.5, now);
      step += distance;
      now += ComputeWindow::kSpacingMs;
    }
  };
  send_steps(0);
  EXPECT_EQ(Rank().compute.Median(), std::nullopt) << "each report repeats the same step";
  send_steps(1);
  EXPECT_EQ(Rank().compute.Median(), 0.5) << "each report has a new step";
}

TEST_F(ObserveTest, TheFirstStepOfAGenerationIsThatOfItsFirstReport) {
  v1::RankRecord& newest = *Report().mutable_newest();
  for (const int64_t step : {1, 8}) {
    newest.set_step(step);
    SendReport(1000);
    EXPECT_EQ(Rank().first_step_of_generation, 1);
  }
  newest.set_generation(2);
  for (const int64_t step : {9, 12}) {
    newest.set_step(step);
    SendReport(1000);
    EXPECT_EQ(Rank().first_step_of_generation, 9);
  }
}

TEST_F(ObserveTest, ASlowStepReplacesTheEarlierOneOfItsRank) {
  for (const int64_t slow_step_ms : {1, 2, 9000}) {
    Report().set_slow_step_ms(slow_step_ms);
    SendReport(1000);
    EXPECT_THAT(Attempt().slow_steps_ms, ElementsAre(slow_step_ms));
  }
  Report().set_slow_step_ms(kYearMs + 1);
  SendReport(1000);
  EXPECT_THAT(Attempt().slow_steps_ms, ElementsAre(kYearMs));
}

TEST_F(ObserveTest, AReportedAttemptNeedsNoOtherStart) {
  ObserveStartSent("a", kAttempt, observations_);
  ObserveStartSent("a", {2, 1}, observations_);
  SendReport(1000);
  EXPECT_THAT(observations_.nodes.at("a").starts_sent, ElementsAre(AttemptKey{2, 1}));
}

TEST_F(ObserveTest, ANodeIsTroubledUntilItsReportHasNoTrouble) {
  v1::NodeCondition condition;
  condition.set_trouble(std::string(kMaxReasonBytes + 1, 'x'));
  SendCondition(condition);
  EXPECT_THAT(observations_.troubled_nodes, ElementsAre("a"));
  EXPECT_EQ(observations_.nodes.at("a").condition.trouble(), std::string(kMaxReasonBytes, 'x'));
  SendCondition({});
  EXPECT_THAT(observations_.troubled_nodes, IsEmpty());
}

TEST_F(ObserveTest, TheNewestEightDeviceErrorsAreKept) {
  v1::NodeCondition condition;
  for (int xid = 1; xid <= 10; ++xid) condition.add_device_errors()->set_xid(xid);
  SendCondition(condition);
  std::vector<int> xids;
  for (const v1::DeviceError& error : observations_.nodes.at("a").condition.device_errors()) {
    xids.push_back(error.xid());
  }
  EXPECT_THAT(xids, ElementsAre(3, 4, 5, 6, 7, 8, 9, 10));
  condition.mutable_device_errors()->DeleteSubrange(9, 1);
  SendCondition(condition);
  EXPECT_EQ(observations_.nodes.at("a").condition.device_errors_size(), 8) << "of nine";
}

TEST_F(ObserveTest, AHelloReportsTheConditionAndTheCheckpointRoot) {
  observations_.roots.path = "/checkpoints";
  v1::Hello hello;
  hello.set_node_id("a");
  hello.mutable_condition()->set_trouble("the disk is full");
  hello.mutable_checkpoint_root()->set_path("/checkpoints");
  hello.mutable_checkpoint_root()->set_nonce("n");
  ObserveAttached(hello, 1000, state_, observations_);
  EXPECT_EQ(observations_.nodes.at("a").condition.trouble(), "the disk is full");
  EXPECT_THAT(observations_.roots.nodes_by_nonce, ElementsAre(Pair("n", ElementsAre("a"))));
}

TEST_F(ObserveTest, TheFirstTwoStepsDiffer) {
  for (const int64_t step : {20, 20, 30, 40}) SendMetrics(step);
  EXPECT_THAT(Attempt().first_steps, ElementsAre(20, 30));
}

TEST_F(ObserveTest, ARunMayHaveASingleStep) {
  SendMetrics(1, 1);
  EXPECT_EQ(observations_.progress.at(1).total_steps(), 1);
  EXPECT_EQ(Attempt().total_steps, 1);
}

TEST_F(ObserveTest, AFailedSaveLastsUntilALaterOneIsPublished) {
  v1::TelemetryRecord deleted;
  deleted.mutable_checkpoint()->set_deleted(true);
  SendSaveAlert("the disk is full");
  SendMetrics(5);
  SendRecord(deleted);
  ASSERT_TRUE(Attempt().save_problem.has_value());
  EXPECT_EQ(Attempt().save_problem->message, "the disk is full");
  v1::TelemetryRecord published;
  published.mutable_checkpoint()->set_step(5);
  SendRecord(published);
  EXPECT_FALSE(Attempt().save_problem.has_value());
}

TEST_F(ObserveTest, TheMessageOfAFailedSaveHasOneKibibyteAtMost) {
  SendSaveAlert(std::string(1025, 'x'));
  EXPECT_EQ(Attempt().save_problem->message, std::string(1024, 'x'));
}

// Each case ends one phase and then starts the phase "train".
TEST_F(ObserveTest, TheLongestPhaseIsThatOfKnownPhasesWithKnownTimes) {
  struct Case {
    const char* phase;
    int64_t since_ms;
    int64_t until_ms;
    std::optional<int64_t> longest_ms;
  };
  const std::vector<Case> cases = {
      {"load", 1000, 4000, 3000},
      {"load", 1, 4000, 3999},
      {"load", 5000, 5000, 0},
      {"load", 1, kYearMs + 2, kYearMs},
      {"load", 5000, 4999, std::nullopt},
      {"load", 0, 4000, std::nullopt},
      {"sample", 1000, 4000, std::nullopt},
      {"train", 1000, 4000, std::nullopt},
  };
  for (const Case& one : cases) {
    observations_ = {};
    SendPhase(one.since_ms, one.phase);
    SendPhase(one.until_ms, "train");
    EXPECT_EQ(LongestPhaseMs(observations_, 1, one.phase), one.longest_ms)
        << one.phase << " from " << one.since_ms << " to " << one.until_ms;
  }
}

TEST_F(ObserveTest, AShorterPhaseDoesNotReplaceTheLongest) {
  SendPhase(1000, "load");
  SendPhase(9000, "load");
  SendPhase(9500, "train");
  EXPECT_EQ(LongestPhaseMs(observations_, 1, "load"), 8000);
}

TEST_F(ObserveTest, SteadyProgressBeginsAnewWhereTheControllerDidNotRead) {
  Report().set_phase("train");
  for (const int64_t step : {1, 2, 3}) {
    Report().set_step(step);
    SendReport(step * 1000);
  }
  Report().set_phase("checkpoint");
  SendReport(4000);
  ASSERT_EQ(Rank().steady_before_ms, 3000);
  ObserveUnread("a", 9000, state_, observations_);
  EXPECT_EQ(Rank().steady_before_ms, 0);
  EXPECT_EQ(Rank().moving_since_ms, 9000);
}

TEST_F(ObserveTest, AStepOfTheClockMovesTheStallTheChecksAndTheComputeTimes) {
  heartbeat_.add_checks()->set_name("gpu");
  Timestamp now = 10'000'000;
  int64_t step = 1;
  for (; step < static_cast<int64_t>(ComputeWindow::kTimes); ++step) {
    SendComputeTime(step, 0.5, now);
    now += ComputeWindow::kSpacingMs;
  }
  const Timestamp checked_ms = now - ComputeWindow::kSpacingMs;
  ShiftHeartbeats(1000, now, observations_);
  ShiftTimes(-3'600'000, observations_);
  EXPECT_EQ(observations_.resumed_ms, now - 3'600'000);
  EXPECT_EQ(observations_.nodes.at("a").checked_ms, checked_ms - 3'600'000);
  ASSERT_EQ(Rank().compute.Median(), std::nullopt) << "one time is missing";
  SendComputeTime(step, 0.5, now - 3'600'000);
  EXPECT_EQ(Rank().compute.Median(), 0.5) << "the last time is kSpacingMs old";
}

TEST_F(ObserveTest, NothingOfARemovedJobIsKept) {
  state_.jobs[2];
  for (const int64_t id : {1, 2}) {
    observations_.progress[id];
    observations_.losses[id];
    observations_.longest_phase_ms[id];
    observations_.left_out[id];
  }
  ForgetOld(state_, observations_);
  const auto is_only_job_2 = ElementsAre(Pair(2, testing::_));
  EXPECT_THAT(observations_.progress, is_only_job_2);
  EXPECT_THAT(observations_.losses, is_only_job_2);
  EXPECT_THAT(observations_.longest_phase_ms, is_only_job_2);
  EXPECT_THAT(observations_.left_out, is_only_job_2);
}

TEST_F(ObserveTest, NothingOfARemovedNodeIsKept) {
  state_.nodes["kept"];
  observations_.roots.path = "/checkpoints";
  v1::Heartbeat heartbeat;
  heartbeat.mutable_condition()->set_trouble("the disk is full");
  heartbeat.mutable_condition()->add_device_errors()->set_xid(79);
  heartbeat.mutable_checkpoint_root()->set_path("/checkpoints");
  heartbeat.mutable_checkpoint_root()->set_nonce("n");
  for (const char* id : {"kept", "removed"}) {
    ObserveHeartbeat(id, heartbeat, 1000, state_, observations_);
  }
  ASSERT_THAT(observations_.troubled_nodes, UnorderedElementsAre("kept", "removed"));
  ForgetOld(state_, observations_);
  EXPECT_THAT(observations_.nodes, ElementsAre(Pair("kept", testing::_)));
  EXPECT_THAT(observations_.troubled_nodes, ElementsAre("kept"));
  EXPECT_THAT(observations_.nodes_with_device_errors, ElementsAre("kept"));
  EXPECT_THAT(observations_.roots.by_node, ElementsAre(Pair("kept", testing::_)));
  EXPECT_THAT(observations_.roots.nodes_by_nonce, ElementsAre(Pair("n", ElementsAre("kept"))));
}

TEST(ObservationsRuleTest, ARankReportsStepsFromItsFirstStepOrPhaseOn) {
  RankObservation rank;
  EXPECT_FALSE(ReportsSteps(rank));
  rank.step = 1;
  EXPECT_TRUE(ReportsSteps(rank));
  rank.step = 0;
  rank.phase = "init";
  EXPECT_TRUE(ReportsSteps(rank));
}

TEST(ObservationsRuleTest, TheStepsOfTheJobFileCountUntilTheProgramReportsItsOwn) {
  v1::Job job;
  job.mutable_spec()->mutable_train()->set_steps(7);
  AttemptObservation attempt;
  EXPECT_EQ(TotalSteps(attempt, job), 7);
  attempt.total_steps = 1;
  EXPECT_EQ(TotalSteps(attempt, job), 1);
}

}  // namespace
}  // namespace trainyard::controller
