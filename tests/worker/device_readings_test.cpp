#include "worker/device_readings.h"

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace trainyard::worker {
namespace {

using std::chrono::steady_clock;

GpuReading BusyGpu() {
  GpuReading gpu;
  gpu.uuid = "GPU-1";
  gpu.utilization_percent = 91;
  gpu.memory_used_mib = 50;
  gpu.temperature_celsius = 61;
  gpu.power_watts = 650.5;
  gpu.throttled = true;
  gpu.ecc_uncorrected_volatile = 11;
  gpu.last_xid = 79;
  return gpu;
}

TEST(DeviceReadingsTest, HaveWhatTheDeviceReports) {
  const v1::DeviceReading reading = DeviceReadingOf(BusyGpu());
  EXPECT_EQ(reading.uuid(), "GPU-1");
  EXPECT_EQ(reading.utilization_percent(), 91);
  EXPECT_EQ(reading.memory_mib(), 50);
  EXPECT_EQ(reading.temperature_celsius(), 61);
  EXPECT_EQ(reading.power_watts(), 650.5);
  EXPECT_TRUE(reading.throttled());
  EXPECT_EQ(reading.ecc_uncorrected(), 11);
  EXPECT_EQ(reading.last_xid(), 79);
}

TEST(DeviceReadingsTest, LeaveOutWhatTheDeviceDoesNotReport) {
  const v1::DeviceReading reading = DeviceReadingOf({.error = "GPU is lost"});
  EXPECT_EQ(reading.error(), "GPU is lost");
  EXPECT_FALSE(reading.has_utilization_percent());
  EXPECT_FALSE(reading.has_throttled());
  EXPECT_FALSE(reading.has_ecc_uncorrected());
}

TEST(DeviceReadingsTest, ShortenALongError) {
  EXPECT_EQ(DeviceReadingOf({.error = std::string(2000, 'e')}).error().size(), 256u);
}

class DeviceRoundsTest : public testing::Test {
 protected:
  // Waits until the round that began at `now` has ended.
  std::vector<v1::DeviceReading> ReadAt(steady_clock::time_point now) {
    std::vector<v1::DeviceReading> taken = readings_.Take(inventory_, now);
    const auto limit = steady_clock::now() + std::chrono::seconds(30);
    while (taken.empty() && steady_clock::now() < limit) {
      std::this_thread::yield();
      taken = readings_.Take(inventory_, now);
    }
    return taken;
  }

  v1::Inventory inventory_;
  DeviceReadings readings_{FAKE_NVML};
  const steady_clock::time_point start_ = steady_clock::now();
};

TEST_F(DeviceRoundsTest, ReadEachGpuOncePerMinute) {
  inventory_.add_slots()->set_kind(v1::DEVICE_KIND_GPU);
  EXPECT_EQ(ReadAt(start_).size(), 3u);
  EXPECT_TRUE(readings_.Take(inventory_, start_ + std::chrono::seconds(59)).empty());
  EXPECT_EQ(ReadAt(start_ + std::chrono::seconds(60)).size(), 3u);
}

TEST_F(DeviceRoundsTest, ReadNothingOnANodeWithoutGpus) {
  inventory_.add_slots()->set_kind(v1::DEVICE_KIND_CPU);
  EXPECT_TRUE(readings_.Take(inventory_, start_).empty());
  EXPECT_TRUE(readings_.Take(inventory_, start_ + std::chrono::hours(1)).empty());
}

}  // namespace
}  // namespace trainyard::worker
