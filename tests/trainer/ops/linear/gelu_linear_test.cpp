#include "trainer/ops/linear/gelu_linear.h"

#include <gtest/gtest.h>

#include "tests/trainer/ops/gradient_check.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

TEST(GeluLinearTest, ForwardIsGeluOfTheProduct) {
  torch::manual_seed(1);
  const Tensor x = RandomDouble({4, 3}), weight = RandomDouble({5, 3}), bias = RandomDouble({5});
  Tensor y = torch::empty({4, 5}, torch::kFloat64), gelu = torch::empty_like(y);
  LinearForwardWithGelu(x, weight, bias, y, gelu);
  const Tensor expected = x.matmul(weight.t()) + bias;
  EXPECT_LT(RelativeError(y, expected), 1e-14);
  EXPECT_LT(RelativeError(gelu, at::gelu(expected, "tanh")), 1e-14);
  LinearForwardWithGelu(x, weight, {}, y, gelu);
  EXPECT_LT(RelativeError(gelu, at::gelu(expected - bias, "tanh")), 1e-14);
}

TEST(GeluLinearTest, GradientEqualsAutograds) {
  torch::manual_seed(2);
  const Tensor y = RandomDouble({4, 5}), weight = RandomDouble({3, 5});
  const auto expected = AutogradGradients(
      [&](const auto& in) { return at::gelu(in[0], "tanh").matmul(weight.t()); }, {y});
  const Tensor dy = OutputWeights(torch::empty({4, 3}, torch::kFloat64));
  Tensor d_y = torch::empty_like(y);
  LinearInputGradientWithGelu(dy, weight, y, d_y);
  EXPECT_LT(RelativeError(d_y, expected[0]), 1e-14);
}

}  // namespace
}  // namespace trainyard::trainer
