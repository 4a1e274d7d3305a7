#include "controller/core/verdict/dependency_failure.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/dependent_jobs.h"

namespace trainyard::controller {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(DependencyFailureTest, AStoppedPrerequisiteEndsTheJobWithItsName) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  const int64_t data = cluster.Submit("data", 1, 1);
  const int64_t train = cluster.Submit(SpecAfter("train", {"data"}));
  EXPECT_THAT(DependencyFailuresDue(cluster.state, cluster.now), IsEmpty());
  cluster.Stop(data);
  const std::vector<v1::Event> events = DependencyFailuresDue(cluster.state, cluster.now);
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
  EXPECT_THAT(DependencyFailuresDue(cluster.state, cluster.now), IsEmpty());
}

}  // namespace
}  // namespace trainyard::controller
