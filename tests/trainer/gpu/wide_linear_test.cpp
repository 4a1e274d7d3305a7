#include "trainer/ops/linear/wide_linear.h"

#include <gtest/gtest.h>

#include "tests/trainer/gpu/accuracy.h"
#include "trainer/ops/linear/linear.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// Tensor cores truncate the low bits of a sum, and products use only the first 16 significant bits
// of a gradient.
double WideTolerance(torch::ScalarType type) {
  return type == torch::kFloat32 ? kLongSumTolerance : 5e-5;
}

void ExpectExactWideProducts(int64_t rows, int64_t in, int64_t out, torch::ScalarType type) {
  const Tensor x = RandomOnGpu({rows, in}, type), weight = RandomOnGpu({out, in}, type);
  const Tensor dy = RandomOnGpu({rows, out}, torch::kFloat32),
               before = RandomOnGpu({rows, in}, type);
  const Tensor y = WideLinearForward(x, weight);
  EXPECT_EQ(y.scalar_type(), torch::kFloat32);
  ExpectAccurate(y, Wide(x).mm(Wide(weight).t()), 1e-5);
  Tensor dx = before.clone();
  AddWideLinearInputGradient(dy, weight, dx);
  const Tensor product = Wide(dy).mm(Wide(weight));
  // cuBLASLt may round the product before adding it to dx.
  const double rounding = NormOf(Wide(product.to(type)) - product);
  ExpectAccurate(dx, product + Wide(before),
                 WideTolerance(type) + rounding / (2 * NormOf(product + Wide(before))));
  const Tensor exact = Wide(dy).t().mm(Wide(x));
  const Tensor gradient = Poisoned({out, in}, torch::kFloat32);
  LinearWeightGradient(dy, x, {gradient, false});
  ExpectAccurate(gradient, exact, WideTolerance(type));
  LinearWeightGradient(dy, x, {gradient, true});
  ExpectAccurate(gradient, 2 * exact, WideTolerance(type));
}

TEST(WideLinearGpuTest, EqualsExactProductsForEveryShape) {
  torch::manual_seed(1);
  for (const torch::ScalarType type : kGpuTypes) {
    for (const int64_t out : {1, 5, 8, 64, 512}) {
      for (const int64_t rows : {1, 127, 4096}) {
        SCOPED_TRACE(ShapeName(type, {rows, out}));
        ExpectExactWideProducts(rows, 2048, out, type);
        ExpectExactWideProducts(rows, 36, out, type);
      }
    }
  }
}

TEST(WideLinearGpuTest, EveryRunHasTheSameBits) {
  torch::manual_seed(2);
  const Tensor x = RandomOnGpu({16384, 2048}, torch::kBFloat16);
  const Tensor weight = RandomOnGpu({8, 2048}, torch::kBFloat16);
  const Tensor dy = RandomOnGpu({16384, 8}, torch::kFloat32);
  ExpectSameBitsInEveryRun([&] {
    Tensor dx = x.clone();
    AddWideLinearInputGradient(dy, weight, dx);
    const Tensor gradient = Poisoned({8, 2048}, torch::kFloat32);
    LinearWeightGradient(dy, x, {gradient, false});
    return std::vector<Tensor>{WideLinearForward(x, weight), dx, gradient};
  });
}

}  // namespace
}  // namespace trainyard::trainer
