// The device of a rank: its name, the memory in use, its peak speed.
#ifndef TRAINYARD_TRAINER_PARALLEL_DEVICE_H_
#define TRAINYARD_TRAINER_PARALLEL_DEVICE_H_

#include <torch/types.h>

#include <cstdint>
#include <string>

#include "proto/contract/run_config.h"

namespace trainyard::trainer {

// Makes the rank's device current: the CPU, or GPU number `local_rank` of the visible GPUs (the
// only one where each rank sees a single GPU). Throws TrainerError(kBadConfig) when there is none.
torch::Device OpenDevice(DeviceKind kind, int64_t local_rank);

// Name of the device, such as "CPU" or "NVIDIA H200".
std::string DeviceName(torch::Device device);

struct DeviceMemory {
  int64_t total_bytes = 0;  // 0 when unknown.
  int64_t free_bytes = 0;   // Of the total: what no program uses.
};

// Memory of the GPU that OpenDevice has made current; unknown for a CPU.
DeviceMemory CurrentDeviceMemory(DeviceKind kind);

// Largest number of bytes in use so far: resident memory on a CPU, allocated memory on a GPU.
int64_t PeakMemoryBytes(torch::Device device);

// Largest resident size of this process so far.
int64_t PeakResidentBytes();

// Dense peak of the named device in FLOP/s, from its data sheet; 0 when unknown, as for CPUs.
double PeakFlops(const std::string& device_name, Precision precision);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PARALLEL_DEVICE_H_
