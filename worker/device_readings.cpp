#include "worker/device_readings.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "proto/text/utf8.h"

namespace trainyard::worker {
namespace {

constexpr std::chrono::minutes kReadEvery{1};
// The controller accepts longer errors.
constexpr std::size_t kMaxErrorBytes = 256;

bool HasGpu(const v1::Inventory& inventory) {
  return std::ranges::any_of(
      inventory.slots(), [](const v1::Slot& slot) { return slot.kind() == v1::DEVICE_KIND_GPU; });
}

}  // namespace

v1::DeviceReading DeviceReadingOf(const GpuReading& gpu) {
  v1::DeviceReading reading;
  reading.set_uuid(gpu.uuid);
  const std::string error = ReplaceInvalidUtf8(gpu.error);
  reading.set_error(std::string(Utf8Prefix(error, kMaxErrorBytes)));
  reading.set_last_xid(static_cast<int32_t>(gpu.last_xid.value_or(0)));
  if (gpu.utilization_percent) reading.set_utilization_percent(*gpu.utilization_percent);
  if (gpu.memory_used_mib) reading.set_memory_mib(*gpu.memory_used_mib);
  if (gpu.temperature_celsius) reading.set_temperature_celsius(*gpu.temperature_celsius);
  if (gpu.power_watts) reading.set_power_watts(*gpu.power_watts);
  if (gpu.throttled) reading.set_throttled(*gpu.throttled);
  if (gpu.ecc_uncorrected_volatile) {
    reading.set_ecc_uncorrected(static_cast<int64_t>(*gpu.ecc_uncorrected_volatile));
  }
  return reading;
}

std::vector<v1::DeviceReading> DeviceReadings::Read(const std::string& nvml_library,
                                                    Monitor& monitor) {
  if (monitor.gpus == nullptr) {
    auto opened = GpuMonitor::Open(nvml_library);
    if (!opened.ok()) return {};
    monitor.gpus = *std::move(opened);
  }
  std::vector<v1::DeviceReading> readings;
  for (const GpuReading& gpu : monitor.gpus->Read()) readings.push_back(DeviceReadingOf(gpu));
  return readings;
}

std::vector<v1::DeviceReading> DeviceReadings::Take(const v1::Inventory& inventory,
                                                    std::chrono::steady_clock::time_point now) {
  std::vector<v1::DeviceReading> taken = round_.Take().value_or(std::vector<v1::DeviceReading>());
  if (!round_.IsRunning() && now >= due_ && HasGpu(inventory)) {
    due_ = now + kReadEvery;
    // If no thread can be started, the next round tries again.
    round_.Begin("read the GPUs",
                 [library = nvml_library_, monitor = monitor_] { return Read(library, *monitor); });
  }
  return taken;
}

}  // namespace trainyard::worker
