#include "trainer/ops/sum_parts.h"

#include <gtest/gtest.h>

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// In bf16, 256 + 1 rounds to 256, but 256 + 1 + 1 does not. The sum must be rounded once, and again
// after the residual is added.
TEST(SumPartsTest, RoundsTheSumOnce) {
  const auto row = [](float value) { return torch::full({3}, value, torch::kBFloat16); };
  Tensor sum = torch::empty({3}, torch::kBFloat16);
  SumParts({row(256), row(1), row(1)}, Tensor(), sum);
  EXPECT_TRUE(sum.equal(row(258)));
  SumParts({row(256), row(1)}, row(1), sum);
  EXPECT_TRUE(sum.equal(row(256)));
}

TEST(SumPartsTest, TheResultMayReplaceAnInput) {
  Tensor first = torch::full({2}, 1.5F), residual = torch::full({2}, 4.0F);
  SumParts({first, torch::full({2}, 2.0F)}, residual, first);
  EXPECT_TRUE(first.equal(torch::full({2}, 7.5F)));
}

}  // namespace
}  // namespace trainyard::trainer
