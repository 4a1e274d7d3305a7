#include "controller/core/decide/extension.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "controller/core/state/attempts/time_limit.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int64_t kExtensionHour = 3600;

class ExtensionTest : public testing::Test {
 protected:
  ExtensionTest() { cluster_.AddNode("a", 1); }

  int64_t Submit(int64_t limit_s) {
    v1::JobSpec spec = TestSpec("job", 1, 1);
    if (limit_s > 0) spec.mutable_time_limit()->set_seconds(limit_s);
    return cluster_.Submit(spec);
  }

  static ExtendJob ExtensionOf(int64_t job, int64_t seconds) {
    ExtendJob extend;
    extend.request.set_job(std::to_string(job));
    extend.request.mutable_by()->set_seconds(seconds);
    extend.principal = {"ada"};
    return extend;
  }

  TestCluster cluster_;
};

TEST_F(ExtensionTest, AddsTimeToWaitingRunningAndPausedJobs) {
  const int64_t job = Submit(12 * kExtensionHour);
  EXPECT_THAT(Kinds(cluster_.Do(ExtensionOf(job, 2 * kExtensionHour))), ElementsAre("JobExtended"));
  EXPECT_EQ(TimeLimitMs(cluster_.Job(job)), 14 * kExtensionHour * 1000);
  cluster_.RunJob(job);
  cluster_.Do(ExtensionOf(job, kExtensionHour));
  EXPECT_EQ(RemainingTime(cluster_.Job(job), cluster_.now), 15 * kExtensionHour * 1000);
  PauseJob pause;
  pause.request.set_job("1");
  pause.principal = {"ada"};
  cluster_.Do(pause);
  cluster_.Do(ExtensionOf(job, kExtensionHour));
  EXPECT_EQ(RemainingTime(cluster_.Job(job), cluster_.now), 16 * kExtensionHour * 1000);
}

TEST_F(ExtensionTest, RefusesJobsWithoutALimitAndEndedJobs) {
  const int64_t unlimited = Submit(0);
  absl::Status status = cluster_.Try(ExtensionOf(unlimited, kExtensionHour));
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(status.message(), HasSubstr("has no time limit"));
  cluster_.Stop(unlimited);
  const int64_t job = Submit(kExtensionHour);
  cluster_.RunJob(job);
  cluster_.Stop(job);
  status = cluster_.Try(ExtensionOf(job, kExtensionHour));
  EXPECT_THAT(status.message(), HasSubstr("were asked to exit"));
  cluster_.ExitAll(job, 143);
  cluster_.ClearAll(job);
  EXPECT_EQ(cluster_.Try(ExtensionOf(job, kExtensionHour)).code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(cluster_.Try(ExtensionOf(77, kExtensionHour)).code(), absl::StatusCode::kNotFound);
}

TEST_F(ExtensionTest, RefusesAJobThatIsBeingQueuedAgain) {
  v1::JobSpec spec = TestSpec("job", 1, 1);
  spec.mutable_time_limit()->set_seconds(60);
  spec.set_at_time_limit(v1::AT_TIME_LIMIT_REQUEUE);
  const int64_t job = cluster_.Submit(spec);
  cluster_.RunJob(job);
  cluster_.ReportRunning("a", job, 1);
  cluster_.Pass(61'000);
  ASSERT_TRUE(cluster_.Attempt(job).has_yield());
  EXPECT_THAT(cluster_.Try(ExtensionOf(job, kExtensionHour)).message(),
              HasSubstr("were asked to exit"));
}

TEST_F(ExtensionTest, RefusesTimesThatAreNotPositiveOrTooLong) {
  const int64_t job = Submit(12 * kExtensionHour);
  for (const int64_t seconds : {int64_t{0}, -kExtensionHour, std::numeric_limits<int64_t>::min()}) {
    const absl::Status status = cluster_.Try(ExtensionOf(job, seconds));
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << seconds;
    EXPECT_THAT(status.message(), HasSubstr("cannot be shortened"));
  }
  for (const int64_t seconds : {365 * 24 * kExtensionHour, std::numeric_limits<int64_t>::max()}) {
    const absl::Status status = cluster_.Try(ExtensionOf(job, seconds));
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << seconds;
    EXPECT_THAT(status.message(), HasSubstr("at most"));
  }
  EXPECT_TRUE(cluster_.Try(ExtensionOf(job, (365 * 24 - 12) * kExtensionHour)).ok());
}

TEST_F(ExtensionTest, ARepeatedRequestExtendsTheLimitOnce) {
  const int64_t job = Submit(12 * kExtensionHour);
  ExtendJob extend = ExtensionOf(job, 2 * kExtensionHour);
  extend.request.set_extended_ms(0);
  cluster_.Do(extend);
  const absl::Status status = cluster_.Try(extend);
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
  EXPECT_THAT(status.message(), HasSubstr("it is now 14 h"));
}

}  // namespace
}  // namespace trainyard::controller
