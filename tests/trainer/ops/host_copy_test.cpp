#include "trainer/ops/host_copy.h"

#include <gtest/gtest.h>
#include <torch/utils.h>

namespace trainyard::trainer {
namespace {

TEST(HostCopyTest, TensorsInHostMemoryNeedNoWait) {
  const torch::Tensor counts = torch::tensor({3, 0, 2}, torch::kInt64);
  const HostTensor copy = BeginHostCopy(counts);
  EXPECT_FALSE(copy.is_complete);
  copy.Wait();
  EXPECT_TRUE(copy.values.equal(counts));
}

}  // namespace
}  // namespace trainyard::trainer
