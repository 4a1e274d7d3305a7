#include "controller/planner/mixed_device.h"

#include <gtest/gtest.h>

#include <array>

#include "controller/planner/step_time.h"
#include "tests/controller/planner/run_settings.h"

namespace trainyard::planner {
namespace {

MixedDevice Mixed(const char* one, const char* other) {
  const std::array<const DeviceSpec*, 2> devices = {FindDeviceSpec(one), FindDeviceSpec(other)};
  MixedDevice mixed;
  MixDevices(devices, mixed);
  mixed.spec.rating = &mixed.rating;
  return mixed;
}

// An A6000 has more memory than a 40 GB A100, but is slower in every respect.
TEST(MixedDeviceTest, MemoryOfTheSmallestAndRatesOfTheSlowest) {
  const MixedDevice mixed = Mixed("A100-SXM4-40GB", "A6000");
  EXPECT_EQ(mixed.rating.name, "A6000");
  EXPECT_EQ(mixed.rating.memory_bytes, FindDevice("A100-SXM4-40GB")->memory_bytes);
  EXPECT_EQ(mixed.rating.bf16_flops, FindDevice("A6000")->bf16_flops);
  EXPECT_EQ(mixed.spec.memory_bandwidth, FindDeviceSpec("A6000")->memory_bandwidth);
  EXPECT_EQ(mixed.spec.node_link.name, "PCIe 4");
  EXPECT_EQ(mixed.spec.network, "eth100");
}

TEST(MixedDeviceTest, IsAsSlowAsTheSlowestAlone) {
  const MixedDevice mixed = Mixed("A6000", "A100-SXM4-40GB");
  const RunSettings run = Settings(Llama(18, 2048, 7168, 16), 2048, 8, 1);
  Cluster cluster = ClusterOf("A6000", run);
  const double slowest = PredictStep(run.config, cluster).Total();
  cluster.device = FindDeviceSpec("A100-SXM4-40GB");
  EXPECT_LT(PredictStep(run.config, cluster).Total(), slowest);
  cluster.device = &mixed.spec;
  EXPECT_DOUBLE_EQ(PredictStep(run.config, cluster).Total(), slowest);
}

TEST(MixedDeviceTest, OneKindStaysAsItIs) {
  const MixedDevice mixed = Mixed("H100", "H100");
  EXPECT_EQ(mixed.rating.memory_bytes, FindDevice("H100")->memory_bytes);
  EXPECT_EQ(mixed.spec.sustained_products, FindDeviceSpec("H100")->sustained_products);
  EXPECT_EQ(mixed.spec.network, "ndr");
}

// The cluster supports only the kinds of arithmetic that all its devices support.
TEST(MixedDeviceTest, ArithmeticThatOneKindLacksIsNotThere) {
  const MixedDevice mixed = Mixed("H100", "V100");
  EXPECT_EQ(mixed.rating.bf16_flops, 0);
  EXPECT_EQ(mixed.spec.fp8_flops, 0);
}

}  // namespace
}  // namespace trainyard::planner
