#include "trainer/ops/linear/linear.h"

#include <gtest/gtest.h>

#include "tests/trainer/ops/gradient_check.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

TEST(LinearTest, ForwardMultipliesAndAddsTheResidual) {
  torch::manual_seed(1);
  const Tensor x = RandomDouble({4, 3}), weight = RandomDouble({5, 3});
  Tensor y = torch::empty({4, 5}, torch::kFloat64), residual = RandomDouble({4, 5});
  LinearForward(x, weight, y);
  EXPECT_LT(RelativeError(y, x.matmul(weight.t())), 1e-14);
  const Tensor expected = y + residual;
  LinearForwardWithResidual(x, weight, residual, y);
  EXPECT_LT(RelativeError(y, expected), 1e-14);
  LinearForwardWithResidual(x, weight, residual, residual);
  EXPECT_LT(RelativeError(residual, expected), 1e-14);
}

TEST(LinearTest, GradientsEqualAutograds) {
  torch::manual_seed(2);
  const Tensor x = RandomDouble({4, 3}), weight = RandomDouble({5, 3});
  const auto expected =
      AutogradGradients([](const auto& in) { return in[0].matmul(in[1].t()); }, {x, weight});
  const Tensor dy = OutputWeights(torch::empty({4, 5}, torch::kFloat64));
  Tensor dx = torch::empty_like(x), sum = torch::full_like(weight, 9);
  LinearInputGradient(dy, weight, dx);
  LinearWeightGradient(dy, x, {sum, false});
  EXPECT_LT(RelativeError(dx, expected[0]), 1e-14);
  EXPECT_LT(RelativeError(sum, expected[1]), 1e-14);
  LinearWeightGradient(dy, x, {sum, true});
  EXPECT_LT(RelativeError(sum, 2 * expected[1]), 1e-14);
}

TEST(LinearTest, SixteenBitWeightGradientsAddUpInSinglePrecision) {
  const Tensor one = torch::ones({1, 1}, torch::kBFloat16);
  Tensor sum = torch::empty({1, 1});
  LinearWeightGradient(one * 256, one, {sum, false});
  LinearWeightGradient(one, one, {sum, true});
  EXPECT_EQ(sum.item<float>(), 257.0f);  // Not a bfloat16.
}

// LibTorch may lack fp16 products on CPUs.
TEST(LinearTest, Fp16ProductsAreComputedInSinglePrecisionAndRoundedOnce) {
  torch::manual_seed(4);
  const Tensor x = torch::randn({3, 40}).to(torch::kHalf);
  const Tensor weight = torch::randn({5, 40}).to(torch::kHalf);
  const Tensor residual = torch::randn({3, 5}).to(torch::kHalf);
  const Tensor wide_x = x.to(torch::kFloat32), wide_weight = weight.to(torch::kFloat32);
  const Tensor product = wide_x.mm(wide_weight.t());
  Tensor y = torch::empty({3, 5}, torch::kHalf);
  LinearForward(x, weight, y);
  EXPECT_TRUE(y.equal(product.to(torch::kHalf)));
  LinearForwardWithResidual(x, weight, residual, y);
  EXPECT_LT(RelativeError(y.to(torch::kFloat32), residual.to(torch::kFloat32) + product), 5e-4);
  Tensor dx = torch::empty_like(x);
  LinearInputGradient(residual, weight, dx);
  EXPECT_TRUE(dx.equal(residual.to(torch::kFloat32).mm(wide_weight).to(torch::kHalf)));
}

TEST(LinearTest, BiasIsAddedToEachRowAndItsGradientIsTheSumOfTheRows) {
  torch::manual_seed(3);
  const Tensor y = RandomDouble({4, 5}), bias = RandomDouble({5});
  Tensor moved = y.clone();
  AddBias(bias, moved);
  EXPECT_LT(RelativeError(moved, y + bias), 1e-14);
  const Tensor dy = OutputWeights(y);
  const auto expected = AutogradGradients([](const auto& in) { return in[0] + in[1]; }, {y, bias});
  Tensor sum = torch::full_like(bias, 9);
  BiasGradient(dy, {sum, false});
  EXPECT_LT(RelativeError(sum, expected[1]), 1e-14);
  BiasGradient(dy, {sum, true});
  EXPECT_LT(RelativeError(sum, 2 * expected[1]), 1e-14);
}

TEST(LinearTest, SixteenBitBiasGradientsAddUpInSinglePrecision) {
  const Tensor dy = torch::tensor({{256.0f}, {1.0f}}).to(torch::kBFloat16);
  Tensor sum = torch::empty({1});
  BiasGradient(dy, {sum, false});
  EXPECT_EQ(sum.item<float>(), 257.0f);  // Not a bfloat16.
  BiasGradient(dy, {sum, true});
  EXPECT_EQ(sum.item<float>(), 514.0f);
}

}  // namespace
}  // namespace trainyard::trainer
