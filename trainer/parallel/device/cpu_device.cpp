// Implements device.h in builds without CUDA.
#include <malloc.h>

#include "trainer/config/trainer_error.h"
#include "trainer/parallel/device/device.h"
#include "trainer/parallel/device/time_marks.h"

namespace trainyard::trainer {
namespace {

// Makes glibc keep the memory of freed tensors for later tensors. By default, glibc returns large
// blocks to the kernel, which must clear their pages before the next allocation. Clearing takes a
// tenth of the step time of a small model.
void KeepFreedMemory() {
  constexpr int kLargestThreshold = 32 << 20;  // glibc's maximum.
  constexpr int kKeptBytes = 1 << 30;
  mallopt(M_MMAP_THRESHOLD, kLargestThreshold);
  mallopt(M_TRIM_THRESHOLD, kKeptBytes);
}

}  // namespace

torch::Device OpenDevice(DeviceKind kind, int64_t) {
  if (kind == DeviceKind::kGpu) {
    throw TrainerError(ExitCode::kBadConfig,
                       "resources.device is gpu, but this trainer was built for CPUs only; set "
                       "resources.device to cpu, or build the trainer with the gpu preset.");
  }
  KeepFreedMemory();
  return torch::Device(torch::kCPU);
}

std::string DeviceName(torch::Device) { return "CPU"; }

int64_t ComputeCapability(torch::Device) { return 0; }

DeviceMemory CurrentDeviceMemory(DeviceKind) { return {}; }

int64_t PeakMemoryBytes(torch::Device) { return PeakResidentBytes(); }

void ReleaseUnusedMemory(torch::Device) {}

std::unique_ptr<TimeMarks> MakeTimeMarks(torch::Device) { return MakeHostTimeMarks(); }

}  // namespace trainyard::trainer
