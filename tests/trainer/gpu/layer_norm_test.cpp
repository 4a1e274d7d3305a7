#include "trainer/ops/norms/layer_norm.h"

#include <gtest/gtest.h>

#include "tests/trainer/gpu/accuracy.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

constexpr double kLayerNormEpsilon = 1e-5;

// A layer norm to test. If the norm has no weight or no bias, these tensors are undefined.
struct LayerNormCase {
  Tensor x, weight, bias, dy, residual;
  Tensor gradient;  // Existing gradient, to which a pass may add.
};

LayerNormCase RandomLayerNorm(int64_t rows, int64_t width, torch::ScalarType type, bool plain) {
  LayerNormCase c{.x = RandomOnGpu({rows, width}, type) + 0.5,
                  .weight = RandomOnGpu({width}, type) + 1,
                  .bias = RandomOnGpu({width}, type),
                  .dy = RandomOnGpu({rows, width}, type),
                  .residual = RandomOnGpu({rows, width}, type),
                  .gradient = RandomOnGpu({width}, torch::kFloat32)};
  if (plain) c.weight = c.bias = Tensor();
  return c;
}

struct ExactLayerNorm {
  Tensor y, mean, inverse_std, dx, weight_gradient, bias_gradient;
  double dx_scale = 0;  // Norm of dx's largest term. The terms may mostly cancel.
};

// Computes the results in fp64 with the formulas of kernels/layer_norm.h.
ExactLayerNorm Exact(const LayerNormCase& c) {
  const Tensor x = Wide(c.x), dy = Wide(c.dy);
  ExactLayerNorm exact;
  exact.mean = x.mean(-1);
  const Tensor centred = x - exact.mean.unsqueeze(1);
  exact.inverse_std = (centred.square().mean(-1) + kLayerNormEpsilon).rsqrt();
  const Tensor scale = exact.inverse_std.unsqueeze(1), normal = centred * scale;
  exact.y = normal;
  Tensor inner = dy;
  if (c.weight.defined()) {
    exact.y = normal * Wide(c.weight) + Wide(c.bias);
    inner = dy * Wide(c.weight);
  }
  exact.dx = (inner - inner.mean(-1, true) - normal * (inner * normal).mean(-1, true)) * scale;
  exact.dx_scale = NormOf(inner * scale);
  exact.weight_gradient = (dy * normal).sum(0);
  exact.bias_gradient = dy.sum(0);
  return exact;
}

struct LayerNormForwardResult {
  Tensor y, statistics;
};

LayerNormForwardResult LayerNormOf(const LayerNormCase& c) {
  LayerNormForwardResult result{Poisoned(c.x.sizes(), c.x.scalar_type()),
                                Poisoned({2, c.x.size(0)}, torch::kFloat32)};
  LayerNormForward(c.x, {c.weight, c.bias}, kLayerNormEpsilon, result.y, result.statistics);
  return result;
}

struct LayerNormGradients {
  Tensor dx, weight, bias;
};

// Runs the backward pass. If `accumulate` is true, adds to the gradient in the case. `residual` may
// be undefined.
LayerNormGradients GradientsOf(const LayerNormCase& c, const Tensor& statistics,
                               const Tensor& residual, bool accumulate) {
  LayerNormGradients result{Poisoned(c.x.sizes(), c.x.scalar_type()), c.gradient.clone(),
                            c.gradient.clone()};
  if (!accumulate) {
    result.weight.fill_(std::nan(""));
    result.bias.fill_(std::nan(""));
  }
  LayerNormTargets targets;
  if (c.weight.defined()) targets.weight = {result.weight, accumulate};
  if (c.bias.defined()) targets.bias = {result.bias, accumulate};
  LayerNormBackward(c.dy, {c.x, c.weight, statistics}, residual, result.dx, targets);
  return result;
}

// In a row of one element, the variance is 0 and inverse_std is 1 / sqrt(epsilon) = 316, which
// multiplies rounding errors.
double StatisticsTolerance(int64_t width) { return width < 8 ? 1e-5 : kShortSumTolerance; }

void ExpectLayerNormForward(const LayerNormCase& c, const ExactLayerNorm& exact,
                            const LayerNormForwardResult& actual) {
  const double tolerance = StatisticsTolerance(c.x.size(1));
  ExpectAccurate(actual.y, exact.y, tolerance);
  ExpectAccurate(actual.statistics[0], exact.mean, kShortSumTolerance,
                 NormOf(Wide(c.x).square().mean(-1).sqrt()));
  ExpectAccurate(actual.statistics[1], exact.inverse_std, tolerance);
}

void ExpectLayerNormEqualsFormulas(const LayerNormCase& c) {
  const ExactLayerNorm exact = Exact(c);
  const LayerNormForwardResult kept = LayerNormOf(c);
  ExpectLayerNormForward(c, exact, kept);
  const double tolerance = StatisticsTolerance(c.x.size(1));
  for (const bool with_more : {false, true}) {  // True: with a residual and an existing gradient.
    const LayerNormGradients actual =
        GradientsOf(c, kept.statistics, with_more ? c.residual : Tensor(), with_more);
    const Tensor more = with_more ? Wide(c.gradient) : torch::zeros_like(exact.bias_gradient);
    const Tensor dx = with_more ? exact.dx + Wide(c.residual) : exact.dx;
    ExpectAccurate(actual.dx, dx, tolerance, exact.dx_scale + (with_more ? NormOf(c.residual) : 0));
    if (!c.weight.defined()) continue;
    const double sum_scale = NormOf(c.dy) + NormOf(more);
    ExpectAccurate(actual.weight, exact.weight_gradient + more, kLongSumTolerance, sum_scale);
    ExpectAccurate(actual.bias, exact.bias_gradient + more, kLongSumTolerance, sum_scale);
  }
}

// The widths include odd numbers, widths for every plan that keeps rows in registers, and widths
// too long for registers in the forward pass, the backward pass or both.
TEST(LayerNormGpuTest, EqualsFormulasForEveryShape) {
  torch::manual_seed(1);
  for (const torch::ScalarType type : kGpuTypes) {
    for (const int64_t width : {1, 7, 64, 96, 768, 776, 1024, 2048, 3072, 4096, 8192, 16384 + 8}) {
      for (const int64_t rows : {1, 3, 127, 4096}) {
        for (const bool plain : {false, true}) {
          SCOPED_TRACE(ShapeName(type, {rows, width, plain}));
          ExpectLayerNormEqualsFormulas(RandomLayerNorm(rows, width, type, plain));
        }
      }
    }
  }
}

TEST(LayerNormGpuTest, TakesMemoryAtOddAddresses) {
  torch::manual_seed(2);
  for (const torch::ScalarType type : kGpuTypes) {
    SCOPED_TRACE(ShapeName(type, {}));
    LayerNormCase c = RandomLayerNorm(127, 768, type, /*plain=*/false);
    Tensor y = AtOddAddress(Poisoned(c.x.sizes(), type));
    Tensor statistics = AtOddAddress(Poisoned({2, 127}, torch::kFloat32));
    LayerNormForward(c.x, {c.weight, c.bias}, kLayerNormEpsilon, y, statistics);
    ExpectLayerNormForward(c, Exact(c), {y, statistics});
    for (Tensor* part : {&c.x, &c.weight, &c.bias, &c.dy, &c.gradient}) *part = AtOddAddress(*part);
    ExpectLayerNormEqualsFormulas(c);
  }
}

// The variance must not lose precision if the mean is large compared with the spread.
TEST(LayerNormGpuTest, LargeMeansKeepTheVariance) {
  torch::manual_seed(3);
  for (const int64_t width : {768, 16384 + 8}) {
    SCOPED_TRACE(ShapeName(torch::kFloat32, {width}));
    LayerNormCase c = RandomLayerNorm(64, width, torch::kFloat32, /*plain=*/false);
    c.x = c.x + 1000;
    const ExactLayerNorm exact = Exact(c);
    const LayerNormForwardResult actual = LayerNormOf(c);
    // The mean is near 1000, so rounding it to fp32 causes an error of 1e-4. Computing the variance
    // from sums of squares would cause an error of 10%.
    ExpectAccurate(actual.statistics[1], exact.inverse_std, 1e-5);
    ExpectAccurate(actual.y, exact.y, 2e-4);
  }
}

// The backward pass may write dx over dy or over the residual gradient. The bits of dx must be the
// same as in separate memory.
TEST(LayerNormGpuTest, GradientTakesTheMemoryOfAnInput) {
  torch::manual_seed(4);
  for (const torch::ScalarType type : kGpuTypes) {
    for (const int64_t width : {7, 768, 4096, 16384 + 8}) {
      SCOPED_TRACE(ShapeName(type, {width}));
      const LayerNormCase c = RandomLayerNorm(300, width, type, /*plain=*/false);
      const Tensor statistics = LayerNormOf(c).statistics;
      const LayerNormInput input{c.x, c.weight, statistics};
      Tensor apart = Poisoned(c.x.sizes(), type);
      LayerNormBackward(c.dy, input, c.residual, apart, {});
      Tensor over_dy = c.dy.clone(), over_residual = c.residual.clone();
      LayerNormBackward(over_dy, input, c.residual, over_dy, {});
      LayerNormBackward(c.dy, input, over_residual, over_residual, {});
      EXPECT_TRUE(SameBits(over_dy, apart));
      EXPECT_TRUE(SameBits(over_residual, apart));
    }
  }
}

TEST(LayerNormGpuTest, OneOfBothGradientsMayBeWanted) {
  torch::manual_seed(5);
  const LayerNormCase c = RandomLayerNorm(300, 768, torch::kBFloat16, /*plain=*/false);
  const Tensor statistics = LayerNormOf(c).statistics;
  const LayerNormGradients both = GradientsOf(c, statistics, Tensor(), false);
  const LayerNormInput input{c.x, c.weight, statistics};
  const Tensor weight = Poisoned({768}, torch::kFloat32), bias = weight.clone();
  Tensor dx = Poisoned(c.x.sizes(), torch::kBFloat16);
  LayerNormBackward(c.dy, input, Tensor(), dx, {.weight = GradientTarget{weight, false}});
  LayerNormBackward(c.dy, input, Tensor(), dx, {.bias = GradientTarget{bias, false}});
  EXPECT_TRUE(SameBits(weight, both.weight));
  EXPECT_TRUE(SameBits(bias, both.bias));
}

TEST(LayerNormGpuTest, EveryRunHasTheSameBits) {
  torch::manual_seed(6);
  for (const torch::ScalarType type : kGpuTypes) {
    for (const int64_t width : {7, 768, 2048, 16384 + 8}) {
      SCOPED_TRACE(ShapeName(type, {width}));
      const LayerNormCase c = RandomLayerNorm(4096, width, type, /*plain=*/false);
      ExpectSameBitsInEveryRun([&] {
        const LayerNormForwardResult kept = LayerNormOf(c);
        const LayerNormGradients gradients = GradientsOf(c, kept.statistics, c.residual, true);
        return std::vector<Tensor>{kept.y, kept.statistics, gradients.dx, gradients.weight,
                                   gradients.bias};
      });
    }
  }
}

}  // namespace
}  // namespace trainyard::trainer
