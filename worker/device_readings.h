// Reads this node's GPUs once per minute for the controller's history.
#ifndef TRAINYARD_WORKER_DEVICE_READINGS_H_
#define TRAINYARD_WORKER_DEVICE_READINGS_H_

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "trainyard/v1/node.pb.h"
#include "worker/background_look.h"
#include "worker/device/gpu_monitor.h"

namespace trainyard::worker {

v1::DeviceReading DeviceReadingOf(const GpuReading& gpu);

// Reads on a separate thread, because a broken GPU may block the driver. Used by one thread.
class DeviceReadings {
 public:
  explicit DeviceReadings(std::string nvml_library = "libnvidia-ml.so.1")
      : nvml_library_(std::move(nvml_library)) {}

  // Returns the readings that are new since the last call; empty if there are none. Starts the next
  // round if the round is due and the inventory has a GPU.
  std::vector<v1::DeviceReading> Take(const v1::Inventory& inventory,
                                      std::chrono::steady_clock::time_point now);

 private:
  // Null until NVML has been opened. Used only by the thread of the round.
  struct Monitor {
    std::unique_ptr<GpuMonitor> gpus;
  };

  static std::vector<v1::DeviceReading> Read(const std::string& nvml_library, Monitor& monitor);

  const std::string nvml_library_;
  // Shared with the thread of a round, which may outlive this object.
  const std::shared_ptr<Monitor> monitor_ = std::make_shared<Monitor>();
  BackgroundLook<std::vector<v1::DeviceReading>> round_;
  std::chrono::steady_clock::time_point due_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_DEVICE_READINGS_H_
