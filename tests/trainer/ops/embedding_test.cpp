#include "trainer/ops/embedding.h"

#include <gtest/gtest.h>

#include "tests/trainer/ops/gradient_check.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

TEST(EmbeddingTest, LooksUpRowsAndAddsTheirGradients) {
  torch::manual_seed(1);
  const Tensor table = RandomDouble({5, 3});
  const Tensor tokens = torch::tensor({4, 0, 4, 1}, torch::kInt64);
  Tensor out = torch::empty({4, 3}, torch::kFloat64);
  EmbeddingForward(table, tokens, out);
  EXPECT_TRUE(out.equal(table.index({tokens})));

  const auto expected =
      AutogradGradients([&](const auto& in) { return in[0].index_select(0, tokens); }, {table});
  Tensor sum = torch::full_like(table, 9);
  EmbeddingBackward(OutputWeights(out), tokens, {sum, false});
  EXPECT_LT(RelativeError(sum, expected[0]), 1e-14);
  EmbeddingBackward(OutputWeights(out), tokens, {sum, true});
  EXPECT_LT(RelativeError(sum, 2 * expected[0]), 1e-14);
}

}  // namespace
}  // namespace trainyard::trainer
