#include "trainer/ops/norms/layer_norm.h"

#include <gtest/gtest.h>

#include "tests/trainer/ops/gradient_check.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

constexpr double kLayerNormEpsilon = 1e-5;

// Computes layer norm with LibTorch, with gradients by autograd.
Tensor LibTorchs(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  return at::layer_norm(x, {x.size(-1)}, weight, bias, kLayerNormEpsilon);
}

struct LayerNormal {
  Tensor y;
  Tensor statistics;
};

LayerNormal ForwardOf(const Tensor& x, const LayerNormWeights& weights) {
  LayerNormal normal{torch::empty_like(x), torch::empty({2, x.size(0)}, torch::kFloat64)};
  LayerNormForward(x, weights, kLayerNormEpsilon, normal.y, normal.statistics);
  return normal;
}

TEST(LayerNormTest, EqualsLibTorchs) {
  torch::manual_seed(1);
  const Tensor x = RandomDouble({5, 16}) + 3, weight = RandomDouble({16}),
               bias = RandomDouble({16});
  EXPECT_LT(RelativeError(ForwardOf(x, {weight, bias}).y, LibTorchs(x, weight, bias)), 1e-13);
  EXPECT_LT(RelativeError(ForwardOf(x, {}).y, LibTorchs(x, Tensor(), Tensor())), 1e-13);
}

TEST(LayerNormTest, GradientsEqualAutogradsAndTakeTheResidualsAlong) {
  torch::manual_seed(2);
  const Tensor x = RandomDouble({3, 6}), weight = RandomDouble({6}), bias = RandomDouble({6});
  const auto expected = AutogradGradients(
      [](const auto& in) { return LibTorchs(in[0], in[1], in[2]); }, {x, weight, bias});
  const LayerNormal normal = ForwardOf(x, {weight, bias});
  const Tensor residual = RandomDouble({3, 6});
  for (const bool adds : {false, true}) {
    Tensor dx = residual.clone();
    const Tensor d_weight = torch::full({6}, 7.0, torch::kFloat64), d_bias = d_weight.clone();
    LayerNormBackward(OutputWeights(x), {x, weight, normal.statistics}, residual, dx,
                      {{{d_weight, adds}}, {{d_bias, adds}}});
    EXPECT_LT(RelativeError(dx, expected[0] + residual), 1e-13);
    EXPECT_LT(RelativeError(d_weight, expected[1] + (adds ? 7 : 0)), 1e-13);
    EXPECT_LT(RelativeError(d_bias, expected[2] + (adds ? 7 : 0)), 1e-13);
  }
}

TEST(LayerNormTest, WithoutWeightsTheInputHasAGradientToo) {
  torch::manual_seed(3);
  const Tensor x = RandomDouble({4, 8});
  const auto expected =
      AutogradGradients([](const auto& in) { return LibTorchs(in[0], Tensor(), Tensor()); }, {x});
  const LayerNormal normal = ForwardOf(x, {});
  Tensor dx = OutputWeights(x).clone();
  LayerNormBackward(dx, {x, Tensor(), normal.statistics}, Tensor(), dx, {});
  EXPECT_LT(RelativeError(dx, expected[0]), 1e-13);
}

}  // namespace
}  // namespace trainyard::trainer
