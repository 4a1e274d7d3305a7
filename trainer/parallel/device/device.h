// The device of a rank: its name, memory use and peak speed.
#ifndef TRAINYARD_TRAINER_PARALLEL_DEVICE_DEVICE_H_
#define TRAINYARD_TRAINER_PARALLEL_DEVICE_DEVICE_H_

#include <torch/types.h>

#include <cstdint>
#include <string>

#include "proto/contract/resources_config.h"
#include "proto/contract/train_config.h"

namespace trainyard::trainer {

// Makes the rank's device current and returns it: the CPU, or GPU number `local_rank` of the
// visible GPUs. If each rank sees only one GPU, uses that GPU. Throws TrainerError(kBadConfig) if
// there is no such device.
torch::Device OpenDevice(DeviceKind kind, int64_t local_rank);

// Name of the device, such as "CPU" or "NVIDIA H200".
std::string DeviceName(torch::Device device);

struct DeviceMemory {
  int64_t total_bytes = 0;  // 0 if unknown.
  int64_t free_bytes = 0;   // Memory that no program uses.
};

// The memory of the GPU that OpenDevice made current; unknown for a CPU.
DeviceMemory CurrentDeviceMemory(DeviceKind kind);

// The peak number of bytes in use so far: resident memory on a CPU, allocated memory on a GPU.
int64_t PeakMemoryBytes(torch::Device device);

// Returns memory that this process has allocated but does not use, so that other processes on the
// device can allocate it. Does nothing on a CPU.
void ReleaseUnusedMemory(torch::Device device);

// The peak resident size of this process so far, in bytes.
int64_t PeakResidentBytes();

// Ten times the compute capability of a GPU, such as 90 for 9.0; 0 for a CPU.
int64_t ComputeCapability(torch::Device device);

// Throws TrainerError(kBadConfig) if a GPU of this compute capability has no FP8 arithmetic. CPUs
// emulate FP8.
void CheckHasFp8(const std::string& device_name, int64_t capability);

// The peak dense speed of the named device in FLOP/s, from its data sheet; 0 if unknown, as for
// CPUs.
double PeakFlops(const std::string& device_name, Precision precision);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PARALLEL_DEVICE_DEVICE_H_
