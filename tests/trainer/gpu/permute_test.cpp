#include "trainer/ops/experts/permute.h"

#include <gtest/gtest.h>

#include "tests/trainer/gpu/accuracy.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// Returns the experts of each token, [tokens, topk]. The experts of a token are all different. If
// there are several experts, no token chooses expert 1.
Tensor RandomChoice(int64_t tokens, int64_t topk, int64_t experts) {
  const Tensor scores = torch::rand({tokens, experts}, OnGpu(torch::kFloat32));
  if (experts > topk) scores.select(1, 1).fill_(-1);
  return std::get<1>(at::topk(scores, topk, 1));
}

struct Choice {
  std::string name;
  Tensor experts;
};

std::vector<Choice> Choices() {
  std::vector<Choice> choices;
  for (const int64_t tokens : {1, 31, 2048, 10007}) {
    choices.push_back({std::to_string(tokens) + " of 8", RandomChoice(tokens, 2, 8)});
    choices.push_back({std::to_string(tokens) + " of 512", RandomChoice(tokens, 6, 512)});
  }
  choices.push_back({"one expert", torch::full({5000, 1}, 3, OnGpu(torch::kInt64))});
  choices.push_back({"all experts", RandomChoice(77, 5, 5)});
  return choices;
}

TEST(PermuteGpuTest, SortsAsOnCpus) {
  torch::manual_seed(1);
  for (const Choice& choice : Choices()) {
    SCOPED_TRACE(choice.name);
    const ExpertOrder order = SortByExpert(choice.experts);
    const ExpertOrder expected = SortByExpert(choice.experts.cpu());
    EXPECT_TRUE(order.tokens.cpu().equal(expected.tokens));
    EXPECT_TRUE(order.places.cpu().equal(expected.places));
  }
  const ExpertOrder none = SortByExpert(torch::empty({0, 2}, OnGpu(torch::kInt64)));
  EXPECT_EQ(none.tokens.numel(), 0);
}

void ExpectRowsMove(const ExpertOrder& order, int64_t width, torch::ScalarType type,
                    Tensor (*memory)(const Tensor&)) {
  const int64_t tokens = order.places.size(0), rows = order.tokens.numel();
  const Tensor x = memory(RandomOnGpu({tokens, width}, type));
  Tensor sorted = memory(Poisoned({rows, width}, type));
  GatherRows(x, order, sorted);
  EXPECT_TRUE(sorted.equal(x.index_select(0, order.tokens)));
  const Tensor residual = memory(RandomOnGpu({tokens, width}, type));
  const Tensor slots =
      Wide(sorted).index_select(0, order.places.view({-1})).view({tokens, -1, width});
  Tensor y = memory(Poisoned({tokens, width}, type));
  SumSlots(sorted, order, {}, y);
  ExpectAccurate(y, slots.sum(1), kShortSumTolerance);
  SumSlots(sorted, order, residual, y);
  ExpectAccurate(y, slots.sum(1) + Wide(residual), kShortSumTolerance,
                 NormOf(slots) + NormOf(residual));
  Tensor over = residual.clone();
  SumSlots(sorted, order, over, over);
  EXPECT_TRUE(SameBits(over, y));
}

Tensor Same(const Tensor& tensor) { return tensor; }

TEST(PermuteGpuTest, MovesRowsOfEveryShape) {
  torch::manual_seed(2);
  for (const torch::ScalarType type : kGpuTypes) {
    for (const Choice& choice : Choices()) {
      const ExpertOrder order = SortByExpert(choice.experts);
      for (const int64_t width : {1, 7, 64, 2048}) {
        SCOPED_TRACE(choice.name + " " + ShapeName(type, {width}));
        ExpectRowsMove(order, width, type, Same);
      }
      ExpectRowsMove(order, 96, type, AtOddAddress);
    }
  }
}

// Slots without a row have places after the last row.
TEST(PermuteGpuTest, SlotsWithoutARowAddNothing) {
  torch::manual_seed(3);
  Tensor experts = RandomChoice(3000, 2, 8);
  experts.masked_fill_(torch::rand(experts.sizes(), OnGpu(torch::kFloat32)) < 0.3, -1);
  const int64_t rows = (experts >= 0).sum().item<int64_t>();
  const ExpertOrder order = SortByExpert(experts);
  const Tensor x = RandomOnGpu({3000, 64}, torch::kFloat32);
  Tensor sorted = Poisoned({rows, 64}, torch::kFloat32);
  GatherRows(x, order, sorted);
  EXPECT_TRUE(sorted.equal(x.index_select(0, order.tokens.narrow(0, 0, rows))));
  Tensor y = Poisoned({3000, 64}, torch::kFloat32);
  SumSlots(sorted, order, {}, y);
  const Tensor kept = (experts >= 0).sum(1, true);
  ExpectAccurate(y, Wide(x) * kept, kShortSumTolerance);
}

TEST(PermuteGpuTest, EveryRunHasTheSameBits) {
  torch::manual_seed(4);
  const Tensor experts = RandomChoice(8192, 6, 64);
  for (const torch::ScalarType type : kGpuTypes) {
    const Tensor sorted = RandomOnGpu({8192 * 6, 256}, type);
    ExpectSameBitsInEveryRun([&] {
      const ExpertOrder order = SortByExpert(experts);
      Tensor y = Poisoned({8192, 256}, type);
      SumSlots(sorted, order, {}, y);
      return std::vector<Tensor>{order.tokens, order.places, y};
    });
  }
}

}  // namespace
}  // namespace trainyard::trainer
