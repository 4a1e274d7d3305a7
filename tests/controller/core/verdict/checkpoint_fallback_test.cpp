// Tests restarts from an older checkpoint, and restarts that do not use up the restart budget.
#include "controller/core/verdict/failure_policy.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A job with one rank and no restart budget.
class CheckpointFallbackTest : public ::testing::Test {
 protected:
  void Start(const std::string& resume_from = "") {
    cluster_.AddNode("a", 1);
    v1::JobSpec spec = TestSpec("job", 1, 1);
    spec.mutable_restart()->set_max_restarts(0);
    spec.mutable_checkpoint()->set_resume_from(resume_from);
    job_ = cluster_.Submit(spec);
    cluster_.RunJob(job_);
  }

  std::vector<v1::Event> EndAttempt(int exit_code) {
    cluster_.ExitRank(job_, 0, exit_code);
    std::vector<v1::Event> events = cluster_.Settle();
    cluster_.ClearAll(job_);
    cluster_.Pass(1000);
    return events;
  }

  // Restarts the job without using up the restart budget: the causes are not the job's fault.
  void RestartUncounted() {
    EndAttempt(75);
    cluster_.RunJob(job_);
  }

  TestCluster cluster_;
  int64_t job_ = 0;
};

TEST_F(CheckpointFallbackTest, NextAttemptStartsFromTheNextOlderCheckpoint) {
  Start();
  cluster_.Publish(job_, 10);
  cluster_.Publish(job_, 20);
  RestartUncounted();
  ASSERT_EQ(cluster_.Attempt(job_).resume_from(), "/c/step_20");
  const std::vector<v1::Event> events = EndAttempt(74);
  ASSERT_THAT(Kinds(events), ElementsAre("AttemptFailed", "CheckpointRejected"));
  const v1::Verdict& verdict = events[0].attempt_failed().verdict();
  EXPECT_EQ(verdict.cause(), v1::VERDICT_CAUSE_CHECKPOINT_DAMAGED);
  EXPECT_EQ(verdict.checkpoint(), "/c/step_20");
  EXPECT_TRUE(verdict.restartable());
  EXPECT_EQ(verdict.summary(), "rank 0 on a could not read the checkpoint of step 20, /c/step_20");
  EXPECT_EQ(events[1].checkpoint_rejected().path(), "/c/step_20");
  EXPECT_EQ(events[1].checkpoint_rejected().step(), 20);
  EXPECT_EQ(events[1].checkpoint_rejected().job_id(), job_);
  EXPECT_EQ(events[1].checkpoint_rejected().attempt(), 2);
  EXPECT_EQ(events[1].checkpoint_rejected().reason(), verdict.summary());
  EXPECT_EQ(events[1].actor(), "controller");
  EXPECT_EQ(cluster_.Attempt(job_).number(), 3);
  EXPECT_EQ(cluster_.Attempt(job_).resume_from(), "/c/step_10");
  EXPECT_EQ(cluster_.Attempt(job_).resume_step(), 10);
  EXPECT_TRUE(cluster_.Job(job_).checkpoints(1).damaged());
  EXPECT_EQ(cluster_.Job(job_).restarts(), 0) << "the job is not to blame";
}

TEST_F(CheckpointFallbackTest, JobFailsWhenNoneIsLeft) {
  Start();
  cluster_.Publish(job_, 1);
  cluster_.Publish(job_, 20);
  RestartUncounted();
  EndAttempt(74);
  cluster_.RunJob(job_);
  EndAttempt(74);
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_FAILED);
  EXPECT_EQ(cluster_.Job(job_).verdict().summary(),
            "rank 0 on a could not read the checkpoint of step 1, /c/step_1; no older checkpoint "
            "is left to fall back to");
  EXPECT_FALSE(cluster_.Job(job_).verdict().restartable());
}

TEST_F(CheckpointFallbackTest, TheCheckpointThatTheUserNamedIsTheLastOne) {
  Start("/theirs");
  cluster_.Publish(job_, 10);
  RestartUncounted();
  EndAttempt(74);
  cluster_.RunJob(job_);
  EXPECT_EQ(cluster_.Attempt(job_).resume_from(), "/theirs");
  EndAttempt(74);
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_FAILED);
}

TEST_F(CheckpointFallbackTest, ACheckpointPublishedAgainIsSound) {
  Start();
  cluster_.Publish(job_, 10);
  cluster_.Publish(job_, 20);
  RestartUncounted();
  EndAttempt(74);
  cluster_.RunJob(job_);
  cluster_.Publish(job_, 20);
  RestartUncounted();
  EXPECT_EQ(cluster_.Attempt(job_).resume_from(), "/c/step_20");
}

TEST_F(CheckpointFallbackTest, WhoWasGivenNoCheckpointCannotHaveFoundItDamaged) {
  Start();
  EndAttempt(74);
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_FAILED);
  EXPECT_EQ(cluster_.Job(job_).verdict().cause(), v1::VERDICT_CAUSE_RANK_EXITED);
}

TEST_F(CheckpointFallbackTest, TryAgainWaitsForTheBackoff) {
  Start();
  cluster_.ExitRank(job_, 0, 75);
  cluster_.Settle();
  cluster_.ClearAll(job_);
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_RECOVERING);
  EXPECT_EQ(cluster_.Job(job_).not_before_ms(), cluster_.now + 1000);
}

TEST_F(CheckpointFallbackTest, TryAgainIsUncountedOnlySoManyTimesInARow) {
  Start();
  for (int i = 0; i < kUncountedTriesInARow; ++i) {
    EndAttempt(75);
    for (int k = 0; k < 600 && cluster_.Attempt(job_).number() < i + 2; ++k) cluster_.Pass(500);
    ASSERT_EQ(cluster_.Attempt(job_).number(), i + 2);
    cluster_.StartAll(job_);
  }
  EXPECT_EQ(cluster_.Job(job_).restarts(), 0);
  EndAttempt(75);
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_FAILED);
  EXPECT_THAT(cluster_.Job(job_).verdict().summary(), HasSubstr("restart.max_restarts is 0"));
}

}  // namespace
}  // namespace trainyard::controller
