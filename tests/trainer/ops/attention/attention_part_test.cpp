#include "trainer/ops/attention/attention_part.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "tests/trainer/ops/gradient_check.h"
#include "tests/trainer/ops/references.h"
#include "tests/trainer/ops/zigzag_ring.h"
#include "trainer/ops/attention/attention.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// Contiguous tensors of one part.
struct PartInputs {
  Tensor query;
  Tensor key;
  Tensor value;
};

PartInputs RandomPart(int64_t queries, int64_t keys) {
  return {RandomDouble({2, queries, 4, 6}), RandomDouble({2, keys, 2, 6}),
          RandomDouble({2, keys, 2, 6})};
}

// Returns an equal tensor that is a view with gaps between samples and between tokens.
Tensor WithGaps(const Tensor& rows) {
  const Tensor memory =
      torch::full({rows.size(0), rows.size(1) + 3, rows.size(2) + 2, rows.size(3)}, std::nan(""),
                  rows.options());
  return memory.narrow(1, 2, rows.size(1)).narrow(2, 1, rows.size(2)).copy_(rows);
}

struct PartOutput {
  Tensor out;
  Tensor log_sum_exp;
};

PartOutput ForwardOfPart(const AttentionPart& part) {
  PartOutput output{torch::full(part.query.sizes(), std::nan(""), part.query.options()), Tensor()};
  output.log_sum_exp = AttentionPartForward(part, output.out);
  return output;
}

AttentionPartGradients BackwardOfPart(const AttentionPart& part, const WholeAttention& whole) {
  const auto poisoned = [](const Tensor& like) {
    return torch::full(like.sizes(), std::nan(""), like.options());
  };
  const AttentionPartGradients gradients{poisoned(part.query), poisoned(part.key),
                                         poisoned(part.value)};
  AttentionPartBackward(part, whole, Reproducible::kYes, gradients);
  return gradients;
}

TEST(AttentionPartTest, EqualsTheFormula) {
  torch::manual_seed(1);
  for (const AttentionMask mask : {AttentionMask::kNone, AttentionMask::kCausal}) {
    const PartInputs in = RandomPart(5, mask == AttentionMask::kNone ? 3 : 5);
    const PartOutput actual = ForwardOfPart({in.query, in.key, in.value, mask});
    const Tensor scores = reference::Scores(in.query, in.key, mask == AttentionMask::kCausal);
    EXPECT_LT(RelativeError(actual.log_sum_exp, scores.exp().sum(-1).log()), 1e-13);
    EXPECT_LT(RelativeError(actual.out, reference::WeightedValues(scores, in.value)), 1e-13);
  }
}

TEST(AttentionPartTest, CausalPartOfPackedRowsIsAttention) {
  torch::manual_seed(2);
  const AttentionHeads heads{4, 2, 6};
  const Tensor packed = RandomDouble({2, 5, heads.packed_heads(), heads.head_size});
  const PartOutput actual = ForwardOfPart({packed.narrow(2, 0, 4), packed.narrow(2, 4, 2),
                                           packed.narrow(2, 6, 2), AttentionMask::kCausal});
  EXPECT_LT(RelativeError(actual.out, reference::Attention(packed, heads)), 1e-13);
}

TEST(AttentionPartTest, GradientsEqualAutograds) {
  torch::manual_seed(3);
  for (const AttentionMask mask : {AttentionMask::kNone, AttentionMask::kCausal}) {
    const PartInputs in = RandomPart(5, mask == AttentionMask::kNone ? 3 : 5);
    const auto expected = AutogradGradients(
        [&](const auto& t) {
          return reference::WeightedValues(
              reference::Scores(t[0], t[1], mask == AttentionMask::kCausal), t[2]);
        },
        {in.query, in.key, in.value});
    const AttentionPart part{in.query, in.key, in.value, mask};
    const PartOutput forward = ForwardOfPart(part);
    const AttentionPartGradients actual =
        BackwardOfPart(part, {OutputWeights(forward.out), forward.out, forward.log_sum_exp});
    EXPECT_LT(RelativeError(actual.query, expected[0]), 1e-12);
    EXPECT_LT(RelativeError(actual.key, expected[1]), 1e-12);
    EXPECT_LT(RelativeError(actual.value, expected[2]), 1e-12);
  }
}

// The values are columns of wider heads and have a different head size than the keys. The scale is
// not the default.
TEST(AttentionPartTest, ValueHeadsMayHaveAnotherSize) {
  torch::manual_seed(10);
  const Tensor query = RandomDouble({2, 5, 4, 6}), key = RandomDouble({2, 5, 2, 6});
  const Tensor wide = RandomDouble({2, 5, 2, 12});
  const double scale = 0.7;
  const auto attention = [&](const std::vector<Tensor>& in) {
    const Tensor scores = reference::Scores(in[0], in[1], /*causal=*/true);
    return reference::WeightedValues(scores * (scale * std::sqrt(6.0)), in[2].narrow(3, 8, 4));
  };
  const auto expected = AutogradGradients(attention, {query, key, wide});
  const AttentionPart part{
      .query = query, .key = key, .value = wide.narrow(3, 8, 4), .scale = scale};
  Tensor out = torch::full({2, 5, 4, 4}, std::nan(""), query.options());
  const Tensor log_sum_exp = AttentionPartForward(part, out);
  EXPECT_LT(RelativeError(out, attention({query, key, wide})), 1e-13);
  Tensor d_query = torch::empty_like(query), d_key = torch::empty_like(key);
  Tensor d_wide = torch::zeros_like(wide);
  AttentionPartBackward(part, {OutputWeights(out), out, log_sum_exp}, Reproducible::kYes,
                        {d_query, d_key, d_wide.narrow(3, 8, 4)});
  EXPECT_LT(RelativeError(d_query, expected[0]), 1e-12);
  EXPECT_LT(RelativeError(d_key, expected[1]), 1e-12);
  EXPECT_LT(RelativeError(d_wide, expected[2]), 1e-12);
}

TEST(AttentionPartTest, TakesViewsWithGaps) {
  torch::manual_seed(4);
  const PartInputs in = RandomPart(5, 3);
  const AttentionPart dense{in.query, in.key, in.value, AttentionMask::kNone};
  const AttentionPart views{WithGaps(in.query), WithGaps(in.key), WithGaps(in.value),
                            AttentionMask::kNone};
  const PartOutput expected = ForwardOfPart(dense);
  Tensor out = WithGaps(torch::zeros_like(in.query));
  const Tensor log_sum_exp = AttentionPartForward(views, out);
  EXPECT_TRUE(out.equal(expected.out));
  EXPECT_TRUE(log_sum_exp.equal(expected.log_sum_exp));

  const Tensor dout = OutputWeights(expected.out);
  const AttentionPartGradients of_dense =
      BackwardOfPart(dense, {dout, expected.out, expected.log_sum_exp});
  const AttentionPartGradients of_views{WithGaps(in.query), WithGaps(in.key), WithGaps(in.value)};
  const Tensor gaps = torch::full({2, 4, 9}, std::nan(""), torch::kFloat64).narrow(2, 1, 5);
  AttentionPartBackward(views, {WithGaps(dout), out, gaps.copy_(log_sum_exp)}, Reproducible::kYes,
                        of_views);
  EXPECT_TRUE(of_views.query.equal(of_dense.query));
  EXPECT_TRUE(of_views.key.equal(of_dense.key));
  EXPECT_TRUE(of_views.value.equal(of_dense.value));
}

TEST(AttentionPartTest, CausalPartsNeedAsManyKeysAsQueries) {
  const PartInputs in = RandomPart(5, 6);
  Tensor out = torch::empty_like(in.query);
  try {
    AttentionPartForward({in.query, in.key, in.value, AttentionMask::kCausal}, out);
    ADD_FAILURE() << "a causal part took 6 keys for 5 queries";
  } catch (const c10::Error& error) {
    EXPECT_NE(std::string(error.what())
                  .find("as many keys as queries, but this part has 6 keys and 5 queries"),
              std::string::npos)
        << error.what();
  }
}

// Queries at 5 positions follow 4 earlier positions. Their attention has two parts: the 4 earlier
// keys without a mask, and the 5 own keys with a causal mask.
TEST(AttentionPartTest, EarlierKeysAndASquareAreCausalAttention) {
  torch::manual_seed(5);
  const AttentionHeads heads{4, 2, 6};
  const Tensor packed = RandomDouble({2, 9, heads.packed_heads(), heads.head_size});
  const auto rows = [&](int64_t first, int64_t length, int64_t head, int64_t count) {
    return packed.narrow(1, first, length).narrow(2, head, count);
  };
  const Tensor query = rows(4, 5, 0, 4);
  PartOutput merged =
      ForwardOfPart({query, rows(0, 4, 4, 2), rows(0, 4, 6, 2), AttentionMask::kNone});
  const PartOutput square =
      ForwardOfPart({query, rows(4, 5, 4, 2), rows(4, 5, 6, 2), AttentionMask::kCausal});
  MergeAttention(merged.out, merged.log_sum_exp, square.out, square.log_sum_exp);
  EXPECT_LT(RelativeError(merged.out, reference::Attention(packed, heads).narrow(1, 4, 5)), 1e-13);
}

// With a window of 3, queries 6, 7 and 8 see no key of the earlier part.
TEST(AttentionPartTest, QueriesWithoutAKeyInAPartTakeNothingFromIt) {
  torch::manual_seed(8);
  const AttentionHeads heads{4, 2, 6};
  const Tensor packed = RandomDouble({2, 9, heads.packed_heads(), heads.head_size});
  const AttentionForm form{.limits = {.window = 3}};
  Tensor whole_out = torch::empty({2, 9, 4, 6}, torch::kFloat64);
  const Tensor softmax = AttentionForward(packed, heads, whole_out, form);
  const Tensor dout = OutputWeights(whole_out);
  Tensor expected = torch::empty_like(packed);
  AttentionBackward(dout, {packed, whole_out, softmax, form}, heads, Reproducible::kYes, expected);

  const Tensor positions = torch::arange(9, torch::kInt64);
  const auto part = [&](int64_t first, int64_t length) {
    const Tensor keys = packed.narrow(1, first, length);
    return AttentionPart{
        packed.narrow(1, 4, 5).narrow(2, 0, 4), keys.narrow(2, 4, 2), keys.narrow(2, 6, 2),
        AttentionMask::kNone,
        HiddenKeys(positions.narrow(0, 4, 5), positions.narrow(0, first, length), form.limits)};
  };
  PartOutput merged = ForwardOfPart(part(4, 5));
  const PartOutput earlier = ForwardOfPart(part(0, 4));
  EXPECT_TRUE(earlier.out.isfinite().all().item<bool>());
  MergeAttention(merged.out, merged.log_sum_exp, earlier.out, earlier.log_sum_exp);
  EXPECT_LT(RelativeError(merged.out, whole_out.narrow(1, 4, 5)), 1e-13);

  const WholeAttention whole{dout.narrow(1, 4, 5), merged.out, merged.log_sum_exp};
  const AttentionPartGradients late = BackwardOfPart(part(4, 5), whole);
  const AttentionPartGradients early = BackwardOfPart(part(0, 4), whole);
  EXPECT_LT(RelativeError(late.query + early.query, expected.narrow(1, 4, 5).narrow(2, 0, 4)),
            1e-12);
  EXPECT_LT(RelativeError(late.key, expected.narrow(1, 4, 5).narrow(2, 4, 2)), 1e-12);
  EXPECT_LT(RelativeError(late.value, expected.narrow(1, 4, 5).narrow(2, 6, 2)), 1e-12);
}

TEST(AttentionPartTest, SixteenBitIsRoundedOnce) {
  torch::manual_seed(6);
  const PartInputs in = RandomPart(5, 3);
  const auto part = [&](torch::ScalarType type) {
    const auto cast = [&](const Tensor& t) { return t.to(torch::kBFloat16).to(type); };
    return AttentionPart{cast(in.query), cast(in.key), cast(in.value), AttentionMask::kNone};
  };
  const PartOutput wide = ForwardOfPart(part(torch::kFloat32));
  const PartOutput actual = ForwardOfPart(part(torch::kBFloat16));
  EXPECT_TRUE(actual.out.equal(wide.out.to(torch::kBFloat16)));
  EXPECT_TRUE(actual.log_sum_exp.equal(wide.log_sum_exp));
}

struct RingCase {
  AttentionHeads heads;
  Tensor packed;
  Tensor dout;
};

RingCase RandomRing() {
  const AttentionHeads heads{4, 2, 6};
  return {heads, RandomDouble({2, 16, heads.packed_heads(), heads.head_size}),
          RandomDouble({2, 16, heads.query_heads, heads.head_size})};
}

// Computes the reference over the whole sequence in fp64 by autograd.
RingResult RingByAutograd(const RingCase& c) {
  const Tensor packed = c.packed.clone().set_requires_grad(true);
  const Tensor out = reference::Attention(packed, c.heads);
  const Tensor scores =
      reference::Scores(c.packed.narrow(2, 0, c.heads.query_heads),
                        c.packed.narrow(2, c.heads.query_heads, c.heads.key_heads),
                        /*causal=*/true);
  return {out.detach(), scores.logsumexp(-1), torch::autograd::grad({out}, {packed}, {c.dout})[0]};
}

void ExpectRingEqualsTheWhole(const RingCase& c, torch::ScalarType type, double tolerance) {
  const RingResult expected = RingByAutograd(c);
  for (const int64_t ranks : {2, 4}) {
    SCOPED_TRACE(ranks);
    const RingResult actual = ZigzagRing(c.packed.to(type), c.heads, ranks).Run(c.dout.to(type));
    EXPECT_LT(RelativeError(actual.out, expected.out), tolerance);
    EXPECT_LT(RelativeError(actual.log_sum_exp, expected.log_sum_exp), tolerance);
    const auto expect_part = [&](const char* name, int64_t first, int64_t count) {
      EXPECT_LT(RelativeError(actual.d_packed.narrow(2, first, count),
                              expected.d_packed.narrow(2, first, count)),
                tolerance)
          << name;
    };
    const int64_t queries = c.heads.query_heads, keys = c.heads.key_heads;
    expect_part("gradient of the queries", 0, queries);
    expect_part("gradient of the keys", queries, keys);
    expect_part("gradient of the values", queries + keys, keys);
  }
}

TEST(AttentionPartTest, ZigzagRingEqualsCausalAttention) {
  torch::manual_seed(7);
  const RingCase c = RandomRing();
  ExpectRingEqualsTheWhole(c, torch::kFloat64, 1e-12);
  ExpectRingEqualsTheWhole(c, torch::kFloat32, 1e-5);
}

TEST(MergeAttentionTest, LargeDifferencesStayFinite) {
  const auto options = torch::dtype(torch::kFloat32);
  Tensor out_sum = torch::tensor({1.0f, 2.0f, 3.0f, 4.0f}).view({1, 4, 1, 1});
  Tensor log_sum_exp =
      torch::tensor({1e4f, -1e4f, -std::numeric_limits<float>::infinity(), 1e4f}).view({1, 1, 4});
  const Tensor part_out = torch::full({1, 4, 1, 1}, 8.0, options);
  const Tensor part_log_sum_exp = torch::tensor({-1e4f, 1e4f, 5.0f, 1e4f}).view({1, 1, 4});
  MergeAttention(out_sum, log_sum_exp, part_out, part_log_sum_exp);
  EXPECT_TRUE(out_sum.view({4}).equal(torch::tensor({1.0f, 8.0f, 8.0f, 6.0f})));
  EXPECT_TRUE(
      log_sum_exp.view({4}).equal(torch::tensor({1e4f, 1e4f, 5.0f, 1e4f + std::log(2.0f)})));
}

TEST(MergeAttentionTest, NanReachesTheResults) {
  Tensor out_sum = torch::ones({1, 1, 1, 2}), log_sum_exp = torch::zeros({1, 1, 1});
  MergeAttention(out_sum, log_sum_exp, torch::ones({1, 1, 1, 2}),
                 torch::full({1, 1, 1}, std::nan("")));
  EXPECT_TRUE(out_sum.isnan().all().item<bool>());
  EXPECT_TRUE(log_sum_exp.isnan().all().item<bool>());
}

}  // namespace
}  // namespace trainyard::trainer
