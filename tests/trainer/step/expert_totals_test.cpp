#include "trainer/step/expert_totals.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <vector>

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// A dense layer, then two layers with three experts, two experts per token.
class ExpertTotalsTest : public ::testing::Test {
 protected:
  ExpertTotalsTest() {
    model_.num_layers = 3;
    model_.num_experts = 3;
    model_.moe_router_topk = 2;
    model_.moe_dense_layers = 1;
    balance_.load = torch::tensor({{0, 0, 0}, {5, 2, 1}, {2, 2, 2}}, torch::kInt64);
    balance_.dropped = torch::tensor({0, 3, 0}, torch::kInt64);
    balance_.figures = torch::zeros({3, kRouterFigures}, torch::kFloat64);
  }

  void Set(int64_t layer, RouterFigure figure, double value) {
    balance_.Figure(layer, figure).fill_(value);
  }

  std::vector<LayerBalance> Read() { return ReadExpertTotals(model_, totals_.Sum()); }

  ModelConfig model_;
  ExpertBalance balance_;
  const std::unique_ptr<Communicator> alone_ = MakeSingleProcessCommunicator();
  ExpertTotals totals_{balance_, *alone_};
};

TEST_F(ExpertTotalsTest, LayersHaveTheFiguresOfTheStep) {
  Set(1, RouterFigure::kEntropy, 3);
  Set(1, RouterFigure::kAuxLoss, 1.25);
  const std::vector<LayerBalance> layers = Read();
  ASSERT_EQ(layers.size(), 2u);
  EXPECT_EQ(layers[0].layer, 1);
  EXPECT_EQ(layers[0].load, (std::vector<int64_t>{5, 2, 1}));
  EXPECT_EQ(layers[0].dropped, 3);
  EXPECT_EQ(layers[0].rows(), 8);
  EXPECT_DOUBLE_EQ(layers[0].balance(), 5 / (8 / 3.0));
  EXPECT_DOUBLE_EQ(layers[0].entropy, 0.75) << "3 over four tokens";
  EXPECT_DOUBLE_EQ(layers[0].aux_loss, 1.25);
  EXPECT_EQ(layers[1].layer, 2);
  EXPECT_DOUBLE_EQ(layers[1].balance(), 1);
}

// bf16 has 8 bits of precision, and fp32 has 24.
TEST_F(ExpertTotalsTest, CountsAreExact) {
  const int64_t many = (int64_t{1} << 40) + 1;
  balance_.load[1][0].fill_(many);
  EXPECT_EQ(Read()[0].load[0], many);
  EXPECT_EQ(LoadsOf(totals_.Sum())[1][0].item<int64_t>(), many);
}

TEST_F(ExpertTotalsTest, AStepBeginsWithoutCounts) {
  Set(1, RouterFigure::kEntropy, 3);
  totals_.BeginStep(true);
  EXPECT_TRUE(balance_.measures);
  EXPECT_EQ(Read()[0].rows(), 0);
  EXPECT_EQ(Read()[0].dropped, 0);
  EXPECT_EQ(Read()[0].entropy, 0);
  EXPECT_EQ(Read()[0].balance(), 1);
}

TEST_F(ExpertTotalsTest, TheFirstRouterThatIsNotFiniteIsFound) {
  EXPECT_EQ(FirstBadRouter(Read()), std::nullopt);
  Set(2, RouterFigure::kLogits, std::nan(""));
  Set(2, RouterFigure::kEntropy, std::nan(""));
  EXPECT_EQ(FirstBadRouter(Read()), 2);
  Set(1, RouterFigure::kLogits, std::numeric_limits<double>::infinity());
  EXPECT_EQ(FirstBadRouter(Read()), 1);
}

TEST_F(ExpertTotalsTest, ModelsWithoutExpertsHaveNone) {
  ExpertBalance none;
  ExpertTotals totals(none, *alone_);
  totals.BeginStep(true);
  EXPECT_FALSE(totals.Sum().defined());
}

}  // namespace
}  // namespace trainyard::trainer
