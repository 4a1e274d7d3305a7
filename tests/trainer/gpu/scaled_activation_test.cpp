#include "trainer/ops/experts/scaled_activation.h"

#include <gtest/gtest.h>

#include "tests/trainer/gpu/accuracy.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

void ExpectScaledEqualsPlain(Activation kind, const Tensor& packed, const Tensor& dout) {
  const Tensor scales = RandomOnGpu({dout.size(0)}, torch::kFloat32);
  const Tensor wide = Wide(packed).cpu(), wide_dout = Wide(dout).cpu();
  const Tensor wide_scales = Wide(scales).cpu();
  Tensor expected = torch::empty(dout.sizes(), torch::kFloat64), none;
  ScaledActivationForward(kind, wide, wide_scales, expected);
  Tensor out = Poisoned(dout.sizes(), dout.scalar_type());
  ScaledActivationForward(kind, packed, scales, out);
  ExpectAccurate(out.cpu(), expected, kShortSumTolerance);
  Tensor expected_d = torch::empty_like(wide);
  const Tensor expected_d_scales =
      ScaledActivationBackward(kind, wide_dout, wide, wide_scales, expected_d, none);
  Tensor d_packed = Poisoned(packed.sizes(), packed.scalar_type());
  Tensor again = Poisoned(dout.sizes(), dout.scalar_type());
  const Tensor d_scales = ScaledActivationBackward(kind, dout, packed, scales, d_packed, again);
  ExpectAccurate(d_packed.cpu(), expected_d, kShortSumTolerance);
  // The terms of the sum of a row may cancel each other.
  ExpectAccurate(d_scales.cpu(), expected_d_scales, kLongSumTolerance,
                 NormOf(dout) * NormOf(expected / wide_scales.unsqueeze(1)));
  EXPECT_TRUE(SameBits(again, out));
  // The kernel writes the gradient over `packed` and does not store the output of the forward pass.
  Tensor over = packed.clone();
  EXPECT_TRUE(SameBits(ScaledActivationBackward(kind, dout, over, scales, over, none), d_scales));
  EXPECT_TRUE(SameBits(over, d_packed));
}

TEST(ScaledActivationGpuTest, EqualsThePlainVersionForEveryShape) {
  torch::manual_seed(1);
  for (const torch::ScalarType type : kGpuTypes) {
    for (const int64_t width : {1, 7, 64, 1408, 7168, 16384 + 8}) {
      for (const int64_t rows : {1, 3, 127}) {
        SCOPED_TRACE(ShapeName(type, {rows, width}));
        ExpectScaledEqualsPlain(Activation::kSwiglu, RandomOnGpu({rows, 2 * width}, type) * 3,
                                RandomOnGpu({rows, width}, type));
      }
    }
    ExpectScaledEqualsPlain(Activation::kSwiglu, AtOddAddress(RandomOnGpu({127, 2 * 96}, type)),
                            AtOddAddress(RandomOnGpu({127, 96}, type)));
    ExpectScaledEqualsPlain(Activation::kSquaredRelu, RandomOnGpu({33, 96}, type),
                            RandomOnGpu({33, 96}, type));
  }
}

TEST(ScaledActivationGpuTest, NoRowsAtAll) {
  Tensor packed = torch::empty({0, 16}, OnGpu(torch::kBFloat16));
  Tensor out = torch::empty({0, 8}, OnGpu(torch::kBFloat16)), none;
  const Tensor scales = torch::empty({0}, OnGpu(torch::kFloat32));
  ScaledActivationForward(Activation::kSwiglu, packed, scales, out);
  EXPECT_EQ(
      ScaledActivationBackward(Activation::kSwiglu, out, packed, scales, packed, none).numel(), 0);
}

TEST(ScaledActivationGpuTest, EveryRunHasTheSameBits) {
  torch::manual_seed(2);
  for (const torch::ScalarType type : kGpuTypes) {
    const Tensor packed = RandomOnGpu({2000, 2 * 1408}, type);
    const Tensor dout = RandomOnGpu({2000, 1408}, type);
    const Tensor scales = RandomOnGpu({2000}, torch::kFloat32);
    ExpectSameBitsInEveryRun([&] {
      Tensor d_packed = Poisoned(packed.sizes(), type), out = Poisoned(dout.sizes(), type);
      const Tensor d_scales =
          ScaledActivationBackward(Activation::kSwiglu, dout, packed, scales, d_packed, out);
      return std::vector<Tensor>{d_packed, out, d_scales};
    });
  }
}

}  // namespace
}  // namespace trainyard::trainer
