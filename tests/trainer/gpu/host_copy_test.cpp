#include "trainer/ops/host_copy.h"

#include <gtest/gtest.h>

#include "tests/trainer/gpu/accuracy.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// The product keeps the device busy when the copy is queued. Later work must not change the copy.
TEST(HostCopyGpuTest, HasTheValuesOfTheTimeOfTheCall) {
  Tensor values = torch::arange(100, OnGpu(torch::kInt64));
  const Tensor matrix = RandomOnGpu({4096, 4096}, torch::kFloat32);
  for (int repeat = 0; repeat < 20; ++repeat) {
    const Tensor product = matrix.mm(matrix);
    values += 1;
    const HostTensor copy = BeginHostCopy(values);
    values += 1;
    ASSERT_TRUE(copy.is_complete);
    copy.Wait();
    EXPECT_TRUE(copy.is_complete());
    EXPECT_TRUE(copy.values.equal(torch::arange(100) + 2 * repeat + 1));
    EXPECT_TRUE(copy.values.is_pinned());
  }
}

}  // namespace
}  // namespace trainyard::trainer
