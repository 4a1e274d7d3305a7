#include "trainer/ops/attention/attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/trainer/ops/gradient_check.h"
#include "tests/trainer/ops/references.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// Computes attention by its formula, for one head and one query position at a time.
Tensor OnePositionAtATime(const Tensor& packed, const AttentionHeads& heads,
                          const AttentionLimits& limits = {}) {
  const int64_t batch = packed.size(0), length = packed.size(1);
  const int64_t share = heads.query_heads / heads.key_heads;
  Tensor out = torch::empty({batch, length, heads.query_heads, heads.head_size}, packed.options());
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t h = 0; h < heads.query_heads; ++h) {
      const int64_t key = heads.query_heads + h / share, value = key + heads.key_heads;
      for (int64_t t = 0; t < length; ++t) {
        int64_t first = limits.window > 0 ? std::max<int64_t>(t - limits.window + 1, 0) : 0;
        if (limits.document_starts.defined()) {
          first = std::max(first, limits.document_starts[b][t].item<int64_t>());
        }
        const Tensor seen = packed[b].narrow(0, first, t + 1 - first);
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

Result Forward(const Tensor& packed, const AttentionHeads& heads, const AttentionForm& form = {}) {
  Result result{torch::empty({packed.size(0), packed.size(1), heads.query_heads, heads.head_size},
                             packed.options()),
                Tensor()};
  result.softmax = AttentionForward(packed, heads, result.out, form);
  return result;
}

// Returns limits for two samples of 7 tokens: a window, documents whose lengths differ between the
// samples, both, and a window of one token.
std::vector<AttentionLimits> SomeLimits() {
  const Tensor starts =
      torch::tensor({0, 0, 2, 2, 2, 5, 6, 0, 1, 1, 1, 1, 1, 1}, torch::kInt64).view({2, 7});
  return {{.window = 3},
          {.window = 1},
          {.document_starts = starts},
          {.window = 2, .document_starts = starts}};
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

TEST(AttentionTest, KeysOutsideOfLimitsAreNotSeen) {
  torch::manual_seed(4);
  const AttentionHeads heads{4, 2, 6};
  for (const AttentionLimits& limits : SomeLimits()) {
    SCOPED_TRACE(limits.window);
    const Tensor packed = RandomDouble({2, 7, heads.packed_heads(), heads.head_size});
    const Result kept = Forward(packed, heads, {.limits = limits});
    EXPECT_LT(RelativeError(kept.out, OnePositionAtATime(packed, heads, limits)), 1e-13);
    const auto expected = AutogradGradients(
        [&](const auto& in) { return OnePositionAtATime(in[0], heads, limits); }, {packed});
    Tensor d_packed = torch::full_like(packed, std::nan(""));
    AttentionBackward(OutputWeights(kept.out), {packed, kept.out, kept.softmax, {.limits = limits}},
                      heads, Reproducible::kYes, d_packed);
    EXPECT_LT(RelativeError(d_packed, expected[0]), 1e-12);
  }
}

TEST(AttentionTest, AWindowOfAllTokensChangesNothing) {
  torch::manual_seed(5);
  const AttentionHeads heads{4, 2, 6};
  const Tensor packed = RandomDouble({2, 7, heads.packed_heads(), heads.head_size});
  const AttentionForm wide{.limits = {.window = 7}};
  EXPECT_TRUE(Forward(packed, heads, wide).out.equal(Forward(packed, heads).out));
}

// The bias for cuDNN must hide keys of earlier documents. It does not hide later keys, because
// cuDNN's causal mask hides them.
TEST(AttentionTest, ABiasHidesEarlierDocuments) {
  const Tensor starts = torch::tensor({0, 0, 2, 2, 0, 1, 1, 3}, torch::kInt64).view({2, 4});
  const Tensor bias = DocumentBias(starts);
  EXPECT_EQ(bias.scalar_type(), torch::kBFloat16);
  const Tensor later = HiddenKeys(4, {}, torch::kCPU);
  EXPECT_TRUE((bias < -1e29)
                  .logical_or(later)
                  .equal(HiddenKeys(4, {.document_starts = starts}, torch::kCPU)));
  EXPECT_TRUE((bias == 0).logical_or(bias < -1e29).all().item<bool>());
  EXPECT_TRUE(bias.isfinite().all().item<bool>());
}

// Manual attention computes in fp32 for 16-bit tensors and rounds only the result.
TEST(AttentionTest, SixteenBitIsRoundedOnce) {
  torch::manual_seed(6);
  const AttentionHeads heads{4, 2, 6};
  const Tensor packed =
      RandomDouble({2, 7, heads.packed_heads(), heads.head_size}).to(torch::kBFloat16);
  const AttentionForm form{.limits = {.window = 3}, .kernel = AttentionKernel::kManual};
  const Result narrow = Forward(packed, heads, form);
  const Result wide = Forward(packed.to(torch::kFloat32), heads, form);
  EXPECT_TRUE(narrow.out.equal(wide.out.to(torch::kBFloat16)));
  const Tensor dout = OutputWeights(wide.out).to(torch::kBFloat16);
  Tensor d_narrow = torch::empty_like(packed);
  AttentionBackward(dout, {packed, narrow.out, narrow.softmax, form}, heads, Reproducible::kYes,
                    d_narrow);
  Tensor d_wide = torch::empty(packed.sizes(), torch::kFloat32);
  AttentionBackward(dout.to(torch::kFloat32),
                    {packed.to(torch::kFloat32), wide.out, wide.softmax, form}, heads,
                    Reproducible::kYes, d_wide);
  EXPECT_TRUE(d_narrow.equal(d_wide.to(torch::kBFloat16)));
}

}  // namespace
}  // namespace trainyard::trainer
