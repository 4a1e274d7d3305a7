#include "trainer/ops/linear/gelu_linear.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/trainer/gpu/accuracy.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

struct GeluShape {
  int64_t rows;
  int64_t in;
  int64_t out;
};

// In bf16, all but the last two are computed by one kernel.
const GeluShape kGeluShapes[] = {{1, 64, 64},       {127, 96, 768}, {1000, 256, 3072},
                                 {4096, 768, 3072}, {127, 33, 64},  {127, 64, 33}};

// Bounds of the relative L2 distance from fp64. They include two roundings to the type.
double BoundOf(torch::ScalarType type) {
  if (type == torch::kFloat32) return 1e-5;
  return type == torch::kHalf ? 1e-3 : 6e-3;
}

double GeluDistance(const Tensor& actual, const Tensor& expected) {
  return NormOf(Wide(actual) - expected) / NormOf(expected);
}

TEST(GeluLinearGpuTest, EqualsFormulasForEveryShape) {
  torch::manual_seed(1);
  for (const torch::ScalarType type : kGpuTypes) {
    for (const GeluShape& shape : kGeluShapes) {
      SCOPED_TRACE(ShapeName(type, {shape.rows, shape.in, shape.out}));
      const double spread = std::sqrt(static_cast<double>(shape.in));
      const Tensor x = RandomOnGpu({shape.rows, shape.in}, type);
      const Tensor weight = (RandomOnGpu({shape.out, shape.in}, torch::kFloat32) / spread).to(type);
      for (const Tensor& bias : {RandomOnGpu({shape.out}, type), Tensor()}) {
        Tensor y = Poisoned({shape.rows, shape.out}, type), gelu = Poisoned(y.sizes(), type);
        LinearForwardWithGelu(x, weight, bias, y, gelu);
        Tensor sum = Wide(x).matmul(Wide(weight).t());
        if (bias.defined()) sum += Wide(bias);
        EXPECT_LT(GeluDistance(y, sum), BoundOf(type));
        EXPECT_LT(GeluDistance(gelu, at::gelu(sum, "tanh")), BoundOf(type));
      }
      const Tensor before = RandomOnGpu({shape.rows, shape.in}, type);
      const Tensor dy = RandomOnGpu({shape.rows, shape.out}, type);
      Tensor d_before = Poisoned(before.sizes(), type);
      LinearInputGradientWithGelu(dy, weight, before, d_before);
      const Tensor expected =
          at::gelu_backward(Wide(dy).matmul(Wide(weight)), Wide(before), "tanh");
      EXPECT_LT(GeluDistance(d_before, expected), BoundOf(type));
    }
  }
}

TEST(GeluLinearGpuTest, EveryRunHasTheSameBits) {
  torch::manual_seed(2);
  const Tensor x = RandomOnGpu({4096, 768}, torch::kBFloat16);
  const Tensor weight = RandomOnGpu({3072, 768}, torch::kBFloat16);
  const Tensor bias = RandomOnGpu({3072}, torch::kBFloat16);
  Tensor first, first_gelu;
  for (int run = 0; run < 3; ++run) {
    Tensor y = Poisoned({4096, 3072}, torch::kBFloat16),
           gelu = Poisoned(y.sizes(), y.scalar_type());
    LinearForwardWithGelu(x, weight, bias, y, gelu);
    if (run == 0) {
      first = y;
      first_gelu = gelu;
    }
    EXPECT_TRUE(torch::equal(y, first));
    EXPECT_TRUE(torch::equal(gelu, first_gelu));
  }
}

}  // namespace
}  // namespace trainyard::trainer
