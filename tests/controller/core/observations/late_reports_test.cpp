#include "controller/core/observations/late_reports.h"

#include <string>

#include "controller/core/observations/observe.h"
#include "gtest/gtest.h"
#include "tests/controller/core/dependent_jobs.h"

namespace trainyard::controller {
namespace {

constexpr int kSavedBeforePause = 143;

class LateReportsTest : public ::testing::Test {
 protected:
  LateReportsTest() {
    cluster_.AddNode("a", 2);
    job_ = cluster_.Submit("job", 1, 1);
    cluster_.RunJob(job_);
  }

  bool MayReport() const {
    return MayReportCheckpoints(cluster_.state.jobs.at(job_), cluster_.observations,
                                cluster_.options, cluster_.now);
  }

  bool Awaits() const {
    return AwaitsCheckpoints(cluster_.state.jobs.at(job_), cluster_.observations, cluster_.options,
                             cluster_.now);
  }

  // Pauses the job, ends its attempt, and resumes the job.
  void PauseAndResume() {
    PauseJob pause;
    pause.request.set_job(std::to_string(job_));
    cluster_.Do(pause);
    cluster_.ExitAll(job_, kSavedBeforePause);
    cluster_.ClearAll(job_);
    ResumeJob resume;
    resume.request.set_job(std::to_string(job_));
    cluster_.Do(resume);
  }

  TestCluster cluster_;
  int64_t job_ = 0;
};

TEST_F(LateReportsTest, AWorkerMayReportUntilItHasForgottenTheAttempt) {
  cluster_.Report("a", job_);
  cluster_.Pass(1000);
  FinishJob(cluster_, job_, 0);
  EXPECT_TRUE(MayReport());
  cluster_.ForgetReport("a", job_);
  cluster_.Pass(1000);
  EXPECT_FALSE(MayReport());
}

// The job may end before the worker's first heartbeat with the attempt.
TEST_F(LateReportsTest, AWorkerMayReportAnAttemptThatWasJustStarted) {
  FinishJob(cluster_, job_, 0);
  EXPECT_FALSE(MayReport());
  ObserveStartSent("a", {job_, 1}, cluster_.observations);
  EXPECT_TRUE(MayReport());
}

// A process that survives SIGKILL keeps its files open.
TEST_F(LateReportsTest, TheWaitForAnAttachedWorkerIsLimited) {
  cluster_.Report("a", job_);
  cluster_.Pass(1000);
  FinishJob(cluster_, job_, 0);
  cluster_.now += cluster_.options.lease_ms - 1;
  EXPECT_TRUE(MayReport());
  cluster_.now += 1;
  EXPECT_FALSE(MayReport());
}

TEST_F(LateReportsTest, TheWaitForADisconnectedWorkerIsShort) {
  FinishJob(cluster_, job_, 0);
  ObserveDetached("a", cluster_.observations);
  cluster_.now += cluster_.options.return_within_ms - 1;
  EXPECT_TRUE(MayReport());
  cluster_.now += 1;
  EXPECT_FALSE(MayReport());
  // A restarted controller waits for the workers again.
  Observations restarted;
  restarted.since_ms = cluster_.now;
  const JobEntry& entry = cluster_.state.jobs.at(job_);
  EXPECT_TRUE(MayReportCheckpoints(entry, restarted, cluster_.options, cluster_.now));
}

// Without this wait, the job would continue from the checkpoint before the one that it has saved.
TEST_F(LateReportsTest, AJobThatHasSavedIsPlacedOnceItsWorkerHasReportedEverything) {
  cluster_.Report("a", job_);
  cluster_.Pass(1000);
  PauseAndResume();
  EXPECT_TRUE(Awaits());
  cluster_.Settle();
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_QUEUED);
  cluster_.Publish(job_, 7);
  cluster_.ForgetReport("a", job_);
  cluster_.Pass(500);
  EXPECT_EQ(cluster_.Attempt(job_).number(), 2);
  EXPECT_EQ(cluster_.Attempt(job_).resume_step(), 7);
}

TEST_F(LateReportsTest, TheWaitForTheCheckpointOfAJobThatHasSavedIsLimited) {
  cluster_.Report("a", job_);
  cluster_.Pass(1000);
  PauseAndResume();
  cluster_.now += cluster_.options.return_within_ms - 1;
  EXPECT_TRUE(Awaits());
  ObserveDetached("a", cluster_.observations);
  EXPECT_TRUE(Awaits());
  cluster_.now += 1;
  EXPECT_FALSE(Awaits());
  // A restarted controller waits for the workers again.
  cluster_.observations.since_ms = cluster_.now;
  EXPECT_TRUE(Awaits());
}

TEST_F(LateReportsTest, AFailedAttemptIsAwaitedOnlyAfterAPauseOfItsNode) {
  cluster_.Report("a", job_);
  cluster_.Pass(2 * cluster_.options.suspect_after_ms);
  FinishJob(cluster_, job_, 1);
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_RECOVERING);
  EXPECT_FALSE(Awaits());
  // The reports of the node began again shortly before the end of the attempt.
  NodeObservation& node = cluster_.observations.nodes.at("a");
  node.reports_since_ms = cluster_.now - cluster_.options.suspect_after_ms + 1;
  EXPECT_GT(node.reports_since_ms, cluster_.Attempt(job_).placed_time_ms());
  EXPECT_TRUE(Awaits());
  node.reports_since_ms -= 1;
  EXPECT_FALSE(Awaits());
  // The node may be lost, and the job has not been asked to save.
  node.reports_since_ms += 1;
  ObserveDetached("a", cluster_.observations);
  EXPECT_FALSE(Awaits());
}

// The rank fails while the controller is stopped for some seconds. The controller then counts the
// node's reports as if they had begun later.
TEST_F(LateReportsTest, AnAttemptThatItsWorkerForgotWithoutAReportIsNotAwaited) {
  const std::string key = "a";
  ObserveStartSent(key, {job_, 1}, cluster_.observations);
  cluster_.now += 5000;
  ShiftHeartbeats(5000, cluster_.now, cluster_.observations);
  FinishJob(cluster_, job_, 1);
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_RECOVERING);
  ASSERT_TRUE(Awaits());
  ObserveHeartbeat(key, {}, cluster_.now, cluster_.state, cluster_.observations);
  EXPECT_FALSE(Awaits());
}

// The worker sent the heartbeat before it received the start command.
TEST_F(LateReportsTest, AHeartbeatBeforeTheEndDoesNotShowThatTheWorkerForgotTheAttempt) {
  ObserveStartSent("a", {job_, 1}, cluster_.observations);
  ObserveHeartbeat("a", {}, cluster_.now, cluster_.state, cluster_.observations);
  FinishJob(cluster_, job_, 0);
  EXPECT_TRUE(MayReport());
}

}  // namespace
}  // namespace trainyard::controller
