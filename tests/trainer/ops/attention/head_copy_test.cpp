#include "trainer/ops/attention/head_copy.h"

#include <gtest/gtest.h>

namespace trainyard::trainer {
namespace {

using torch::Tensor;

TEST(HeadCopyTest, CopiesBetweenOrders) {
  const Tensor from = torch::randn({3, 5, 4, 6}).narrow(2, 1, 2);
  const Tensor rows = torch::zeros({5, 3, 20});
  const Tensor to = rows.narrow(2, 8, 12).view({5, 3, 2, 6}).transpose(0, 1);
  const Tensor second = torch::randn({1, 7, 2, 2}), copied = torch::empty_like(second);
  CopyHeads({{from, to}, {second, copied}});
  EXPECT_TRUE(to.equal(from));
  EXPECT_TRUE(copied.equal(second));
  EXPECT_EQ(rows.count_nonzero().item<int64_t>(), from.numel()) << "other columns are unchanged";
}

TEST(HeadCopyTest, SizesMustBeEqual) {
  const Tensor from = torch::zeros({1, 2, 2, 4}), to = torch::zeros({1, 1, 2, 4});
  EXPECT_THROW(CopyHeads({{from, to}}), c10::Error);
}

}  // namespace
}  // namespace trainyard::trainer
