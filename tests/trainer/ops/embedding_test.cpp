#include "trainer/ops/embedding.h"

#include <gtest/gtest.h>

#include <cmath>

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

TEST(EmbeddingTest, RowsAreAddedToWhatIsThere) {
  torch::manual_seed(4);
  const Tensor table = RandomDouble({5, 3}), x = RandomDouble({4, 3});
  const Tensor tokens = torch::tensor({4, 0, 4, 1}, torch::kInt64);
  Tensor sum = x.clone();
  AddEmbedding(table, tokens, sum);
  EXPECT_LT(RelativeError(sum, x + table.index({tokens})), 1e-14);
}

TEST(EmbeddingTest, PartsOfTheTableAddUpToTheWhole) {
  torch::manual_seed(2);
  const Tensor table = RandomDouble({7, 3});
  const Tensor tokens = torch::tensor({6, 0, 2, 4, 6, 1, 3, 5, 4}, torch::kInt64);
  Tensor expected = torch::empty({9, 3}, torch::kFloat64), sum = torch::zeros_like(expected);
  EmbeddingForward(table, tokens, expected);
  const Tensor dy = OutputWeights(expected);
  Tensor gradient = torch::empty_like(table);
  EmbeddingBackward(dy, tokens, {gradient, false});
  int64_t first_token = 0;
  for (const int64_t rows : {3, 1, 3}) {
    SCOPED_TRACE(first_token);
    Tensor part = torch::full_like(expected, std::nan(""));
    EmbeddingForward(table.narrow(0, first_token, rows), tokens, part, first_token);
    sum += part;
    Tensor of_part = torch::full({rows, 3}, std::nan(""), torch::kFloat64);
    EmbeddingBackward(dy, tokens, {of_part, false}, first_token);
    EXPECT_TRUE(of_part.equal(gradient.narrow(0, first_token, rows)));
    EmbeddingBackward(dy, tokens, {of_part, true}, first_token);
    EXPECT_LT(RelativeError(of_part, 2 * gradient.narrow(0, first_token, rows)), 1e-14);
    first_token += rows;
  }
  EXPECT_TRUE(sum.equal(expected));
}

// This must hold whatever values the table's rows and the gradients contain.
TEST(EmbeddingTest, TokensOutsideTheTableGiveZerosAndAddNothing) {
  const Tensor table = torch::full({2, 3}, std::nan(""), torch::kFloat64);
  const Tensor tokens = torch::tensor({4, 7, 0}, torch::kInt64);
  Tensor out = torch::full({3, 3}, 9.0, torch::kFloat64);
  EmbeddingForward(table, tokens, out, /*first_token=*/5);
  EXPECT_EQ(out.abs().max().item<double>(), 0);
  Tensor gradient = torch::full({2, 3}, 2.0, torch::kFloat64);
  EmbeddingBackward(torch::full_like(out, std::nan("")), tokens, {gradient, true}, 5);
  EXPECT_TRUE(gradient.equal(torch::full({2, 3}, 2.0, torch::kFloat64)));
}

}  // namespace
}  // namespace trainyard::trainer
