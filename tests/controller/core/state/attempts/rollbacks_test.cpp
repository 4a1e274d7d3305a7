#include "controller/core/state/attempts/rollbacks.h"

#include "gtest/gtest.h"

namespace trainyard::controller {
namespace {

TEST(RollbacksTest, FactorsOfTheLearningRateMultiplyAndARollbackMayHaveNone) {
  v1::Job job;
  EXPECT_EQ(LearningRateFactor(job), 1);
  job.add_rollbacks()->set_skip_samples("32:64");
  EXPECT_EQ(LearningRateFactor(job), 1);
  for (const double factor : {0.5, 0.25}) job.add_rollbacks()->set_lr_factor(factor);
  EXPECT_EQ(LearningRateFactor(job), 0.125);
}

TEST(RollbacksTest, ACheckpointFromTheFirstBadStepOnIsRolledBack) {
  v1::Job job;
  v1::Rollback& rollback = *job.add_rollbacks();
  rollback.set_attempt(2);
  rollback.set_first_bad_step(15);
  const auto is_rolled_back = [&](int64_t attempt_number, int64_t step) {
    v1::Checkpoint checkpoint;
    checkpoint.set_attempt(attempt_number);
    checkpoint.set_step(step);
    return IsRolledBack(job, checkpoint);
  };
  EXPECT_FALSE(is_rolled_back(2, 14));
  EXPECT_TRUE(is_rolled_back(2, 15));
  EXPECT_TRUE(is_rolled_back(1, 15));
  EXPECT_FALSE(is_rolled_back(3, 15)) << "of a later attempt";
}

TEST(RollbacksTest, SkippedSamplesAreSortedAndJoined) {
  v1::Job job;
  for (const char* samples : {"64:96", "0:32", "", "96:128"}) {
    job.add_rollbacks()->set_skip_samples(samples);
  }
  EXPECT_EQ(SkippedSamples(job), "0:32,64:128");
}

TEST(RollbacksTest, ARangeOfMoreSamplesThanStepsCanHaveIsNotSkipped) {
  constexpr int64_t kMost = int64_t{1} << 33;
  v1::SampleRange samples;
  samples.set_end(kMost);
  EXPECT_EQ(RangeToSkip(samples, 1), "0:8589934592");
  samples.set_end(kMost + 1);
  EXPECT_EQ(RangeToSkip(samples, 1), "");
}

TEST(RollbacksTest, TheTextNamesAttemptAndFirstBadStepOfEachRollback) {
  v1::Job job;
  EXPECT_EQ(RolledBackText(job), "");
  for (const int number : {1, 2}) {
    v1::Rollback& rollback = *job.add_rollbacks();
    rollback.set_attempt(number);
    rollback.set_first_bad_step(15 * number);
  }
  EXPECT_EQ(RolledBackText(job), "1:15,2:30");
}

}  // namespace
}  // namespace trainyard::controller
