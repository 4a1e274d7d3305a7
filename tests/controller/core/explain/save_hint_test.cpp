#include "controller/core/explain/save_hint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/core/explain/explain.h"
#include "controller/core/observations/observe.h"
#include "controller/core/observations/observe_telemetry.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class SaveHintTest : public testing::Test {
 protected:
  SaveHintTest() {
    cluster_.AddNode("a", 1);
    job_ = cluster_.Submit("job", 1, 1);
    cluster_.RunJob(job_);
  }

  void Write(const v1::TelemetryRecord& record) {
    v1::TelemetryBatch batch;
    batch.mutable_stream()->set_job_id(job_);
    batch.mutable_stream()->set_attempt(1);
    *batch.add_records() = record;
    ObserveTelemetry(batch, cluster_.state, cluster_.observations);
  }
  void Alert(const std::string& code, int64_t step) {
    v1::TelemetryRecord record;
    record.mutable_alert()->set_code(code);
    record.mutable_alert()->set_step(step);
    record.mutable_alert()->set_message("No space left on device");
    Write(record);
  }
  v1::WhyJobResponse Why() {
    const JobEntry& entry = cluster_.state.jobs.at(job_);
    return ExplainJob(cluster_.View(), entry);
  }
  std::string StopSummary() {
    cluster_.Stop(job_);
    cluster_.ExitAll(job_, exit_code_);
    cluster_.ClearAll(job_);
    return cluster_.Job(job_).verdict().summary();
  }

  TestCluster cluster_;
  int64_t job_ = 0;
  int exit_code_ = 143;
};

TEST_F(SaveHintTest, SavesThatFailAreTheAnswerUntilOneSucceeds) {
  cluster_.Publish(job_, 100);
  EXPECT_EQ(Why().pending().code(), v1::PENDING_CODE_NOT_PENDING);
  Alert("checkpoint_failed", 200);
  EXPECT_EQ(Why().pending().code(), v1::PENDING_CODE_NO_CHECKPOINT);
  EXPECT_THAT(Why().answer(),
              HasSubstr("no checkpoint since step 100, because the save of step 200 "
                        "failed: No space left on device"));
  v1::TelemetryRecord published;
  published.mutable_checkpoint()->set_step(300);
  Write(published);
  EXPECT_EQ(Why().pending().code(), v1::PENDING_CODE_NOT_PENDING);
}

TEST_F(SaveHintTest, ALastSaveThatWaitsSaysSo) {
  Alert("checkpoint_blocked", 600);
  EXPECT_THAT(Why().answer(),
              HasSubstr("no checkpoint yet, because the save of step 600 is blocked: No space"));
}

TEST_F(SaveHintTest, ADirectoryThatIsNotSharedNeedsAMountAndNotSpace) {
  Alert("checkpoint_failed", 100);
  EXPECT_THAT(Why().pending().advice(), HasSubstr("free disk space in /checkpoints/"));
  Alert("checkpoint_unshared", 200);
  EXPECT_EQ(Why().pending().code(), v1::PENDING_CODE_NO_CHECKPOINT);
  EXPECT_THAT(Why().pending().advice(), HasSubstr("mount the same storage at /checkpoints/"));
}

TEST_F(SaveHintTest, AStopThatCouldNotSaveSaysSo) {
  cluster_.Publish(job_, 100);
  exit_code_ = 73;
  EXPECT_THAT(StopSummary(),
              AllOf(HasSubstr("stopped by a user; no checkpoint was saved when the ranks stopped"),
                    HasSubstr("no checkpoint since step 100): rank 0 exited with code 73")));
}

TEST_F(SaveHintTest, AStopThatWasKilledWhileItsSaveWaitedSaysSo) {
  Alert("checkpoint_blocked", 600);
  exit_code_ = 137;
  EXPECT_THAT(StopSummary(),
              HasSubstr("no checkpoint was saved when the ranks stopped (no checkpoint yet): "
                        "No space left"));
}

TEST_F(SaveHintTest, AStopThatSavedSaysNothingMore) {
  EXPECT_EQ(StopSummary(), "stopped by a user");
}

class KilledStopTest : public SaveHintTest {
 protected:
  std::string SummaryAfterKill(bool kill_requested) {
    cluster_.Step(job_, 0, 340, 1);
    cluster_.Stop(job_, kill_requested);
    v1::RankExited exited;
    exited.set_signal(9);
    cluster_.Exit(job_, exited);
    cluster_.ClearAll(job_);
    return cluster_.Job(job_).verdict().summary();
  }
};

TEST_F(KilledStopTest, AStopThatNeededSigkillNamesTheRankAndTheLostSteps) {
  cluster_.Publish(job_, 100);
  EXPECT_EQ(
      SummaryAfterKill(false),
      "stopped by a user; SIGKILL ended rank 0, which still ran after stop_grace (60 s); steps "
      "101 to 340 are in no checkpoint");
}

TEST_F(KilledStopTest, WithoutACheckpointAllStepsAreLost) {
  EXPECT_THAT(SummaryAfterKill(false), HasSubstr("; steps 1 to 340 are in no checkpoint"));
}

TEST_F(KilledStopTest, AKillNamesTheLostStepsOnly) {
  cluster_.Publish(job_, 339);
  EXPECT_EQ(SummaryAfterKill(true), "killed by a user; step 340 is in no checkpoint");
}

TEST_F(KilledStopTest, AKillAfterTheNewestCheckpointLosesNothing) {
  cluster_.Publish(job_, 340);
  EXPECT_EQ(SummaryAfterKill(true), "killed by a user");
}

// A program of others may save without a report.
TEST_F(KilledStopTest, RanksThatExitedByThemselvesAreAssumedToHaveSaved) {
  cluster_.Step(job_, 0, 340, 1);
  EXPECT_EQ(StopSummary(), "stopped by a user");
}

TEST_F(KilledStopTest, APauseThatNeededSigkillRaisesTheAlert) {
  cluster_.Step(job_, 0, 340, 1);
  PauseJob pause;
  pause.request.set_job(std::to_string(job_));
  pause.principal = {"ada"};
  cluster_.Do(pause);
  v1::RankExited exited;
  exited.set_signal(9);
  cluster_.Exit(job_, exited);
  cluster_.ClearNode(job_, "a");
  std::string message;
  for (const v1::Event& event : cluster_.Settle()) {
    if (event.has_alert_raised()) message = event.alert_raised().message();
  }
  EXPECT_THAT(message, AllOf(HasSubstr("paused; SIGKILL ended rank 0"),
                             HasSubstr("; steps 1 to 340 are in no checkpoint")));
}

TEST_F(SaveHintTest, ACheckpointOfTheFirstStepIsNamed) {
  cluster_.Publish(job_, 1);
  Alert("checkpoint_failed", 2);
  EXPECT_THAT(Why().answer(),
              HasSubstr("no checkpoint since step 1, because the save of step 2 failed"));
}

}  // namespace
}  // namespace trainyard::controller
