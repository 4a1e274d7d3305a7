#include "worker/device/gpu_monitor.h"

#include <cstdlib>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace trainyard::worker {
namespace {

using testing::HasSubstr;

// Returns readings from the fake NVML (fake_nvml.cpp, built to the path FAKE_NVML). `fault_at_open`
// is active while the monitor opens the library, and `fault_at_read` while it reads. "" means no
// fault.
std::vector<GpuReading> ReadWith(const char* fault_at_read, const char* fault_at_open = "") {
  setenv("FAKE_NVML_FAULT", fault_at_open, 1);
  auto monitor = GpuMonitor::Open(FAKE_NVML);
  EXPECT_TRUE(monitor.ok()) << monitor.status();
  setenv("FAKE_NVML_FAULT", fault_at_read, 1);
  std::vector<GpuReading> readings;
  if (monitor.ok()) readings = (*monitor)->Read();
  unsetenv("FAKE_NVML_FAULT");
  return readings;
}

TEST(GpuMonitorTest, ReadsEveryValueInItsUnit) {
  const std::vector<GpuReading> readings = ReadWith("");
  ASSERT_EQ(readings.size(), 3u);
  // A fake GPU's utilization is 90 % plus the GPU's index, so the value shows which GPU was read.
  const GpuReading& gpu = readings[1];
  EXPECT_EQ(gpu.index, 1);
  EXPECT_EQ(gpu.uuid, "GPU-1");
  EXPECT_EQ(gpu.model, "NVIDIA H200");
  EXPECT_EQ(gpu.error, "");
  EXPECT_EQ(gpu.utilization_percent, 91);
  EXPECT_EQ(gpu.memory_utilization_percent, 40);
  EXPECT_EQ(gpu.memory_used_mib, 50);
  EXPECT_EQ(gpu.memory_free_mib, 100);
  EXPECT_EQ(gpu.temperature_celsius, 61);
  EXPECT_EQ(gpu.memory_temperature_celsius, 71);
  EXPECT_EQ(gpu.power_watts, 650.5);
  EXPECT_EQ(gpu.energy_millijoules, 123456789);
  EXPECT_EQ(gpu.sm_clock_mhz, 1980);
  EXPECT_EQ(gpu.memory_clock_mhz, 3201);
  EXPECT_EQ(gpu.last_xid, 0);
  EXPECT_EQ(gpu.pcie_replays, 4);
  EXPECT_EQ(gpu.ecc_corrected_volatile, 1);
  EXPECT_EQ(gpu.ecc_corrected_aggregate, 2);
  EXPECT_EQ(gpu.ecc_uncorrected_volatile, 11);
  EXPECT_EQ(gpu.ecc_uncorrected_aggregate, 12);
  EXPECT_EQ(gpu.remapped_rows_uncorrected, 2);
  EXPECT_EQ(gpu.row_remap_failed, 1);
  EXPECT_EQ(gpu.throttled, false);
  EXPECT_EQ(readings[2].throttled, true);
}

TEST(GpuMonitorTest, XidIsRememberedForItsGpuOnly) {
  setenv("FAKE_NVML_FAULT", "xid", 1);
  const auto monitor = GpuMonitor::Open(FAKE_NVML);
  ASSERT_TRUE(monitor.ok());
  EXPECT_EQ((*monitor)->Read()[2].last_xid, 79);
  EXPECT_EQ((*monitor)->Read()[2].last_xid, 79) << "an event is told once and remembered";
  EXPECT_EQ((*monitor)->Read()[0].last_xid, 0);
  unsetenv("FAKE_NVML_FAULT");
}

TEST(GpuMonitorTest, LostGpuReportsItsErrorAndTheOthersAreRead) {
  const std::vector<GpuReading> readings = ReadWith("dies");
  ASSERT_EQ(readings.size(), 3u);
  EXPECT_THAT(readings[1].error, HasSubstr("GPU is lost"));
  EXPECT_EQ(readings[1].power_watts, std::nullopt);
  EXPECT_EQ(readings[2].power_watts, 650.5);
}

// With the fault "old", the device supports only the measurement of memory use.
TEST(GpuMonitorTest, ValuesTheDeviceDoesNotReportAreAbsent) {
  const std::vector<GpuReading> readings = ReadWith("old", "old");
  ASSERT_EQ(readings.size(), 3u);
  EXPECT_EQ(readings[0].memory_used_mib, 50);
  EXPECT_EQ(readings[0].error, "");
  EXPECT_EQ(readings[0].utilization_percent, std::nullopt);
  EXPECT_EQ(readings[0].last_xid, std::nullopt);
  EXPECT_EQ(readings[0].memory_temperature_celsius, std::nullopt);
  EXPECT_EQ(readings[0].row_remap_failed, std::nullopt);
}

TEST(GpuMonitorTest, OpenFailsWithoutAWorkingNvml) {
  EXPECT_EQ(GpuMonitor::Open("libno-such-nvml.so.1").status().code(), absl::StatusCode::kNotFound);
  // libc can be loaded but has no NVML functions.
  EXPECT_EQ(GpuMonitor::Open("libc.so.6").status().code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace trainyard::worker
