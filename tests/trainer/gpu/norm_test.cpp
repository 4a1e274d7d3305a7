#include <gtest/gtest.h>

#include "tests/trainer/gpu/accuracy.h"
#include "tests/trainer/ops/references.h"
#include "trainer/ops/norms/rms_norm.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

constexpr double kNormEpsilon = 1e-5;

struct NormCase {
  Tensor x, weight, dy, residual;
  Tensor weight_gradient;  // Existing gradient, to which a pass may add.
};

NormCase RandomNorm(int64_t rows, int64_t width, torch::ScalarType type) {
  return {.x = RandomOnGpu({rows, width}, type),
          .weight = RandomOnGpu({width}, type) + 1,
          .dy = RandomOnGpu({rows, width}, type),
          .residual = RandomOnGpu({rows, width}, type),
          .weight_gradient = RandomOnGpu({width}, torch::kFloat32)};
}

struct NormResult {
  Tensor y, inverse_rms, dx, weight_gradient;
};

// Computes the reference in fp64 by autograd. The reference does not include the residual or the
// existing gradient of the weight.
NormResult NormByAutograd(const NormCase& c) {
  const Tensor x = Wide(c.x).set_requires_grad(true);
  const Tensor weight = Wide(c.weight).set_requires_grad(true);
  const Tensor y = reference::RmsNorm(x, weight, kNormEpsilon);
  const auto gradients = torch::autograd::grad({y}, {x, weight}, {Wide(c.dy)});
  const Tensor inverse_rms = (Wide(c.x).square().mean(-1) + kNormEpsilon).rsqrt();
  return {y.detach(), inverse_rms, gradients[0], gradients[1]};
}

struct NormForwardResult {
  Tensor y, inverse_rms;
};

NormForwardResult NormForward(const NormCase& c) {
  NormForwardResult result{Poisoned(c.x.sizes(), c.x.scalar_type()),
                           Poisoned({c.x.size(0)}, torch::kFloat32)};
  RmsNormForward(c.x, c.weight, kNormEpsilon, result.y, result.inverse_rms);
  return result;
}

// Compares dx with `expected`. If the case has a residual, dx includes the residual. In a row of
// few elements, most of dx cancels. Therefore the error is relative to one term of dx.
void ExpectNormGradient(const NormCase& c, const NormResult& expected, const Tensor& dx,
                        bool has_residual) {
  const Tensor term = Wide(c.dy) * Wide(c.weight) * expected.inverse_rms.unsqueeze(1);
  Tensor sum = expected.dx;
  if (has_residual) sum = sum + Wide(c.residual);
  ExpectAccurate(dx, sum, kShortSumTolerance,
                 NormOf(term) + (has_residual ? NormOf(c.residual) : 0));
}

void ExpectNormEqualsAutograd(const NormCase& c) {
  const NormResult expected = NormByAutograd(c);
  const NormForwardResult kept = NormForward(c);
  ExpectAccurate(kept.y, expected.y, kShortSumTolerance);
  ExpectAccurate(kept.inverse_rms, expected.inverse_rms, kShortSumTolerance);

  const RmsNormInput input{c.x, c.weight, kept.inverse_rms};
  Tensor dx = Poisoned(c.x.sizes(), c.x.scalar_type());
  const Tensor sum = Poisoned(c.weight.sizes(), torch::kFloat32);
  RmsNormBackward(c.dy, input, Tensor(), dx, {sum, false});
  ExpectNormGradient(c, expected, dx, /*has_residual=*/false);
  ExpectAccurate(sum, expected.weight_gradient, kLongSumTolerance);

  dx.fill_(std::nan(""));
  const Tensor added = c.weight_gradient.clone();
  RmsNormBackward(c.dy, input, c.residual, dx, {added, true});
  ExpectNormGradient(c, expected, dx, /*has_residual=*/true);
  ExpectAccurate(added, expected.weight_gradient + Wide(c.weight_gradient), kLongSumTolerance);
}

// The widths include odd numbers, widths for every plan that keeps rows in registers, and one width
// that is too long for registers.
TEST(NormGpuTest, EqualsAutogradForEveryShape) {
  torch::manual_seed(1);
  for (const torch::ScalarType type : kGpuTypes) {
    for (const int64_t width : {1, 7, 64, 96, 768, 2048, 4096, 8192, 16384 + 8}) {
      for (const int64_t rows : {1, 3, 127, 4096}) {
        SCOPED_TRACE(ShapeName(type, {rows, width}));
        ExpectNormEqualsAutograd(RandomNorm(rows, width, type));
      }
    }
  }
}

TEST(NormGpuTest, TakesMemoryAtOddAddresses) {
  torch::manual_seed(2);
  for (const torch::ScalarType type : kGpuTypes) {
    SCOPED_TRACE(ShapeName(type, {}));
    NormCase c = RandomNorm(127, 768, type);
    Tensor y = AtOddAddress(Poisoned(c.x.sizes(), type));
    Tensor inverse_rms = AtOddAddress(Poisoned({127}, torch::kFloat32));
    RmsNormForward(c.x, c.weight, kNormEpsilon, y, inverse_rms);
    ExpectAccurate(y, NormByAutograd(c).y, kShortSumTolerance);
    c.x = AtOddAddress(c.x);
    c.weight = AtOddAddress(c.weight);
    c.dy = AtOddAddress(c.dy);
    c.weight_gradient = AtOddAddress(c.weight_gradient);
    ExpectNormEqualsAutograd(c);
  }
}

// The backward pass may write dx over dy or over the residual gradient. The bits of dx must be the
// same as in separate memory.
TEST(NormGpuTest, GradientTakesTheMemoryOfAnInput) {
  torch::manual_seed(3);
  for (const torch::ScalarType type : kGpuTypes) {
    for (const int64_t width : {7, 768, 4096, 16384 + 8}) {
      SCOPED_TRACE(ShapeName(type, {width}));
      const NormCase c = RandomNorm(300, width, type);
      const Tensor inverse_rms = NormForward(c).inverse_rms;
      const RmsNormInput input{c.x, c.weight, inverse_rms};
      const Tensor sum = Poisoned({width}, torch::kFloat32);
      Tensor apart = Poisoned(c.x.sizes(), type);
      RmsNormBackward(c.dy, input, c.residual, apart, {sum, false});
      Tensor over_dy = c.dy.clone(), over_residual = c.residual.clone();
      RmsNormBackward(over_dy, input, c.residual, over_dy, {sum, false});
      RmsNormBackward(c.dy, input, over_residual, over_residual, {sum, false});
      EXPECT_TRUE(SameBits(over_dy, apart));
      EXPECT_TRUE(SameBits(over_residual, apart));
    }
  }
}

TEST(NormGpuTest, EveryRunHasTheSameBits) {
  torch::manual_seed(4);
  for (const torch::ScalarType type : kGpuTypes) {
    for (const int64_t width : {7, 2048, 16384 + 8}) {
      SCOPED_TRACE(ShapeName(type, {width}));
      const NormCase c = RandomNorm(4096, width, type);
      ExpectSameBitsInEveryRun([&] {
        const NormForwardResult kept = NormForward(c);
        Tensor dx = Poisoned(c.x.sizes(), type);
        const Tensor sum = Poisoned({width}, torch::kFloat32);
        RmsNormBackward(c.dy, {c.x, c.weight, kept.inverse_rms}, c.residual, dx, {sum, false});
        return std::vector<Tensor>{kept.y, kept.inverse_rms, dx, sum};
      });
    }
  }
}

}  // namespace
}  // namespace trainyard::trainer
