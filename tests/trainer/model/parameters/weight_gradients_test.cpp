#include "trainer/model/parameters/weight_gradients.h"

#include <gtest/gtest.h>

#include <cmath>

namespace trainyard::trainer {
namespace {

using torch::Tensor;

std::vector<GroupDeclaration> TwoMatrices() {
  return {{"first", {{{WholeLogicalTensor("a", {2, 3}, 1)}, true}}},
          {"second", {{{WholeLogicalTensor("b", {2, 3}, 1)}, true}}}};
}

class WeightGradientsTest : public testing::Test {
 protected:
  WeightGradientsTest() : store_(TwoMatrices(), torch::kFloat32, torch::kCPU, 1) {
    torch::manual_seed(1);
    dy_ = torch::randn({4, 2});
    x_ = torch::randn({4, 3});
    product_ = dy_.t().matmul(x_);
  }

  ParameterStore store_;
  Tensor dy_;
  Tensor x_;
  Tensor product_;
};

TEST_F(WeightGradientsTest, TheFirstOfAStepOverwritesAndTheOthersAdd) {
  WeightGradients gradients(store_);
  for (int step = 0; step < 2; ++step) {
    gradients.BeginStep();
    gradients.AddLinear(0, dy_, x_);
    EXPECT_TRUE(store_.Gradient(0).equal(product_));
    gradients.AddLinear(0, dy_, x_);
    EXPECT_TRUE(torch::allclose(store_.Gradient(0), 2 * product_));
  }
  EXPECT_FALSE(gradients.Target(1).accumulate);
  EXPECT_TRUE(gradients.Target(1).accumulate);
}

TEST_F(WeightGradientsTest, BiasesAreAddedAtOnceWhereThereAreAny) {
  ParameterStore store({{"group", {{{LogicalVector("bias", 2, 0)}, false}}}}, torch::kFloat32,
                       torch::kCPU, 1);
  WeightGradients gradients(store, WeightGradients::Timing::kDeferred);
  gradients.AddBias(-1, dy_);
  gradients.AddBias(0, dy_);
  gradients.AddBias(0, dy_);
  EXPECT_TRUE(torch::allclose(store.Gradient(0), 2 * dy_.sum(0)));
}

// Two experts with matrices [1, 3]. The first expert has all rows of the first micro-batch.
TEST_F(WeightGradientsTest, GroupedProductsWriteZerosForExpertsWithoutRows) {
  const Tensor dy = dy_.narrow(1, 0, 1);
  for (const auto timing : {WeightGradients::Timing::kAtOnce, WeightGradients::Timing::kDeferred}) {
    WeightGradients gradients(store_, timing);
    for (int step = 0; step < 2; ++step) {
      store_.Gradient(0).fill_(NAN);
      gradients.BeginStep();
      gradients.AddGrouped(0, dy, x_, {4, 0});
      gradients.RunDeferred();
      EXPECT_TRUE(store_.Gradient(0)[0].equal(dy.t().matmul(x_)[0]));
      EXPECT_TRUE(store_.Gradient(0)[1].equal(torch::zeros({3})));
      gradients.AddGrouped(0, dy, x_, {0, 4});
      gradients.RunDeferred();
      EXPECT_TRUE(store_.Gradient(0)[0].equal(store_.Gradient(0)[1]));
    }
  }
}

TEST_F(WeightGradientsTest, DeferredProductsRunInOrderWhenAsked) {
  WeightGradients gradients(store_, WeightGradients::Timing::kDeferred);
  std::vector<int64_t> finished;
  gradients.OnGroupFinished([&](int64_t group) {
    finished.push_back(group);
    EXPECT_TRUE(store_.Gradient(group).equal(product_));
  });
  gradients.BeginStep();
  gradients.AddLinear(0, dy_, x_);
  gradients.FinishGroup(0);
  gradients.AddLinear(1, dy_, x_);
  gradients.FinishGroup(1);
  EXPECT_TRUE(finished.empty());
  EXPECT_EQ(store_.Gradient(0).abs().max().item<float>(), 0);
  gradients.RunDeferred();
  EXPECT_EQ(finished, (std::vector<int64_t>{0, 1}));
}

}  // namespace
}  // namespace trainyard::trainer
