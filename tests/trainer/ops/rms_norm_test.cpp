#include "trainer/ops/rms_norm.h"

#include <gtest/gtest.h>

#include "tests/trainer/ops/gradient_check.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

Tensor Reference(const Tensor& x, const Tensor& weight, double epsilon) {
  return x / (x * x).mean(-1, true).add(epsilon).sqrt() * weight;
}

TEST(RmsNormTest, EqualsTheFormula) {
  torch::manual_seed(1);
  const Tensor x = RandomDouble({5, 16}), weight = RandomDouble({16});
  EXPECT_LT(RelativeError(RmsNorm(x, weight, 1e-5), Reference(x, weight, 1e-5)), 1e-14);
}

TEST(RmsNormTest, EpsilonKeepsZerosFinite) {
  const Tensor y = RmsNorm(torch::zeros({1, 4}), torch::ones({4}), 1e-5);
  EXPECT_TRUE(y.equal(torch::zeros({1, 4})));
}

TEST(RmsNormTest, GradientsEqualFiniteDifferences) {
  torch::manual_seed(2);
  const auto function = [](const std::vector<Tensor>& in) {
    return Project(RmsNorm(in[0], in[1], 1e-5));
  };
  EXPECT_LT(GradientError(function, {RandomDouble({3, 6}), RandomDouble({6})}), 1e-7);
}

TEST(RmsNormTest, SingleAndSixteenBitStayNearDouble) {
  torch::manual_seed(3);
  const Tensor x = RandomDouble({32, 64}), weight = RandomDouble({64});
  const Tensor expected = Reference(x, weight, 1e-5);
  EXPECT_LT(
      RelativeError(RmsNorm(x.to(torch::kFloat32), weight.to(torch::kFloat32), 1e-5), expected),
      1e-6);
  const Tensor low = RmsNorm(x.to(torch::kBFloat16), weight.to(torch::kBFloat16), 1e-5);
  EXPECT_EQ(low.scalar_type(), torch::kBFloat16);
  EXPECT_LT(RelativeError(low, expected), 1e-2);
}

}  // namespace
}  // namespace trainyard::trainer
