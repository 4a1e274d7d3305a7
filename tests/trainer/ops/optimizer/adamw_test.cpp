#include "trainer/ops/optimizer/adamw.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/trainer/ops/gradient_check.h"
#include "tests/trainer/ops/step_values_tensor.h"
#include "trainer/ops/optimizer/master_weights.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

constexpr AdamWFactors kFactors{.beta1 = 0.9, .beta2 = 0.95, .epsilon = 1e-8, .weight_decay = 0.1};

AdamWState FreshState(int64_t count, torch::ScalarType moments = torch::kFloat32) {
  return {.values = torch::randn({count}),
          .low_bits = Tensor(),
          .gradients = torch::randn({count}),
          .first_moment = torch::zeros({count}, moments),
          .second_moment = torch::zeros({count}, moments)};
}

// Returns the state on the GPU, with each weight split into a bf16 value and its low bits.
AdamWState Split(const AdamWState& state) {
  AdamWState split = state;
  split.values = torch::empty_like(state.values, torch::kBFloat16);
  split.low_bits = torch::empty_like(state.values, torch::kInt16);
  SplitMasterWeights(state.values, split.values, split.low_bits);
  split.first_moment = state.first_moment.clone();
  split.second_moment = state.second_moment.clone();
  return split;
}

TEST(AdamWUpdateTest, SplitMasterWeightsGetTheSameBits) {
  torch::manual_seed(1);
  const AdamWState whole = FreshState(40000);  // An update processes this in several pieces.
  const AdamWState split = Split(whole);
  for (int64_t step = 1; step <= 3; ++step) {
    const Tensor values = StepValuesOf(step, 1e-2);
    AdamWUpdate(whole, kFactors, values);
    AdamWUpdate(split, kFactors, values);
  }
  EXPECT_TRUE(JoinMasterWeights(split.values, split.low_bits).equal(whole.values));
  EXPECT_TRUE(split.second_moment.equal(whole.second_moment));
}

TEST(AdamWUpdateTest, MasterWeightsOfFp16GetTheSameBits) {
  torch::manual_seed(1);
  const AdamWState whole = FreshState(40000);
  AdamWState half = whole;
  half.values = whole.values.to(torch::kHalf);
  half.masters = whole.values.clone();
  half.first_moment = whole.first_moment.clone();
  half.second_moment = whole.second_moment.clone();
  for (int64_t step = 1; step <= 3; ++step) {
    const Tensor values = StepValuesOf(step, 1e-2);
    AdamWUpdate(whole, kFactors, values);
    AdamWUpdate(half, kFactors, values);
  }
  EXPECT_TRUE(half.masters.equal(whole.values));
  EXPECT_TRUE(half.values.equal(whole.values.to(torch::kHalf)));
  EXPECT_TRUE(half.second_moment.equal(whole.second_moment));
}

TEST(AdamWUpdateTest, AStepThatIsNotFiniteChangesNothing) {
  torch::manual_seed(2);
  const AdamWState state = FreshState(100);
  const Tensor before = state.values.clone();
  Tensor values = StepValuesOf(1, 1e-2);
  SetValue(values, StepValue::kFinite, 0);
  AdamWUpdate(state, kFactors, values);
  EXPECT_TRUE(state.values.equal(before));
  EXPECT_EQ(state.first_moment.abs().max().item<float>(), 0);
}

// If epsilon is 0 and an embedding row's token has not occurred yet, the update of the row would be
// 0 / 0.
TEST(AdamWUpdateTest, WithoutAGradientAndEpsilonTheWeightStays) {
  torch::manual_seed(7);
  AdamWState state = FreshState(100);
  state.gradients.narrow(0, 0, 50).zero_();
  const Tensor before = state.values.clone();
  AdamWUpdate(state, {.beta1 = 0.9, .beta2 = 0.95}, StepValuesOf(1, 1e-2));
  EXPECT_TRUE(state.values.narrow(0, 0, 50).equal(before.narrow(0, 0, 50)));
  EXPECT_TRUE(state.values.isfinite().all().item<bool>());
  EXPECT_FALSE(state.values.narrow(0, 50, 50).equal(before.narrow(0, 50, 50)));
}

// The weights of the old moment and of the new square must add up to 1, even if beta2 is close to
// 1.
TEST(AdamWUpdateTest, TheSecondMomentOfASteadyGradientIsItsSquare) {
  AdamWState state = FreshState(4);
  state.gradients.fill_(3);
  state.second_moment.fill_(9);
  const AdamWFactors slow{.beta1 = 0.9, .beta2 = 0.9999999, .epsilon = 1e-8};
  for (int64_t step = 1; step <= 100; ++step) AdamWUpdate(state, slow, StepValuesOf(step, 0));
  EXPECT_TRUE(state.second_moment.equal(torch::full({4}, 9.0f)));
}

TEST(AdamWUpdateTest, ClipsByTheGradientScale) {
  torch::manual_seed(3);
  const AdamWState clipped = FreshState(100);
  AdamWState scaled = clipped;
  scaled.values = clipped.values.clone();
  scaled.gradients = clipped.gradients * 0.25;
  scaled.first_moment = clipped.first_moment.clone();
  scaled.second_moment = clipped.second_moment.clone();
  Tensor values = StepValuesOf(1, 1e-2);
  AdamWUpdate(scaled, kFactors, values);
  SetValue(values, StepValue::kGradientScale, 0.25);
  AdamWUpdate(clipped, kFactors, values);
  EXPECT_TRUE(clipped.values.equal(scaled.values));
}

// A bf16 second moment that decays by a factor of 0.999 per step changes by less than half of the
// spacing of bf16 numbers. With rounding to nearest, the moment would never change.
TEST(AdamWUpdateTest, SixteenBitMomentsAreRightOnAverage) {
  AdamWState state = FreshState(20000, torch::kBFloat16);
  state.gradients = torch::zeros({20000});
  state.second_moment.fill_(1);
  const AdamWFactors slow{.beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8};
  for (int64_t step = 1; step <= 50; ++step) AdamWUpdate(state, slow, StepValuesOf(step, 0));
  EXPECT_NEAR(state.second_moment.to(torch::kFloat64).mean().item<double>(), std::pow(0.999, 50),
              2e-4);
}

TEST(AdamWUpdateTest, RoundingDependsOnStepAndElementOnly) {
  torch::manual_seed(4);
  const AdamWState whole = FreshState(64, torch::kBFloat16);
  AdamWState part = whole;
  const auto second_half = [](const Tensor& tensor) { return tensor.narrow(0, 32, 32).clone(); };
  part.values = second_half(whole.values);
  part.gradients = second_half(whole.gradients);
  part.first_moment = second_half(whole.first_moment);
  part.second_moment = second_half(whole.second_moment);
  part.first_element = 32;
  AdamWUpdate(whole, kFactors, StepValuesOf(1, 1e-2));
  AdamWUpdate(part, kFactors, StepValuesOf(1, 1e-2));
  EXPECT_TRUE(part.first_moment.equal(whole.first_moment.narrow(0, 32, 32)));
  EXPECT_TRUE(part.second_moment.equal(whole.second_moment.narrow(0, 32, 32)));
}

Tensor Finish(const Tensor& gradients, double max_norm, double loss = 1) {
  Tensor sum = torch::empty({1}, torch::kFloat64), scalar = sum[0];
  SquaredSum(gradients, scalar);
  Tensor values = torch::zeros({kStepValues}, torch::kFloat64);
  SetValue(values, StepValue::kLoss, loss);
  FinishNorm(torch::cat({sum, sum}), max_norm, values);
  return values;
}

TEST(FinishNormTest, AddsTheSquaresOfAllParts) {
  torch::manual_seed(5);
  const Tensor gradients = torch::randn({70000});
  const double expected = std::sqrt(2.0) * gradients.to(torch::kFloat64).norm().item<double>();
  const Tensor values = Finish(gradients, 0);
  EXPECT_NEAR(ValueOf(values, StepValue::kGradientNorm), expected, 1e-6 * expected);
  EXPECT_EQ(ValueOf(values, StepValue::kGradientScale), 1);
  EXPECT_EQ(ValueOf(values, StepValue::kFinite), 1);
}

TEST(FinishNormTest, ClipsOnlyWhatIsTooLarge) {
  const Tensor two = torch::full({2}, 1.0f);  // Norm of both parts together: 2.
  EXPECT_EQ(ValueOf(Finish(two, 4), StepValue::kGradientScale), 1);
  EXPECT_NEAR(ValueOf(Finish(two, 0.5), StepValue::kGradientScale), 0.25, 1e-7);
}

// The square of the gradient overflows in fp32 unless the gradient is clipped first.
TEST(FinishNormTest, RefusesSquaresThatOverflow) {
  const Tensor huge = torch::full({1}, 2e19f);
  EXPECT_EQ(ValueOf(Finish(huge, 0), StepValue::kFinite), 0);
  EXPECT_EQ(ValueOf(Finish(huge, 1), StepValue::kFinite), 1);
}

TEST(FinishNormTest, KnowsWhatIsNotFinite) {
  Tensor gradients = torch::ones({3});
  EXPECT_EQ(ValueOf(Finish(gradients, 1, std::nan("")), StepValue::kFinite), 0);
  gradients[1] = std::numeric_limits<float>::infinity();
  EXPECT_EQ(ValueOf(Finish(gradients, 1), StepValue::kFinite), 0);
}

}  // namespace
}  // namespace trainyard::trainer
