#include <gtest/gtest.h>

#include "tests/trainer/gpu/accuracy.h"
#include "trainer/ops/linear/linear.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// Widths of less than one vector, one vector, and many blocks. Includes odd widths, and widths
// below and above the width of one slice.
constexpr int64_t kBiasWidths[] = {1, 7, 8, 64, 96, 264, 768, 2304, 3072, 16384 + 8};
constexpr int64_t kBiasRows[] = {1, 3, 31, 33, 127, 4099, 32768};

TEST(BiasGpuTest, IsAddedToEveryRow) {
  torch::manual_seed(1);
  for (const torch::ScalarType type : kGpuTypes) {
    for (const int64_t width : kBiasWidths) {
      SCOPED_TRACE(ShapeName(type, {width}));
      const Tensor rows = RandomOnGpu({127, width}, type), bias = RandomOnGpu({width}, type);
      const Tensor expected = Wide(rows) + Wide(bias);
      Tensor y = rows.clone();
      AddBias(bias, y);
      ExpectAccurate(y, expected, kShortSumTolerance);
      y = AtOddAddress(rows);
      AddBias(AtOddAddress(bias), y);
      ExpectAccurate(y, expected, kShortSumTolerance);
    }
  }
}

// The gradient is a sum of random numbers that mostly cancel each other. Therefore the scale is the
// norm of the terms.
void ExpectBiasGradient(const Tensor& dy) {
  const Tensor expected = Wide(dy).sum(0);
  const Tensor gradient = Poisoned(expected.sizes(), torch::kFloat32);
  BiasGradient(dy, {gradient, false});
  ExpectAccurate(gradient, expected, kLongSumTolerance, NormOf(dy));
  const Tensor before = RandomOnGpu(expected.sizes().vec(), torch::kFloat32);
  gradient.copy_(before);
  BiasGradient(dy, {gradient, true});
  ExpectAccurate(gradient, expected + Wide(before), kLongSumTolerance, NormOf(dy) + NormOf(before));
}

TEST(BiasGpuTest, GradientIsTheSumOfTheRows) {
  torch::manual_seed(2);
  for (const torch::ScalarType type : kGpuTypes) {
    for (const int64_t width : kBiasWidths) {
      for (const int64_t rows : kBiasRows) {
        if (rows * width > int64_t{1} << 28) continue;
        SCOPED_TRACE(ShapeName(type, {rows, width}));
        ExpectBiasGradient(RandomOnGpu({rows, width}, type));
      }
    }
    ExpectBiasGradient(AtOddAddress(RandomOnGpu({1000, 768}, type)));
  }
}

TEST(BiasGpuTest, GradientHasTheSameBitsInEveryRun) {
  torch::manual_seed(3);
  for (const torch::ScalarType type : kGpuTypes) {
    for (const int64_t width : {7, 768, 3072}) {
      SCOPED_TRACE(ShapeName(type, {width}));
      const Tensor dy = RandomOnGpu({32768, width}, type);
      ExpectSameBitsInEveryRun([&] {
        const Tensor gradient = Poisoned({width}, torch::kFloat32);
        BiasGradient(dy, {gradient, false});
        return std::vector<Tensor>{gradient};
      });
    }
  }
}

}  // namespace
}  // namespace trainyard::trainer
