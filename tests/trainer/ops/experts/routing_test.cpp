#include "trainer/ops/experts/routing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/trainer/ops/gradient_check.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

constexpr auto kSoftmax = RouterScoreFunction::kSoftmax;
constexpr auto kSigmoid = RouterScoreFunction::kSigmoid;

Tensor Row(const std::vector<double>& values) {
  return torch::tensor(values, torch::kFloat64).unsqueeze(0);
}

std::vector<int64_t> Chosen(const std::vector<double>& scores, const RouterForm& form,
                            const std::vector<double>& bias = {}) {
  const Tensor biases = bias.empty() ? Tensor() : torch::tensor(bias, torch::kFloat64);
  const Tensor chosen = ChooseExperts(Row(scores), biases, form);
  return {chosen.data_ptr<int64_t>(), chosen.data_ptr<int64_t>() + chosen.numel()};
}

TEST(RoutingTest, ChoosesTheLargestScores) {
  EXPECT_EQ(Chosen({0.1, 0.4, 0.2, 0.3}, {.topk = 2}), (std::vector<int64_t>{1, 3}));
}

TEST(RoutingTest, OfEqualScoresTheLowerNumberWins) {
  EXPECT_EQ(Chosen({0.1, 0.3, 0.3, 0.3}, {.topk = 2}), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(Chosen(std::vector<double>(40, 0.5), {.topk = 3}), (std::vector<int64_t>{0, 1, 2}));
}

TEST(RoutingTest, TheBiasMovesTheChoiceButNotTheWeights) {
  const RouterForm form{.score = kSigmoid, .topk = 1, .is_normalised = false};
  EXPECT_EQ(Chosen({0.6, 0.5}, form, {0, 0.2}), (std::vector<int64_t>{1}));
  EXPECT_EQ(ExpertWeights(Row({0.6, 0.5}), torch::tensor({{int64_t{1}}}), form).item<double>(),
            0.5);
}

// Experts 0 and 1 have the best score, but the sum of the two best scores is largest in the last
// group.
TEST(RoutingTest, GroupsAreJudgedByTheirTwoBestScores) {
  const RouterForm form{.score = kSigmoid, .topk = 2, .groups = 3, .group_topk = 1};
  EXPECT_EQ(Chosen({0.9, 0.1, 0.5, 0.45, 0.6, 0.55}, form), (std::vector<int64_t>{4, 5}));
}

// All scores of the kept group are negative because of the bias.
TEST(RoutingTest, ExpertsOfOtherGroupsAreNeverChosen) {
  const RouterForm form{.score = kSigmoid, .topk = 2, .groups = 2, .group_topk = 1};
  EXPECT_EQ(Chosen({0.5, 0.5, 0.5, 0.5}, form, {-3, -3, -1, -2}), (std::vector<int64_t>{2, 3}));
}

TEST(RoutingTest, NormalisedSoftmaxIsTheSoftmaxOfTheChosenLogits) {
  const RouterForm form{.topk = 2};
  const Tensor scores = RouterScores(Row({1, 3, 2}), form);
  const Tensor weights = ExpertWeights(scores, ChooseExperts(scores, {}, form), form);
  EXPECT_NEAR(weights[0][0].item<double>(), 1 / (1 + std::exp(-1.0)), 1e-15);
  EXPECT_NEAR(weights.sum().item<double>(), 1, 1e-15);
}

TEST(RoutingTest, SigmoidWeightsAreNormalisedAndScaled) {
  const RouterForm form{.score = kSigmoid, .topk = 2, .scaling = 2.5};
  const Tensor weights =
      ExpertWeights(Row({0.2, 0.6}), torch::tensor({{int64_t{1}, int64_t{0}}}), form);
  EXPECT_NEAR(weights[0][0].item<double>(), 2.5 * 0.6 / 0.8, 1e-15);
  EXPECT_NEAR(weights[0][1].item<double>(), 2.5 * 0.2 / 0.8, 1e-15);
}

TEST(RoutingTest, SixteenBitLogitsAreScoredInSinglePrecision) {
  const Tensor logits = torch::randn({4, 8}).to(torch::kBFloat16);
  EXPECT_EQ(RouterScores(logits, {}).scalar_type(), torch::kFloat32);
}

TEST(RoutingTest, CountsRowsOfExpertsWithoutRows) {
  const Tensor counts =
      CountRows(torch::tensor({{int64_t{2}, int64_t{0}}, {int64_t{2}, int64_t{3}}}), 5);
  EXPECT_TRUE(counts.equal(torch::tensor(std::vector<int64_t>{1, 0, 2, 1, 0})));
}

TEST(RoutingTest, ABalancedChoiceGoesRoundTheExperts) {
  const Tensor experts = BalancedExperts(8, 4, 3, torch::kCPU);
  EXPECT_TRUE(experts[0].equal(torch::tensor(std::vector<int64_t>{0, 1, 2})));
  EXPECT_TRUE(experts[7].equal(torch::tensor(std::vector<int64_t>{3, 0, 1})));
  EXPECT_TRUE(CountRows(experts, 4).equal(torch::full({4}, 6, torch::kInt64)));
}

struct GradientCase {
  std::string name;
  RouterForm form;
};

class RouterGradientTest : public ::testing::TestWithParam<GradientCase> {};

TEST_P(RouterGradientTest, EqualsCentralDifferencesOfAFrozenChoice) {
  torch::manual_seed(3);
  const RouterForm form = GetParam().form;
  const Tensor logits = RandomDouble({5, 8});
  const Tensor scores = RouterScores(logits, form), experts = ChooseExperts(scores, {}, form);
  const Tensor d_weights = OutputWeights(ExpertWeights(scores, experts, form));
  const Tensor expected = CentralDifferences(
      [&](const Tensor& moved) {
        return (ExpertWeights(RouterScores(moved, form), experts, form) * d_weights)
            .sum()
            .item<double>();
      },
      logits);
  EXPECT_LT(RelativeNorm(RouterLogitGradient(d_weights, scores, experts, form), expected), 1e-9);
}

INSTANTIATE_TEST_SUITE_P(
    Forms, RouterGradientTest,
    ::testing::Values(
        GradientCase{"Mixtral", {.topk = 2}},
        GradientCase{"Olmoe", {.topk = 3, .is_normalised = false, .scaling = 1.5}},
        GradientCase{"DeepSeekV3",
                     {.score = kSigmoid, .topk = 4, .scaling = 2.5, .groups = 4, .group_topk = 2}},
        GradientCase{"PlainSigmoid", {.score = kSigmoid, .topk = 2, .is_normalised = false}},
        GradientCase{"OneExpert", {.topk = 1, .is_normalised = false}},
        GradientCase{"AllExperts", {.topk = 8}}),
    [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace trainyard::trainer
