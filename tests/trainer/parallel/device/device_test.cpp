#include "trainer/parallel/device/device.h"

#include <gtest/gtest.h>

#include "trainer/config/trainer_error.h"

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

TEST(DeviceTest, RefusesFp8OnGpusWithoutIt) {
  CheckHasFp8("CPU", ComputeCapability(torch::kCPU));
  CheckHasFp8("NVIDIA L4", 89);
  CheckHasFp8("NVIDIA H200", 90);
  try {
    CheckHasFp8("NVIDIA A100-SXM4-80GB", 80);
    FAIL() << "no error";
  } catch (const TrainerError& error) {
    EXPECT_EQ(error.code(), ExitCode::kBadConfig);
    EXPECT_STREQ(error.what(),
                 "train.fp8 needs GPUs of compute capability 8.9 or higher, but NVIDIA "
                 "A100-SXM4-80GB has 8.0. Set train.fp8 to none.");
  }
}

}  // namespace
}  // namespace trainyard::trainer
