#include "controller/core/apply/job_pause.h"

#include <string>

#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

TEST(JobPauseTest, APauseThatEndsBeforeTheRanksHaveLeftTakesNoTime) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  const int64_t job = cluster.Submit("job", 1, 1);
  cluster.RunJob(job);
  PauseJob pause;
  pause.request.set_job(std::to_string(job));
  pause.principal = {"ada"};
  cluster.Do(pause);
  ASSERT_EQ(cluster.StateOf(job), v1::JOB_STATE_PAUSING);
  cluster.now += 5000;
  ResumeJob resume;
  resume.request.set_job(std::to_string(job));
  resume.principal = {"ada"};
  cluster.Do(resume);
  EXPECT_EQ(cluster.StateOf(job), v1::JOB_STATE_RECOVERING);
  EXPECT_EQ(cluster.Job(job).paused_ms(), 0);
}

TEST(JobPauseTest, AHeldJobIsPausedFromItsSubmission) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  v1::SubmitJobRequest request;
  *request.mutable_spec() = TestSpec("job", 1, 1);
  request.set_hold(true);
  cluster.Do(Checked(request));
  ASSERT_EQ(cluster.StateOf(1), v1::JOB_STATE_HELD);
  EXPECT_EQ(cluster.Job(1).paused_from_ms(), cluster.now);
  EXPECT_TRUE(cluster.state.paused_jobs.contains(1));
  EXPECT_FALSE(cluster.state.pending_jobs.Contains({1}));
}

TEST(JobPauseTest, APausedJobWaitsForNoBackoff) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  const int64_t job = cluster.Submit("job", 1, 1);
  cluster.RunJob(job);
  cluster.ExitAll(job, 1);
  cluster.ClearAll(job);
  ASSERT_GT(cluster.Job(job).not_before_ms(), cluster.now);
  PauseJob pause;
  pause.request.set_job(std::to_string(job));
  pause.principal = {"ada"};
  cluster.Do(pause);
  ASSERT_EQ(cluster.StateOf(job), v1::JOB_STATE_PAUSED);
  EXPECT_EQ(cluster.Job(job).not_before_ms(), 0);
}

}  // namespace
}  // namespace trainyard::controller
