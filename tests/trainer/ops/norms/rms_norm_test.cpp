#include "trainer/ops/norms/rms_norm.h"

#include <gtest/gtest.h>

#include "tests/trainer/ops/gradient_check.h"
#include "tests/trainer/ops/references.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

constexpr double kEpsilon = 1e-5;

struct Normal {
  Tensor y;
  Tensor inverse_rms;
};

Normal Forward(const Tensor& x, const Tensor& weight) {
  const bool is_double = x.scalar_type() == torch::kFloat64;
  Normal normal{torch::empty_like(x),
                torch::empty({x.size(0)}, is_double ? torch::kFloat64 : torch::kFloat32)};
  RmsNormForward(x, weight, kEpsilon, normal.y, normal.inverse_rms);
  return normal;
}

TEST(RmsNormTest, EqualsTheFormula) {
  torch::manual_seed(1);
  const Tensor x = RandomDouble({5, 16}), weight = RandomDouble({16});
  EXPECT_LT(RelativeError(Forward(x, weight).y, reference::RmsNorm(x, weight, kEpsilon)), 1e-14);
}

TEST(RmsNormTest, EpsilonKeepsZerosFinite) {
  const Normal normal = Forward(torch::zeros({1, 4}), torch::ones({4}));
  EXPECT_TRUE(normal.y.equal(torch::zeros({1, 4})));
}

TEST(RmsNormTest, GradientsEqualAutogradsAndTakeTheResidualsAlong) {
  torch::manual_seed(2);
  const Tensor x = RandomDouble({3, 6}), weight = RandomDouble({6});
  const auto expected = AutogradGradients(
      [](const auto& in) { return reference::RmsNorm(in[0], in[1], kEpsilon); }, {x, weight});
  const Normal normal = Forward(x, weight);
  const Tensor residual = RandomDouble({3, 6});
  for (const bool has_residual : {false, true}) {
    Tensor dx = torch::empty_like(x), sum = torch::full({6}, 7.0, torch::kFloat64);
    RmsNormBackward(OutputWeights(x), {x, weight, normal.inverse_rms},
                    has_residual ? residual : Tensor(), dx, {sum, false});
    EXPECT_LT(RelativeError(dx, has_residual ? expected[0] + residual : expected[0]), 1e-13);
    EXPECT_LT(RelativeError(sum, expected[1]), 1e-13);
  }
}

TEST(RmsNormTest, GradientMayTakeTheMemoryOfItsInputs) {
  torch::manual_seed(3);
  const Tensor x = RandomDouble({3, 6}), weight = RandomDouble({6}), dy = RandomDouble({3, 6});
  const Tensor residual = RandomDouble({3, 6});
  const Normal normal = Forward(x, weight);
  const RmsNormInput input{x, weight, normal.inverse_rms};
  Tensor expected = torch::empty_like(x), over_dy = dy.clone(), over_residual = residual.clone();
  Tensor sum = torch::zeros({6}, torch::kFloat64);
  RmsNormBackward(dy, input, residual, expected, {sum, false});
  RmsNormBackward(over_dy, input, residual, over_dy, {sum, false});
  RmsNormBackward(dy, input, over_residual, over_residual, {sum, false});
  EXPECT_TRUE(over_dy.equal(expected));
  EXPECT_TRUE(over_residual.equal(expected));
}

TEST(RmsNormTest, WeightGradientsAddUpWhereAskedTo) {
  torch::manual_seed(4);
  const Tensor x = RandomDouble({3, 6}), weight = RandomDouble({6}), dy = RandomDouble({3, 6});
  const Normal normal = Forward(x, weight);
  Tensor dx = torch::empty_like(x), sum = torch::empty({6}, torch::kFloat64);
  RmsNormBackward(dy, {x, weight, normal.inverse_rms}, Tensor(), dx, {sum, false});
  const Tensor once = sum.clone();
  RmsNormBackward(dy, {x, weight, normal.inverse_rms}, Tensor(), dx, {sum, true});
  EXPECT_TRUE(sum.equal(2 * once));
}

TEST(RmsNormTest, SingleAndSixteenBitStayNearDouble) {
  torch::manual_seed(5);
  const Tensor x = RandomDouble({32, 64}), weight = RandomDouble({64});
  const Tensor expected = reference::RmsNorm(x, weight, kEpsilon);
  EXPECT_LT(RelativeError(Forward(x.to(torch::kFloat32), weight.to(torch::kFloat32)).y, expected),
            1e-6);
  const Tensor low = Forward(x.to(torch::kBFloat16), weight.to(torch::kBFloat16)).y;
  EXPECT_LT(RelativeError(low, expected), 1e-2);
}

}  // namespace
}  // namespace trainyard::trainer
