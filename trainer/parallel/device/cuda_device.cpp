// Implements device.h in builds with CUDA.
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <cuda_runtime_api.h>

#include "trainer/config/trainer_error.h"
#include "trainer/parallel/device/cuda_event.h"
#include "trainer/parallel/device/device.h"

namespace trainyard::trainer {

torch::Device OpenDevice(DeviceKind kind, int64_t local_rank) {
  if (kind == DeviceKind::kCpu) return torch::Device(torch::kCPU);
  const int64_t visible = c10::cuda::device_count();
  if (visible == 0) {
    throw TrainerError(ExitCode::kBadConfig,
                       "resources.device is gpu, but no GPU is visible on this node.");
  }
  const int64_t index = visible == 1 ? 0 : local_rank;
  if (index >= visible) {
    throw TrainerError(ExitCode::kBadConfig,
                       "Local rank " + std::to_string(local_rank) + " has no GPU, because only " +
                           std::to_string(visible) + " are visible on this node.");
  }
  c10::cuda::set_device(static_cast<c10::DeviceIndex>(index));
  return torch::Device(torch::kCUDA, static_cast<c10::DeviceIndex>(index));
}

std::string DeviceName(torch::Device device) {
  if (!device.is_cuda()) return "CPU";
  cudaDeviceProp properties{};
  CheckCuda("cudaGetDeviceProperties", cudaGetDeviceProperties(&properties, device.index()));
  return properties.name;
}

int64_t ComputeCapability(torch::Device device) {
  if (!device.is_cuda()) return 0;
  cudaDeviceProp properties{};
  CheckCuda("cudaGetDeviceProperties", cudaGetDeviceProperties(&properties, device.index()));
  return 10 * properties.major + properties.minor;
}

DeviceMemory CurrentDeviceMemory(DeviceKind kind) {
  if (kind == DeviceKind::kCpu) return {};
  size_t free_bytes = 0, total_bytes = 0;
  if (cudaMemGetInfo(&free_bytes, &total_bytes) != cudaSuccess) {
    cudaGetLastError();  // Clears the error; otherwise LibTorch reports it later.
    return {};
  }
  return {static_cast<int64_t>(total_bytes), static_cast<int64_t>(free_bytes)};
}

int64_t PeakMemoryBytes(torch::Device device) {
  if (!device.is_cuda()) return PeakResidentBytes();
  const auto statistics = c10::cuda::CUDACachingAllocator::getDeviceStats(device.index());
  return statistics.allocated_bytes[0].peak;  // Index 0 is the total of all pools.
}

void ReleaseUnusedMemory(torch::Device device) {
  if (device.is_cuda()) c10::cuda::CUDACachingAllocator::emptyCache();
}

}  // namespace trainyard::trainer
