#include "controller/core/observations/device_history.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace trainyard::controller {
namespace {

constexpr int64_t kMinuteMs = 60'000;
constexpr int64_t kUnknown = -1;

template <typename Number>
constexpr Number kAbsent = std::numeric_limits<Number>::max();

// Returns the value rounded into the range of the type. Values from workers are untrusted.
template <typename Number>
Number Compact(bool is_present, double value) {
  if (!is_present || !std::isfinite(value)) return kAbsent<Number>;
  return static_cast<Number>(std::clamp(std::round(value), 0.0, kAbsent<Number> - 1.0));
}

DeviceSample SampleOf(const v1::DeviceReading& reading, Timestamp now) {
  DeviceSample sample;
  sample.minute = static_cast<uint32_t>(now / kMinuteMs);
  sample.memory_mib = Compact<uint32_t>(reading.has_memory_mib(), reading.memory_mib());
  sample.ecc_uncorrected = Compact<uint32_t>(reading.has_ecc_uncorrected(),
                                             static_cast<double>(reading.ecc_uncorrected()));
  sample.power_watts = Compact<uint16_t>(reading.has_power_watts(), reading.power_watts());
  sample.utilization_percent =
      Compact<uint8_t>(reading.has_utilization_percent(), reading.utilization_percent());
  sample.temperature_celsius =
      Compact<uint8_t>(reading.has_temperature_celsius(), reading.temperature_celsius());
  sample.throttled = Compact<uint8_t>(reading.has_throttled(), reading.throttled() ? 1 : 0);
  return sample;
}

void NoteReading(const v1::DeviceReading& reading, Timestamp now, DeviceRecord& record) {
  record.error = reading.error();
  record.last_xid = reading.last_xid();
  if (!record.error.empty()) return;
  const DeviceSample sample = SampleOf(reading, now);
  // A newer reading of the same minute replaces the older reading.
  while (!record.samples.empty() && record.samples.back().minute >= sample.minute) {
    record.samples.pop_back();
  }
  record.samples.push_back(sample);
  if (record.samples.size() > kDeviceReadingsKept) record.samples.pop_front();
}

// Combines the values of one interval. Absent values are left out.
class Combined {
 public:
  template <typename Number>
  void Add(Number value) {
    if (value == kAbsent<Number>) return;
    ++count_;
    sum_ += value;
    max_ = std::max<int64_t>(max_, value);
    newest_ = value;
  }

  int64_t Mean() const { return count_ == 0 ? kUnknown : (sum_ + count_ / 2) / count_; }
  int64_t Percent() const { return count_ == 0 ? kUnknown : (100 * sum_ + count_ / 2) / count_; }
  int64_t Max() const { return max_; }
  int64_t Newest() const { return newest_; }

 private:
  int64_t count_ = 0;
  int64_t sum_ = 0;
  int64_t max_ = kUnknown;
  int64_t newest_ = kUnknown;
};

struct Interval {
  int64_t number = kUnknown;
  Combined utilization, memory, temperature, power, throttled, ecc;

  void Add(const DeviceSample& sample) {
    utilization.Add(sample.utilization_percent);
    memory.Add(sample.memory_mib);
    temperature.Add(sample.temperature_celsius);
    power.Add(sample.power_watts);
    throttled.Add(sample.throttled);
    ecc.Add(sample.ecc_uncorrected);
  }
};

void AppendInterval(const Interval& interval, int64_t interval_ms, v1::DeviceHistory& history) {
  if (interval.number == kUnknown) return;
  history.add_time_ms(interval.number * interval_ms);
  history.add_utilization_percent(static_cast<int32_t>(interval.utilization.Mean()));
  history.add_memory_mib(interval.memory.Max());
  history.add_temperature_celsius(static_cast<int32_t>(interval.temperature.Max()));
  history.add_power_watts(static_cast<int32_t>(interval.power.Mean()));
  history.add_throttled_percent(static_cast<int32_t>(interval.throttled.Percent()));
  history.add_ecc_uncorrected(interval.ecc.Newest());
}

}  // namespace

void NoteDevices(const v1::Heartbeat& heartbeat, const v1::Inventory& inventory, Timestamp now,
                 DeviceRecords& records) {
  if (heartbeat.devices().empty()) return;
  std::set<std::string> known;
  for (const v1::Slot& slot : inventory.slots()) {
    if (!slot.uuid().empty()) known.insert(slot.uuid());
  }
  std::erase_if(records, [&](const auto& entry) { return !known.contains(entry.first); });
  for (const v1::DeviceReading& reading : heartbeat.devices()) {
    if (known.contains(reading.uuid())) NoteReading(reading, now, records[reading.uuid()]);
  }
}

void ShiftDevices(int64_t step_ms, DeviceRecords& records) {
  for (auto& [uuid, record] : records) {
    for (DeviceSample& sample : record.samples) {
      sample.minute = static_cast<uint32_t>(sample.minute + step_ms / kMinuteMs);
    }
  }
}

v1::DeviceHistory HistoryOf(const v1::Slot& slot, const DeviceRecord& record, Timestamp from_ms,
                            int64_t interval_ms) {
  v1::DeviceHistory history;
  history.set_slot(slot.index());
  history.set_uuid(slot.uuid());
  history.set_model(slot.model());
  history.set_error(record.error);
  history.set_last_xid(record.last_xid);
  history.set_interval_ms(interval_ms);
  Interval interval;
  for (const DeviceSample& sample : record.samples) {
    const Timestamp time = sample.minute * kMinuteMs;
    if (time < from_ms) continue;
    if (const int64_t number = time / interval_ms; number != interval.number) {
      AppendInterval(interval, interval_ms, history);
      interval = {.number = number};
    }
    interval.Add(sample);
  }
  AppendInterval(interval, interval_ms, history);
  return history;
}

}  // namespace trainyard::controller
