#include "trainer/step/expert_bias_update.h"

#include <gtest/gtest.h>

#include <vector>

#include "trainer/kernels/optimizer/step_values.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

Tensor StepValues(bool is_finite) {
  Tensor values = torch::zeros({kStepValues}, torch::kFloat64);
  values[static_cast<int64_t>(StepValue::kFinite)] = is_finite ? 1 : 0;
  return values;
}

TEST(ExpertBiasChangeTest, MovesTowardsTheMean) {
  const Tensor load = torch::tensor({{4, 1, 1, 2}, {0, 0, 0, 0}}, torch::kInt64);
  EXPECT_TRUE(ExpertBiasChange(load, 0.5).equal(
      torch::tensor({{-0.5F, 0.5F, 0.5F, 0.0F}, {0.0F, 0.0F, 0.0F, 0.0F}})));
}

// In fp32 these counts would be equal.
TEST(ExpertBiasChangeTest, ComparesLargeCountsExactly) {
  const int64_t many = int64_t{1} << 40;
  const Tensor load = torch::tensor(std::vector<int64_t>{many, many + 2}).unsqueeze(0);
  EXPECT_TRUE(ExpertBiasChange(load, 1).equal(torch::tensor({{1.0F, -1.0F}})));
}

TEST(UpdateExpertBiasTest, AStepThatIsNotFiniteChangesNothing) {
  const Tensor load = torch::tensor({{5, 2, 2}}, torch::kInt64);
  Tensor bias = torch::zeros({1, 3});
  UpdateExpertBias(load, 0.001, StepValues(false), bias);
  EXPECT_TRUE(bias.equal(torch::zeros({1, 3})));
  UpdateExpertBias(load, 0.001, StepValues(true), bias);
  EXPECT_TRUE(bias.equal(torch::tensor({{-0.001F, 0.001F, 0.001F}})));
}

}  // namespace
}  // namespace trainyard::trainer
