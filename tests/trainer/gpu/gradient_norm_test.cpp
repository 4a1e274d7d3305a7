#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/trainer/gpu/accuracy.h"
#include "tests/trainer/ops/step_values_tensor.h"
#include "trainer/ops/optimizer/adamw.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

Tensor SquaredSumOf(const Tensor& values) {
  Tensor sum = Poisoned({}, torch::kFloat64);
  SquaredSum(values, sum);
  return sum;
}

// Squares and sums are computed in fp64, so the error is little more than the rounding of the
// result.
TEST(SquaredSumGpuTest, EqualsTheSumInDoublePrecision) {
  torch::manual_seed(1);
  for (const int64_t count : {1, 3, 4, 4099, 10000000, 20000003}) {
    SCOPED_TRACE(ShapeName(torch::kFloat32, {count}));
    const Tensor values = RandomOnGpu({count}, torch::kFloat32);
    const double expected = Wide(values.cpu()).square().sum().item<double>();
    EXPECT_NEAR(SquaredSumOf(values).item<double>(), expected, 1e-12 * expected);
  }
}

TEST(SquaredSumGpuTest, SquaresMayBeTooLargeForSinglePrecision) {
  const Tensor values = torch::full({1000}, 1e30, OnGpu(torch::kFloat32));
  const double expected = Wide(values).square().sum().item<double>();
  EXPECT_NEAR(SquaredSumOf(values).item<double>(), expected, 1e-12 * expected);
}

TEST(SquaredSumGpuTest, KeepsWhatIsNotFinite) {
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    for (const int64_t place : {0, 5000, 9999}) {
      const Tensor values = torch::ones({10000}, OnGpu(torch::kFloat32));
      values[place] = bad;
      EXPECT_FALSE(std::isfinite(SquaredSumOf(values).item<double>()));
    }
  }
}

// For a given number of elements, the bits of the result must be the same in every run and at every
// address.
TEST(SquaredSumGpuTest, BitsDependOnTheCountOnly) {
  torch::manual_seed(2);
  const Tensor values = RandomOnGpu({10000003}, torch::kFloat32), odd = AtOddAddress(values);
  ExpectSameBitsInEveryRun([&] { return std::vector<Tensor>{SquaredSumOf(values)}; });
  EXPECT_TRUE(SameBits(SquaredSumOf(odd), SquaredSumOf(values)));
}

// Expects the same numbers as from the CPU version, which performs the same steps in fp64.
void ExpectFinishesAsOnTheCpu(const std::vector<double>& parts, double max_norm, double loss) {
  const Tensor squared = torch::tensor(parts, torch::kFloat64);
  Tensor cpu = torch::zeros({kStepValues}, torch::kFloat64);
  SetValue(cpu, StepValue::kLoss, loss);
  SetValue(cpu, StepValue::kLearningRate, 0.5);
  Tensor gpu = cpu.to(Gpu());
  FinishNorm(squared, max_norm, cpu);
  FinishNorm(squared.to(Gpu()), max_norm, gpu);
  EXPECT_TRUE(at::allclose(gpu.cpu(), cpu, 1e-15, 0, /*equal_nan=*/true)) << gpu << cpu;
}

TEST(FinishNormGpuTest, EqualsThePlainVersion) {
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> parts = {1.5, 2.25, 1e-9, 77};
  ExpectFinishesAsOnTheCpu(parts, 0, 2);
  ExpectFinishesAsOnTheCpu(parts, 1, 2);
  ExpectFinishesAsOnTheCpu(parts, 100, 2);
  ExpectFinishesAsOnTheCpu({0}, 1, 2);
  ExpectFinishesAsOnTheCpu(parts, 1, std::nan(""));
  ExpectFinishesAsOnTheCpu(parts, 1, infinity);
  ExpectFinishesAsOnTheCpu({1, infinity}, 1, 2);
  ExpectFinishesAsOnTheCpu({std::nan(""), 1}, 1, 2);
}

TEST(FinishNormGpuTest, KnowsWhatIsNotFinite) {
  for (const bool bad_loss : {false, true}) {
    Tensor values = torch::zeros({kStepValues}, OnGpu(torch::kFloat64));
    if (bad_loss) SetValue(values, StepValue::kLoss, std::nan(""));
    FinishNorm(torch::tensor({4.0}, OnGpu(torch::kFloat64)), 1, values);
    EXPECT_EQ(ValueOf(values, StepValue::kFinite), bad_loss ? 0 : 1);
    EXPECT_EQ(ValueOf(values, StepValue::kGradientNorm), 2);
    EXPECT_EQ(ValueOf(values, StepValue::kGradientScale), 0.5);
  }
}

}  // namespace
}  // namespace trainyard::trainer
