// The readings of GPUs that workers send once per minute. Kept in memory for 24 hours.
#ifndef TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_DEVICE_HISTORY_H_
#define TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_DEVICE_HISTORY_H_

#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <string>

#include "proto/support/clock.h"
#include "trainyard/v1/node.pb.h"
#include "trainyard/v1/node_service.pb.h"
#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::controller {

// The maximum number of readings of a GPU: one per minute for 24 hours. At 20 bytes each, 1,000
// GPUs take 30 MB.
inline constexpr std::size_t kDeviceReadingsKept = 24 * 60;
// The maximum number of intervals in a DeviceHistory.
inline constexpr int64_t kDeviceIntervalsMax = 240;

// A reading in few bytes. The largest value of a type means that the GPU did not report the value.
struct DeviceSample {
  uint32_t minute = 0;  // Unix time by the controller's clock.
  uint32_t memory_mib = std::numeric_limits<uint32_t>::max();
  uint32_t ecc_uncorrected = std::numeric_limits<uint32_t>::max();
  uint16_t power_watts = std::numeric_limits<uint16_t>::max();
  uint8_t utilization_percent = std::numeric_limits<uint8_t>::max();
  uint8_t temperature_celsius = std::numeric_limits<uint8_t>::max();
  uint8_t throttled = std::numeric_limits<uint8_t>::max();  // 0 or 1.
};

struct DeviceRecord {
  // At most one sample per minute, oldest first. If the GPU did not respond, there is no sample.
  std::deque<DeviceSample> samples;
  std::string error;     // Reason why the GPU did not respond to the newest reading; else empty.
  int32_t last_xid = 0;  // Newest XID error; 0: none.
};

// By the UUID of the GPU.
using DeviceRecords = std::map<std::string, DeviceRecord>;

// Records the readings of a heartbeat. Readings of devices that are not in the node's inventory are
// ignored, and records of such devices are removed.
void NoteDevices(const v1::Heartbeat& heartbeat, const v1::Inventory& inventory, Timestamp now,
                 DeviceRecords& records);

// Shifts all times after the controller's clock was set.
void ShiftDevices(int64_t step_ms, DeviceRecords& records);

// Returns the readings of the slot's device since `from_ms`, in intervals of `interval_ms`.
v1::DeviceHistory HistoryOf(const v1::Slot& slot, const DeviceRecord& record, Timestamp from_ms,
                            int64_t interval_ms);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_DEVICE_HISTORY_H_
