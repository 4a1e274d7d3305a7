#include "controller/core/state/attempts/yield.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

v1::Yield DrainOf(const std::string& node) {
  v1::Yield yield;
  yield.set_cause(v1::YIELD_CAUSE_DRAIN);
  yield.set_reason(node + " is being drained");
  return yield;
}

class YieldTest : public testing::Test {
 protected:
  YieldTest() {
    cluster_.AddNode("a", 2);
    job_ = cluster_.Submit("job", 1, 2);
  }

  bool MayYield() const { return CanYield(cluster_.state.jobs.at(job_)); }

  TestCluster cluster_;
  int64_t job_ = 0;
};

TEST_F(YieldTest, TheEventNamesTheLiveAttemptAndTheCause) {
  cluster_.RunJob(job_);
  const auto event = YieldEvent(cluster_.state.jobs.at(job_), DrainOf("node a"), cluster_.now);
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->actor(), "controller");
  EXPECT_EQ(event->time_ms(), cluster_.now);
  EXPECT_EQ(event->attempt_yielded().job_id(), job_);
  EXPECT_EQ(event->attempt_yielded().attempt(), 1);
  EXPECT_EQ(event->attempt_yielded().yield().cause(), v1::YIELD_CAUSE_DRAIN);
  EXPECT_EQ(event->attempt_yielded().yield().reason(), "node a is being drained");
}

TEST_F(YieldTest, OnlyALiveAttemptYields) {
  EXPECT_FALSE(MayYield()) << "the job waits for slots";
  EXPECT_FALSE(YieldEvent(cluster_.state.jobs.at(job_), DrainOf("node a"), cluster_.now));
  cluster_.Settle();
  EXPECT_TRUE(MayYield()) << "the job starts";
  cluster_.StartAll(job_);
  EXPECT_TRUE(MayYield()) << "the job runs";
  cluster_.Stop(job_);
  EXPECT_FALSE(MayYield()) << "the job is being stopped";
}

TEST_F(YieldTest, AFailedRankIsJudgedFirst) {
  cluster_.RunJob(job_);
  cluster_.ExitRank(job_, 1, 1);
  EXPECT_FALSE(MayYield());
}

TEST_F(YieldTest, AFinishedRunEndsInsteadOfYielding) {
  cluster_.RunJob(job_);
  cluster_.ExitRank(job_, 0, 0);
  EXPECT_TRUE(MayYield()) << "rank 1 still runs";
  cluster_.ExitRank(job_, 1, 0);
  EXPECT_FALSE(MayYield());
}

TEST_F(YieldTest, AHealingGangDoesNotYield) {
  cluster_.RunJob(job_);
  JobEntry entry = cluster_.state.jobs.at(job_);
  v1::Heal& heal = *entry.job.mutable_attempts(0)->add_heals();
  heal.set_began_ms(cluster_.now);
  EXPECT_FALSE(CanYield(entry));
  heal.set_healed_ms(cluster_.now + 1);
  EXPECT_TRUE(CanYield(entry));
}

}  // namespace
}  // namespace trainyard::controller
