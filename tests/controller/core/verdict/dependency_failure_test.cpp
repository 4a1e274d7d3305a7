#include "controller/core/verdict/dependency_failure.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/dependent_jobs.h"

namespace trainyard::controller {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<v1::Event> FailuresDue(const TestCluster& cluster) {
  return DependencyFailuresDue(cluster.state, cluster.observations, cluster.options, cluster.now);
}

TEST(DependencyFailureTest, AStoppedPrerequisiteEndsTheJobWithItsName) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  const int64_t data = cluster.Submit("data", 1, 1);
  const int64_t train = cluster.Submit(SpecAfter("train", {"data"}));
  EXPECT_THAT(FailuresDue(cluster), IsEmpty());
  cluster.Stop(data);
  const std::vector<v1::Event> events = FailuresDue(cluster);
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0].actor(), "controller");
  const v1::JobEnded& ended = events[0].job_ended();
  EXPECT_EQ(ended.job_id(), train);
  EXPECT_EQ(ended.state(), v1::JOB_STATE_FAILED);
  EXPECT_EQ(ended.verdict().cause(), v1::VERDICT_CAUSE_DEPENDENCY_FAILED);
  EXPECT_EQ(ended.verdict().rank(), -1);
  EXPECT_FALSE(ended.verdict().restartable());
  EXPECT_EQ(ended.verdict().summary(),
            "never started: job 1 (data) was stopped, and `after` requires its success; "
            "`trainyard why 1` explains that job");
  cluster.Settle();
  EXPECT_EQ(cluster.StateOf(train), v1::JOB_STATE_FAILED);
  EXPECT_THAT(FailuresDue(cluster), IsEmpty());
}

TEST(DependencyFailureTest, TheVerdictNamesTheConditionAndTheOutcome) {
  struct Case {
    const char* entry;
    int exit_code;
    const char* text;
  };
  for (const Case& one :
       {Case{"data:failure", 0, "job 1 (data) succeeded, and `after` requires its failure;"},
        Case{"data:checkpoint", 0, "job 1 (data) succeeded, and `after` requires its checkpoint;"},
        Case{"data:checkpoint:40", kRefusedSettings,
             "job 1 (data) failed, and `after` requires its checkpoint at step 40 or later;"}}) {
    TestCluster cluster;
    cluster.AddNode("a", 2);
    const int64_t data = cluster.Submit("data", 1, 1);
    const int64_t next = cluster.Submit(SpecAfter("next", {one.entry}));
    FinishJob(cluster, data, one.exit_code);
    EXPECT_EQ(cluster.StateOf(next), v1::JOB_STATE_FAILED) << one.entry;
    EXPECT_THAT(cluster.Job(next).verdict().summary(), HasSubstr(one.text));
  }
}

// The report of the last checkpoint may arrive after the end of the job.
TEST(DependencyFailureTest, AMissingCheckpointFailsTheJobOnceNoReportCanArrive) {
  TestCluster cluster;
  cluster.AddNode("a", 2);
  const int64_t data = cluster.Submit("data", 1, 1);
  const int64_t next = cluster.Submit(SpecAfter("next", {"data:checkpoint"}));
  cluster.RunJob(data);
  cluster.Report("a", data);
  cluster.Pass(1000);
  FinishJob(cluster, data, 0);
  cluster.Pass(20000);
  EXPECT_EQ(cluster.StateOf(next), v1::JOB_STATE_QUEUED) << "the worker still has the attempt";
  cluster.ForgetReport("a", data);
  cluster.Pass(1000);
  EXPECT_EQ(cluster.StateOf(next), v1::JOB_STATE_FAILED);
}

// Another condition of the same job may fail at once.
TEST(DependencyFailureTest, AMissingCheckpointDelaysNoOtherFailure) {
  TestCluster cluster;
  cluster.AddNode("a", 2);
  const int64_t data = cluster.Submit("data", 1, 1);
  const int64_t next = cluster.Submit(SpecAfter("next", {"data:checkpoint", "data:failure"}));
  cluster.RunJob(data);
  cluster.Report("a", data);
  cluster.Pass(1000);
  FinishJob(cluster, data, 0);
  EXPECT_EQ(cluster.StateOf(next), v1::JOB_STATE_FAILED);
  EXPECT_THAT(cluster.Job(next).verdict().summary(), HasSubstr("requires its failure"));
}

}  // namespace
}  // namespace trainyard::controller
