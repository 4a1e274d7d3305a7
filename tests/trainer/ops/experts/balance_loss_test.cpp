#include "trainer/ops/experts/balance_loss.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/trainer/ops/gradient_check.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

constexpr int64_t kExperts = 6;

// Returns the loss by its formula, computed one sequence after another.
double PlainBalanceLoss(const Tensor& logits, const RouterForm& form, const Tensor& counts,
                        int64_t sequences) {
  const Tensor scores = RouterScores(logits, form);
  const Tensor shares = scores / scores.sum(1, true);
  const int64_t tokens = logits.size(0) / sequences;
  double sum = 0;
  for (int64_t i = 0; i < sequences; ++i) {
    const Tensor f = counts[i] * (static_cast<double>(kExperts) / (form.topk * tokens));
    sum += (f * shares.narrow(0, i * tokens, tokens).mean(0)).sum().item<double>();
  }
  return sum / static_cast<double>(sequences);
}

void ExpectGradient(const RouterForm& form, int64_t sequences) {
  torch::manual_seed(2);
  const Tensor logits = RandomDouble({12, kExperts});
  const int64_t length = 12 / sequences;
  const BalanceSequences all{.count = sequences, .length = length, .first = 0, .tokens = length};
  const Tensor counts = BalanceCounts(RouterScores(logits, form), form.topk, all);
  const Tensor expected = CentralDifferences(
      [&](const Tensor& moved) { return 0.01 * PlainBalanceLoss(moved, form, counts, sequences); },
      logits);
  Tensor d_logits = torch::zeros_like(logits);
  AddBalanceGradient(RouterScores(logits, form), form, counts, all, 0.01, d_logits);
  EXPECT_LT(RelativeNorm(d_logits, expected), 1e-7);
}

TEST(BalanceLossTest, GradientsEqualCentralDifferences) {
  for (const auto score : {RouterScoreFunction::kSoftmax, RouterScoreFunction::kSigmoid}) {
    for (const int64_t sequences : {1, 3}) {
      SCOPED_TRACE(sequences);
      ExpectGradient({.score = score, .topk = 2}, sequences);
    }
  }
}

TEST(BalanceLossTest, EvenLoadHasALossOfOne) {
  const RouterForm form{.topk = 2};
  const Tensor scores = RouterScores(torch::zeros({12, kExperts}, torch::kFloat64), form);
  const Tensor counts = torch::full({1, kExperts}, int64_t{4});
  const BalanceSequences one{.count = 1, .length = 12, .first = 0, .tokens = 12};
  EXPECT_NEAR(BalanceLoss(scores, form, counts, one).item<double>(), 1, 1e-12);
}

TEST(BalanceLossTest, ValuesEqualTheFormula) {
  torch::manual_seed(5);
  const RouterForm form{.score = RouterScoreFunction::kSigmoid, .topk = 2};
  const Tensor logits = RandomDouble({12, kExperts}), scores = RouterScores(logits, form);
  const BalanceSequences all{.count = 3, .length = 4, .first = 0, .tokens = 4};
  const Tensor counts = BalanceCounts(scores, form.topk, all);
  const double expected = PlainBalanceLoss(logits, form, counts, 3);
  EXPECT_NEAR(BalanceLoss(scores, form, counts, all).item<double>(), expected, 1e-12);
  double sum = 0;
  for (const int64_t first : {0, 6}) {
    BalanceSequences part = all;
    part.first = first;
    sum += BalanceLoss(scores.narrow(0, first, 6), form, counts, part).item<double>();
  }
  EXPECT_NEAR(sum, expected, 1e-12);
}

TEST(BalanceLossTest, EntropiesAreSharesOfTheHighest) {
  const Tensor scores = torch::tensor(
      {{0.5, 0.5, 0.5, 0.5}, {0.0, 2.0, 0.0, 0.0}, {0.3, 0.3, 0.0, 0.0}}, torch::kFloat64);
  EXPECT_LT((ScoreEntropies(scores) - torch::tensor({1.0, 0.0, 0.5}, torch::kFloat64))
                .abs()
                .max()
                .item<double>(),
            1e-12);
  EXPECT_TRUE(ScoreEntropies(torch::full({2, 1}, 0.7)).equal(torch::ones({2})));
}

// Two ranks share three sequences of four rows; each rank has six rows.
TEST(BalanceLossTest, PartsOfTheRowsAddUp) {
  torch::manual_seed(3);
  const RouterForm form{.score = RouterScoreFunction::kSigmoid, .topk = 2};
  const Tensor scores = RouterScores(RandomDouble({12, kExperts}), form);
  const BalanceSequences all{.count = 3, .length = 4, .first = 0, .tokens = 4};
  const Tensor counts = BalanceCounts(scores, form.topk, all);
  Tensor expected = torch::zeros_like(scores), parts = torch::zeros_like(scores),
         sum = torch::zeros_like(counts);
  AddBalanceGradient(scores, form, counts, all, 0.5, expected);
  for (const int64_t first : {0, 6}) {
    BalanceSequences part = all;
    part.first = first;
    sum += BalanceCounts(scores.narrow(0, first, 6), form.topk, part);
    Tensor d_logits = parts.narrow(0, first, 6);
    AddBalanceGradient(scores.narrow(0, first, 6), form, counts, part, 0.5, d_logits);
  }
  EXPECT_TRUE(sum.equal(counts));
  EXPECT_LT(RelativeError(parts, expected), 1e-14);
}

// The counts must follow the scores alone, although a router's bias may lead to a different choice.
TEST(BalanceLossTest, CountsFollowTheScoresAlone) {
  const Tensor scores = torch::tensor({{0.9, 0.8, 0.1}, {0.9, 0.2, 0.3}}, torch::kFloat64);
  const Tensor counts =
      BalanceCounts(scores, 2, {.count = 2, .length = 1, .first = 0, .tokens = 1});
  EXPECT_TRUE(counts.equal(torch::tensor({{1, 1, 0}, {1, 0, 1}}, torch::kInt64)));
}

TEST(BalanceLossTest, ZLossGradientEqualsCentralDifferences) {
  torch::manual_seed(4);
  const Tensor logits = RandomDouble({5, kExperts});
  const Tensor expected = CentralDifferences(
      [](const Tensor& moved) {
        return 1e-3 * at::logsumexp(moved, 1).square().mean().item<double>();
      },
      logits);
  Tensor d_logits = torch::zeros_like(logits);
  AddZLossGradient(logits, /*tokens=*/5, 1e-3, d_logits);
  EXPECT_LT(RelativeNorm(d_logits, expected), 1e-8);
}

}  // namespace
}  // namespace trainyard::trainer
