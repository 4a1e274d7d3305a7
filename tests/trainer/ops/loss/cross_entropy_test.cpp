#include "trainer/ops/loss/cross_entropy.h"

#include <gtest/gtest.h>

#include "tests/trainer/ops/gradient_check.h"
#include "tests/trainer/ops/references.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

struct Problem {
  Tensor logits = RandomDouble({7, 11});
  Targets targets{torch::randint(0, 11, {7}, torch::kInt64), torch::rand({7}, torch::kFloat64)};
};

struct Computed {
  double loss = 0;
  Tensor logits;
};

Computed Compute(const Tensor& logits, const Targets& targets, LossPass pass) {
  Tensor loss = torch::zeros({}, torch::kFloat64), copy = logits.clone();
  CrossEntropy(copy, targets, pass, loss);
  return {loss.item<double>(), copy};
}

TEST(CrossEntropyTest, LossAndGradientEqualLogSoftmax) {
  torch::manual_seed(1);
  const Problem p;
  const Tensor logits = p.logits.clone().set_requires_grad(true);
  const Tensor expected = reference::CrossEntropy(logits, p.targets.tokens, p.targets.weights);
  expected.backward();
  const Computed result = Compute(p.logits, p.targets, LossPass::kLossAndGradient);
  EXPECT_NEAR(result.loss, expected.item<double>(), 1e-12);
  EXPECT_LT(RelativeError(result.logits, logits.grad()), 1e-13);
}

TEST(CrossEntropyTest, LossIsTheSameWithoutGradients) {
  torch::manual_seed(2);
  const Problem p;
  EXPECT_EQ(Compute(p.logits, p.targets, LossPass::kLossOnly).loss,
            Compute(p.logits, p.targets, LossPass::kLossAndGradient).loss);
}

TEST(CrossEntropyTest, AddsToTheLoss) {
  torch::manual_seed(3);
  const Problem p;
  Tensor loss = torch::full({}, 5.0, torch::kFloat64), logits = p.logits.clone();
  CrossEntropy(logits, p.targets, LossPass::kLossOnly, loss);
  EXPECT_NEAR(loss.item<double>() - 5, Compute(p.logits, p.targets, LossPass::kLossOnly).loss,
              1e-12);
}

TEST(CrossEntropyTest, RowsWithoutWeightCountNothing) {
  torch::manual_seed(4);
  Problem p;
  p.targets.weights[3] = 0;
  const Computed result = Compute(p.logits, p.targets, LossPass::kLossAndGradient);
  EXPECT_EQ(result.logits[3].abs().max().item<double>(), 0);
  EXPECT_GT(result.logits[4].abs().max().item<double>(), 0);
}

TEST(CrossEntropyTest, HugeLogitsStayFinite) {
  const Tensor logits = torch::tensor({{1e4f, -1e4f}});
  const Targets targets{torch::zeros({1}, torch::kInt64), torch::ones({1})};
  EXPECT_EQ(Compute(logits, targets, LossPass::kLossAndGradient).loss, 0);
}

// bf16 cannot represent a weight such as 1 / (24 * 2048 tokens). Therefore the weight must not be
// rounded before it multiplies the gradient.
TEST(CrossEntropyTest, SixteenBitGradientsAreRoundedOnce) {
  torch::manual_seed(5);
  const Problem p;
  const Tensor logits = p.logits.to(torch::kBFloat16);
  const Targets targets{p.targets.tokens, torch::full({7}, 1.0 / 49152, torch::kFloat32)};
  const Tensor expected =
      Compute(logits.to(torch::kFloat32), targets, LossPass::kLossAndGradient).logits;
  EXPECT_TRUE(Compute(logits, targets, LossPass::kLossAndGradient)
                  .logits.equal(expected.to(torch::kBFloat16)));
}

}  // namespace
}  // namespace trainyard::trainer
