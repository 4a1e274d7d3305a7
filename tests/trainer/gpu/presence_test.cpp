#include "trainer/parallel/interruption/presence.h"

#include <gtest/gtest.h>

#include "tests/trainer/gpu/accuracy.h"

namespace trainyard::trainer {
namespace {

// The products keep the device busy, so that the rank leaves after the write has been queued and
// before the device executes it.
TEST(PresenceGpuTest, AWriteThatIsQueuedWhenTheRankLeavesIsZero) {
  const torch::Tensor matrix = RandomOnGpu({8192, 8192}, torch::kFloat32);
  torch::Tensor product = matrix.mm(matrix);
  const torch::Tensor before = torch::empty({}, OnGpu(torch::kFloat64));
  const torch::Tensor after = torch::empty_like(before);
  Interruption interruption;
  const Presence presence(before.device(), &interruption);
  presence.Write(7, before);
  EXPECT_EQ(before.item<double>(), 7);
  for (int repeat = 0; repeat < 20; ++repeat) product = matrix.mm(product);
  presence.Write(8, after);
  interruption.Interrupt();
  EXPECT_EQ(after.item<double>(), 0);
}

}  // namespace
}  // namespace trainyard::trainer
