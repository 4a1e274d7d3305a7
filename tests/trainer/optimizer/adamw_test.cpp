#include "trainer/optimizer/adamw.h"

#include <gtest/gtest.h>
#include <torch/optim.h>
#include <torch/utils.h>

#include <cmath>

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// A decaying matrix longer than one piece of an update, and a vector that does not decay.
std::vector<ParameterDeclaration> Declarations() {
  return {{{WholeLogicalTensor("matrix", {300, 130}, 0.5)}, true},
          {{WholeLogicalTensor("norm", {7}, 0)}, false}};
}

void SetGradients(ParameterStore& store, int seed) {
  torch::manual_seed(seed);
  store.ZeroGradients();
  for (int64_t i = 0; i < store.size(); ++i) {
    store.Gradient(i).copy_(torch::randn(store.Gradient(i).sizes()));
  }
}

TEST(AdamWTest, EqualsLibTorchOverManySteps) {
  OptimizerConfig config;
  config.weight_decay = 0.3;
  ParameterStore store(Declarations(), torch::kFloat32, torch::kCPU, 1);
  AdamW ours(config, store);
  std::vector<Tensor> theirs;
  for (int64_t i = 0; i < store.size(); ++i) {
    theirs.push_back(store.Value(i).detach().clone().set_requires_grad(true));
  }
  const auto options = [&](double decay) {
    return std::make_unique<torch::optim::AdamWOptions>(
        torch::optim::AdamWOptions(1e-2).betas({0.9, 0.95}).eps(1e-8).weight_decay(decay));
  };
  std::vector<torch::optim::OptimizerParamGroup> groups;
  groups.emplace_back(std::vector<Tensor>{theirs[0]}, options(0.3));
  groups.emplace_back(std::vector<Tensor>{theirs[1]}, options(0));
  torch::optim::AdamW reference(groups);
  for (int step = 1; step <= 5; ++step) {
    SetGradients(store, step);
    for (int64_t i = 0; i < store.size(); ++i) {
      theirs[i].mutable_grad() = store.Gradient(i).clone();
    }
    ours.Step(step, 1e-2, 1);
    reference.step();
  }
  for (int64_t i = 0; i < store.size(); ++i) {
    EXPECT_TRUE(torch::allclose(store.Value(i), theirs[i], 1e-5, 1e-6)) << i;
  }
}

TEST(AdamWTest, DecaysMatricesOnly) {
  OptimizerConfig config;
  config.weight_decay = 0.5;
  ParameterStore store(Declarations(), torch::kFloat32, torch::kCPU, 1);
  const Tensor before = store.Value(0).detach().clone();
  AdamW optimizer(config, store);
  optimizer.Step(1, 0.1, 1);  // All gradients are zero.
  EXPECT_TRUE(torch::allclose(store.Value(0), before * (1 - 0.1 * 0.5)));
  EXPECT_TRUE(store.Value(1).detach().equal(torch::ones({7})));
}

TEST(AdamWTest, GradientScaleIsThatOfTheGradients) {
  ParameterStore scaled(Declarations(), torch::kFloat32, torch::kCPU, 1);
  ParameterStore plain(Declarations(), torch::kFloat32, torch::kCPU, 1);
  AdamW one({}, scaled), two({}, plain);
  SetGradients(scaled, 1);
  SetGradients(plain, 1);
  plain.gradients().mul_(0.25);
  one.Step(1, 1e-2, 0.25);
  two.Step(1, 1e-2, 1);
  EXPECT_TRUE(scaled.master().equal(plain.master()));
  EXPECT_TRUE(one.second_moment().equal(two.second_moment()));
}

TEST(AdamWTest, MasterKeepsUpdatesThatSixteenBitsWouldLose) {
  ParameterStore store(Declarations(), torch::kBFloat16, torch::kCPU, 1);
  OptimizerConfig config;
  config.weight_decay = 0;
  AdamW optimizer(config, store);
  store.gradients().fill_(1);
  for (int step = 1; step <= 100; ++step) optimizer.Step(step, 1e-4, 1);
  // One step of 1e-4 is below the spacing of bfloat16 at 1 (0.0039); a hundred are not.
  EXPECT_NEAR(store.master()[store.decaying_elements()].item<float>(), 0.99, 1e-4);
  EXPECT_NEAR(store.Value(1)[0].item<float>(), 0.99, 0.004);
}

TEST(GradientNormTest, IsTheEuclideanNormOfAllGradients) {
  ParameterStore store(Declarations(), torch::kFloat32, torch::kCPU, 1);
  SetGradients(store, 3);
  double squares = 0;
  for (int64_t i = 0; i < store.size(); ++i) {
    squares += store.Gradient(i).to(torch::kFloat64).square().sum().item<double>();
  }
  EXPECT_NEAR(GradientNorm(store), std::sqrt(squares), 1e-6 * std::sqrt(squares));
}

TEST(GradientNormTest, IsNotFiniteWhenAGradientIsNot) {
  ParameterStore store(Declarations(), torch::kFloat32, torch::kCPU, 1);
  store.Gradient(1)[3] = std::nan("");
  EXPECT_FALSE(std::isfinite(GradientNorm(store)));
}

TEST(ClipScaleTest, ShrinksOnlyWhatIsTooLarge) {
  EXPECT_EQ(ClipScale(0.5, 1.0), 1.0);
  EXPECT_EQ(ClipScale(4.0, 1.0), 0.25);
  EXPECT_EQ(ClipScale(4.0, 0.0), 1.0);
}

}  // namespace
}  // namespace trainyard::trainer
