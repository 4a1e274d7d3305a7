#include "trainer/model/attention/context_attention.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/trainer/ops/gradient_check.h"
#include "tests/trainer/parallel/run_ranks.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

constexpr int64_t kRingRanks = 2, kRingSamples = 3, kRingTokens = 8;  // Tokens of a rank.

Tensor RandomHeads(int64_t heads, int64_t size) {
  return torch::randn({kRingSamples, kRingTokens, heads, size}, torch::kFloat64);
}

// The tensors of each rank: four query heads and two key heads.
struct RankTensors {
  Tensor query = RandomHeads(4, 6);
  Tensor key = RandomHeads(2, 6);
  Tensor value = RandomHeads(2, 5);
  Tensor dout = RandomHeads(4, 5);
};

std::vector<Tensor> Gradients(const RankTensors& tensors, const ContextParallel& context,
                              const AttentionForm& form) {
  const AttentionInputs inputs{tensors.query, tensors.key, tensors.value};
  Tensor out = torch::empty_like(tensors.dout);
  const ContextAttentionResult result = ContextAttentionForward(inputs, context, form, out);
  std::vector<Tensor> gradients;
  for (const Tensor& input : {tensors.query, tensors.key, tensors.value}) {
    gradients.push_back(torch::full_like(input, 7));
  }
  ContextAttentionBackward(tensors.dout, {inputs, out, result.log_sum_exp, form},
                           Reproducible::kYes, context, {gradients[0], gradients[1], gradients[2]});
  return gradients;
}

// The score gradients of a rank take 2 * 3 * 4 * 8 * 8 bytes. With less, the backward pass is
// divided by samples, then by key heads, then by tokens.
TEST(ContextAttentionTest, DividedCallsGiveTheSameGradients) {
  torch::manual_seed(1);
  const std::vector<RankTensors> tensors(kRingRanks);
  const Tensor starts = torch::tensor({0, 0, 2, 2, 2, 5, 5, 7}, torch::kInt64).repeat({3, 1});
  for (const AttentionLimits& limits :
       {AttentionLimits{}, AttentionLimits{.window = 5}, AttentionLimits{0, starts, Tensor()}}) {
    for (const int64_t most_bytes : {768, 256, 128, 16}) {
      SCOPED_TRACE(most_bytes);
      RunRanksInMemory(kRingRanks, [&](Communicator& group) {
        const auto gradients = [&](int64_t bytes) {
          return Gradients(tensors[group.rank()], {group, ContextExchange::kP2p, bytes}, {limits});
        };
        const std::vector<Tensor> whole = gradients(kMostScoreBytes), parts = gradients(most_bytes);
        for (size_t i = 0; i < whole.size(); ++i) {
          EXPECT_LT(RelativeNorm(parts[i], whole[i]), 1e-12) << i;
        }
      });
    }
  }
}

// A backward pass without the tensors of whole samples, as in latent attention, exchanges them.
TEST(ContextAttentionTest, ExchangedHeadsGiveTheGradientsOfARing) {
  torch::manual_seed(2);
  std::vector<RankTensors> ordered(kRingRanks), zigzag(kRingRanks);
  // A ring has tokens 0-3 and 12-15 on the first rank, and 4-11 on the second.
  const auto reorder = [&](Tensor RankTensors::*tensor) {
    const Tensor all = at::cat({ordered[0].*tensor, ordered[1].*tensor}, 1);
    zigzag[0].*tensor = at::cat({all.narrow(1, 0, 4), all.narrow(1, 12, 4)}, 1);
    zigzag[1].*tensor = all.narrow(1, 4, 8).contiguous();
  };
  for (const auto tensor :
       {&RankTensors::query, &RankTensors::key, &RankTensors::value, &RankTensors::dout}) {
    reorder(tensor);
  }
  std::vector<std::vector<Tensor>> heads(kRingRanks), ring(kRingRanks);
  RunRanksInMemory(kRingRanks, [&](Communicator& group) {
    const int64_t rank = group.rank();
    heads[rank] = Gradients(ordered[rank], {group, ContextExchange::kA2a}, {});
    ring[rank] = Gradients(zigzag[rank], {group, ContextExchange::kP2p}, {});
  });
  for (size_t i = 0; i < 3; ++i) {
    const Tensor all = at::cat({heads[0][i], heads[1][i]}, 1);
    EXPECT_LT(RelativeNorm(ring[0][i], at::cat({all.narrow(1, 0, 4), all.narrow(1, 12, 4)}, 1)),
              1e-12);
    EXPECT_LT(RelativeNorm(ring[1][i], all.narrow(1, 4, 8)), 1e-12);
  }
}

}  // namespace
}  // namespace trainyard::trainer
