#include "trainer/ops/loss/cross_entropy.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/trainer/gpu/accuracy.h"
#include "tests/trainer/ops/references.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

struct LossCase {
  Tensor logits;
  Targets targets;
};

// Every fifth row has weight 0. The other weights are about 1 / 49,152, as in a batch of 49,152
// tokens; bf16 cannot represent them exactly.
LossCase RandomLoss(int64_t rows, int64_t vocabulary, torch::ScalarType type) {
  const Tensor counts = torch::arange(rows, OnGpu(torch::kInt64)).remainder(5) != 4;
  const Tensor weights = torch::rand({rows}, OnGpu(torch::kFloat32)) / 49152 * counts;
  return {RandomOnGpu({rows, vocabulary}, type) * 3,
          {torch::randint(0, vocabulary, {rows}, OnGpu(torch::kInt64)), weights}};
}

struct LossResult {
  double loss = 0;
  Tensor logits;
};

LossResult ComputeLoss(const LossCase& c, LossPass pass) {
  Tensor loss = torch::zeros({}, OnGpu(torch::kFloat64)), logits = c.logits.clone();
  CrossEntropy(logits, c.targets, pass, loss);
  return {loss.item<double>(), logits};
}

// Computes the reference in fp64, with gradients by autograd.
LossResult LossByAutograd(const LossCase& c) {
  const Tensor logits = Wide(c.logits).set_requires_grad(true);
  const Tensor loss = reference::CrossEntropy(logits, c.targets.tokens, Wide(c.targets.weights));
  return {loss.item<double>(), torch::autograd::grad({loss}, {logits})[0]};
}

// A row's loss is computed from numbers of about 1. The rounding error is relative to these
// numbers, even if the loss is small.
double LossTolerance(const LossCase& c, double loss) {
  return kShortSumTolerance * (loss + c.targets.weights.sum().item<double>());
}

// The gradient at a target is w * (p - 1). If p is nearly 1, the subtraction cancels, so the error
// is relative to p.
void ExpectLossGradient(const LossCase& c, const Tensor& actual, const Tensor& expected) {
  ExpectAccurate(actual, expected, kShortSumTolerance, NormOf(c.targets.weights));
}

void ExpectLossEqualsAutograd(const LossCase& c) {
  const LossResult expected = LossByAutograd(c);
  const LossResult result = ComputeLoss(c, LossPass::kLossAndGradient);
  EXPECT_NEAR(result.loss, expected.loss, LossTolerance(c, expected.loss));
  ExpectLossGradient(c, result.logits, expected.logits);
  EXPECT_EQ(ComputeLoss(c, LossPass::kLossOnly).loss, result.loss);
}

TEST(CrossEntropyGpuTest, EqualsAutogradForEveryShape) {
  torch::manual_seed(1);
  for (const torch::ScalarType type : kGpuTypes) {
    for (const int64_t vocabulary : {2, 31, 50257, 50304, 128256}) {
      for (const int64_t rows : {1, 3, 127, 4096}) {
        if (rows * vocabulary > int64_t{1} << 26) continue;
        SCOPED_TRACE(ShapeName(type, {rows, vocabulary}));
        ExpectLossEqualsAutograd(RandomLoss(rows, vocabulary, type));
      }
    }
  }
}

TEST(CrossEntropyGpuTest, TakesMemoryAtOddAddresses) {
  torch::manual_seed(2);
  for (const torch::ScalarType type : kGpuTypes) {
    SCOPED_TRACE(ShapeName(type, {}));
    const LossCase c = RandomLoss(127, 50304, type);
    Tensor loss = torch::zeros({}, OnGpu(torch::kFloat64)), logits = AtOddAddress(c.logits);
    CrossEntropy(logits, c.targets, LossPass::kLossAndGradient, loss);
    const LossResult expected = LossByAutograd(c);
    EXPECT_NEAR(loss.item<double>(), expected.loss, LossTolerance(c, expected.loss));
    ExpectLossGradient(c, logits, expected.logits);
  }
}

TEST(CrossEntropyGpuTest, RowsWithoutWeightCountNothing) {
  torch::manual_seed(3);
  for (const torch::ScalarType type : kGpuTypes) {
    LossCase c = RandomLoss(10, 50257, type);
    c.targets.weights[3] = 0;
    const LossResult result = ComputeLoss(c, LossPass::kLossAndGradient);
    EXPECT_GT(result.loss, 0);
    EXPECT_EQ(result.logits[3].abs().max().item<double>(), 0);
    EXPECT_GT(result.logits[2].abs().max().item<double>(), 0);
    c.targets.weights.zero_();
    EXPECT_EQ(ComputeLoss(c, LossPass::kLossAndGradient).loss, 0);
  }
}

TEST(CrossEntropyGpuTest, AddsToTheLoss) {
  torch::manual_seed(4);
  const LossCase c = RandomLoss(127, 31, torch::kFloat32);
  Tensor loss = torch::full({}, 5.0, OnGpu(torch::kFloat64)), logits = c.logits.clone();
  CrossEntropy(logits, c.targets, LossPass::kLossOnly, loss);
  EXPECT_NEAR(loss.item<double>() - 5, ComputeLoss(c, LossPass::kLossOnly).loss, 1e-14);
}

TEST(CrossEntropyGpuTest, HugeLogitsStayFinite) {
  for (const torch::ScalarType type : kGpuTypes) {
    // The largest finite fp16 number is 65,504.
    for (const double huge : {1e4, type == torch::kHalf ? 65504 : 1e6}) {
      SCOPED_TRACE(ShapeName(type, {static_cast<int64_t>(huge)}));
      const Tensor logits = torch::tensor({{huge, -huge}, {huge, -huge}}, OnGpu(type));
      const LossCase c{
          logits,
          {torch::tensor({0, 1}, OnGpu(torch::kInt64)), torch::ones({2}, OnGpu(torch::kFloat32))}};
      const LossResult result = ComputeLoss(c, LossPass::kLossAndGradient);
      const double expected = 2 * logits[0][0].item<double>();
      EXPECT_NEAR(result.loss, expected, kShortSumTolerance * expected);
      EXPECT_EQ(result.logits[0].abs().max().item<double>(), 0);
      EXPECT_NEAR(result.logits[1][0].item<double>(), 1, kShortSumTolerance);
      EXPECT_EQ(result.logits[1][1].item<double>(), -1);
    }
  }
}

TEST(CrossEntropyGpuTest, NanAndInfinityReachTheLoss) {
  torch::manual_seed(5);
  for (const torch::ScalarType type : kGpuTypes) {
    for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
      LossCase c = RandomLoss(3, 50257, type);
      c.logits[1][40000] = bad;
      EXPECT_FALSE(std::isfinite(ComputeLoss(c, LossPass::kLossAndGradient).loss));
      EXPECT_FALSE(std::isfinite(ComputeLoss(c, LossPass::kLossOnly).loss));
    }
  }
}

// There are more than 2^31 logits, which take 4.4 GB in bf16. Logit 2^31 is in row 16,743.
TEST(CrossEntropyGpuTest, TakesMoreElementsThanAnIntCounts) {
  torch::manual_seed(6);
  const int64_t rows = 17000, vocabulary = 128256, chunk = 1000;
  LossCase c{torch::empty({rows, vocabulary}, OnGpu(torch::kBFloat16)), {}};
  for (int64_t row = 0; row < rows; row += chunk) c.logits.narrow(0, row, chunk).normal_(0, 3);
  c.targets = RandomLoss(rows, 2, torch::kBFloat16).targets;
  c.targets.tokens = torch::randint(0, vocabulary, {rows}, OnGpu(torch::kInt64));
  const Tensor sample =
      torch::tensor({0, 1, 8500, 16743, 16745, 16746, 16998}, OnGpu(torch::kInt64));
  const auto part = [&](const Tensor& index) {
    return LossCase{
        c.logits.index_select(0, index),
        {c.targets.tokens.index_select(0, index), c.targets.weights.index_select(0, index)}};
  };
  double expected = 0;
  for (int64_t row = 0; row < rows; row += chunk) {
    const LossCase rows_of_chunk = part(torch::arange(row, row + chunk, OnGpu(torch::kInt64)));
    expected += reference::CrossEntropy(Wide(rows_of_chunk.logits), rows_of_chunk.targets.tokens,
                                        Wide(rows_of_chunk.targets.weights))
                    .item<double>();
  }
  const LossCase sampled = part(sample);
  Tensor loss = torch::zeros({}, OnGpu(torch::kFloat64));
  CrossEntropy(c.logits, c.targets, LossPass::kLossAndGradient, loss);
  EXPECT_NEAR(loss.item<double>(), expected, LossTolerance(c, expected));
  ExpectLossGradient(sampled, c.logits.index_select(0, sample), LossByAutograd(sampled).logits);
}

TEST(CrossEntropyGpuTest, EveryRunHasTheSameBits) {
  torch::manual_seed(7);
  for (const torch::ScalarType type : kGpuTypes) {
    const LossCase c = RandomLoss(1000, 50257, type);
    ExpectSameBitsInEveryRun([&] {
      const LossResult result = ComputeLoss(c, LossPass::kLossAndGradient);
      return std::vector<Tensor>{result.logits, torch::tensor({result.loss}, torch::kFloat64)};
    });
  }
}

}  // namespace
}  // namespace trainyard::trainer
