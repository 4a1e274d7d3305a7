#include "trainer/ops/fp8/fp8_activation.h"

#include <gtest/gtest.h>

#include "tests/trainer/gpu/accuracy.h"
#include "trainer/kernels/cuda_check.h"
#include "trainer/ops/activation.h"
#include "trainer/ops/fp8/fp8.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

struct ActivationShape {
  int64_t rows;
  int64_t width;
};

// Tiles of 128 x 128 are whole, partial, or single. The last shape is that of the 1.5B model.
const ActivationShape kShapes[] = {{16, 16},   {128, 128}, {144, 272},   {256, 48},
                                   {48, 1040}, {0, 64},    {32768, 7168}};

Fp8Scale FreshScale(float scale) {
  return {.scale = torch::full({1}, scale, OnGpu(torch::kFloat32)),
          .amax = torch::zeros({1}, OnGpu(torch::kFloat32))};
}

void ExpectSameMatrix(const Fp8Matrix& matrix, const Fp8Matrix& expected) {
  EXPECT_EQ(matrix.format, expected.format);
  EXPECT_EQ(matrix.rows.defined(), expected.rows.defined());
  if (expected.rows.defined()) {
    EXPECT_TRUE(matrix.rows.equal(expected.rows));
  }
  if (expected.columns.defined()) {
    EXPECT_TRUE(matrix.columns.equal(expected.columns));
  }
  EXPECT_TRUE(matrix.inverse_scale.equal(expected.inverse_scale));
}

TEST(Fp8ActivationGpuTest, ForwardHasTheBitsOfTwoPasses) {
  torch::manual_seed(1);
  for (const ActivationShape& shape : kShapes) {
    for (const torch::ScalarType type : kGpuTypes) {
      SCOPED_TRACE(ShapeName(type, {shape.rows, shape.width}));
      const Tensor packed = RandomOnGpu({shape.rows, 2 * shape.width}, type) * 2;
      Tensor out = torch::empty({shape.rows, shape.width}, packed.options());
      SwiGluForward(packed, out);
      for (const auto arrangement :
           {Fp8Arrangement::kRows, Fp8Arrangement::kColumns, Fp8Arrangement::kBoth}) {
        const Fp8Scale scale = FreshScale(30), scale_of_two = FreshScale(30);
        const Fp8Matrix matrix = SwiGluForwardToFp8(packed, scale, arrangement);
        ExpectSameMatrix(matrix, ToFp8(out, Fp8Format::kE4M3, scale_of_two, arrangement));
        EXPECT_TRUE(scale.amax.equal(scale_of_two.amax));
      }
    }
  }
}

TEST(Fp8ActivationGpuTest, BackwardHasTheBitsOfTwoPasses) {
  torch::manual_seed(2);
  for (const ActivationShape& shape : kShapes) {
    for (const torch::ScalarType type : kGpuTypes) {
      SCOPED_TRACE(ShapeName(type, {shape.rows, shape.width}));
      const Tensor packed = RandomOnGpu({shape.rows, 2 * shape.width}, type) * 2;
      const Tensor dout = RandomOnGpu({shape.rows, shape.width}, type);
      Tensor d_packed = torch::empty_like(packed), none;
      SwiGluBackward(dout, packed, d_packed, none);
      const Fp8Scale scale = FreshScale(900), scale_of_two = FreshScale(900);
      const Fp8Matrix matrix = SwiGluBackwardToFp8(dout, packed, scale);
      ExpectSameMatrix(matrix,
                       ToFp8(d_packed, Fp8Format::kE5M2, scale_of_two, Fp8Arrangement::kBoth));
      EXPECT_TRUE(scale.amax.equal(scale_of_two.amax));
    }
  }
}

TEST(Fp8ActivationGpuTest, RefusesSizesThatAreNoMultiplesOf16) {
  const Tensor packed = RandomOnGpu({16, 80}, torch::kBFloat16);
  EXPECT_THROW(SwiGluForwardToFp8(packed, FreshScale(1), Fp8Arrangement::kRows),
               kernels::KernelError);
}

}  // namespace
}  // namespace trainyard::trainer
