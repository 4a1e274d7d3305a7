#include "trainer/ops/experts/permute.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/trainer/ops/gradient_check.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

Tensor Ids(const std::vector<int64_t>& values) { return torch::tensor(values); }

// Three tokens with two slots each. Expert 1 has no token.
Tensor Choice() { return Ids({2, 0, 0, 3, 3, 2}).view({3, 2}); }

TEST(PermuteTest, SortsByExpertAndKeepsTheOrderOfTokens) {
  const ExpertOrder order = SortByExpert(Choice());
  EXPECT_TRUE(order.tokens.equal(Ids({0, 1, 0, 2, 1, 2})));
  EXPECT_TRUE(order.places.equal(Ids({2, 0, 1, 4, 5, 3}).view({3, 2})));
}

TEST(PermuteTest, GathersTheRowsOfTokens) {
  const Tensor x = torch::arange(6, torch::kFloat64).view({3, 2});
  Tensor sorted = torch::empty({6, 2}, torch::kFloat64);
  GatherRows(x, SortByExpert(Choice()), sorted);
  EXPECT_TRUE(sorted.equal(x.index_select(0, Ids({0, 1, 0, 2, 1, 2}))));
}

TEST(PermuteTest, TheSumOfSlotsAlsoInTheMemoryOfTheResidual) {
  torch::manual_seed(1);
  const Tensor sorted = RandomDouble({6, 4}), residual = RandomDouble({3, 4});
  Tensor y = torch::empty({3, 4}, torch::kFloat64);
  SumSlots(sorted, SortByExpert(Choice()), residual, y);
  for (int64_t token = 0; token < 3; ++token) {
    const Tensor places = SortByExpert(Choice()).places[token];
    EXPECT_LT(RelativeError(y[token], residual[token] + sorted.index_select(0, places).sum(0)),
              1e-14);
  }
  Tensor own = residual.clone();
  SumSlots(sorted, SortByExpert(Choice()), own, own);
  EXPECT_TRUE(own.equal(y));
}

TEST(PermuteTest, GatherAndSumAreEachOthersGradients) {
  torch::manual_seed(2);
  const ExpertOrder order = SortByExpert(Choice());
  const Tensor x = RandomDouble({3, 4}), dy = RandomDouble({6, 4});
  const auto gathered = [&](const Tensor& rows) {
    Tensor sorted = torch::empty({6, 4}, torch::kFloat64);
    GatherRows(rows, order, sorted);
    return sorted;
  };
  const auto summed = [&](const Tensor& sorted) {
    Tensor y = torch::empty({3, 4}, torch::kFloat64);
    SumSlots(sorted, order, {}, y);
    return y;
  };
  const Tensor of_x = CentralDifferences(
      [&](const Tensor& moved) { return (gathered(moved) * dy).sum().item<double>(); }, x);
  EXPECT_LT(RelativeNorm(summed(dy), of_x), 1e-9);
  const Tensor of_sorted = CentralDifferences(
      [&](const Tensor& moved) { return (summed(moved) * x).sum().item<double>(); }, dy);
  EXPECT_LT(RelativeNorm(gathered(x), of_sorted), 1e-9);
}

// Slots 1 and 4 are dropped.
TEST(PermuteTest, DroppedSlotsFollowAllOthersAndAddNothing) {
  torch::manual_seed(5);
  ExpertOrder order = SortByExpert(Ids({2, -1, 0, 3, -4, 2}).view({3, 2}));
  order.tokens = order.tokens.narrow(0, 0, 4);
  EXPECT_TRUE(order.tokens.equal(Ids({1, 0, 2, 1})));
  EXPECT_TRUE(order.places.equal(Ids({1, 4, 0, 3, 5, 2}).view({3, 2})));
  const Tensor sorted = RandomDouble({4, 3}), residual = RandomDouble({3, 3});
  Tensor y = torch::empty({3, 3}, torch::kFloat64);
  SumSlots(sorted, order, residual, y);
  EXPECT_TRUE(y.equal(residual + at::stack({sorted[1], sorted[0] + sorted[3], sorted[2]})));
  Tensor gathered = torch::empty({4, 3}, torch::kFloat64);
  GatherRows(residual, order, gathered);
  EXPECT_TRUE(gathered.equal(residual.index_select(0, order.tokens)));
}

TEST(PermuteTest, SlotsMayAllBeDropped) {
  ExpertOrder order = SortByExpert(Ids({-1, -3, -2, -1}).view({2, 2}));
  order.tokens = order.tokens.narrow(0, 0, 0);
  const Tensor residual = RandomDouble({2, 3});
  Tensor y = torch::empty({2, 3}, torch::kFloat64);
  SumSlots(torch::empty({0, 3}, torch::kFloat64), order, residual, y);
  EXPECT_TRUE(y.equal(residual));
  SumSlots(torch::empty({0, 3}, torch::kFloat64), order, {}, y);
  EXPECT_TRUE(y.equal(torch::zeros({2, 3}, torch::kFloat64)));
}

TEST(PermuteTest, SixteenBitSumsAreRoundedOnce) {
  torch::manual_seed(3);
  const ExpertOrder order = SortByExpert(Choice());
  const Tensor sorted = torch::randn({6, 8}).to(torch::kBFloat16);
  const Tensor residual = torch::randn({3, 8}).to(torch::kBFloat16);
  Tensor y = torch::empty_like(residual), wide = torch::empty({3, 8});
  SumSlots(sorted, order, residual, y);
  SumSlots(sorted.to(torch::kFloat32), order, residual.to(torch::kFloat32), wide);
  EXPECT_TRUE(y.equal(wide.to(torch::kBFloat16)));
}

}  // namespace
}  // namespace trainyard::trainer
