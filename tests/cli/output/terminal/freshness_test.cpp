#include "cli/output/terminal/freshness.h"

#include "gtest/gtest.h"

namespace trainyard::cli {
namespace {

constexpr Timestamp kReported = 1000000;

v1::Job JobThatReported() {
  v1::Job job;
  job.set_state(v1::JOB_STATE_RUNNING);
  job.mutable_progress()->set_step(7);
  job.mutable_progress()->set_tokens_per_second(5000);
  job.mutable_progress()->set_eta_seconds(60);
  job.mutable_progress()->set_step_seconds(0.5);
  job.mutable_progress()->set_time_ms(kReported);
  return job;
}

TEST(FreshnessTest, ARateIsOldAfterHalfAMinute) {
  const v1::Job job = JobThatReported();
  EXPECT_TRUE(HasFreshRate(job, kReported + 30000));
  EXPECT_FALSE(HasFreshRate(job, kReported + 30001));
}

TEST(FreshnessTest, LongStepsMayTakeThreeTimesTheirTime) {
  v1::Job job = JobThatReported();
  job.mutable_progress()->set_step_seconds(60);
  EXPECT_TRUE(HasFreshRate(job, kReported + 180000));
  EXPECT_FALSE(HasFreshRate(job, kReported + 180001));
}

TEST(FreshnessTest, OnlyARunningJobHasARate) {
  for (const v1::JobState state : {v1::JOB_STATE_RECOVERING, v1::JOB_STATE_SUCCEEDED}) {
    v1::Job job = JobThatReported();
    job.set_state(state);
    EXPECT_FALSE(HasFreshRate(job, kReported)) << state;
  }
}

TEST(FreshnessTest, AnOldRateIsTakenAwayAndTheRestStays) {
  const v1::Job job = JobThatReported();
  EXPECT_EQ(WithoutOldRate(job, kReported + 1).DebugString(), job.DebugString());
  const v1::Progress old = WithoutOldRate(job, kReported + 60000).progress();
  EXPECT_EQ(old.tokens_per_second(), 0);
  EXPECT_EQ(old.eta_seconds(), 0);
  EXPECT_EQ(old.step(), 7);
  EXPECT_EQ(old.step_seconds(), 0.5);
  EXPECT_FALSE(WithoutOldRate(v1::Job(), kReported).has_progress());
}

}  // namespace
}  // namespace trainyard::cli
