#include "proto/contract/device_table.h"

#include <gtest/gtest.h>

namespace trainyard {
namespace {

TEST(DeviceTableTest, FindsADeviceByItsDriverName) {
  const DeviceRating* h200 = FindDevice("NVIDIA H200");
  ASSERT_NE(h200, nullptr);
  EXPECT_EQ(h200->bf16_flops, 989.4e12);
  EXPECT_EQ(h200->memory_bytes, 141'000'000'000);
  EXPECT_EQ(FindDevice("NVIDIA A100-SXM4-80GB")->memory_bytes, 80'000'000'000);
  EXPECT_EQ(FindDevice("NVIDIA A100-SXM4-40GB")->memory_bytes, 40'000'000'000);
  EXPECT_EQ(FindDevice("NVIDIA H100 PCIe")->bf16_flops, 756e12);
  EXPECT_EQ(FindDevice("NVIDIA H100 80GB HBM3")->bf16_flops, 989.4e12);
  EXPECT_EQ(FindDevice("NVIDIA H100 80GB HBM3")->memory_bytes, 85'000'000'000);
  EXPECT_EQ(FindDevice("NVIDIA A10G")->memory_bytes, 24'000'000'000);
  EXPECT_EQ(FindDevice("NVIDIA RTX A6000")->memory_bytes, 48'000'000'000);
  EXPECT_EQ(FindDevice("Tesla V100-SXM2-32GB")->bf16_flops, 0);
  EXPECT_EQ(FindDevice("NVIDIA GB200")->memory_bytes, 186'000'000'000);
  EXPECT_EQ(FindDevice("NVIDIA GH200 480GB")->memory_bytes, 96'000'000'000);
  EXPECT_EQ(FindDevice("NVIDIA GH200 144G HBM3e")->memory_bytes, 144'000'000'000);
  EXPECT_EQ(FindDevice("CPU"), nullptr);
}

TEST(DeviceTableTest, ANameInsideAWordIsAnotherDevice) {
  EXPECT_EQ(FindDevice("NVIDIA XH100"), nullptr);
  EXPECT_EQ(FindDevice("NVIDIA GB2200"), nullptr);
  EXPECT_TRUE(NamesDevice("NVIDIA GA100 A100", "A100")) << "a later word";
}

TEST(DeviceTableTest, EveryEntryCanBeFound) {
  for (const DeviceRating& device : KnownDevices()) {
    EXPECT_EQ(FindDevice(device.name), &device) << device.name << " stands behind a shorter name";
    EXPECT_TRUE(device.bf16_flops == 0 || device.bf16_flops > device.fp32_flops);
    EXPECT_GT(device.fp32_flops, 0);
    EXPECT_GT(device.memory_bytes, 0);
  }
}

}  // namespace
}  // namespace trainyard
