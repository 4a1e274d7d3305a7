#include <gtest/gtest.h>

#include "tests/trainer/gpu/accuracy.h"
#include "trainer/checkpoint/host_copy.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// The state changes while its copies are still running: a step is shorter than the copy of 400 MB.
// The later copies know the speed of the earlier ones and copy a part directly.
TEST(StagedCopyGpuTest, HasTheStateBeforeTheUpdate) {
  const Tensor flat = torch::arange(int64_t{100} << 20, OnGpu(torch::kInt32));
  const Tensor matrix = RandomOnGpu({4096, 4096}, torch::kFloat32);
  const Tensor columns = torch::arange(12, OnGpu(torch::kInt32)).view({3, 4}).t();
  HostCopy copy;
  for (int repeat = 0; repeat < 6; ++repeat) {
    const Tensor before = flat.cpu();
    copy.Begin({WholeTensor("a", flat.narrow(0, 0, 1000)),
                WholeTensor("b", flat.narrow(0, 1024, flat.numel() - 1024)),
                WholeTensor("columns", columns)});
    for (int pass = 0; pass < 4; ++pass) Tensor product = matrix.mm(matrix);
    copy.BlockChanges();
    Tensor(flat).mul_(3).add_(1);
    copy.BlockChanges();
    Tensor(flat).fill_(-1);
    copy.Wait();
    EXPECT_TRUE(copy.chunks()[0].tensor.equal(before.narrow(0, 0, 1000)));
    EXPECT_TRUE(copy.chunks()[1].tensor.equal(before.narrow(0, 1024, flat.numel() - 1024)));
    EXPECT_TRUE(copy.chunks()[2].tensor.equal(columns.cpu()));
    Tensor(flat).copy_(torch::arange(flat.numel(), OnGpu(torch::kInt32)).add_(repeat));
  }
  EXPECT_EQ(copy.UnlockedText(), "");
}

// The state of a run whose end follows a save directly.
TEST(StagedCopyGpuTest, NeedsNoLaterStep) {
  const Tensor flat = torch::arange(int64_t{20} << 20, OnGpu(torch::kInt32));
  HostCopy copy;
  copy.Reserve({WholeTensor("a", flat)});
  copy.Begin({WholeTensor("a", flat)});
  copy.Wait();
  EXPECT_TRUE(copy.chunks()[0].tensor.equal(flat.cpu()));
}

}  // namespace
}  // namespace trainyard::trainer
