#include "trainer/ops/attention/latent_heads.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/trainer/ops/gradient_check.h"
#include "tests/trainer/ops/references.h"
#include "trainer/ops/attention/rotary.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

constexpr int64_t kBatch = 2, kLength = 3, kHeadCount = 4, kUnrotated = 5, kRotated = 4, kValue = 6;

LatentHeads RandomHeads() {
  return {RandomDouble({kBatch, kLength, kHeadCount, kUnrotated + kRotated}),
          torch::full({kBatch, kLength, kHeadCount, kUnrotated + kRotated}, std::nan(""),
                      torch::kFloat64),
          RandomDouble({kBatch, kLength, kHeadCount, kUnrotated + kValue}),
          RandomDouble({kBatch * kLength, kRotated})};
}

RotaryTable TableOf(const Tensor& positions) {
  return MakeRotaryTable(positions, kRotated, {.base = 100}, torch::kFloat64);
}

// Returns query and key heads, side by side, by their formulas. in: query, expanded, shared.
Tensor Joined(const std::vector<Tensor>& in, const RotaryTable& table) {
  const auto rotated = [&](const Tensor& x) { return reference::Rotate(x, table.cos, table.sin); };
  const Tensor shared =
      rotated(in[2].view({kBatch, kLength, 1, kRotated})).expand({-1, -1, kHeadCount, -1});
  return torch::cat({in[0].narrow(3, 0, kUnrotated), rotated(in[0].narrow(3, kUnrotated, kRotated)),
                     in[1].narrow(3, 0, kUnrotated), shared},
                    3);
}

TEST(LatentHeadsTest, JoinsTheParts) {
  torch::manual_seed(1);
  LatentHeads heads = RandomHeads();
  const Tensor expanded = heads.expanded.clone(), shared = heads.shared.clone();
  const RotaryTable table = TableOf(torch::arange(kLength));
  const Tensor expected = Joined({heads.query.clone(), expanded, shared}, table);
  JoinLatentHeads(heads, table);
  EXPECT_LT(RelativeError(torch::cat({heads.query, heads.key}, 3), expected), 1e-14);
  EXPECT_TRUE(heads.expanded.equal(expanded));
  EXPECT_TRUE(heads.shared.equal(shared));
}

TEST(LatentHeadsTest, SplittingIsTheGradient) {
  torch::manual_seed(2);
  const LatentHeads heads = RandomHeads();
  const RotaryTable table = TableOf(torch::arange(kLength));
  const auto expected = AutogradGradients([&](const auto& in) { return Joined(in, table); },
                                          {heads.query, heads.expanded, heads.shared});
  const Tensor d_joined = OutputWeights(torch::cat({heads.query, heads.query}, 3));
  const int64_t size = kUnrotated + kRotated;
  LatentHeads gradients{d_joined.narrow(3, 0, size).contiguous(),
                        d_joined.narrow(3, size, size).contiguous(),
                        torch::zeros_like(heads.expanded), torch::empty_like(heads.shared)};
  gradients.expanded.narrow(3, kUnrotated, kValue).fill_(7);
  SplitLatentHeads(gradients, table);
  EXPECT_LT(RelativeError(gradients.query, expected[0]), 1e-14);
  EXPECT_LT(RelativeError(gradients.shared, expected[2]), 1e-14);
  EXPECT_TRUE(
      gradients.expanded.narrow(3, 0, kUnrotated).equal(expected[1].narrow(3, 0, kUnrotated)));
  EXPECT_TRUE((gradients.expanded.narrow(3, kUnrotated, kValue) == 7).all().item<bool>())
      << "the gradients of values do not change";
}

TEST(LatentHeadsTest, SamplesMayHavePositionsOfTheirOwn) {
  torch::manual_seed(3);
  LatentHeads all = RandomHeads();
  LatentHeads second{all.query.narrow(0, 1, 1).clone(), all.key.narrow(0, 1, 1).clone(),
                     all.expanded.narrow(0, 1, 1).clone(), all.shared.narrow(0, kLength, kLength)};
  const Tensor positions = torch::tensor({0, 1, 2, 1, 0, 5}, torch::kInt64);
  JoinLatentHeads(all, TableOf(positions));
  JoinLatentHeads(second, TableOf(positions.narrow(0, kLength, kLength)));
  EXPECT_TRUE(all.query.narrow(0, 1, 1).equal(second.query));
  EXPECT_TRUE(all.key.narrow(0, 1, 1).equal(second.key));
}

// The gradient of the shared elements is the sum over many heads, which bf16 could not add.
TEST(LatentHeadsTest, SixteenBitGradientsAreAddedInSinglePrecision) {
  const int64_t heads = 400;
  const auto ones = [&](int64_t size) {
    return torch::ones({1, 1, heads, size}, torch::kBFloat16);
  };
  LatentHeads gradients{ones(4), ones(4), ones(4), torch::empty({1, 2}, torch::kBFloat16)};
  SplitLatentHeads(gradients,
                   MakeRotaryTable(torch::zeros({1}, torch::kInt64), 2, {}, torch::kFloat32));
  EXPECT_TRUE(gradients.shared.equal(torch::full({1, 2}, 400, torch::kBFloat16)));
}

}  // namespace
}  // namespace trainyard::trainer
