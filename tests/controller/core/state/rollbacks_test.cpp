#include "controller/core/state/rollbacks.h"

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

}  // namespace
}  // namespace trainyard::controller
