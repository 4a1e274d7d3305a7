#include "trainer/ops/experts/balance_loss.h"

#include <gtest/gtest.h>

#include "tests/trainer/gpu/accuracy.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// Compares the rows [first, first + rows) of all sequences with the plain version in fp64.
void ExpectBalanceEqualsPlain(RouterScoreFunction score, int64_t experts,
                              const BalanceSequences& sequences, int64_t rows) {
  const RouterForm form{.score = score, .topk = std::min<int64_t>(experts, 3)};
  const Tensor scores = RouterScores(RandomOnGpu({rows, experts}, torch::kFloat32), form);
  const Tensor counts = BalanceCounts(scores, form.topk, sequences);
  EXPECT_TRUE(counts.cpu().equal(BalanceCounts(scores.cpu(), form.topk, sequences)));
  Tensor d_logits = RandomOnGpu({rows, experts}, torch::kFloat32);
  Tensor expected = Wide(d_logits).cpu();
  AddBalanceGradient(Wide(scores).cpu(), form, counts.cpu(), sequences, 300, expected);
  AddBalanceGradient(scores, form, counts, sequences, 300, d_logits);
  ExpectAccurate(d_logits.cpu(), expected, kLongSumTolerance);
}

TEST(BalanceLossGpuTest, EqualsThePlainVersion) {
  torch::manual_seed(1);
  for (const auto score : {RouterScoreFunction::kSoftmax, RouterScoreFunction::kSigmoid}) {
    for (const int64_t experts : {1, 8, 100, 512}) {
      SCOPED_TRACE(experts);
      ExpectBalanceEqualsPlain(score, experts, {1, 5000, 0, 5000}, 5000);
      ExpectBalanceEqualsPlain(score, experts, {7, 300, 0, 300}, 2100);
      ExpectBalanceEqualsPlain(score, experts, {3, 1, 0, 1}, 3);
      // The second of two ranks that share three sequences.
      ExpectBalanceEqualsPlain(score, experts, {3, 1400, 2100, 1400}, 2100);
    }
  }
}

TEST(BalanceLossGpuTest, ZLossGradientEqualsThePlainVersion) {
  torch::manual_seed(2);
  for (const int64_t experts : {1, 8, 100, 512}) {
    const Tensor logits = RandomOnGpu({999, experts}, torch::kFloat32) * 5;
    Tensor d_logits = RandomOnGpu({999, experts}, torch::kFloat32);
    Tensor expected = Wide(d_logits).cpu();
    AddZLossGradient(Wide(logits).cpu(), 999, 100, expected);
    AddZLossGradient(logits, 999, 100, d_logits);
    ExpectAccurate(d_logits.cpu(), expected, kLongSumTolerance);
  }
}

TEST(BalanceLossGpuTest, EveryRunHasTheSameBits) {
  torch::manual_seed(3);
  const BalanceSequences sequences{4, 2048, 0, 2048};
  const Tensor scores = RouterScores(RandomOnGpu({8192, 64}, torch::kFloat32), {.topk = 6});
  ExpectSameBitsInEveryRun([&] {
    const Tensor counts = BalanceCounts(scores, 6, sequences);
    Tensor d_logits = torch::zeros_like(scores);
    AddBalanceGradient(scores, {.topk = 6}, counts, sequences, 1, d_logits);
    AddZLossGradient(scores, 8192, 1, d_logits);
    return std::vector<Tensor>{counts, d_logits};
  });
}

}  // namespace
}  // namespace trainyard::trainer
