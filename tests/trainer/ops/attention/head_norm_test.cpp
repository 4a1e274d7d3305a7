#include "trainer/ops/attention/head_norm.h"

#include <gtest/gtest.h>

#include "tests/trainer/ops/gradient_check.h"
#include "tests/trainer/ops/references.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

constexpr double kHeadEpsilon = 1e-6;

// Returns the two middle ones of the four heads in packed rows.
Tensor HeadsOf(const Tensor& packed) { return packed.narrow(2, 1, 2); }

HeadNormKept NewKept() {
  return {torch::empty({12, 6}, torch::kFloat64), torch::empty({12}, torch::kFloat64)};
}

TEST(HeadNormTest, NormalisesItsHeadsInPlaceAndNoOthers) {
  torch::manual_seed(1);
  const Tensor before = RandomDouble({2, 3, 4, 6}), weight = RandomDouble({6});
  Tensor packed = before.clone(), heads = HeadsOf(packed);
  HeadNormKept kept = NewKept();
  HeadNormForward(heads, weight, kHeadEpsilon, kept);
  const Tensor expected = before.clone();
  HeadsOf(expected).copy_(reference::RmsNorm(HeadsOf(before), weight, kHeadEpsilon));
  EXPECT_LT(RelativeError(packed, expected), 1e-14);
  EXPECT_TRUE(kept.x.equal(HeadsOf(before).reshape({12, 6})));
}

TEST(HeadNormTest, WithoutACopyTheResultIsTheSame) {
  torch::manual_seed(2);
  const Tensor before = RandomDouble({2, 3, 4, 6}), weight = RandomDouble({6});
  Tensor one = before.clone(), other = before.clone();
  Tensor heads_of_one = HeadsOf(one), heads_of_other = HeadsOf(other);
  HeadNormKept kept = NewKept(), not_kept{Tensor(), torch::empty({12}, torch::kFloat64)};
  HeadNormForward(heads_of_one, weight, kHeadEpsilon, kept);
  HeadNormForward(heads_of_other, weight, kHeadEpsilon, not_kept);
  EXPECT_TRUE(one.equal(other));
}

TEST(HeadNormTest, GradientsEqualAutogradsInPlace) {
  torch::manual_seed(3);
  const Tensor before = RandomDouble({2, 3, 4, 6}), weight = RandomDouble({6});
  const auto expected = AutogradGradients(
      [](const auto& in) { return reference::RmsNorm(in[0], in[1], kHeadEpsilon); },
      {HeadsOf(before), weight});
  Tensor packed = before.clone(), heads = HeadsOf(packed);
  HeadNormKept kept = NewKept();
  HeadNormForward(heads, weight, kHeadEpsilon, kept);
  for (const bool adds : {false, true}) {
    Tensor d_packed = torch::full_like(before, 7), d_heads = HeadsOf(d_packed);
    d_heads.copy_(OutputWeights(HeadsOf(before).contiguous()));
    const Tensor d_weight = torch::full({6}, 7.0, torch::kFloat64);
    HeadNormBackward(d_heads, weight, kept, {d_weight, adds});
    EXPECT_LT(RelativeError(HeadsOf(d_packed), expected[0]), 1e-13);
    EXPECT_LT(RelativeError(d_weight, expected[1] + (adds ? 7 : 0)), 1e-13);
    EXPECT_TRUE(d_packed.select(2, 0).equal(torch::full({2, 3, 6}, 7.0, torch::kFloat64)));
  }
}

}  // namespace
}  // namespace trainyard::trainer
