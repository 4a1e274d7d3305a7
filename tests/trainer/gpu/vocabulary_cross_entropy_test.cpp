#include "trainer/ops/loss/vocabulary_cross_entropy.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/trainer/gpu/accuracy.h"
#include "tests/trainer/ops/references.h"
#include "tests/trainer/ops/vocabulary_parts.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;
using Widths = std::vector<int64_t>;

struct PartsCase {
  Tensor logits;
  Targets targets;
  Widths widths;
};

// Every fifth row has weight 0.
PartsCase RandomParts(int64_t rows, const Widths& widths, torch::ScalarType type) {
  int64_t vocabulary = 0;
  for (const int64_t width : widths) vocabulary += width;
  const Tensor counts = torch::arange(rows, OnGpu(torch::kInt64)).remainder(5) != 4;
  const Tensor weights = torch::rand({rows}, OnGpu(torch::kFloat32)) / 49152 * counts;
  return {RandomOnGpu({rows, vocabulary}, type) * 3,
          {torch::randint(0, vocabulary, {rows}, OnGpu(torch::kInt64)), weights},
          widths};
}

std::string NameOf(const PartsCase& c) {
  return ShapeName(c.logits.scalar_type(),
                   {c.logits.size(0), c.logits.size(1), static_cast<int64_t>(c.widths.size())});
}

PartsResult ComputeParts(const PartsCase& c, LossPass pass) {
  return CrossEntropyOfParts(c.logits, c.targets, c.widths, pass);
}

// Computes the reference in fp64 by autograd over the whole vocabulary.
PartsResult WholeByAutograd(const PartsCase& c) {
  const Tensor logits = Wide(c.logits).set_requires_grad(true);
  const Tensor loss = reference::CrossEntropy(logits, c.targets.tokens, Wide(c.targets.weights));
  return {{loss.item<double>()}, torch::autograd::grad({loss}, {logits})[0]};
}

// The rounding error of a row's loss is relative to its log-sum-exp, which is at most 20. The
// spacing of fp32 numbers near 20 is 2e-6.
double PartsLossTolerance(const PartsCase& c, double loss) {
  return kShortSumTolerance * (loss + 2 * c.targets.weights.sum().item<double>());
}

void ExpectPartsEqualAutograd(const PartsCase& c) {
  const PartsResult expected = WholeByAutograd(c);
  const PartsResult result = ComputeParts(c, LossPass::kLossAndGradient);
  for (const double loss : result.losses) {
    EXPECT_NEAR(loss, expected.losses[0], PartsLossTolerance(c, expected.losses[0]));
    EXPECT_EQ(loss, result.losses[0]);
  }
  ExpectAccurate(result.logits, expected.logits, kShortSumTolerance, NormOf(c.targets.weights));
  EXPECT_EQ(ComputeParts(c, LossPass::kLossOnly).losses, result.losses);
}

TEST(VocabularyCrossEntropyGpuTest, PartsEqualAutogradOverTheWhole) {
  torch::manual_seed(1);
  for (const torch::ScalarType type : kGpuTypes) {
    for (const Widths& widths : {Widths{31}, Widths{1, 30}, Widths{25000, 1, 25256},
                                 Widths{25152, 25152}, Widths{64128, 64128}}) {
      for (const int64_t rows : {1, 127}) {
        const PartsCase c = RandomParts(rows, widths, type);
        SCOPED_TRACE(NameOf(c));
        ExpectPartsEqualAutograd(c);
      }
    }
  }
}

TEST(VocabularyCrossEntropyGpuTest, StatisticsEqualTheFormula) {
  torch::manual_seed(2);
  for (const torch::ScalarType type : kGpuTypes) {
    for (const int64_t width : {1, 31, 50257}) {
      SCOPED_TRACE(ShapeName(type, {width}));
      const Tensor logits = AtOddAddress(RandomOnGpu({5, width}, type) * 3);
      const int64_t first_token = 100;
      const Tensor tokens = torch::tensor({99, 100, 100, 500000, 0}, OnGpu(torch::kInt64));
      Tensor statistics = Poisoned({5, kCrossEntropyStatistics}, torch::kFloat32);
      CrossEntropyStatistics(logits, tokens, first_token, statistics);
      Tensor expected = torch::zeros({5, kCrossEntropyStatistics}, OnGpu(torch::kFloat64));
      CrossEntropyStatistics(Wide(logits), tokens, first_token, expected);
      EXPECT_TRUE(Wide(statistics.select(1, 0)).equal(expected.select(1, 0)));
      ExpectAccurate(statistics.select(1, 1), expected.select(1, 1), kShortSumTolerance);
      EXPECT_TRUE(Wide(statistics.select(1, 2)).equal(expected.select(1, 2)));
      EXPECT_EQ(Wide(statistics[1][2]).item<double>(), Wide(logits[1][0]).item<double>());
    }
  }
}

TEST(VocabularyCrossEntropyGpuTest, TakesMemoryAtOddAddresses) {
  torch::manual_seed(3);
  for (const torch::ScalarType type : kGpuTypes) {
    const PartsCase c = RandomParts(127, {50304}, type);
    SCOPED_TRACE(NameOf(c));
    const Tensor combined = CombinedOf(c.logits, c.targets.tokens, c.widths);
    Tensor loss = torch::zeros({}, OnGpu(torch::kFloat64)), logits = AtOddAddress(c.logits);
    CrossEntropyOfPart(logits, c.targets, 0, combined, LossPass::kLossAndGradient, loss);
    const PartsResult expected = WholeByAutograd(c);
    EXPECT_NEAR(loss.item<double>(), expected.losses[0], PartsLossTolerance(c, expected.losses[0]));
    ExpectAccurate(logits, expected.logits, kShortSumTolerance, NormOf(c.targets.weights));
  }
}

TEST(VocabularyCrossEntropyGpuTest, RowsWithoutWeightCountNothing) {
  torch::manual_seed(4);
  for (const torch::ScalarType type : kGpuTypes) {
    PartsCase c = RandomParts(10, {25000, 25257}, type);
    c.targets.weights[3] = 0;
    c.logits[3][7] = std::nan("");
    const PartsResult result = ComputeParts(c, LossPass::kLossAndGradient);
    EXPECT_TRUE(std::isfinite(result.losses[0]));
    EXPECT_GT(result.losses[0], 0);
    EXPECT_EQ(result.logits[3].abs().max().item<double>(), 0);
    EXPECT_GT(result.logits[2].abs().max().item<double>(), 0);
  }
}

TEST(VocabularyCrossEntropyGpuTest, HugeLogitsStayFinite) {
  for (const torch::ScalarType type : kGpuTypes) {
    const Tensor logits = torch::tensor({{1e4, -1e4}, {1e4, -1e4}}, OnGpu(type));
    const PartsCase c{
        logits,
        {torch::tensor({0, 1}, OnGpu(torch::kInt64)), torch::ones({2}, OnGpu(torch::kFloat32))},
        {1, 1}};
    const PartsResult result = ComputeParts(c, LossPass::kLossAndGradient);
    const double expected = 2 * logits[0][0].item<double>();
    EXPECT_NEAR(result.losses[0], expected, kShortSumTolerance * expected);
    EXPECT_EQ(result.logits[0].abs().max().item<double>(), 0);
    EXPECT_NEAR(result.logits[1][0].item<double>(), 1, kShortSumTolerance);
    EXPECT_EQ(result.logits[1][1].item<double>(), -1);
  }
}

// If a part contains only padding of the vocabulary, all its logits are minus infinity.
TEST(VocabularyCrossEntropyGpuTest, PartsOfMinusInfinityAddNothing) {
  torch::manual_seed(5);
  for (const torch::ScalarType type : kGpuTypes) {
    PartsCase c = RandomParts(10, {300, 20}, type);
    c.targets.tokens.clamp_max_(299);
    const PartsCase known{c.logits.narrow(1, 0, 300).contiguous(), c.targets, {300}};
    const PartsResult expected = ComputeParts(known, LossPass::kLossAndGradient);
    c.logits.narrow(1, 300, 20).fill_(-std::numeric_limits<double>::infinity());
    const PartsResult result = ComputeParts(c, LossPass::kLossAndGradient);
    EXPECT_EQ(result.losses[1], expected.losses[0]);
    EXPECT_TRUE(SameBits(result.logits.narrow(1, 0, 300).contiguous(), expected.logits));
    EXPECT_EQ(result.logits.narrow(1, 300, 20).abs().max().item<double>(), 0);
  }
}

TEST(VocabularyCrossEntropyGpuTest, NanAndInfinityReachTheLoss) {
  torch::manual_seed(6);
  for (const torch::ScalarType type : kGpuTypes) {
    for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
      PartsCase c = RandomParts(3, {25000, 25257}, type);
      c.logits[1][40000] = bad;
      for (const double loss : ComputeParts(c, LossPass::kLossAndGradient).losses) {
        EXPECT_FALSE(std::isfinite(loss));
      }
    }
  }
}

TEST(VocabularyCrossEntropyGpuTest, EveryRunHasTheSameBits) {
  torch::manual_seed(7);
  for (const torch::ScalarType type : kGpuTypes) {
    const PartsCase c = RandomParts(1000, {25000, 25257}, type);
    ExpectSameBitsInEveryRun([&] {
      const PartsResult result = ComputeParts(c, LossPass::kLossAndGradient);
      return std::vector<Tensor>{result.logits, torch::tensor(result.losses, torch::kFloat64)};
    });
  }
}

}  // namespace
}  // namespace trainyard::trainer
