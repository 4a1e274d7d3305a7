#include "trainer/ops/attention.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/trainer/ops/gradient_check.h"
#include "tests/trainer/ops/references.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// Attention by its formula, for one query position of one head at a time.
Tensor OnePositionAtATime(const Tensor& packed, const AttentionHeads& heads) {
  const int64_t batch = packed.size(0), length = packed.size(1);
  const int64_t share = heads.query_heads / heads.key_heads;
  Tensor out = torch::empty({batch, length, heads.query_heads, heads.head_size}, packed.options());
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t h = 0; h < heads.query_heads; ++h) {
      const int64_t key = heads.query_heads + h / share, value = key + heads.key_heads;
      for (int64_t t = 0; t < length; ++t) {
        const Tensor seen = packed[b].narrow(0, 0, t + 1);
        const Tensor scores =
            seen.select(1, key).matmul(packed[b][t][h]) / std::sqrt(double(heads.head_size));
        out[b][t][h] = (scores.exp() / scores.exp().sum()).matmul(seen.select(1, value));
      }
    }
  }
  return out;
}

struct Result {
  Tensor out;
  Tensor softmax;
};

Result Forward(const Tensor& packed, const AttentionHeads& heads) {
  Result result{torch::empty({packed.size(0), packed.size(1), heads.query_heads, heads.head_size},
                             packed.options()),
                Tensor()};
  result.softmax = AttentionForward(packed, heads, result.out);
  return result;
}

TEST(AttentionTest, EqualsTheFormulaForOnePositionAtATime) {
  torch::manual_seed(1);
  for (const AttentionHeads& heads :
       {AttentionHeads{4, 2, 6}, AttentionHeads{3, 3, 4}, AttentionHeads{4, 1, 2}}) {
    const Tensor packed = RandomDouble({2, 5, heads.packed_heads(), heads.head_size});
    const Tensor expected = OnePositionAtATime(packed, heads);
    EXPECT_LT(RelativeError(Forward(packed, heads).out, expected), 1e-13);
    EXPECT_LT(RelativeError(reference::Attention(packed, heads), expected), 1e-13);
  }
}

TEST(AttentionTest, LaterPositionsDoNotMatter) {
  torch::manual_seed(2);
  const AttentionHeads heads{2, 1, 4};
  const Tensor packed = RandomDouble({1, 6, 4, 4});
  Tensor changed = packed.clone();
  changed.narrow(1, 4, 2).fill_(100);
  EXPECT_TRUE(Forward(changed, heads)
                  .out.narrow(1, 0, 4)
                  .equal(Forward(packed, heads).out.narrow(1, 0, 4)));
}

TEST(AttentionTest, GradientEqualsAutograds) {
  torch::manual_seed(3);
  for (const AttentionHeads& heads : {AttentionHeads{4, 2, 6}, AttentionHeads{3, 3, 4}}) {
    const Tensor packed = RandomDouble({2, 5, heads.packed_heads(), heads.head_size});
    const auto expected = AutogradGradients(
        [&](const auto& in) { return reference::Attention(in[0], heads); }, {packed});
    const Result kept = Forward(packed, heads);
    Tensor d_packed = torch::full_like(packed, std::nan(""));
    AttentionBackward(OutputWeights(kept.out), {packed, kept.out, kept.softmax}, heads,
                      Reproducible::kYes, d_packed);
    EXPECT_LT(RelativeError(d_packed, expected[0]), 1e-12);
  }
}

}  // namespace
}  // namespace trainyard::trainer
