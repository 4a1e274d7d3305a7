#include <string>
#include <utility>

#include "controller/core/apply/apply.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/contract/telemetry_keys.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

// A job with rank 0 on node "a" and rank 1 on node "b".
class ApplyJobTest : public ::testing::Test {
 protected:
  ApplyJobTest() {
    for (const char* id : {"a", "b"}) cluster_.AddNode(id, 1);
    job_ = cluster_.Submit("job", 2, 1);
  }

  const JobEntry& Entry() const { return cluster_.state.jobs.at(job_); }
  const v1::Verdict& NewestVerdict() const { return cluster_.Attempt(job_).verdict(); }

  void Pause() {
    PauseJob pause;
    pause.request.set_job(std::to_string(job_));
    pause.principal = {"ada"};
    cluster_.Do(pause);
  }

  void Resume() {
    ResumeJob resume;
    resume.request.set_job(std::to_string(job_));
    resume.principal = {"ada"};
    cluster_.Do(resume);
  }

  // Fails the newest attempt and starts the next attempt.
  void FailAndRunAgain() {
    cluster_.ExitAll(job_, 1);
    cluster_.ClearAll(job_);
    cluster_.Pass(2000);
    cluster_.RunJob(job_);
  }

  // Fails the running attempt. The verdict has this cause, and rank 1 is the first culprit.
  void FailOverRank1(v1::VerdictCause cause) {
    v1::Event event;
    event.set_time_ms(cluster_.now);
    v1::AttemptFailed& failed = *event.mutable_attempt_failed();
    failed.set_job_id(job_);
    failed.set_attempt(1);
    failed.mutable_verdict()->set_cause(cause);
    failed.mutable_verdict()->add_ranks(1);
    Apply(event, cluster_.state);
  }

  void Kill(int rank) {
    v1::RankExited exited;
    exited.set_rank(rank);
    exited.set_signal(9);
    exited.set_log_tail("output of rank " + std::to_string(rank));
    exited.set_stacks("stacks of rank " + std::to_string(rank));
    cluster_.Exit(job_, exited);
  }

  TestCluster cluster_;
  int64_t job_ = 0;
};

TEST_F(ApplyJobTest, AnAttemptRecordsThePauseBeforeItAndTheJobStartsANewCount) {
  Pause();
  const Timestamp paused_ms = cluster_.now;
  ASSERT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_HELD);
  cluster_.Pass(5000);
  Resume();
  cluster_.Settle();
  EXPECT_EQ(cluster_.Attempt(job_).paused_from_ms(), paused_ms);
  EXPECT_EQ(cluster_.Attempt(job_).paused_before_ms(), 5000);
  EXPECT_EQ(cluster_.Job(job_).paused_from_ms(), 0);
  EXPECT_EQ(cluster_.Job(job_).paused_ms(), 0);
}

TEST_F(ApplyJobTest, AStartWithoutAPauseIsNotCountedAsResumed) {
  cluster_.RunJob(job_);
  EXPECT_EQ(cluster_.Job(job_).resumed_starts(), 0);
  FailAndRunAgain();
  EXPECT_EQ(cluster_.Attempt(job_).number(), 2);
  EXPECT_EQ(cluster_.Job(job_).resumed_starts(), 0);
}

TEST_F(ApplyJobTest, ANewAttemptHasNoReportedStragglers) {
  cluster_.RunJob(job_);
  cluster_.state.jobs.at(job_).slow_ranks = {1};
  FailAndRunAgain();
  EXPECT_THAT(Entry().slow_ranks, IsEmpty());
}

TEST_F(ApplyJobTest, EvidenceAboutAnOlderAttemptReportsNoStraggler) {
  cluster_.RunJob(job_);
  FailAndRunAgain();
  v1::Event event;
  event.mutable_node_blamed()->set_node_id("b");
  v1::NodeEvidence& evidence = *event.mutable_node_blamed()->mutable_evidence();
  evidence.set_fault(v1::NODE_FAULT_SLOW);
  evidence.set_job_id(job_);
  evidence.set_attempt(1);
  evidence.set_rank(1);
  Apply(event, cluster_.state);
  EXPECT_THAT(Entry().slow_ranks, IsEmpty());
  evidence.set_attempt(2);
  Apply(event, cluster_.state);
  EXPECT_THAT(Entry().slow_ranks, ElementsAre(1));
}

TEST_F(ApplyJobTest, OnlyTheFirstHungRankAddsItsOutputToTheVerdict) {
  cluster_.RunJob(job_);
  FailOverRank1(v1::VERDICT_CAUSE_STALLED);
  Kill(0);
  EXPECT_EQ(NewestVerdict().log_tail(), "");
  EXPECT_EQ(NewestVerdict().stacks(), "");
  Kill(1);
  EXPECT_EQ(NewestVerdict().log_tail(), "output of rank 1");
  EXPECT_EQ(NewestVerdict().stacks(), "stacks of rank 1");
}

TEST_F(ApplyJobTest, ARankThatDidNotHangAddsNoOutputToTheVerdict) {
  cluster_.RunJob(job_);
  FailOverRank1(v1::VERDICT_CAUSE_RANK_EXITED);
  Kill(1);
  EXPECT_EQ(NewestVerdict().log_tail(), "");
  EXPECT_EQ(NewestVerdict().stacks(), "");
}

TEST_F(ApplyJobTest, OnlyAFailedRankKeepsItsFinalOutput) {
  cluster_.RunJob(job_);
  v1::RankExited exited;
  exited.set_log_tail("done");
  cluster_.Exit(job_, exited);
  exited.set_rank(1);
  exited.set_exit_code(1);
  exited.set_log_tail("error");
  cluster_.Exit(job_, exited);
  EXPECT_EQ(Entry().exited_ranks.at(0).log_tail(), "");
  EXPECT_EQ(Entry().exited_ranks.at(1).log_tail(), "error");
}

TEST_F(ApplyJobTest, ANodeThatClearedAnOlderAttemptHasNotClearedTheNewest) {
  cluster_.RunJob(job_);
  FailAndRunAgain();
  v1::Event event;
  event.mutable_attempt_cleared()->set_job_id(job_);
  event.mutable_attempt_cleared()->set_attempt(1);
  event.mutable_attempt_cleared()->set_node_id("a");
  Apply(event, cluster_.state);
  EXPECT_THAT(Entry().cleared_nodes, IsEmpty());
  event.mutable_attempt_cleared()->set_attempt(2);
  Apply(event, cluster_.state);
  EXPECT_THAT(Entry().cleared_nodes, ElementsAre("a"));
}

TEST_F(ApplyJobTest, AStopEndsThePause) {
  cluster_.RunJob(job_);
  Pause();
  ASSERT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_PAUSING);
  ASSERT_TRUE(cluster_.Job(job_).has_pause());
  cluster_.Stop(job_);
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_STOPPING);
  EXPECT_FALSE(cluster_.Job(job_).has_pause());
}

TEST_F(ApplyJobTest, AnEndedJobReleasesNoCheckpointDirectoryOfAnotherJob) {
  const std::string directory = CheckpointDirectory(cluster_.Job(job_).spec());
  v1::Event event;
  v1::JobSubmitted& submitted = *event.mutable_job_submitted();
  submitted.set_job_id(job_ + 1);
  *submitted.mutable_spec() = cluster_.Job(job_).spec();
  submitted.mutable_spec()->set_name("second");
  Apply(event, cluster_.state);
  cluster_.Stop(job_);
  ASSERT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_STOPPED);
  EXPECT_THAT(cluster_.state.job_by_checkpoint_dir, Contains(Pair(directory, job_ + 1)));
  cluster_.Stop(job_ + 1);
  EXPECT_THAT(cluster_.state.job_by_checkpoint_dir, IsEmpty());
}

TEST_F(ApplyJobTest, OnlyStallAlertsOfTheWatchdogAreRecorded) {
  cluster_.RunJob(job_);
  v1::Event event;
  v1::AlertRaised& alert = *event.mutable_alert_raised();
  alert.set_job_id(job_);
  alert.set_attempt(1);
  alert.set_step(7);
  alert.set_code(telemetry::kStalled);
  Apply(event, cluster_.state);
  EXPECT_THAT(Entry().watched, Pair(0, 0)) << "raised by the program";
  alert.set_by_watchdog(true);
  alert.set_code(telemetry::kSlowRank);
  Apply(event, cluster_.state);
  EXPECT_THAT(Entry().watched, Pair(0, 0)) << "about something else";
  alert.set_code(telemetry::kStalled);
  Apply(event, cluster_.state);
  EXPECT_THAT(Entry().watched, Pair(1, 7));
  alert.set_step(8);
  alert.set_code("hung");
  Apply(event, cluster_.state);
  EXPECT_THAT(Entry().watched, Pair(1, 8)) << "the former name of the code";
  EXPECT_THAT(Entry().guarded, Pair(0, 0));
}

using ApplyJobDeathTest = ApplyJobTest;

TEST_F(ApplyJobDeathTest, ARollbackOfAnotherAttemptThanTheNewestEndsTheProcess) {
  v1::Event event;
  event.mutable_attempt_rolled_back()->set_job_id(job_);
  event.mutable_attempt_rolled_back()->set_attempt(1);
  EXPECT_DEATH(Apply(event, cluster_.state),
               "attempt 1 of job 1 is not the newest attempt of that job");
  cluster_.RunJob(job_);
  event.mutable_attempt_rolled_back()->set_attempt(2);
  EXPECT_DEATH(Apply(event, cluster_.state),
               "attempt 2 of job 1 is not the newest attempt of that job");
}

}  // namespace
}  // namespace trainyard::controller
