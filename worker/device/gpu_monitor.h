// Measurements of this node's GPUs, through NVML.
#ifndef TRAINYARD_WORKER_DEVICE_GPU_MONITOR_H_
#define TRAINYARD_WORKER_DEVICE_GPU_MONITOR_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace trainyard::worker {

// The measurements of one GPU. A value is absent if the device or this version of the driver does
// not report it.
struct GpuReading {
  // The position of the GPU in NVML's order.
  int index = 0;
  std::string uuid;
  std::string model;
  // The reason why the GPU does not respond; empty if the GPU responds.
  std::string error;

  std::optional<double> utilization_percent;
  std::optional<double> memory_utilization_percent;
  std::optional<double> memory_used_mib;
  std::optional<double> memory_free_mib;
  std::optional<double> temperature_celsius;
  std::optional<double> memory_temperature_celsius;
  std::optional<double> power_watts;
  std::optional<double> energy_millijoules;
  std::optional<double> sm_clock_mhz;
  std::optional<double> memory_clock_mhz;
  // The newest XID error since the monitor was opened; 0 if there was none; absent if the driver
  // does not report XID errors.
  std::optional<double> last_xid;
  std::optional<double> pcie_replays;
  std::optional<double> ecc_corrected_volatile;
  std::optional<double> ecc_uncorrected_volatile;
  std::optional<double> ecc_corrected_aggregate;
  std::optional<double> ecc_uncorrected_aggregate;
  std::optional<double> remapped_rows_uncorrected;
  std::optional<double> row_remap_failed;
  // True if heat or a power brake slows the GPU down.
  std::optional<bool> throttled;
};

// Keeps NVML loaded. Not thread-safe.
class GpuMonitor {
 public:
  // Loads NVML. NOT_FOUND if there is no driver; UNAVAILABLE, with NVML's message, if NVML does not
  // work.
  static absl::StatusOr<std::unique_ptr<GpuMonitor>> Open(const std::string& library);
  ~GpuMonitor();

  // Returns one reading per GPU that responded to Open, in NVML's order. May take some milliseconds
  // per GPU.
  std::vector<GpuReading> Read();

 private:
  class Session;
  explicit GpuMonitor(std::unique_ptr<Session> session);
  const std::unique_ptr<Session> session_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_DEVICE_GPU_MONITOR_H_
