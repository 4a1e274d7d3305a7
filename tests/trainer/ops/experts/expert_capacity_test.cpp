#include "trainer/ops/experts/expert_capacity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "trainer/ops/experts/routing.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

Tensor Slots(const std::vector<int64_t>& values) { return torch::tensor(values); }

// One sequence of four tokens with two slots each. Expert 0 has three tokens, expert 1 all four.
Tensor FourTokens() { return Slots({0, 1, 1, 0, 1, 2, 0, 1}).view({1, 4, 2}); }
Tensor FourWeights() {
  return torch::tensor({0.1, 0.9, 0.4, 0.6, 0.4, 0.6, 0.7, 0.3}, torch::kFloat64).view({1, 4, 2});
}

TEST(ExpertCapacityOpTest, KeepsTheHighestWeights) {
  const Tensor marked =
      DropAboveCapacity(FourTokens(), FourWeights(), {.experts = 3, .capacity = 2});
  EXPECT_TRUE(marked.equal(Slots({-1, 1, 1, 0, -2, 2, 0, -2}).view({1, 4, 2}))) << marked;
}

TEST(ExpertCapacityOpTest, KeepsTheFirstTokensWithoutWeights) {
  const Tensor marked = DropAboveCapacity(FourTokens(), {}, {.experts = 3, .capacity = 2});
  EXPECT_TRUE(marked.equal(Slots({0, 1, 1, 0, -2, 2, -1, -2}).view({1, 4, 2}))) << marked;
}

TEST(ExpertCapacityOpTest, EqualWeightsKeepTheFirstTokens) {
  const Tensor equal = torch::full({1, 4, 2}, 0.5);
  const CapacityForm form{.experts = 3, .capacity = 2};
  EXPECT_TRUE(DropAboveCapacity(FourTokens(), equal, form)
                  .equal(DropAboveCapacity(FourTokens(), Tensor(), form)));
}

TEST(ExpertCapacityOpTest, EachSequenceHasTheCapacity) {
  const Tensor two = at::cat({FourTokens(), FourTokens().flip(1)});
  const CapacityForm form{.experts = 3, .capacity = 1};
  const Tensor marked = DropAboveCapacity(two, at::cat({FourWeights(), FourWeights()}), form);
  EXPECT_TRUE(marked.narrow(0, 0, 1).equal(DropAboveCapacity(FourTokens(), FourWeights(), form)));
  EXPECT_TRUE(
      marked.narrow(0, 1, 1).equal(DropAboveCapacity(FourTokens().flip(1), FourWeights(), form)));
  EXPECT_TRUE(CountKeptRows(marked, 3).equal(Slots({2, 2, 2})));
}

TEST(ExpertCapacityOpTest, AllTokensMayChooseOneExpert) {
  const Tensor experts = torch::zeros({1, 5, 1}, torch::kInt64);
  const Tensor weights = torch::tensor({0.2, 0.5, 0.1, 0.4, 0.3}).view({1, 5, 1});
  const Tensor marked = DropAboveCapacity(experts, weights, {.experts = 4, .capacity = 1});
  EXPECT_TRUE(marked.view({-1}).equal(Slots({-1, 0, -1, -1, -1})));
  EXPECT_TRUE(CountKeptRows(marked, 4).equal(Slots({1, 0, 0, 0})));
}

TEST(ExpertCapacityOpTest, MarkedSlotsKeepTheirExpert) {
  const Tensor marked =
      DropAboveCapacity(FourTokens(), FourWeights(), {.experts = 3, .capacity = 1});
  EXPECT_TRUE(WithoutMarks(marked).equal(FourTokens()));
  EXPECT_TRUE(CountKeptRows(marked, 3).equal(Slots({1, 1, 1})));
}

// Compares with a loop over experts that picks the best slot again and again.
TEST(ExpertCapacityOpTest, RandomChoicesKeepWhatALoopKeeps) {
  torch::manual_seed(1);
  const int64_t sequences = 3, tokens = 29, topk = 3, count = 7, capacity = 9;
  const Tensor weights = torch::rand({sequences, tokens, topk}, torch::kFloat64);
  const Tensor experts = ChooseExperts(torch::rand({sequences * tokens, count}), {}, {.topk = topk})
                             .view({sequences, tokens, topk});
  const Tensor marked =
      DropAboveCapacity(experts, weights, {.experts = count, .capacity = capacity});
  for (int64_t sequence = 0; sequence < sequences; ++sequence) {
    for (int64_t expert = 0; expert < count; ++expert) {
      const Tensor has = experts[sequence] == expert;
      const int64_t kept = std::min(capacity, has.sum().item<int64_t>());
      const Tensor is_kept = marked[sequence] == expert;
      EXPECT_EQ(is_kept.sum().item<int64_t>(), kept);
      const Tensor is_dropped = marked[sequence] == -1 - expert;
      if (!is_dropped.any().item<bool>()) continue;
      EXPECT_GE(weights[sequence].masked_select(is_kept).min().item<double>(),
                weights[sequence].masked_select(is_dropped).max().item<double>());
    }
  }
}

}  // namespace
}  // namespace trainyard::trainer
