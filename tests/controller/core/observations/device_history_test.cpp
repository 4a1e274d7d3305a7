#include "controller/core/observations/device_history.h"

#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace trainyard::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int64_t kMinuteMs = 60'000;
constexpr Timestamp kStart = 1'000'000 * kMinuteMs;

class DeviceHistoryTest : public testing::Test {
 protected:
  DeviceHistoryTest() {
    slot_.set_index(3);
    slot_.set_uuid("GPU-3");
    slot_.set_model("NVIDIA H200");
    *inventory_.add_slots() = slot_;
  }

  v1::DeviceReading& Reading() { return *heartbeat_.mutable_devices(0); }
  void Note(Timestamp now) { NoteDevices(heartbeat_, inventory_, now, records_); }
  v1::DeviceHistory History(int64_t interval_ms = kMinuteMs, Timestamp from_ms = 0) {
    return HistoryOf(slot_, records_["GPU-3"], from_ms, interval_ms);
  }
  // Notes a reading with this utilization and temperature.
  void NoteLoad(Timestamp now, double percent, double celsius) {
    Reading().set_utilization_percent(percent);
    Reading().set_temperature_celsius(celsius);
    Note(now);
  }

  v1::Slot slot_;
  v1::Inventory inventory_;
  v1::Heartbeat heartbeat_ = [] {
    v1::Heartbeat heartbeat;
    heartbeat.add_devices()->set_uuid("GPU-3");
    return heartbeat;
  }();
  DeviceRecords records_;
};

TEST_F(DeviceHistoryTest, HasEachReadingWithItsTime) {
  Reading().set_memory_mib(70'000.4);
  Reading().set_power_watts(699.6);
  Reading().set_throttled(true);
  Reading().set_ecc_uncorrected(2);
  Reading().set_last_xid(79);
  NoteLoad(kStart + 7, 98, 71);
  const v1::DeviceHistory history = History();
  EXPECT_EQ(history.slot(), 3);
  EXPECT_EQ(history.model(), "NVIDIA H200");
  EXPECT_EQ(history.last_xid(), 79);
  EXPECT_THAT(history.time_ms(), ElementsAre(kStart));
  EXPECT_THAT(history.utilization_percent(), ElementsAre(98));
  EXPECT_THAT(history.memory_mib(), ElementsAre(70'000));
  EXPECT_THAT(history.temperature_celsius(), ElementsAre(71));
  EXPECT_THAT(history.power_watts(), ElementsAre(700));
  EXPECT_THAT(history.throttled_percent(), ElementsAre(100));
  EXPECT_THAT(history.ecc_uncorrected(), ElementsAre(2));
}

TEST_F(DeviceHistoryTest, AValueThatTheDeviceDoesNotReportIsUnknown) {
  Note(kStart);
  EXPECT_THAT(History().utilization_percent(), ElementsAre(-1));
  EXPECT_THAT(History().memory_mib(), ElementsAre(-1));
  EXPECT_THAT(History().throttled_percent(), ElementsAre(-1));
}

TEST_F(DeviceHistoryTest, AnIntervalHasTheMeanLoadAndTheHighestTemperature) {
  NoteLoad(kStart, 100, 60);
  NoteLoad(kStart + kMinuteMs, 51, 80);
  NoteLoad(kStart + 2 * kMinuteMs, 10, 40);
  const v1::DeviceHistory history = History(2 * kMinuteMs);
  EXPECT_THAT(history.time_ms(), ElementsAre(kStart, kStart + 2 * kMinuteMs));
  EXPECT_THAT(history.utilization_percent(), ElementsAre(76, 10));
  EXPECT_THAT(history.temperature_celsius(), ElementsAre(80, 40));
  EXPECT_THAT(History(kMinuteMs, kStart + kMinuteMs).utilization_percent(), ElementsAre(51, 10));
}

TEST_F(DeviceHistoryTest, KeepsOneReadingPerMinuteForADay) {
  for (int minute = 0; minute < 25 * 60; ++minute) NoteLoad(kStart + minute * kMinuteMs, 1, 1);
  NoteLoad(kStart + (25 * 60 - 1) * kMinuteMs + 30'000, 2, 2);
  const v1::DeviceHistory history = History();
  EXPECT_EQ(history.time_ms_size(), 24 * 60);
  EXPECT_EQ(history.time_ms(0), kStart + 60 * kMinuteMs);
  EXPECT_EQ(*history.utilization_percent().rbegin(), 2);
}

TEST_F(DeviceHistoryTest, AGpuThatDoesNotRespondLeavesAGap) {
  NoteLoad(kStart, 5, 5);
  Reading().set_error("GPU is lost");
  Note(kStart + kMinuteMs);
  EXPECT_EQ(History().error(), "GPU is lost");
  EXPECT_EQ(History().time_ms_size(), 1);
  Reading().clear_error();
  Note(kStart + 2 * kMinuteMs);
  EXPECT_EQ(History().error(), "");
  EXPECT_EQ(History().time_ms_size(), 2);
}

TEST_F(DeviceHistoryTest, UnplausibleValuesAreClamped) {
  Reading().set_memory_mib(std::numeric_limits<double>::infinity());
  Reading().set_power_watts(1e300);
  Reading().set_ecc_uncorrected(-4);
  NoteLoad(kStart, std::numeric_limits<double>::quiet_NaN(), -40);
  EXPECT_THAT(History().memory_mib(), ElementsAre(-1));
  EXPECT_THAT(History().power_watts(), ElementsAre(65'534));
  EXPECT_THAT(History().ecc_uncorrected(), ElementsAre(0));
  EXPECT_THAT(History().utilization_percent(), ElementsAre(-1));
  EXPECT_THAT(History().temperature_celsius(), ElementsAre(0));
}

TEST_F(DeviceHistoryTest, OnlyDevicesOfTheInventoryAreKept) {
  heartbeat_.add_devices()->set_uuid("GPU-9");
  Note(kStart);
  EXPECT_EQ(records_.size(), 1u);
  inventory_.clear_slots();
  Note(kStart + kMinuteMs);
  EXPECT_THAT(records_, IsEmpty());
}

TEST_F(DeviceHistoryTest, TimesFollowAClockThatIsSet) {
  NoteLoad(kStart, 5, 5);
  ShiftDevices(-10 * kMinuteMs, records_);
  EXPECT_THAT(History().time_ms(), ElementsAre(kStart - 10 * kMinuteMs));
}

}  // namespace
}  // namespace trainyard::controller
