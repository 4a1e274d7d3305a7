#include "controller/core/ledger/token_progress.h"

#include <cstdint>
#include <limits>

#include "gtest/gtest.h"

namespace trainyard::controller {
namespace {

v1::JobSpec Constant() {
  v1::JobSpec spec;
  spec.mutable_train()->set_seq_length(100);
  spec.mutable_train()->set_global_batch(16);
  spec.mutable_train()->set_steps(10);
  return spec;
}

// Returns a job whose batch grows: ten steps of 4, 4, 4, 8, 8, 12, 16, 16, 16 and 16 samples, 104
// in total.
v1::JobSpec Growing() {
  v1::JobSpec spec = Constant();
  spec.mutable_train()->set_rampup_batch_start(4);
  spec.mutable_train()->set_rampup_batch_increment(4);
  spec.mutable_train()->set_rampup_batch_samples(36);
  return spec;
}

v1::Progress At(int64_t step) {
  v1::Progress progress;
  progress.set_step(step);
  progress.set_total_steps(10);
  progress.set_eta_seconds(2.0 * static_cast<double>(10 - step));
  return progress;
}

TEST(TokenProgressTest, CountsTheTokensOfEqualSteps) {
  v1::Progress progress = At(3);
  AddTokens(Constant(), progress);
  EXPECT_EQ(progress.tokens(), 3 * 16 * 100);
  EXPECT_EQ(progress.total_tokens(), 10 * 16 * 100);
  EXPECT_DOUBLE_EQ(progress.eta_seconds(), 14);
}

TEST(TokenProgressTest, FollowsABatchThatGrows) {
  v1::Progress progress = At(4);
  AddTokens(Growing(), progress);
  EXPECT_EQ(progress.tokens(), 20 * 100);
  EXPECT_EQ(progress.total_tokens(), 104 * 100);
  // The gang needs 2 s for 8 samples, and 84 samples remain.
  EXPECT_DOUBLE_EQ(progress.eta_seconds(), 84 * 2 / 8.0);
}

TEST(TokenProgressTest, IsExactAtBothEnds) {
  v1::Progress progress = At(0);
  AddTokens(Growing(), progress);
  EXPECT_EQ(progress.tokens(), 0);
  EXPECT_DOUBLE_EQ(progress.eta_seconds(), 20);
  progress = At(10);
  AddTokens(Growing(), progress);
  EXPECT_EQ(progress.tokens(), progress.total_tokens());
  EXPECT_EQ(progress.eta_seconds(), 0);
}

TEST(TokenProgressTest, TheTrainersNumberOfStepsCounts) {
  v1::Progress progress = At(3);
  progress.set_total_steps(0);
  AddTokens(Constant(), progress);
  EXPECT_EQ(progress.total_tokens(), 10 * 16 * 100);
  progress.set_total_steps(20);
  AddTokens(Constant(), progress);
  EXPECT_EQ(progress.total_tokens(), 20 * 16 * 100);
}

TEST(TokenProgressTest, ProgramsWithoutTheseSettingsHaveNone) {
  v1::Progress progress = At(3);
  AddTokens(v1::JobSpec(), progress);
  EXPECT_EQ(progress.tokens(), 0);
  EXPECT_EQ(progress.total_tokens(), 0);
  EXPECT_DOUBLE_EQ(progress.eta_seconds(), 14);
}

TEST(TokenProgressTest, ASpecWithoutABatchHasNone) {
  v1::JobSpec spec = Constant();
  spec.mutable_train()->set_global_batch(0);
  v1::Progress progress = At(3);
  AddTokens(spec, progress);
  EXPECT_EQ(progress.tokens(), 0);
  EXPECT_EQ(progress.total_tokens(), 0);
  EXPECT_DOUBLE_EQ(progress.eta_seconds(), 14);
}

TEST(TokenProgressTest, ASampleMayBeOneToken) {
  v1::JobSpec spec = Constant();
  spec.mutable_train()->set_seq_length(1);
  v1::Progress progress = At(3);
  AddTokens(spec, progress);
  EXPECT_EQ(progress.tokens(), 3 * 16);
  EXPECT_EQ(progress.total_tokens(), 10 * 16);
}

TEST(TokenProgressTest, TheFirstStepAlreadyCorrectsTheRemainingTime) {
  v1::Progress progress = At(1);
  AddTokens(Growing(), progress);
  EXPECT_EQ(progress.tokens(), 4 * 100);
  // The gang needs 2 s for 4 samples, and 100 samples remain.
  EXPECT_DOUBLE_EQ(progress.eta_seconds(), 100 * 2 / 4.0);
}

TEST(TokenProgressTest, ARunMayHaveOneStep) {
  v1::Progress progress;
  progress.set_total_steps(1);
  AddTokens(Constant(), progress);
  EXPECT_EQ(progress.total_tokens(), 16 * 100);
}

TEST(TokenProgressTest, ABatchMayBeOneSample) {
  v1::JobSpec spec = Constant();
  spec.mutable_train()->set_global_batch(1);
  v1::Progress progress = At(3);
  AddTokens(spec, progress);
  EXPECT_EQ(progress.tokens(), 3 * 100);
  EXPECT_EQ(progress.total_tokens(), 10 * 100);
}

TEST(TokenProgressTest, ASpecWithoutASequenceLengthHasNone) {
  v1::JobSpec spec = Constant();
  spec.mutable_train()->set_seq_length(0);
  v1::Progress progress = At(3);
  AddTokens(spec, progress);
  EXPECT_EQ(progress.tokens(), 0);
  EXPECT_EQ(progress.total_tokens(), 0);
  EXPECT_DOUBLE_EQ(progress.eta_seconds(), 14);
}

TEST(TokenProgressTest, NumbersThatDoNotFitEndAtTheLargest) {
  v1::JobSpec spec = Constant();
  spec.mutable_train()->set_steps(std::numeric_limits<int64_t>::max());
  v1::Progress progress;
  AddTokens(spec, progress);
  EXPECT_EQ(progress.total_tokens(), std::numeric_limits<int64_t>::max());
}

TEST(TokenProgressTest, TheLargestProductThatFitsIsExact) {
  v1::JobSpec spec = Constant();
  spec.mutable_train()->set_seq_length(2);
  spec.mutable_train()->set_global_batch(1);
  spec.mutable_train()->set_steps(std::numeric_limits<int64_t>::max() / 2);
  v1::Progress progress;
  AddTokens(spec, progress);
  EXPECT_EQ(progress.total_tokens(), std::numeric_limits<int64_t>::max() - 1);
}

}  // namespace
}  // namespace trainyard::controller
