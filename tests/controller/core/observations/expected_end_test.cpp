#include "controller/core/observations/expected_end.h"

#include <cstdint>
#include <limits>
#include <optional>

#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

class ExpectedEndTest : public testing::Test {
 protected:
  ExpectedEndTest() { cluster_.AddNode("a", 1); }

  // Runs a job of 100 steps with a time limit of `limit_s` (0: none).
  int64_t RunJob(int64_t limit_s) {
    v1::JobSpec spec = TestSpec("job", 1, 1);
    spec.mutable_train()->set_steps(100);
    spec.mutable_stop_grace()->set_seconds(60);
    if (limit_s > 0) spec.mutable_time_limit()->set_seconds(limit_s);
    const int64_t job = cluster_.Submit(spec);
    cluster_.RunJob(job);
    cluster_.ReportRunning("a", job, 1);
    cluster_.Pass(1000);
    return job;
  }

  std::optional<Timestamp> End(int64_t job) const {
    return ExpectedEnd(cluster_.state.jobs.at(job), cluster_.observations, cluster_.now);
  }

  // Returns the milliseconds from now to the expected end.
  int64_t Left(int64_t job) const { return End(job).value() - cluster_.now; }

  TestCluster cluster_;
};

TEST_F(ExpectedEndTest, NothingIsKnownWithoutStepsAndLimit) {
  const int64_t job = RunJob(0);
  EXPECT_EQ(End(job), std::nullopt);
  const int64_t waits = cluster_.Submit("waits", 1, 1);
  EXPECT_EQ(End(waits), std::nullopt) << "without a live attempt";
}

TEST_F(ExpectedEndTest, TheStepsThatAreLeftTimesThePace) {
  const int64_t job = RunJob(0);
  cluster_.Step(job, 0, 39, 2.0);
  cluster_.Step(job, 0, 40, 2.0);
  EXPECT_EQ(Left(job), 60 * 2000);
  cluster_.now += 5000;
  EXPECT_EQ(Left(job), 60 * 2000 - 5000) << "counted from the newest metrics";
  cluster_.now += 200'000;
  EXPECT_EQ(Left(job), 0) << "late, but never in the past";
}

TEST_F(ExpectedEndTest, TheEarlierOfLimitAndSteps) {
  const int64_t job = RunJob(600);
  EXPECT_EQ(Left(job), cluster_.Attempt(job).placed_time_ms() + 600'000 - cluster_.now);
  cluster_.Step(job, 0, 40, 2.0);
  EXPECT_EQ(Left(job), 60 * 2000) << "the steps end first";
  cluster_.Step(job, 0, 41, 2000.0);
  EXPECT_EQ(Left(job), cluster_.Attempt(job).placed_time_ms() + 600'000 - cluster_.now);
}

TEST_F(ExpectedEndTest, AStoppingJobEndsWithinItsGrace) {
  const int64_t job = RunJob(600);
  cluster_.Stop(job);
  EXPECT_EQ(Left(job), 60'000);
  cluster_.now += 61'000;
  EXPECT_EQ(Left(job), 0);
}

TEST_F(ExpectedEndTest, StepsOfAnEarlierAttemptPredictNothing) {
  const int64_t job = RunJob(0);
  cluster_.Step(job, 0, 40, 2.0);
  cluster_.ExitAll(job, 1);
  cluster_.ClearAll(job);
  cluster_.ForgetReport("a", job);
  cluster_.Pass(3000);
  cluster_.RunJob(job);
  ASSERT_EQ(cluster_.Attempt(job).number(), 2);
  cluster_.ReportRunning("a", job, 1);
  cluster_.Pass(1000);
  EXPECT_EQ(End(job), std::nullopt);
}

TEST_F(ExpectedEndTest, UntrustedReportsGiveATimeWithinTenYears) {
  const int64_t job = RunJob(0);
  cluster_.Step(job, 0, 1, std::numeric_limits<double>::infinity());
  EXPECT_EQ(Left(job), 10 * 365 * 86'400'000LL);
}

}  // namespace
}  // namespace trainyard::controller
