#include "trainer/ops/linear/wide_linear.h"

#include <gtest/gtest.h>

#include "tests/trainer/ops/gradient_check.h"
#include "trainer/ops/linear/linear.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

class WideLinearTest : public ::testing::Test {
 protected:
  WideLinearTest() { torch::manual_seed(1); }

  const Tensor x_ = torch::randn({6, 4}).to(torch::kBFloat16);
  const Tensor weight_ = torch::randn({3, 4}).to(torch::kBFloat16);
  const Tensor dy_ = torch::randn({6, 3});
};

TEST_F(WideLinearTest, ResultsOfSixteenBitRowsAreInSinglePrecision) {
  const Tensor y = WideLinearForward(x_, weight_);
  EXPECT_EQ(y.scalar_type(), torch::kFloat32);
  EXPECT_LT(RelativeError(y, x_.to(torch::kFloat64).mm(weight_.to(torch::kFloat64).t())), 1e-6);
}

TEST_F(WideLinearTest, AddsTheInputGradientAndRoundsOnce) {
  const Tensor before = torch::randn({6, 4}).to(torch::kBFloat16);
  Tensor dx = before.clone();
  AddWideLinearInputGradient(dy_, weight_, dx);
  const Tensor sum = before.to(torch::kFloat32) + dy_.mm(weight_.to(torch::kFloat32));
  EXPECT_TRUE(dx.equal(sum.to(torch::kBFloat16)));
}

TEST_F(WideLinearTest, WeightGradientsTakeGradientsInSinglePrecision) {
  const Tensor gradient = torch::empty({3, 4});
  LinearWeightGradient(dy_, x_, {gradient, false});
  EXPECT_LT(RelativeError(gradient, dy_.t().mm(x_.to(torch::kFloat32))), 1e-6);
}

}  // namespace
}  // namespace trainyard::trainer
