#include "trainer/parallel/device.h"

#include <gtest/gtest.h>

namespace trainyard::trainer {
namespace {

TEST(DeviceTest, KnowsThePeaksOfDataSheets) {
  EXPECT_EQ(PeakFlops("NVIDIA H200", Precision::kBf16), 989.4e12);
  EXPECT_EQ(PeakFlops("NVIDIA A100-SXM4-80GB", Precision::kFp32), 19.5e12);
  EXPECT_EQ(PeakFlops("CPU", Precision::kFp32), 0);
}

TEST(DeviceTest, ResidentMemoryIsCounted) {
  EXPECT_GT(PeakResidentBytes(), 1 << 20);
  EXPECT_EQ(OpenDevice(DeviceKind::kCpu, 3), torch::Device(torch::kCPU));
}

}  // namespace
}  // namespace trainyard::trainer
