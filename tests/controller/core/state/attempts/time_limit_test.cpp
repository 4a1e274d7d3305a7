#include "controller/core/state/attempts/time_limit.h"

#include "gtest/gtest.h"

namespace trainyard::controller {
namespace {

constexpr int64_t kHourMs = 3'600'000;

v1::Job JobWithLimit(int64_t hours) {
  v1::Job job;
  job.mutable_spec()->add_command("train");
  job.mutable_spec()->mutable_time_limit()->set_seconds(hours * 3600);
  return job;
}

v1::Attempt& AddAttempt(Timestamp placed_ms, v1::Job& job) {
  v1::Attempt& attempt = *job.add_attempts();
  attempt.set_number(job.attempts_size());
  attempt.set_state(v1::ATTEMPT_STATE_RUNNING);
  attempt.set_placed_time_ms(placed_ms);
  return attempt;
}

TEST(TimeLimitTest, AJobWithoutALimitHasNoRemainingTime) {
  v1::Job job;
  AddAttempt(1000, job);
  EXPECT_EQ(RemainingTime(job, 5000), std::nullopt);
  EXPECT_EQ(TimeLimitMs(job), std::nullopt);
  CountAttempt(5000, job);
  EXPECT_FALSE(job.has_time_limit_use());
}

TEST(TimeLimitTest, OnlyTheTimeWithSlotsCounts) {
  v1::Job job = JobWithLimit(12);
  EXPECT_EQ(RemainingTime(job, 50 * kHourMs), 12 * kHourMs) << "waiting";
  v1::Attempt& first = AddAttempt(50 * kHourMs, job);
  EXPECT_EQ(RemainingTime(job, 53 * kHourMs), 9 * kHourMs);
  CountAttempt(54 * kHourMs, job);
  first.set_state(v1::ATTEMPT_STATE_ENDED);
  first.set_ended_time_ms(54 * kHourMs);
  EXPECT_EQ(RemainingTime(job, 80 * kHourMs), 8 * kHourMs) << "a pause or a backoff";
  AddAttempt(80 * kHourMs, job);
  EXPECT_EQ(RemainingTime(job, 87 * kHourMs), 1 * kHourMs);
  EXPECT_EQ(RemainingTime(job, 89 * kHourMs), 0) << "never negative";
}

TEST(TimeLimitTest, TheTimeToSaveDoesNotCount) {
  v1::Job job = JobWithLimit(12);
  v1::Attempt& attempt = AddAttempt(kHourMs, job);
  attempt.set_state(v1::ATTEMPT_STATE_STOPPING);
  attempt.set_stopping_time_ms(4 * kHourMs);
  EXPECT_EQ(RemainingTime(job, 5 * kHourMs), 9 * kHourMs);
  CountAttempt(6 * kHourMs, job);
  EXPECT_EQ(job.time_limit_use().used_ms(), 3 * kHourMs);
}

TEST(TimeLimitTest, AClockBehindThePlacementCountsNothing) {
  v1::Job job = JobWithLimit(12);
  AddAttempt(10 * kHourMs, job);
  EXPECT_EQ(RemainingTime(job, 9 * kHourMs), 12 * kHourMs);
}

TEST(TimeLimitTest, ARequeueBeginsANewPeriodWithoutExtensions) {
  v1::Job job = JobWithLimit(12);
  AddAttempt(0, job).set_last_step(70);
  ExtendTimeLimit(2 * kHourMs, 0, job);
  EXPECT_EQ(TimeLimitMs(job), 14 * kHourMs);
  CountAttempt(14 * kHourMs, job);
  job.mutable_attempts(0)->set_state(v1::ATTEMPT_STATE_ENDED);
  EXPECT_EQ(RemainingTime(job, 20 * kHourMs), 0);
  BeginPeriod(job);
  EXPECT_EQ(RemainingTime(job, 20 * kHourMs), 12 * kHourMs);
  EXPECT_EQ(job.time_limit_use().requeues(), 1);
  EXPECT_EQ(job.time_limit_use().start_step(), 70) << "the program reports no checkpoints";
}

TEST(TimeLimitTest, TheWarningIsAMinuteBeforeTheLimitByDefault) {
  v1::JobSpec spec = JobWithLimit(1).spec();
  EXPECT_EQ(WarningMs(spec), std::nullopt);
  spec.set_time_limit_signal("USR1");
  EXPECT_EQ(WarningMs(spec), 60'000);
  spec.mutable_time_limit_warning()->set_seconds(600);
  EXPECT_EQ(WarningMs(spec), 600'000);
  spec.clear_time_limit();
  EXPECT_EQ(WarningMs(spec), std::nullopt);
}

TEST(TimeLimitTest, AnExtensionRevokesTheWarningOnlyIfTheLimitIsFarAgain) {
  v1::Job job = JobWithLimit(12);
  job.mutable_spec()->set_time_limit_signal("USR1");
  job.mutable_spec()->mutable_time_limit_warning()->set_seconds(600);
  v1::Attempt& attempt = AddAttempt(0, job);
  attempt.mutable_time_limit_warnings()->set_current(true);
  const Timestamp now = 12 * kHourMs - 300'000;
  ExtendTimeLimit(60'000, now, job);
  EXPECT_TRUE(attempt.time_limit_warnings().current()) << "6 of 10 minutes are left";
  ExtendTimeLimit(kHourMs, now, job);
  EXPECT_FALSE(attempt.time_limit_warnings().current());
}

TEST(TimeLimitTest, ProgressIsTheNewestCheckpointOrElseTheLastStep) {
  v1::Job job = JobWithLimit(12);
  EXPECT_EQ(ProgressStep(job, 0), std::nullopt);
  EXPECT_EQ(ProgressStep(job, 70), 70);
  job.add_checkpoints()->set_step(60);
  EXPECT_EQ(ProgressStep(job, 70), 60);
  job.mutable_checkpoints(0)->set_damaged(true);
  EXPECT_EQ(ProgressStep(job, 70), 0);
  job.clear_checkpoints();
  job.mutable_spec()->clear_command();
  EXPECT_EQ(ProgressStep(job, 70), 0) << "trainyard-trainer reports every checkpoint";
  job.mutable_spec()->set_kind(v1::JOB_KIND_DATA);
  EXPECT_EQ(ProgressStep(job, 70), std::nullopt) << "the steps of a pipeline show no progress";
}

}  // namespace
}  // namespace trainyard::controller
