#include "trainer/ops/loss/vocabulary_cross_entropy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/trainer/ops/gradient_check.h"
#include "tests/trainer/ops/vocabulary_parts.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

constexpr int64_t kVocabulary = 11;

// Widths of the parts, one list per split.
const std::vector<std::vector<int64_t>> kSplits = {{11}, {4, 7}, {5, 1, 5}};

struct PartsProblem {
  Tensor logits = RandomDouble({7, kVocabulary});
  Targets targets{torch::tensor({0, 3, 4, 5, 6, 9, 10}, torch::kInt64),
                  torch::rand({7}, torch::kFloat64)};
};

PartsResult ComputeWhole(const Tensor& logits, const Targets& targets) {
  Tensor loss = torch::zeros({}, torch::kFloat64), copy = logits.clone();
  CrossEntropy(copy, targets, LossPass::kLossAndGradient, loss);
  return {{loss.item<double>()}, copy};
}

TEST(VocabularyCrossEntropyTest, PartsEqualTheWhole) {
  torch::manual_seed(1);
  const PartsProblem p;
  const PartsResult expected = ComputeWhole(p.logits, p.targets);
  for (const auto& widths : kSplits) {
    const PartsResult result =
        CrossEntropyOfParts(p.logits, p.targets, widths, LossPass::kLossAndGradient);
    EXPECT_LT(RelativeError(result.logits, expected.logits), 1e-13);
    for (const double loss : result.losses) {
      EXPECT_NEAR(loss, expected.losses[0], 1e-13);
      EXPECT_EQ(loss, result.losses[0]);
    }
  }
}

TEST(VocabularyCrossEntropyTest, SinglePrecisionPartsEqualTheWhole) {
  torch::manual_seed(2);
  const PartsProblem p;
  const PartsResult expected = ComputeWhole(p.logits, p.targets);
  const Targets targets{p.targets.tokens, p.targets.weights.to(torch::kFloat32)};
  for (const auto& widths : kSplits) {
    const PartsResult result = CrossEntropyOfParts(p.logits.to(torch::kFloat32), targets, widths,
                                                   LossPass::kLossAndGradient);
    EXPECT_LT(RelativeError(result.logits, expected.logits), 1e-6);
    EXPECT_NEAR(result.losses[0], expected.losses[0], 1e-5);
  }
}

TEST(VocabularyCrossEntropyTest, StatisticsAreThoseOfThePart) {
  const Tensor logits = torch::tensor({{1.0, 2.0, 0.5}, {-1.0, -3.0, -1.0}}, torch::kFloat64);
  const Tensor tokens = torch::tensor({6, 4}, torch::kInt64);
  Tensor statistics = torch::full({2, kCrossEntropyStatistics}, std::nan(""), torch::kFloat64);
  CrossEntropyStatistics(logits, tokens, /*first_token=*/5, statistics);
  const Tensor expected =
      torch::tensor({{2.0, std::exp(-1) + 1 + std::exp(-1.5), 2.0}, {-1.0, 2 + std::exp(-2), 0.0}},
                    torch::kFloat64);
  EXPECT_LT(RelativeError(statistics, expected), 1e-14);
}

TEST(VocabularyCrossEntropyTest, LossOnlyLeavesTheLogits) {
  torch::manual_seed(3);
  const PartsProblem p;
  const PartsResult result = CrossEntropyOfParts(p.logits, p.targets, {4, 7}, LossPass::kLossOnly);
  EXPECT_TRUE(result.logits.equal(p.logits));
  EXPECT_EQ(result.losses[0],
            CrossEntropyOfParts(p.logits, p.targets, {4, 7}, LossPass::kLossAndGradient).losses[0]);
}

TEST(VocabularyCrossEntropyTest, AddsToTheLoss) {
  torch::manual_seed(4);
  const PartsProblem p;
  Tensor loss = torch::full({}, 5.0, torch::kFloat64), logits = p.logits.clone();
  const Tensor combined = CombinedOf(p.logits, p.targets.tokens, {kVocabulary});
  CrossEntropyOfPart(logits, p.targets, 0, combined, LossPass::kLossOnly, loss);
  EXPECT_NEAR(loss.item<double>() - 5, ComputeWhole(p.logits, p.targets).losses[0], 1e-12);
}

TEST(VocabularyCrossEntropyTest, RowsWithoutWeightCountNothing) {
  torch::manual_seed(5);
  PartsProblem p;
  p.targets.weights[3] = 0;
  p.logits[3][2] = std::nan("");
  const PartsResult result =
      CrossEntropyOfParts(p.logits, p.targets, {4, 7}, LossPass::kLossAndGradient);
  EXPECT_TRUE(std::isfinite(result.losses[0]));
  EXPECT_EQ(result.logits[3].abs().max().item<double>(), 0);
  EXPECT_GT(result.logits[4].abs().max().item<double>(), 0);
}

TEST(VocabularyCrossEntropyTest, HugeLogitsStayFinite) {
  const Tensor logits = torch::tensor({{1e4f, -1e4f, 0.0f}});
  const Targets targets{torch::zeros({1}, torch::kInt64), torch::ones({1})};
  const PartsResult result =
      CrossEntropyOfParts(logits, targets, {1, 2}, LossPass::kLossAndGradient);
  EXPECT_EQ(result.losses[0], 0);
  EXPECT_EQ(result.logits.abs().max().item<double>(), 0);
}

// If a part contains only padding of the vocabulary, all its logits are minus infinity.
TEST(VocabularyCrossEntropyTest, PartsOfMinusInfinityAddNothing) {
  torch::manual_seed(6);
  PartsProblem p;
  const Tensor known = p.logits.narrow(1, 0, 8).clone();
  p.targets.tokens.clamp_max_(7);
  p.logits.narrow(1, 8, 3).fill_(-std::numeric_limits<double>::infinity());
  const PartsResult expected = ComputeWhole(known, p.targets);
  const PartsResult result =
      CrossEntropyOfParts(p.logits, p.targets, {8, 3}, LossPass::kLossAndGradient);
  EXPECT_NEAR(result.losses[1], expected.losses[0], 1e-13);
  EXPECT_LT(RelativeError(result.logits.narrow(1, 0, 8), expected.logits), 1e-13);
  EXPECT_EQ(result.logits.narrow(1, 8, 3).abs().max().item<double>(), 0);
}

TEST(VocabularyCrossEntropyTest, NanAndInfinityReachTheLoss) {
  torch::manual_seed(7);
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    PartsProblem p;
    p.logits[1][7] = bad;
    const PartsResult result =
        CrossEntropyOfParts(p.logits, p.targets, {4, 7}, LossPass::kLossOnly);
    EXPECT_FALSE(std::isfinite(result.losses[0]));
  }
}

TEST(VocabularyCrossEntropyTest, SixteenBitGradientsAreRoundedOnce) {
  torch::manual_seed(8);
  const PartsProblem p;
  const Tensor logits = p.logits.to(torch::kBFloat16);
  const Targets targets{p.targets.tokens, torch::full({7}, 1.0 / 49152, torch::kFloat32)};
  const Tensor expected =
      CrossEntropyOfParts(logits.to(torch::kFloat32), targets, {4, 7}, LossPass::kLossAndGradient)
          .logits;
  EXPECT_TRUE(CrossEntropyOfParts(logits, targets, {4, 7}, LossPass::kLossAndGradient)
                  .logits.equal(expected.to(torch::kBFloat16)));
}

}  // namespace
}  // namespace trainyard::trainer
