#include "trainer/ops/optimizer/adamw.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/trainer/gpu/accuracy.h"
#include "tests/trainer/ops/step_values_tensor.h"
#include "trainer/kernels/cuda_check.h"
#include "trainer/ops/optimizer/master_weights.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

constexpr torch::ScalarType kMomentTypes[] = {torch::kFloat32, torch::kBFloat16};

constexpr AdamWFactors kGpuFactors{
    .beta1 = 0.9, .beta2 = 0.95, .epsilon = 1e-8, .weight_decay = 0.1};

// Returns a state on the GPU with random moments, as after earlier steps.
AdamWState RandomState(int64_t count, torch::ScalarType moments) {
  return {.values = RandomOnGpu({count}, torch::kFloat32),
          .low_bits = Tensor(),
          .gradients = RandomOnGpu({count}, torch::kFloat32),
          .first_moment = RandomOnGpu({count}, moments),
          .second_moment = RandomOnGpu({count}, moments).square() + 0.1,
          .first_element = 640};
}

// Returns the state with copy(tensor) in place of each tensor.
template <typename Copy>
AdamWState CopyOf(const AdamWState& state, const Copy& copy) {
  AdamWState result = state;
  for (Tensor AdamWState::*const part :
       {&AdamWState::values, &AdamWState::low_bits, &AdamWState::masters, &AdamWState::gradients,
        &AdamWState::first_moment, &AdamWState::second_moment}) {
    if ((state.*part).defined()) result.*part = copy(state.*part);
  }
  return result;
}

AdamWState CloneOf(const AdamWState& state) {
  return CopyOf(state, [](const Tensor& tensor) { return tensor.clone(); });
}

AdamWState OnCpu(const AdamWState& state) {
  return CopyOf(state, [](const Tensor& tensor) { return tensor.cpu().clone(); });
}

// Returns the state on the GPU, with each weight split into a bf16 value and its low bits.
AdamWState SplitOnGpu(const AdamWState& state) {
  AdamWState split = CloneOf(state);
  split.values = torch::empty_like(state.values, torch::kBFloat16);
  split.low_bits = torch::empty_like(state.values, torch::kInt16);
  SplitMasterWeights(state.values, split.values, split.low_bits);
  return split;
}

// Returns the state with fp16 values and separate master weights.
AdamWState WithFp16Values(const AdamWState& state) {
  AdamWState half = CloneOf(state);
  half.masters = state.values.clone();
  half.values = state.values.to(torch::kHalf);
  return half;
}

Tensor MasterOf(const AdamWState& state) {
  if (state.masters.defined()) return state.masters;
  return state.low_bits.defined() ? JoinMasterWeights(state.values, state.low_bits) : state.values;
}

// Returns the parameters of a step in which gradients are clipped.
Tensor ClippedStep(int64_t step) {
  Tensor values = StepValuesOf(step, 0.05);
  SetValue(values, StepValue::kGradientScale, 0.375);
  return values;
}

bool SameState(const AdamWState& a, const AdamWState& b) {
  return SameBits(a.values, b.values) && SameBits(a.first_moment, b.first_moment) &&
         SameBits(a.second_moment, b.second_moment) &&
         (!a.low_bits.defined() || SameBits(a.low_bits, b.low_bits));
}

// Runs three steps on the GPU and on the CPU, and compares the results.
void ExpectEqualsCpu(const AdamWState& gpu) {
  const AdamWState cpu = OnCpu(gpu);
  for (int64_t step = 1; step <= 3; ++step) {
    AdamWUpdate(cpu, kGpuFactors, ClippedStep(step));
    AdamWUpdate(gpu, kGpuFactors, ClippedStep(step).to(Gpu()));
  }
  const auto expect_near = [](const Tensor& actual, const Tensor& expected) {
    EXPECT_LT(RelativeNorm(actual, expected), kShortSumTolerance);
  };
  expect_near(MasterOf(gpu), MasterOf(cpu));
  expect_near(gpu.first_moment, cpu.first_moment);
  expect_near(gpu.second_moment, cpu.second_moment);
}

TEST(AdamWGpuTest, EqualsThePlainUpdate) {
  torch::manual_seed(1);
  for (const int64_t count : {1, 7, 8, 4099, 1000003}) {
    SCOPED_TRACE(ShapeName(torch::kFloat32, {count}));
    const AdamWState whole = RandomState(count, torch::kFloat32);
    const AdamWState split = SplitOnGpu(whole), half = WithFp16Values(whole);
    ExpectEqualsCpu(whole);
    ExpectEqualsCpu(split);
    ExpectEqualsCpu(half);
    EXPECT_TRUE(SameBits(half.masters, whole.values));
    EXPECT_TRUE(SameBits(half.values, whole.values.to(torch::kHalf)));
    EXPECT_LT(RelativeNorm(MasterOf(split), MasterOf(whole)), kShortSumTolerance);
  }
}

// 1 - beta must be computed before rounding to fp32. If beta = 0.9999 were rounded first, 1 - beta
// would have an error of 0.02%.
TEST(AdamWGpuTest, BetasNearOneAreExact) {
  torch::manual_seed(7);
  AdamWState gpu = RandomState(1000, torch::kFloat32);
  gpu.first_moment.zero_();
  gpu.second_moment.zero_();
  const AdamWState cpu = OnCpu(gpu);
  const AdamWFactors factors{.beta1 = 0.9995, .beta2 = 0.9999, .epsilon = 1e-8};
  AdamWUpdate(cpu, factors, ClippedStep(1));
  AdamWUpdate(gpu, factors, ClippedStep(1).to(Gpu()));
  EXPECT_LT(RelativeNorm(gpu.first_moment, cpu.first_moment), kShortSumTolerance);
  EXPECT_LT(RelativeNorm(gpu.second_moment, cpu.second_moment), kShortSumTolerance);
}

// Returns the fraction of bf16 numbers for which GPU and CPU give adjacent, unequal values. A
// larger difference fails the test, except for numbers near 0, which may consist mostly of rounding
// errors after cancellation.
double FractionOfNeighbours(const Tensor& gpu, const Tensor& cpu) {
  const auto bits = [](const Tensor& tensor) {
    return tensor.view(torch::kInt16).to(torch::kInt32);
  };
  const Tensor apart = (bits(gpu.cpu()) - bits(cpu)).abs() * (cpu.abs() > 1e-3);
  EXPECT_LE(apart.max().item<int32_t>(), 1);
  EXPECT_LT(RelativeNorm(gpu, cpu), 1e-3);
  return apart.to(torch::kFloat64).mean().item<double>();
}

// GPU and CPU use the same random bits to round. The results can differ only if the fp32 inputs
// differ in the last bits and this changes a carry of the rounding. That happens about once in 2^16
// numbers.
TEST(AdamWGpuTest, SixteenBitMomentsAreRoundedAsOnTheCpu) {
  torch::manual_seed(2);
  for (const int64_t step : {1, 2, 1000000}) {
    for (const int64_t count : {7, 1000003}) {
      const AdamWState gpu = SplitOnGpu(RandomState(count, torch::kBFloat16)), cpu = OnCpu(gpu);
      AdamWUpdate(cpu, kGpuFactors, ClippedStep(step));
      AdamWUpdate(gpu, kGpuFactors, ClippedStep(step).to(Gpu()));
      EXPECT_LT(FractionOfNeighbours(gpu.first_moment, cpu.first_moment), 1e-3);
      EXPECT_LT(FractionOfNeighbours(gpu.second_moment, cpu.second_moment), 1e-3);
      EXPECT_LT(RelativeNorm(MasterOf(gpu), MasterOf(cpu)), kShortSumTolerance);
    }
  }
}

// The second moment decays by a factor of 0.999 per step. With rounding to nearest, a moment of 1
// would never decrease.
TEST(AdamWGpuTest, SixteenBitMomentsAreRightOnAverage) {
  AdamWState state = RandomState(20000, torch::kBFloat16);
  state.gradients.zero_();
  state.first_moment.fill_(-1);
  state.second_moment.fill_(1);
  const AdamWFactors slow{.beta1 = 0.999, .beta2 = 0.999, .epsilon = 1e-8};
  for (int64_t step = 1; step <= 50; ++step) {
    AdamWUpdate(state, slow, StepValuesOf(step, 0).to(Gpu()));
  }
  const double expected = std::pow(0.999, 50);
  EXPECT_NEAR(Wide(state.first_moment).mean().item<double>(), -expected, 2e-4);
  EXPECT_NEAR(Wide(state.second_moment).mean().item<double>(), expected, 2e-4);
}

TEST(AdamWGpuTest, RoundingDependsOnStepAndElementOnly) {
  torch::manual_seed(3);
  const AdamWState whole = SplitOnGpu(RandomState(1000, torch::kBFloat16));
  AdamWState part =
      CopyOf(whole, [](const Tensor& tensor) { return tensor.narrow(0, 64, 936).clone(); });
  part.first_element += 64;
  AdamWUpdate(whole, kGpuFactors, ClippedStep(3).to(Gpu()));
  AdamWUpdate(part, kGpuFactors, ClippedStep(3).to(Gpu()));
  EXPECT_TRUE(SameBits(part.first_moment, whole.first_moment.narrow(0, 64, 936)));
  EXPECT_TRUE(SameBits(part.second_moment, whole.second_moment.narrow(0, 64, 936)));
}

TEST(AdamWGpuTest, AStepThatIsNotFiniteChangesNothing) {
  torch::manual_seed(4);
  for (const torch::ScalarType moments : kMomentTypes) {
    for (const bool is_split : {false, true}) {
      const AdamWState whole = RandomState(4099, moments);
      const AdamWState state = is_split ? SplitOnGpu(whole) : whole;
      const AdamWState before = CloneOf(state);
      Tensor values = ClippedStep(1);
      SetValue(values, StepValue::kFinite, 0);
      SetValue(values, StepValue::kGradientScale, std::nan(""));
      AdamWUpdate(state, kGpuFactors, values.to(Gpu()));
      EXPECT_TRUE(SameState(state, before));
      AdamWUpdate(state, kGpuFactors, ClippedStep(1).to(Gpu()));
      EXPECT_FALSE(SameState(state, before));
    }
  }
}

TEST(AdamWGpuTest, NanStaysNanInSplitWeights) {
  torch::manual_seed(5);
  const AdamWState state = SplitOnGpu(RandomState(100, torch::kFloat32));
  state.gradients[3] = std::nan("");
  AdamWUpdate(state, kGpuFactors, ClippedStep(1).to(Gpu()));
  EXPECT_TRUE(std::isnan(state.values[3].item<float>()));
  EXPECT_EQ(state.values.isnan().sum().item<int64_t>(), 1);
  EXPECT_EQ(MasterOf(state).isnan().sum().item<int64_t>(), 1);
}

TEST(AdamWGpuTest, EveryRunHasTheSameBits) {
  torch::manual_seed(6);
  for (const torch::ScalarType moments : kMomentTypes) {
    const AdamWState start = SplitOnGpu(RandomState(100003, moments));
    ExpectSameBitsInEveryRun([&] {
      const AdamWState state = CloneOf(start);
      for (int64_t step = 1; step <= 3; ++step) {
        AdamWUpdate(state, kGpuFactors, ClippedStep(step).to(Gpu()));
      }
      return std::vector<Tensor>{state.values, state.low_bits, state.first_moment,
                                 state.second_moment};
    });
  }
}

// Parameters in a store start at vector-aligned addresses. Any other address is the caller's error.
TEST(AdamWGpuTest, RefusesOddAddresses) {
  const AdamWState state = CopyOf(RandomState(100, torch::kFloat32),
                                  [](const Tensor& tensor) { return AtOddAddress(tensor); });
  EXPECT_THROW(AdamWUpdate(state, kGpuFactors, ClippedStep(1).to(Gpu())), kernels::KernelError);
}

}  // namespace
}  // namespace trainyard::trainer
