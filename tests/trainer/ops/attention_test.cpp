#include "trainer/ops/attention.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/trainer/ops/gradient_check.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// Attention by its formula, for one query position of one head at a time.
Tensor Reference(const Tensor& query, const Tensor& key, const Tensor& value) {
  const int64_t heads_per_group = query.size(1) / key.size(1);
  Tensor out = torch::empty_like(query);
  for (int64_t b = 0; b < query.size(0); ++b) {
    for (int64_t h = 0; h < query.size(1); ++h) {
      for (int64_t t = 0; t < query.size(2); ++t) {
        const Tensor visible = key[b][h / heads_per_group].narrow(0, 0, t + 1);
        const Tensor scores = visible.matmul(query[b][h][t]) / std::sqrt(double(query.size(3)));
        const Tensor weights = scores.exp() / scores.exp().sum();
        out[b][h][t] = weights.matmul(value[b][h / heads_per_group].narrow(0, 0, t + 1));
      }
    }
  }
  return out;
}

TEST(AttentionTest, EqualsTheFormulaForOnePositionAtATime) {
  torch::manual_seed(1);
  // Batch 2, 4 heads in 2 groups, length 5, head size 6.
  const Tensor query = RandomDouble({2, 4, 5, 6});
  const Tensor key = RandomDouble({2, 2, 5, 6}), value = RandomDouble({2, 2, 5, 6});
  EXPECT_LT(RelativeError(CausalAttention(query, key, value), Reference(query, key, value)), 1e-13);
}

TEST(AttentionTest, NoPositionSeesTheFuture) {
  torch::manual_seed(2);
  const Tensor query = RandomDouble({1, 2, 6, 4}), key = RandomDouble({1, 2, 6, 4});
  Tensor value = RandomDouble({1, 2, 6, 4});
  const Tensor before = CausalAttention(query, key, value);
  // Only positions 4 and 5 of 0 to 5 change.
  value.narrow(2, 4, 2).fill_(100);
  const Tensor after = CausalAttention(query, key, value);
  EXPECT_TRUE(before.narrow(2, 0, 4).equal(after.narrow(2, 0, 4)));
  EXPECT_FALSE(before.narrow(2, 4, 2).equal(after.narrow(2, 4, 2)));
}

TEST(AttentionTest, GradientsEqualFiniteDifferences) {
  torch::manual_seed(3);
  const auto function = [](const std::vector<Tensor>& in) {
    return Project(PlainCausalAttention(in[0], in[1], in[2]));
  };
  EXPECT_LT(GradientError(function, {RandomDouble({1, 4, 3, 2}), RandomDouble({1, 2, 3, 2}),
                                     RandomDouble({1, 2, 3, 2})}),
            1e-7);
}

}  // namespace
}  // namespace trainyard::trainer
