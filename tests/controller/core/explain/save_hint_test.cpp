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
  void Alert(const std::string& code, int64_t step,
             const std::string& message = "No space left on device") {
    v1::TelemetryRecord record;
    record.mutable_alert()->set_code(code);
    record.mutable_alert()->set_step(step);
    record.mutable_alert()->set_message(message);
    Write(record);
  }
  v1::WhyJobResponse Why() {
    const JobEntry& entry = cluster_.state.jobs.at(job_);
    return ExplainJob(cluster_.View(), entry);
  }
  void Reach(int64_t step) { cluster_.observations.attempts[{job_, 1}].ranks[0].step = step; }
  v1::Verdict StopVerdict() {
    cluster_.Stop(job_);
    cluster_.ExitAll(job_, exit_code_);
    cluster_.ClearAll(job_);
    return cluster_.Job(job_).verdict();
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
              HasSubstr("no checkpoint since step 100, because the checkpoint of step 200 "
                        "failed: No space left on device"));
  v1::TelemetryRecord published;
  published.mutable_checkpoint()->set_step(300);
  Write(published);
  EXPECT_EQ(Why().pending().code(), v1::PENDING_CODE_NOT_PENDING);
}

TEST_F(SaveHintTest, ALastSaveThatWaitsSaysSo) {
  Alert("checkpoint_blocked", 600);
  EXPECT_THAT(Why().answer(),
              HasSubstr("no checkpoint yet, because the checkpoint of step 600 is blocked: "
                        "No space"));
}

TEST_F(SaveHintTest, ADirectoryThatIsNotSharedNeedsAMountAndNotSpace) {
  Alert("checkpoint_failed", 100);
  EXPECT_THAT(Why().pending().advice(), HasSubstr("free disk space in /checkpoints/"));
  Alert("checkpoint_unshared", 200);
  EXPECT_EQ(Why().pending().code(), v1::PENDING_CODE_NO_CHECKPOINT);
  EXPECT_THAT(Why().pending().advice(), HasSubstr("mount the same storage at /checkpoints/"));
}

TEST_F(SaveHintTest, AStopThatCouldNotSaveNamesTheLostSteps) {
  cluster_.Publish(job_, 100);
  Reach(120);
  exit_code_ = 73;
  const v1::Verdict verdict = StopVerdict();
  EXPECT_EQ(verdict.summary(),
            "stopped by a user; 20 steps after step 100 are lost, because no checkpoint was saved "
            "when the ranks stopped: rank 0 exited with code 73 (cannot write)");
  EXPECT_EQ(verdict.lost_steps(), 20);
  EXPECT_EQ(verdict.cause(), v1::VERDICT_CAUSE_STOPPED);
}

TEST_F(SaveHintTest, AStopThatWasKilledWhileItsSaveWaitedRepeatsNoPromise) {
  Reach(600);
  Alert("checkpoint_blocked", 600,
        "cannot write the last checkpoint: No space left on device; retrying for 30 minutes, while "
        "the ranks keep their state in memory; free disk space");
  exit_code_ = 137;
  const v1::Verdict verdict = StopVerdict();
  EXPECT_EQ(
      verdict.summary(),
      "stopped by a user; SIGKILL ended rank 0, which still ran after stop_grace (60 s); all 600 "
      "steps are lost, because no checkpoint was saved when the ranks stopped: cannot write "
      "the last checkpoint: No space left on device");
  EXPECT_EQ(verdict.lost_steps(), 600);
}

TEST_F(SaveHintTest, AStopThatNeededSigkillLosesTheStepsSinceTheCheckpoint) {
  cluster_.Publish(job_, 100);
  Reach(101);
  exit_code_ = 137;
  EXPECT_THAT(StopVerdict().summary(), AllOf(HasSubstr("1 step after step 100 is lost"),
                                             HasSubstr("SIGKILL ended rank 0, which still ran")));
}

TEST_F(SaveHintTest, AProgramThatReportsNoCheckpointLosesNothingThatIsKnown) {
  Reach(600);
  exit_code_ = 137;
  const v1::Verdict verdict = StopVerdict();
  EXPECT_EQ(verdict.summary(),
            "stopped by a user; SIGKILL ended rank 0, which still ran after stop_grace (60 s)");
  EXPECT_EQ(verdict.lost_steps(), 0);
}

TEST_F(SaveHintTest, AFailedSaveWithoutANewerStepLosesNothing) {
  cluster_.Publish(job_, 100);
  Reach(100);
  exit_code_ = 73;
  EXPECT_EQ(StopVerdict().lost_steps(), 0);
}

TEST_F(SaveHintTest, AStopThatSavedSaysNothingMore) {
  cluster_.Publish(job_, 100);
  Reach(120);
  const v1::Verdict verdict = StopVerdict();
  EXPECT_EQ(verdict.summary(), "stopped by a user");
  EXPECT_EQ(verdict.lost_steps(), 0);
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
      "stopped by a user; SIGKILL ended rank 0, which still ran after stop_grace (60 s); 240 steps "
      "after step 100 are lost, because the ranks were killed before they saved a checkpoint");
}

TEST_F(KilledStopTest, WithoutAReportedCheckpointNothingIsKnownToBeLost) {
  EXPECT_EQ(SummaryAfterKill(false),
            "stopped by a user; SIGKILL ended rank 0, which still ran after stop_grace (60 s)");
}

TEST_F(KilledStopTest, WhoeverKillsAJobExpectsNoCheckpoint) {
  cluster_.Publish(job_, 339);
  EXPECT_EQ(SummaryAfterKill(true), "killed by a user");
}

// A program of others may save without a report.
TEST_F(KilledStopTest, RanksThatExitedByThemselvesAreAssumedToHaveSaved) {
  cluster_.Step(job_, 0, 340, 1);
  EXPECT_EQ(StopVerdict().summary(), "stopped by a user");
}

TEST_F(KilledStopTest, APauseThatNeededSigkillRaisesTheAlert) {
  cluster_.Publish(job_, 100);
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
                             HasSubstr("; 240 steps after step 100 are lost")));
}

TEST_F(SaveHintTest, ACheckpointOfTheFirstStepIsNamed) {
  cluster_.Publish(job_, 1);
  Alert("checkpoint_failed", 2);
  EXPECT_THAT(Why().answer(),
              HasSubstr("no checkpoint since step 1, because the checkpoint of step 2 failed"));
}

}  // namespace
}  // namespace trainyard::controller
