// The few functions of NVIDIA's management library that the worker needs, loaded at run time.
// Prototypes and constants follow nvml.h of CUDA 11 and newer, whose binary interface is stable.
#ifndef TRAINYARD_WORKER_DEVICE_NVML_H_
#define TRAINYARD_WORKER_DEVICE_NVML_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace trainyard::worker {

struct Gpu {
  std::string model;
  std::string uuid;
  int64_t memory_bytes = 0;
};

struct GpuList {
  std::vector<Gpu> gpus;
  // One line for each device that does not answer.
  std::vector<std::string> warnings;
};

// The machine's GPUs in NVML's order (by PCI bus). NOT_FOUND when the library is not there: no
// driver is installed. UNAVAILABLE, with NVML's message, when it is there but does not work.
absl::StatusOr<GpuList> ListGpus(const std::string& library);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_DEVICE_NVML_H_
