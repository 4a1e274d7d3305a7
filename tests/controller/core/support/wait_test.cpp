// Tests waits during which the wall clock is set back. No wait may exceed its intended duration.
#include "controller/core/support/wait.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/core/explain/pending_reason.h"
#include "controller/core/verdict/first_failure.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

constexpr int64_t kThreeHoursMs = 3 * 3'600'000;

TEST(WaitTest, IsOverAtItsEndAndBeforeItsBegin) {
  EXPECT_FALSE(HasPassed(1000, 4000, 1000));
  EXPECT_FALSE(HasPassed(1000, 4000, 3999));
  EXPECT_TRUE(HasPassed(1000, 4000, 4000));
  EXPECT_TRUE(HasPassed(1000, 4000, 999)) << "the clock was set back";
}

class ClockSetBackTest : public testing::Test {
 protected:
  ClockSetBackTest() { cluster_.now = cluster_.observations.since_ms = 1'000'000'000'000; }

  void SetBack() { cluster_.StepClock(-kThreeHoursMs); }

  TestCluster cluster_;
};

TEST_F(ClockSetBackTest, ABackoffIsNeitherLongerNorShorterThanItWas) {
  cluster_.AddNode("a", 1);
  v1::JobSpec spec = TestSpec("job", 1, 1);
  spec.mutable_restart()->mutable_backoff()->set_seconds(3);
  const int64_t job = cluster_.Submit(spec);
  cluster_.RunJob(job);
  cluster_.ExitAll(job, 1);
  cluster_.ClearAll(job);
  ASSERT_EQ(PendingCodeOf(cluster_.View(), cluster_.state.jobs.at(job)), v1::PENDING_CODE_BACKOFF);
  SetBack();
  cluster_.Pass(2900);
  EXPECT_EQ(cluster_.StateOf(job), v1::JOB_STATE_RECOVERING);
  cluster_.Pass(100);
  EXPECT_EQ(cluster_.StateOf(job), v1::JOB_STATE_STARTING);
  EXPECT_EQ(PendingCodeOf(cluster_.View(), cluster_.state.jobs.at(job)),
            v1::PENDING_CODE_NOT_PENDING);
}

TEST_F(ClockSetBackTest, TheWaitForTheRankThatFailedFirstEnds) {
  cluster_.AddNode("a", 2);
  const int64_t job = cluster_.Submit("job", 1, 2);
  cluster_.RunJob(job);
  constexpr int kLostPeer = 69;
  cluster_.ExitRank(job, 0, kLostPeer);
  cluster_.Settle();
  ASSERT_EQ(cluster_.StateOf(job), v1::JOB_STATE_RUNNING);
  SetBack();
  cluster_.Pass(kLostPeerWaitMs);
  EXPECT_EQ(cluster_.StateOf(job), v1::JOB_STATE_RECOVERING);
}

TEST_F(ClockSetBackTest, ANodeThatNeverReportedItsStartIsNotWaitedForLonger) {
  cluster_.AddNode("a", 1);
  const int64_t job = cluster_.Submit("job", 1, 1);
  cluster_.Settle();
  cluster_.StopHeartbeats("a");
  SetBack();
  cluster_.Pass(cluster_.options.start_lease_ms + 1000);
  EXPECT_EQ(cluster_.Attempt(job).verdict().cause(), v1::VERDICT_CAUSE_NODE_LOST);
}

}  // namespace
}  // namespace trainyard::controller
