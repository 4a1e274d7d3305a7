// Lists the GPUs of this machine with NVIDIA's management library (NVML).
#ifndef TRAINYARD_WORKER_DEVICE_NVML_H_
#define TRAINYARD_WORKER_DEVICE_NVML_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/device/gpu.h"

namespace trainyard::worker {

struct GpuList {
  std::vector<Gpu> gpus;
  // One line per device that does not respond.
  std::vector<std::string> warnings;
};

// Returns the machine's GPUs in NVML's order (by PCI bus), at most kMaxSlotsOfNode. `library` is a
// name or path for dlopen, such as "libnvidia-ml.so.1". NOT_FOUND if the library does not exist,
// because no driver is installed. UNAVAILABLE, with the reason, if the library does not work.
absl::StatusOr<GpuList> ListGpus(const std::string& library);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_DEVICE_NVML_H_
